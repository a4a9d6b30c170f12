/* SPDX-License-Identifier: BSD-3-Clause */
/* perf-cpu0.dat: events of threads besides their calls, chronological. */
#include "base/compare.h"
#include "format/uftrace/write/write.h"
#include <stdlib.h>

enum {
    RECORD_COMM = 3,
    RECORD_EXIT = 4,
    RECORD_FORK = 7,
    RECORD_SWITCH = 14,
    SWITCH_OUT = 0x2000,
    SWITCH_OUT_PREEMPT = 0x4000,
    HEADER_SIZE = 8,
    WHO_SIZE = 16, /* process, thread and time, at the end of each record */
    FORK_SIZE = 48,
    NAME_SIZE = 16 /* the kernel's limit of thread names */
};

/* One event of one thread. */
struct moment {
    uint64_t time;
    uint64_t event;
    size_t thread;
};

LODE_COMPARE_BY_3(compare_moments, struct moment, time, thread, event);

static void put_header(uint8_t *at, unsigned type, unsigned flags, size_t size)
{
    put_u32le(at, type);
    put_u16le(at + 4, (uint16_t)flags);
    put_u16le(at + 6, (uint16_t)size);
}

static void put_who(uint8_t *at, const struct uft_written_perf *thread, uint64_t time)
{
    put_u32le(at, (uint32_t)thread->pid);
    put_u32le(at + 4, (uint32_t)thread->tid);
    put_u64le(at + 8, time);
}

/* A thread that begins or ends. */
static size_t put_life(uint8_t *at, const struct uft_written_perf *thread,
                       const struct lode_uft_perf_event *event)
{
    put_header(at, event->kind == UFT_PERF_NEW ? RECORD_FORK : RECORD_EXIT, 0, FORK_SIZE);
    put_u32le(at + 8, (uint32_t)thread->pid);
    put_u32le(at + 12, (uint32_t)thread->parent);
    put_u32le(at + 16, (uint32_t)thread->tid);
    put_u32le(at + 20, (uint32_t)thread->parent);
    put_u64le(at + 24, event->time);
    put_who(at + 32, thread, event->time);
    return FORK_SIZE;
}

static size_t put_name(uint8_t *at, const struct uft_written_perf *thread,
                       const struct lode_uft_perf_event *event, const char *name)
{
    size_t length = strnlen(name, NAME_SIZE - 1), room = (length + 8) / 8 * 8;
    put_header(at, RECORD_COMM, 0, HEADER_SIZE + 8 + room + WHO_SIZE);
    put_u32le(at + 8, (uint32_t)thread->pid);
    put_u32le(at + 12, (uint32_t)thread->tid);
    memcpy(at + 16, name, length);
    put_who(at + 16 + room, thread, event->time);
    return HEADER_SIZE + 8 + room + WHO_SIZE;
}

static size_t put_switch(uint8_t *at, const struct uft_written_perf *thread,
                         const struct lode_uft_perf_event *event)
{
    unsigned flags = 0;
    if (event->kind == UFT_PERF_OUT)
        flags = SWITCH_OUT;
    if (event->kind == UFT_PERF_OUT_PREEMPTED)
        flags = SWITCH_OUT | SWITCH_OUT_PREEMPT;
    put_header(at, RECORD_SWITCH, flags, HEADER_SIZE + WHO_SIZE);
    put_who(at + HEADER_SIZE, thread, event->time);
    return HEADER_SIZE + WHO_SIZE;
}

static lode_status write_moment(struct lode_output_file *file, const struct uft_description *description,
                                const struct moment *moment, lode_error *error)
{
    uint8_t record[64] = {0};
    const struct uft_written_perf *thread = &description->perf[moment->thread];
    const struct lode_uft_perf_event *event = &thread->events[moment->event];
    size_t size = 0;
    if (event->kind == UFT_PERF_NEW || event->kind == UFT_PERF_EXIT)
        size = put_life(record, thread, event);
    else if (event->kind == UFT_PERF_NAME)
        size = put_name(record, thread, event, thread->names[event->cpu]);
    else
        size = put_switch(record, thread, event);
    return lode_output_write(file, record, size, error);
}

static struct moment *order_moments(const struct uft_description *description, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < description->perf_count; i++)
        *count += description->perf[i].count;
    struct moment *moments = calloc(*count + 1, sizeof *moments);
    size_t at = 0;
    for (size_t i = 0; moments && i < description->perf_count; i++)
        for (size_t k = 0; k < description->perf[i].count; k++)
            moments[at++] = (struct moment){description->perf[i].events[k].time, k, i};
    if (moments)
        qsort(moments, *count, sizeof *moments, compare_moments);
    return moments;
}

lode_status lode_uft_write_perf(struct uft_writer *writer, const struct uft_description *description,
                                lode_error *error)
{
    struct lode_output_file file;
    size_t count;
    if (description->perf_count == 0)
        return LODE_OK;
    struct moment *moments = order_moments(description, &count);
    LODE_TRY_ALLOC(moments, error);
    lode_status status = lode_output_file_create(&file, &writer->output, "perf-cpu0.dat", error);
    for (size_t i = 0; i < count && status == LODE_OK; i++)
        status = write_moment(&file, description, &moments[i], error);
    if (status == LODE_OK)
        status = lode_output_file_close(&file, error);
    else
        lode_output_file_abandon(&file);
    free(moments);
    return status;
}
