/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the tracks that were written: tasks, times, sessions and messages. */
#include "base/compare.h"
#include "format/uftrace/write/merge.h"
#include <stdlib.h>

struct describing {
    const struct uft_merge *merge;
    struct lode_arena arena;
    struct lode_array tids;     /* int32_t */
    struct lode_array sessions; /* struct uft_session */
    struct lode_array tasks;    /* struct uft_task_line */
    struct lode_array forks;    /* struct uft_fork_line */
    struct lode_array dlopens;  /* struct uft_dlopen */
    struct lode_array messages; /* lode_event */
    struct lode_array perf;     /* struct uft_written_perf */
    struct lode_map forked;     /* processes that have a fork line */
    struct lode_map lent;       /* processes that were given a session, to its index */
};

/* ---- sessions and tasks ---- */

static uint64_t move_time(const struct uft_origin *source, uint64_t time)
{
    uint64_t moved;
    return __builtin_add_overflow(time, source->clock, &moved) ? 0 : moved;
}

static void not_after(uint64_t *time, uint64_t other)
{
    *time = other < *time ? other : *time;
}

static lode_status add_task(struct describing *self, uint64_t time, int32_t tid, int32_t pid,
                            lode_error *error)
{
    struct uft_task_line *line = lode_array_push(&self->tasks);
    LODE_TRY_ALLOC(line, error);
    *line = (struct uft_task_line){time, tid, pid};
    return LODE_OK;
}

/* Gives a process without a session the one that was assumed for it, early enough. */
static lode_status lend_session(struct describing *self, const struct uft_session *session, int32_t pid,
                                uint64_t time, lode_error *error)
{
    bool is_new;
    uint32_t next = (uint32_t)self->sessions.count;
    const uint32_t *index = lode_map_add(&self->lent, (uint64_t)pid, next, &is_new);
    struct uft_session *added = index && is_new ? lode_array_push(&self->sessions) : NULL;
    if (index == NULL || (is_new && added == NULL))
        return lode_fail_memory(error);
    if (is_new) {
        *added = *session;
        added->pid = pid;
        added->time = time;
    }
    not_after(&LODE_ARRAY_AT(&self->sessions, struct uft_session, *index)->time, time);
    return LODE_OK;
}

/* A forked process inherits its parent's session; a parent without session and lines gets one. */
static lode_status describe_fork(struct describing *self, const struct uft_origin *source, uint32_t index,
                                 uint64_t time, lode_error *error)
{
    const struct uft_task *task = &source->rec->tasks[index];
    int32_t parent = lode_uft_merge_id(source, task->parent);
    struct uft_fork_line *line = lode_array_push(&self->forks);
    LODE_TRY_ALLOC(line, error);
    *line = (struct uft_fork_line){time, source->tracks[index].tid, parent};
    if (task->inherited == LODE_NO_INDEX || source->rec->sessions[task->inherited].pid == task->parent ||
        lode_map_get(&self->forked, (uint64_t)parent))
        return LODE_OK;
    const struct uft_session *session = &self->merge->sessions[source->first_session + task->inherited];
    return lend_session(self, session, parent, time, error);
}

/* The lines of a task precede its first record: readers look up the session of that time. */
static lode_status describe_task(struct describing *self, const struct uft_origin *source, uint32_t index,
                                 lode_error *error)
{
    const lode_track *track = &source->rec->base.tracks[index];
    const struct uft_task *task = &source->rec->tasks[index];
    int32_t tid = source->tracks[index].tid, pid = lode_uft_merge_id(source, track->pid);
    uint64_t begin = source->tracks[index].first, time = move_time(source, task->time);
    struct uft_session *sessions = self->sessions.items;
    uint32_t first = 0;
    if (task->time == 0 && !task->is_forked)
        time = begin == UINT64_MAX ? 0 : begin;
    not_after(&time, begin);
    if (!task->is_forked) {
        if (task->session_count > 0)
            not_after(&sessions[source->first_session + task->sessions[first++]].time, time);
        LODE_TRY(add_task(self, time, tid, pid, error));
    }
    for (; first < task->session_count && tid == pid; first++)
        LODE_TRY(
            add_task(self, sessions[source->first_session + task->sessions[first]].time, tid, pid, error));
    if (task->session_count == 0 && task->inherited == LODE_NO_INDEX)
        LODE_TRY(lend_session(self, &self->merge->nobody, pid, time, error));
    if (task->is_forked)
        return describe_fork(self, source, index, time, error);
    if (task->session_count == 0 && task->inherited != LODE_NO_INDEX)
        return lend_session(self, &self->merge->sessions[source->first_session + task->inherited], pid, time,
                            error);
    return LODE_OK;
}

