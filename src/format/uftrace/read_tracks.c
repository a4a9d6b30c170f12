/* SPDX-License-Identifier: BSD-3-Clause */
/* Tracks: the tasks, their metadata, and their sessions over time. */
#include "base/compare.h"
#include "base/error.h"
#include "format/uftrace/read.h"
#include <lode/name.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ANCESTORS_MAX = 64,
    TRACKS_MAX = 1 << 22
};

struct tracks {
    struct uft_opening *opening;
    struct lode_array tids; /* int32_t, in the order of tracks */
    struct lode_map by_tid; /* to the index of the track */
    struct lode_map tasks;  /* tid, to its first line */
    struct lode_map forks;  /* pid of a child, to its first line */
    uint32_t *sessions;     /* indices, by (pid, time) */
    uint64_t *times;        /* of those */
    uint32_t session_count;
    const struct uft_session *all; /* sessions */
};

/* ---- thread ids ---- */

static lode_status add_tid(struct tracks *self, int32_t tid, bool *is_new)
{
    uint32_t index = (uint32_t)self->tids.count;
    if (lode_map_add(&self->by_tid, (uint64_t)tid, index, is_new) == NULL)
        return lode_fail_memory(self->opening->error);
    if (!*is_new)
        return LODE_OK;
    int32_t *added = lode_array_push(&self->tids);
    LODE_TRY_ALLOC(added, self->opening->error);
    *added = tid;
    return LODE_OK;
}

/* "123.dat" is the data of thread 123. */
static bool tid_of_file(const char *name, int32_t *tid)
{
    struct uft_text text = {name, name + strlen(name)};
    return uft_take_id(&text, tid) && *tid > 0 && uft_equals(text, ".dat");
}

static lode_status list_tids(struct tracks *self)
{
    struct uft_opening *opening = self->opening;
    const struct uft_info *info = &opening->rec->info;
    bool is_new;
    for (uint32_t i = 0; i < info->tid_count; i++)
        LODE_TRY(add_tid(self, info->tids[i], &is_new));
    for (size_t i = 0; i < opening->name_count; i++) {
        int32_t tid;
        if (!tid_of_file(opening->names[i], &tid))
            continue;
        LODE_TRY(add_tid(self, tid, &is_new));
        if (is_new && info->tid_count > 0)
            LODE_TRY(lode_report_add(opening->report, UFT_DATA_UNLISTED, opening->names[i], LODE_NO_OFFSET,
                                     "task %d is not in the list of the info file", tid));
    }
    return LODE_OK;
}

/* ---- sessions ---- */

static int compare_sessions(const void *left, const void *right, void *all)
{
    uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    const struct uft_session *a = (const struct uft_session *)all + i,
                             *b = (const struct uft_session *)all + k;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return i < k ? -1 : i > k;
}

static lode_status sort_sessions(struct tracks *self)
{
    struct uft_recording *rec = self->opening->rec;
    self->session_count = rec->session_count;
    self->all = rec->sessions;
    self->sessions = lode_arena_alloc(self->opening->arena, rec->session_count, sizeof *self->sessions);
    self->times = lode_arena_alloc(self->opening->arena, rec->session_count, sizeof *self->times);
    LODE_TRY_ALLOC(self->sessions && self->times, self->opening->error);
    for (uint32_t i = 0; i < rec->session_count; i++)
        self->sessions[i] = i;
    if (rec->session_count > 0)
        qsort_r(self->sessions, rec->session_count, sizeof *self->sessions, compare_sessions, rec->sessions);
    for (uint32_t i = 0; i < rec->session_count; i++)
        self->times[i] = self->all[self->sessions[i]].time;
    return LODE_OK;
}

