/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/read/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- attributes ---- */

static uint64_t field64(struct lode_range bytes, bool is_big, unsigned at)
{
    return at + 8 <= bytes.size ? perf_u64(is_big, bytes.data + at) : 0;
}

static uint32_t field32(struct lode_range bytes, bool is_big, unsigned at)
{
    return at + 4 <= bytes.size ? perf_u32(is_big, bytes.data + at) : 0;
}

/* Bit-fields begin at the other end of each byte on big-endian machines; bytes stay in order. */
static uint64_t read_flags(struct lode_range bytes, bool is_big)
{
    uint64_t flags = 0;
    if (!is_big)
        return field64(bytes, false, 40);
    for (unsigned i = 0; i < 64; i++)
        flags |= (uint64_t)(bytes.data[40 + i / 8] >> (7 - i % 8) & 1) << i;
    return flags;
}

/* ---- places ---- */

static uint8_t place(uint64_t type, uint64_t field, uint8_t *next)
{
    if (!(type & field))
        return PERF_NO_FIELD;
    uint8_t at = *next;
    *next = (uint8_t)(at + 8);
    return at;
}

/* Those of a place that does not depend on the record. */
static struct perf_layout layout_of(uint64_t type)
{
    struct perf_layout layout;
    uint8_t at = 0, identifier, other;
    identifier = place(type, PERF_HAS_IDENTIFIER, &at);
    layout.ip = place(type, PERF_HAS_IP, &at);
    layout.tid = place(type, PERF_HAS_TID, &at);
    layout.time = place(type, PERF_HAS_TIME, &at);
    (void)place(type, PERF_HAS_ADDR, &at);
    other = place(type, PERF_HAS_ID, &at);
    layout.id = identifier != PERF_NO_FIELD ? identifier : other;
    (void)place(type, PERF_HAS_STREAM_ID, &at);
    layout.cpu = place(type, PERF_HAS_CPU, &at);
    layout.period = place(type, PERF_HAS_PERIOD, &at);
    layout.fixed = at;
    /* From the end: TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER. */
    at = 8;
    identifier = place(type, PERF_HAS_IDENTIFIER, &at);
    layout.end_cpu = place(type, PERF_HAS_CPU, &at);
    (void)place(type, PERF_HAS_STREAM_ID, &at);
    other = place(type, PERF_HAS_ID, &at);
    layout.end_id = identifier != PERF_NO_FIELD ? identifier : other;
    layout.end_time = place(type, PERF_HAS_TIME, &at);
    layout.end_tid = place(type, PERF_HAS_TID, &at);
    layout.trailer = (uint8_t)(at - 8);
    return layout;
}

void lode_perf_event_read(struct perf_event *event, struct lode_range bytes, bool is_big)
{
    *event = (struct perf_event){
        .attr = {.type = field32(bytes, is_big, 0),
                 .config = field64(bytes, is_big, 8),
                 .period = field64(bytes, is_big, 16),
                 .sample_type = field64(bytes, is_big, 24),
                 .read_format = field64(bytes, is_big, 32),
                 .flags = read_flags(bytes, is_big),
                 .branch_type = field64(bytes, is_big, 72),
                 .regs_user = field64(bytes, is_big, 80),
                 .clock = (int32_t)field32(bytes, is_big, 92),
                 .regs_intr = field64(bytes, is_big, 96),
                 .max_stack = 110 <= bytes.size ? perf_u16(is_big, bytes.data + 108) : 0}};
    event->layout = layout_of(event->attr.sample_type);
    if (!perf_event_flag(event, PERF_FLAG_ID_ALL)) {
        event->layout.trailer = 0;
        event->layout.end_id = event->layout.end_time = PERF_NO_FIELD;
        event->layout.end_tid = event->layout.end_cpu = PERF_NO_FIELD;
    }
    event->is_dummy = event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_SOFTWARE_DUMMY;
}

/* ---- names ---- */

const char *lode_perf_event_name(const struct perf_event *event, char *buffer)
{
    static const char *const hardware[] = {
        "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
        "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
    static const char *const software[] = {
        "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
        "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
        "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
    const struct perf_attr *attr = &event->attr;
    if (event->name && event->name[0])
        return event->name;
    if (attr->type == PERF_TYPE_HARDWARE && attr->config < sizeof hardware / sizeof *hardware)
        return hardware[attr->config];
    if (attr->type == PERF_TYPE_SOFTWARE && attr->config < sizeof software / sizeof *software)
        return software[attr->config];
    snprintf(buffer, PERF_EVENT_NAME, "type %" PRIu32 " config %#" PRIx64, attr->type, attr->config);
    return buffer;
}

bool lode_perf_event_is_time(const struct perf_event *event)
{
    const struct perf_attr *attr = &event->attr;
    if (attr->type == PERF_TYPE_SOFTWARE)
        return attr->config == PERF_SOFTWARE_CPU_CLOCK || attr->config == PERF_SOFTWARE_TASK_CLOCK;
    return attr->type == PERF_TYPE_TRACEPOINT && event->name &&
           strncmp(event->name, "sched:sched_stat_", strlen("sched:sched_stat_")) == 0;
}