static lode_status find_forked(struct describing *self, const struct uft_origin *source, lode_error *error)
{
    for (uint32_t i = 0; i < source->track_count; i++)
        if (source->tracks[i].is_there && source->rec->tasks[i].is_forked &&
            lode_map_add(&self->forked, (uint64_t)source->tracks[i].tid, 0, NULL) == NULL)
            return lode_fail_memory(error);
    return LODE_OK;
}

static lode_status describe_dlopens(struct describing *self, const struct uft_origin *source,
                                    lode_error *error)
{
    for (uint32_t i = 0; i < source->rec->dlopen_count; i++) {
        struct uft_dlopen library = source->rec->dlopens[i];
        if (library.group == LODE_NO_INDEX || source->modules[library.module] == LODE_NO_INDEX)
            continue;
        library.time = move_time(source, library.time);
        library.group += source->first_session;
        library.module = source->modules[library.module];
        library.tid = lode_uft_merge_id(source, library.tid);
        struct uft_dlopen *added = lode_array_push(&self->dlopens);
        LODE_TRY_ALLOC(added, error);
        *added = library;
    }
    return LODE_OK;
}

/* ---- tracks ---- */

static lode_status describe_track(struct describing *self, const struct uft_origin *source, uint32_t index,
                                  lode_error *error)
{
    const struct uft_written_track *written = &source->tracks[index];
    const lode_track *track = &source->rec->base.tracks[index];
    int32_t *tid = lode_array_push(&self->tids);
    LODE_TRY_ALLOC(tid, error);
    *tid = written->tid;
    LODE_TRY(describe_task(self, source, index, error));
    if (written->perf.count == 0)
        return LODE_OK;
    struct uft_written_perf *perf = lode_array_push(&self->perf);
    LODE_TRY_ALLOC(perf, error);
    *perf = (struct uft_written_perf){.pid = lode_uft_merge_id(source, track->pid),
                                      .tid = written->tid,
                                      .parent = lode_uft_merge_id(source, track->parent),
                                      .events = written->perf.items,
                                      .count = written->perf.count,
                                      .names = (const char *const *)written->names.items};
    return LODE_OK;
}

static lode_status say_dropped(const struct uft_merge *merge, const struct uft_written_track *written,
                               const char *file, lode_error *error)
{
    if (written->dropped_points > 0)
        LODE_TRY(lode_uft_merge_find(merge, UFT_MERGE_EVENTS, file, error,
                                     "%llu events of a kind that uftrace does not read are omitted",
                                     (unsigned long long)written->dropped_points));
    if (written->dropped_values > 0)
        LODE_TRY(lode_uft_merge_find(merge, UFT_MERGE_EVENTS, file, error,
                                     "%llu events have data that uftrace would not read; it is omitted",
                                     (unsigned long long)written->dropped_values));
    return LODE_OK;
}

static lode_status describe_source(struct describing *self, const struct uft_origin *source,
                                   lode_error *error)
{
    LODE_TRY(find_forked(self, source, error));
    for (uint32_t i = 0; i < source->track_count; i++) {
        const char *file = source->rec->tasks[i].file;
        if (source->tracks[i].is_there)
            LODE_TRY(describe_track(self, source, i, error));
        LODE_TRY(say_dropped(self->merge, &source->tracks[i], file ? file : "", error));
    }
    return describe_dlopens(self, source, error);
}

/* ---- messages and notes ---- */

LODE_COMPARE_BY_2(compare_messages, lode_event, time, id);

static lode_status gather_messages(struct describing *self, uint64_t from, uint64_t to, lode_error *error)
{
    for (size_t i = 0; i < self->merge->count; i++) {
        const struct uft_origin *source = &self->merge->sources[i];
        for (size_t k = 0; k < source->rec->base.message_count; k++) {
            lode_event message = source->rec->base.messages[k];
            message.time = move_time(source, message.time);
            if (message.time < from || message.time >= to)
                continue;
            /* Keeps the order of messages of the same time. */
            message.id = self->messages.count;
            lode_event *added = lode_array_push(&self->messages);
            LODE_TRY_ALLOC(added, error);
            *added = message;
        }
    }
    if (self->messages.count > 0)
        qsort(self->messages.items, self->messages.count, sizeof(lode_event), compare_messages);
    return LODE_OK;
}