/* The first session, in the sorted list, that is not before (pid, time). */
static uint32_t session_from(const struct tracks *self, int64_t pid, uint64_t time)
{
    uint32_t low = 0, high = self->session_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct uft_session *session = &self->all[self->sessions[middle]];
        if (session->pid < pid || (session->pid == pid && session->time < time))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The session of the parent at the fork, or inherited by it in turn; LODE_NO_INDEX if none. */
static uint32_t inherited_session(const struct tracks *self, int32_t pid)
{
    const struct uft_fork_line *forks = self->opening->forks.items;
    for (int generation = 0; generation < ANCESTORS_MAX; generation++) {
        const uint32_t *fork = lode_map_get(&self->forks, (uint64_t)pid);
        if (fork == NULL)
            return LODE_NO_INDEX;
        const struct uft_fork_line *line = &forks[*fork];
        uint32_t first = session_from(self, line->parent, 0);
        uint32_t end = session_from(self, line->parent + INT64_C(1), 0);
        uint32_t after = line->time < UINT64_MAX ? session_from(self, line->parent, line->time + 1) : end;
        if (first < end)
            return self->sessions[after > first ? after - 1 : first];
        pid = line->parent;
    }
    return LODE_NO_INDEX;
}

static lode_status set_sessions(struct tracks *self, const lode_track *track, struct uft_task *task)
{
    struct uft_opening *opening = self->opening;
    uint32_t first = session_from(self, track->pid, 0);
    task->session_count = session_from(self, track->pid + INT64_C(1), 0) - first;
    task->sessions = self->sessions + first;
    task->times = self->times + first;
    task->inherited = inherited_session(self, track->pid);
    if (task->inherited != LODE_NO_INDEX || task->session_count > 0)
        return LODE_OK;
    /* A guessed session is reported already, for all. */
    if (self->session_count == 1) {
        task->inherited = 0;
        return self->all[0].pid == 0
                   ? LODE_OK
                   : lode_report_add(opening->report, UFT_SESSION_MISSING, "task.txt", LODE_NO_OFFSET,
                                     "task %d has no session; the only one is used", track->tid);
    }
    return lode_report_add(opening->report, UFT_SESSION_MISSING, "task.txt", LODE_NO_OFFSET,
                           "task %d has no session: its addresses have no names", track->tid);
}

/* ---- metadata ---- */

static lode_status index_lines(struct tracks *self)
{
    struct uft_opening *opening = self->opening;
    for (size_t i = 0; i < opening->tasks.count; i++) {
        const struct uft_task_line *line = LODE_ARRAY_AT(&opening->tasks, struct uft_task_line, i);
        if (lode_map_add(&self->tasks, (uint64_t)line->tid, (uint32_t)i, NULL) == NULL)
            return lode_fail_memory(opening->error);
    }
    for (size_t i = 0; i < opening->forks.count; i++) {
        const struct uft_fork_line *line = LODE_ARRAY_AT(&opening->forks, struct uft_fork_line, i);
        if (lode_map_add(&self->forks, (uint64_t)line->child, (uint32_t)i, NULL) == NULL)
            return lode_fail_memory(opening->error);
    }
    return LODE_OK;
}

static lode_status identify(struct tracks *self, lode_track *track, struct uft_task *task)
{
    struct uft_opening *opening = self->opening;
    const uint32_t *fork = lode_map_get(&self->forks, (uint64_t)track->tid);
    const uint32_t *line = lode_map_get(&self->tasks, (uint64_t)track->tid);
    track->pid = track->tid;
    if (line) {
        const struct uft_task_line *known = LODE_ARRAY_AT(&opening->tasks, struct uft_task_line, *line);
        track->pid = known->pid;
        task->time = known->time;
    }
    if (fork) {
        const struct uft_fork_line *known = LODE_ARRAY_AT(&opening->forks, struct uft_fork_line, *fork);
        track->parent = task->parent = known->parent;
        task->is_forked = true;
        /* The fork line comes first: a task line is of the program that was executed later. */
        task->time = known->time;
        track->pid = track->tid;
    }
    if (line || fork)
        return LODE_OK;
    return lode_report_add(opening->report, UFT_TASK_UNKNOWN, "task.txt", LODE_NO_OFFSET,
                           "task %d has no line", track->tid);
}

static lode_status find_data(struct tracks *self, lode_track *track, struct uft_task *task)
{
    struct uft_opening *opening = self->opening;
    char name[32];
    int length = snprintf(name, sizeof name, "%d.dat", track->tid);
    lode_status status = lode_folder_size(&opening->rec->folder, name, &track->bytes, opening->error);
    if (status < 0)
        return status;
    LODE_TRY(lode_uft_text(opening, (struct uft_text){name, name + length}, &task->file));
    if (status == LODE_ABSENT) {
        status = lode_report_add(opening->report, UFT_DATA_MISSING, task->file, LODE_NO_OFFSET,
                                 "task %d has no data file", track->tid);
        task->file = NULL;
        return status;
    }
    if (track->bytes > 0)
        return LODE_OK;
    return lode_report_add(opening->report, UFT_TASK_EMPTY, task->file, LODE_NO_OFFSET,
                           "task %d has no records", track->tid);
}

/* The last name of the thread, or the name of its program. */
static void set_names(const struct uft_recording *rec, lode_track *track, const struct uft_task *task)
{
    uint32_t first = task->inherited != LODE_NO_INDEX ? task->inherited
                     : task->session_count            ? task->sessions[0]
                                                      : LODE_NO_INDEX;
    uint32_t last = task->session_count ? task->sessions[task->session_count - 1] : first;
    track->program = first != LODE_NO_INDEX ? rec->sessions[first].program : "";
    track->name = last != LODE_NO_INDEX ? lode_path_tail(rec->sessions[last].program) : "";
    for (uint64_t i = 0; task->perf && i < task->perf->count; i++) {
        const struct lode_uft_perf_event *event = &rec->perf.events[task->perf->first + i];
        if (event->kind == UFT_PERF_NAME && event->cpu < rec->perf.name_count)
            track->name = rec->perf.names[event->cpu];
    }
}

/* ---- perf ---- */

static bool cpu_of_file(const char *name, uint32_t *cpu)
{
    struct uft_text text = {name, name + strlen(name)};
    uint64_t number;
    if (!uft_take(&text, "perf-cpu") || !uft_take_number(&text, 10, &number) || number > UINT32_MAX)
        return false;
    *cpu = (uint32_t)number;
    return uft_equals(text, ".dat");
}

static lode_status open_perf_files(struct tracks *self, struct lode_array *files, struct lode_array *sources)
{
    struct uft_opening *opening = self->opening;
    for (size_t i = 0; i < opening->name_count; i++) {
        uint32_t cpu;
        if (!cpu_of_file(opening->names[i], &cpu))
            continue;
        struct lode_input *source = lode_array_push(sources);
        struct lode_uft_perf_file *file = source ? lode_array_push(files) : NULL;
        LODE_TRY_ALLOC(file, opening->error);
        lode_status status =
            lode_input_open(source, &opening->rec->folder, opening->names[i], opening->error);
        if (status < 0)
            return status;
        *file = (struct lode_uft_perf_file){opening->names[i], source->bytes, cpu};
        opening->rec->base.has_sched |= source->bytes.size > 0;
    }
    return LODE_OK;
}

static lode_status read_perf(struct tracks *self)
{
    struct uft_opening *opening = self->opening;
    struct lode_array files, sources;
    size_t count = self->tids.count;
    lode_array_init(&files, sizeof(struct lode_uft_perf_file), 1 << 20);
    lode_array_init(&sources, sizeof(struct lode_input), 1 << 20);
    int32_t *tids = calloc(count + 1, sizeof *tids);
    lode_status status = tids ? open_perf_files(self, &files, &sources) : lode_fail_memory(opening->error);
    if (status == LODE_OK) {
        memcpy(tids, self->tids.items ? self->tids.items : tids, count * sizeof *tids);
        qsort(tids, count, sizeof *tids, lode_compare_i32);
        status = lode_uft_perf_read(&opening->rec->perf, files.items, files.count, tids, count,
                                    opening->rec->info.big_endian, opening->report, opening->error);
    }
    for (size_t i = 0; i < sources.count; i++)
        lode_input_close(LODE_ARRAY_AT(&sources, struct lode_input, i));
    lode_array_free(&files);
    lode_array_free(&sources);
    free(tids);
    return status;
}

/* ---- all ---- */

static lode_status read_track(struct tracks *self, uint32_t index)
{
    struct uft_recording *rec = self->opening->rec;
    lode_track *track = &rec->base.tracks[index];
    track->id = "";
    struct uft_task *task = &rec->tasks[index];
    track->index = index;
    track->tid = *LODE_ARRAY_AT(&self->tids, int32_t, index);
    LODE_TRY(identify(self, track, task));
    LODE_TRY(find_data(self, track, task));
    LODE_TRY(set_sessions(self, track, task));
    task->perf = lode_uft_perf_find(&rec->perf, track->tid);
    set_names(rec, track, task);
    return LODE_OK;
}

static lode_status read_all(struct tracks *self)
{
    struct uft_opening *opening = self->opening;
    struct uft_recording *rec = opening->rec;
    LODE_TRY(list_tids(self));
    LODE_TRY(index_lines(self));
    LODE_TRY(sort_sessions(self));
    LODE_TRY(read_perf(self));
    rec->base.track_count = (uint32_t)self->tids.count;
    rec->base.tracks = lode_arena_alloc(opening->arena, self->tids.count, sizeof *rec->base.tracks);
    rec->tasks = lode_arena_alloc(opening->arena, self->tids.count, sizeof *rec->tasks);
    LODE_TRY_ALLOC(rec->base.tracks && rec->tasks, opening->error);
    for (uint32_t i = 0; i < rec->base.track_count; i++)
        LODE_TRY(read_track(self, i));
    return LODE_OK;
}

lode_status lode_uft_read_tracks(struct uft_opening *opening)
{
    struct tracks self = {.opening = opening};
    lode_array_init(&self.tids, sizeof(int32_t), TRACKS_MAX);
    lode_map_init(&self.by_tid);
    lode_map_init(&self.tasks);
    lode_map_init(&self.forks);
    lode_status status = read_all(&self);
    lode_array_free(&self.tids);
    lode_map_free(&self.by_tid);
    lode_map_free(&self.tasks);
    lode_map_free(&self.forks);
    return status;
}
