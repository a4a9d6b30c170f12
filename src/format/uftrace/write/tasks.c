/* SPDX-License-Identifier: BSD-3-Clause */
/* task.txt and the maps of sessions. */
#include "base/compare.h"
#include "format/uftrace/write/write.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STACK_SIZE = 0x21000 /* of the line that determines the base of the kernel */
};

/* ---- task.txt ---- */

/* Order at the same time: readers need the session of a task, and the task of a library. */
enum line_kind {
    SESSION_LINE,
    FORK_LINE,
    TASK_LINE,
    LIBRARY_LINE
};

struct line {
    uint64_t time; /* sort key */
    uint32_t kind; /* line_kind */
    uint32_t index;
};

LODE_COMPARE_BY_3(compare_lines, struct line, time, kind, index);

static void put_kind(struct uft_text_file *text, const char *kind, uint64_t time)
{
    lode_uft_text_put(text, "%s timestamp=%" PRIu64 ".%09" PRIu64, kind, time / 1000000000,
                      time % 1000000000);
}

static void put_line(struct uft_text_file *text, const struct uft_description *description,
                     const struct line *line)
{
    if (line->kind == SESSION_LINE) {
        const struct uft_session *session = &description->sessions[line->index];
        put_kind(text, "SESS", line->time);
        lode_uft_text_put(text, " pid=%" PRId32 " sid=%s exename=\"%s\"\n", session->pid, session->id,
                          session->program);
    } else if (line->kind == FORK_LINE) {
        const struct uft_fork_line *fork = &description->forks[line->index];
        put_kind(text, "FORK", line->time);
        lode_uft_text_put(text, " pid=%" PRId32 " ppid=%" PRId32 "\n", fork->child, fork->parent);
    } else if (line->kind == TASK_LINE) {
        const struct uft_task_line *task = &description->tasks[line->index];
        put_kind(text, "TASK", line->time);
        lode_uft_text_put(text, " tid=%" PRId32 " pid=%" PRId32 "\n", task->tid, task->pid);
    } else {
        const struct uft_dlopen *library = &description->dlopens[line->index];
        put_kind(text, "DLOP", library->time);
        lode_uft_text_put(text, " tid=%" PRId32 " sid=%s base=%" PRIx64 " libname=\"%s\"\n", library->tid,
                          description->sessions[library->group].id, library->base,
                          description->modules[library->module].path);
    }
}

static size_t gather_lines(struct line *lines, const struct uft_description *description)
{
    size_t count = 0;
    for (uint32_t i = 0; i < description->session_count; i++)
        lines[count++] = (struct line){description->sessions[i].time, SESSION_LINE, i};
    for (uint32_t i = 0; i < description->fork_count; i++)
        lines[count++] = (struct line){description->forks[i].time, FORK_LINE, i};
    for (uint32_t i = 0; i < description->task_count; i++)
        lines[count++] = (struct line){description->tasks[i].time, TASK_LINE, i};
    for (uint32_t i = 0; i < description->dlopen_count; i++) {
        /* uftrace must know the session that a library is loaded in. */
        const struct uft_dlopen *library = &description->dlopens[i];
        uint64_t begin = description->sessions[library->group].time;
        lines[count++] = (struct line){library->time > begin ? library->time : begin, LIBRARY_LINE, i};
    }
    return count;
}

lode_status lode_uft_write_tasks(struct uft_writer *writer, const struct uft_description *description,
                                 lode_error *error)
{
    struct uft_text_file text;
    size_t most = (size_t)description->session_count + description->fork_count + description->task_count +
                  description->dlopen_count;
    struct line *lines = calloc(most + 1, sizeof *lines);
    LODE_TRY_ALLOC(lines, error);
    size_t count = gather_lines(lines, description);
    qsort(lines, count, sizeof *lines, compare_lines);
    lode_uft_text_open_hidden(&text, writer, "task.txt", error);
    for (size_t i = 0; i < count; i++)
        put_line(&text, description, &lines[i]);
    free(lines);
    return lode_uft_text_close(&text);
}

/* ---- maps ---- */

static void put_range(struct uft_text_file *text, uint64_t start, uint64_t end, const char *access)
{
    lode_uft_text_put(text, "%" PRIx64 "-%" PRIx64 " %s 00000000 00:00 0                          ", start,
                      end, access);
}

/*
 * The kernel begins above the stack: at the next of a few addresses, or at its complement. Without
 * a stack, uftrace treats all addresses as the kernel's.
 */
static uint64_t stack_end(const struct uft_description *description, const struct uft_session *session)
{
    uint64_t base = session->kernel_base;
    if (base)
        return base > UINT32_MAX ? -base : base;
    if (description->word == 4)
        return UINT64_C(0xc0000000);
    bool is_high = session->map_count > 0 && session->maps[session->map_count - 1].end > UINT64_C(1) << 47;
    return UINT64_C(1) << (is_high ? 48 : 47);
}

static lode_status write_map(struct uft_writer *writer, const struct uft_description *description,
                             const struct uft_session *session, lode_error *error)
{
    char name[64];
    struct uft_text_file text;
    snprintf(name, sizeof name, "sid-%s.map", session->id);
    lode_uft_text_open(&text, writer, name, error);
    for (uint32_t i = 0; i < session->map_count; i++) {
        const struct uft_map *map = &session->maps[i];
        const struct uft_written_module *module = &description->modules[map->module];
        put_range(&text, map->start, map->end, "r-xp");
        lode_uft_text_put(&text, *module->build_id ? "%s build-id:%s\n" : "%s%s\n", module->path,
                          module->build_id);
    }
    uint64_t end = stack_end(description, session);
    put_range(&text, end - STACK_SIZE, end, "rw-p");
    lode_uft_text_put(&text, "[stack]\n");
    return lode_uft_text_close(&text);
}

static int compare_ids(const void *left, const void *right, void *argument)
{
    const struct uft_session *sessions = argument;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = strcmp(sessions[a].id, sessions[b].id);
    return order ? order : (a > b) - (a < b);
}

/* Sessions of one id share a map: the first one writes it. */
lode_status lode_uft_write_maps(struct uft_writer *writer, const struct uft_description *description,
                                lode_error *error)
{
    const struct uft_session *sessions = description->sessions;
    uint32_t count = description->session_count, *order = calloc((size_t)count + 1, sizeof *order);
    LODE_TRY_ALLOC(order, error);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    union {
        const void *in;
        void *out;
    } argument = {.in = sessions};
    qsort_r(order, count, sizeof *order, compare_ids, argument.out);
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < count && status == LODE_OK; i++)
        if (i == 0 || strcmp(sessions[order[i]].id, sessions[order[i - 1]].id) != 0)
            status = write_map(writer, description, &sessions[order[i]], error);
    free(order);
    return status;
}