/* Concatenates all notes. */
static lode_status gather_notes(struct describing *self, struct lode_range *out, lode_error *error)
{
    uint8_t *bytes = NULL;
    *out = (struct lode_range){NULL, 0};
    for (size_t i = 0; i < self->merge->count; i++) {
        struct lode_input note;
        lode_status status = lode_input_open(&note, &self->merge->sources[i].rec->folder, "note.txt", error);
        if (status == LODE_ABSENT)
            continue;
        LODE_TRY(status);
        if (note.bytes.size > 0 && note.bytes.size < SIZE_MAX - out->size)
            bytes = lode_arena_alloc(&self->arena, (size_t)(out->size + note.bytes.size), 1);
        if (bytes && note.bytes.size > 0) {
            if (out->size > 0)
                memcpy(bytes, out->data, (size_t)out->size);
            memcpy(bytes + out->size, note.bytes.data, (size_t)note.bytes.size);
            *out = (struct lode_range){bytes, out->size + note.bytes.size};
        }
        bool failed = note.bytes.size > 0 && bytes == NULL;
        lode_input_close(&note);
        if (failed)
            return lode_fail_memory(error);
    }
    return LODE_OK;
}

/* ---- top level ---- */

static void describe_header(const struct uft_merge *merge, struct uft_description *out)
{
    for (size_t i = 0; i < merge->count; i++) {
        const struct uft_origin *source = &merge->sources[i];
        uint32_t max_stack = source->rec->info.max_stack;
        for (uint32_t k = 0; k < source->track_count; k++)
            max_stack = source->tracks[k].deepest >= max_stack ? source->tracks[k].deepest + 1 : max_stack;
        out->max_stack = max_stack > out->max_stack ? max_stack : out->max_stack;
        uint64_t features = source->rec->info.features & UFT_FEATURES_KNOWN;
        if (source->drops_values)
            features &= ~(uint64_t)(UFT_FEATURE_ARGUMENTS | UFT_FEATURE_RESULTS | UFT_FEATURE_AUTO_ARGUMENTS);
        out->features |= features;
    }
    out->word = merge->word;
}

static lode_status describe(struct describing *self, struct uft_description *out, uint64_t from, uint64_t to,
                            lode_error *error)
{
    const struct uft_merge *merge = self->merge;
    for (uint32_t i = 0; i < merge->session_count; i++) {
        struct uft_session *session = lode_array_push(&self->sessions);
        LODE_TRY_ALLOC(session, error);
        *session = merge->sessions[i];
    }
    for (size_t i = 0; i < merge->count; i++)
        LODE_TRY(describe_source(self, &merge->sources[i], error));
    LODE_TRY(gather_messages(self, from, to, error));
    LODE_TRY(gather_notes(self, &out->note, error));
    LODE_TRY(lode_uft_merge_lines(merge, out->lines, &self->arena, error));
    describe_header(merge, out);
    out->tids = self->tids.items;
    out->tid_count = (uint32_t)self->tids.count;
    out->modules = merge->modules;
    out->module_count = merge->module_count;
    out->sessions = self->sessions.items;
    out->session_count = (uint32_t)self->sessions.count;
    out->tasks = self->tasks.items;
    out->task_count = (uint32_t)self->tasks.count;
    out->forks = self->forks.items;
    out->fork_count = (uint32_t)self->forks.count;
    out->dlopens = self->dlopens.items;
    out->dlopen_count = (uint32_t)self->dlopens.count;
    out->event_names = merge->event_names;
    out->event_name_count = merge->event_name_count;
    out->messages = self->messages.items;
    out->message_count = self->messages.count;
    out->perf = self->perf.items;
    out->perf_count = self->perf.count;
    return LODE_OK;
}

lode_status lode_uft_merge_finish(const struct uft_merge *merge, struct uft_writer *writer, uint64_t from,
                                  uint64_t to, lode_error *error)
{
    struct describing self = {.merge = merge};
    struct uft_description description = {0};
    lode_arena_init(&self.arena, SIZE_MAX);
    lode_array_init(&self.tids, sizeof(int32_t), INT32_MAX);
    lode_array_init(&self.sessions, sizeof(struct uft_session), INT32_MAX);
    lode_array_init(&self.tasks, sizeof(struct uft_task_line), INT32_MAX);
    lode_array_init(&self.forks, sizeof(struct uft_fork_line), INT32_MAX);
    lode_array_init(&self.dlopens, sizeof(struct uft_dlopen), INT32_MAX);
    lode_array_init(&self.messages, sizeof(lode_event), SIZE_MAX);
    lode_array_init(&self.perf, sizeof(struct uft_written_perf), INT32_MAX);
    lode_map_init(&self.forked);
    lode_map_init(&self.lent);
    lode_status status = describe(&self, &description, from, to, error);
    if (status == LODE_OK)
        status = lode_uft_writer_finish(writer, &description, error);
    struct lode_array *arrays[] = {&self.tids,    &self.sessions, &self.tasks, &self.forks,
                                   &self.dlopens, &self.messages, &self.perf};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        lode_array_free(arrays[i]);
    lode_map_free(&self.forked);
    lode_map_free(&self.lent);
    lode_arena_free(&self.arena);
    return status;
}
