/* SPDX-License-Identifier: BSD-3-Clause */
/* Which lines a timeline has, and to which processes they belong. */
#include "analysis/calls/slice.h"
#include "base/error.h"
#include "base/memory/intern.h"
#include "base/memory/map.h"
#include "base/text/label.h"
#include "export/timelines/tracks_parts.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    IDS_MAX = 16,
    NAME_BYTES = 512,
    LANES_TRIED = 16 /* lines of a thread whose requests overlap */
};

/* ---- both ---- */

static lode_status reserve_lines(struct lode_tracks *self, size_t count, lode_error *error)
{
    self->lines = calloc(count + 1, sizeof *self->lines);
    self->processes = calloc(count + 1, sizeof *self->processes);
    self->sources = calloc(count + 1, sizeof *self->sources);
    LODE_TRY_ALLOC(self->lines && self->processes && self->sources, error);
    return LODE_OK;
}

/* The process of the line that is being added; `number` is where it was first seen, or new. */
static uint32_t add_process(struct lode_tracks *self, uint32_t number, const char *name)
{
    if (number == self->process_count)
        self->processes[self->process_count++] =
            (struct lode_tracks_process){.name = name, .first_line = self->line_count};
    return number;
}

/* ---- databases ---- */

/* Kinds of ids that tell threads of a process apart. */
static bool is_of_thread(const char *kind)
{
    return kind && (strcmp(kind, "THREAD") == 0 || strcmp(kind, "CORE") == 0 || strncmp(kind, "GPU", 3) == 0);
}

/* "GPUCONTEXT" becomes "GPU context"; in a row of such, "GPU" is said once. */
static void put_id(struct lode_label *label, const char *kind, const lode_id *id, bool *says_gpu)
{
    char lower[32];
    size_t length = 0;
    bool is_gpu = kind && strncmp(kind, "GPU", 3) == 0;
    if (label->length > 0)
        lode_label_text(label, " ");
    if (is_gpu && !*says_gpu)
        lode_label_text(label, "GPU ");
    *says_gpu |= is_gpu;
    for (const char *c = kind ? kind + (is_gpu ? 3 : 0) : "id"; *c && length + 1 < sizeof lower; c++)
        lower[length++] = (char)tolower((unsigned char)*c);
    lower[length] = '\0';
    lode_label_text(label, lower);
    lode_label_format(label, " %" PRIu32, id->logical);
}

/* The name of the process of a profile, or of its thread. */
static void put_ids(const lode_database *db, const lode_id *ids, uint32_t count, bool of_thread,
                    bool with_nodes, char *name)
{
    struct lode_label label = {name, NAME_BYTES, 0};
    bool says_gpu = false;
    for (uint32_t i = 0; i < count; i++) {
        const char *kind = lode_database_id_kind_name(db, ids[i].kind);
        bool is_node = kind && strcmp(kind, "NODE") == 0;
        if (is_of_thread(kind) == of_thread && (with_nodes || !is_node || count == 1))
            put_id(&label, kind, &ids[i], &says_gpu);
    }
    if (label.length == 0)
        lode_label_text(&label, of_thread ? "thread" : "process");
    lode_label_end(&label);
}

static lode_status ids_of(const lode_database *db, uint32_t profile, lode_id *ids, uint32_t *count,
                          lode_error *error)
{
    *count = 0;
    LODE_TRY(lode_profile_ids(db, profile, ids, IDS_MAX, count, error));
    *count = *count < IDS_MAX ? *count : IDS_MAX;
    return LODE_OK;
}

/* Whether profiles come from several nodes. */
static lode_status has_nodes(const struct lode_tracks *self, bool *several, lode_error *error)
{
    const lode_database *db = self->options.db;
    bool known = false;
    uint32_t first = 0, count;
    *several = false;
    for (uint32_t i = 0; i < self->window.count && !*several; i++) {
        lode_id ids[IDS_MAX];
        LODE_TRY(ids_of(db, self->window.profiles[i], ids, &count, error));
        for (uint32_t k = 0; k < count; k++) {
            const char *kind = lode_database_id_kind_name(db, ids[k].kind);
            if (kind == NULL || strcmp(kind, "NODE") != 0)
                continue;
            *several = known && ids[k].logical != first;
            first = ids[k].logical;
            known = true;
        }
    }
    return LODE_OK;
}

struct profiles {
    struct lode_tracks *tracks;
    struct lode_strings keys; /* of processes: ids with node */
    bool with_nodes;
};

static lode_status add_profile(struct profiles *self, uint32_t item, uint64_t begin, uint64_t end,
                               uint64_t bytes, lode_error *error)
{
    struct lode_tracks *tracks = self->tracks;
    const lode_database *db = tracks->options.db;
    uint32_t profile = tracks->window.profiles[item], count;
    lode_id ids[IDS_MAX];
    char key[NAME_BYTES], process[NAME_BYTES], thread[NAME_BYTES];
    LODE_TRY(ids_of(db, profile, ids, &count, error));
    put_ids(db, ids, count, false, true, key);
    put_ids(db, ids, count, false, self->with_nodes, process);
    put_ids(db, ids, count, true, true, thread);
    uint32_t number = lode_strings_add(&self->keys, key);
    const char *process_name = lode_tracks_text(tracks, process);
    const char *thread_name = lode_tracks_text(tracks, thread);
    LODE_TRY_ALLOC(number != LODE_NO_NUMBER && process_name && thread_name, error);
    struct lode_line line = {.index = tracks->line_count,
                             .process = add_process(tracks, number, process_name),
                             .tid = profile < INT32_MAX ? (int32_t)profile + 1 : 0,
                             .name = thread_name,
                             .source = profile,
                             .begin = begin,
                             .end = end,
                             .bytes = bytes,
                             .window_bytes = bytes,
                             .first = tracks->line_count,
                             .count = 1};
    tracks->sources[tracks->line_count] = tracks->window.lines[item];
    tracks->lines[tracks->line_count++] = line;
    return LODE_OK;
}

static lode_status add_trace_line(struct profiles *self, uint32_t item, lode_error *error)
{
    const struct lode_window *window = &self->tracks->window;
    lode_trace_line line;
    LODE_TRY(lode_database_trace_line(self->tracks->options.db, window->lines[item], &line, error));
    if (line.sample_count == 0)
        return LODE_OK;
    struct lode_window_walk walk = window_walk(window, &line);
    struct lode_window_sample first;
    uint64_t last = trace_time(&line, line.sample_count - 1);
    if (last < window->from || !window_next(&walk, &first))
        return LODE_OK;
    uint64_t end = last < window->to ? last : window->to;
    uint64_t beyond = lode_trace_line_seek(&line, window->to);
    uint64_t samples = beyond > walk.next - 1 ? beyond - (walk.next - 1) : 1;
    return add_profile(self, item, first.from, end > first.from ? end : first.from,
                       samples * TRACE_SAMPLE_SIZE, error);
}

static lode_status find_trace_lines(struct lode_tracks *self, lode_error *error)
{
    const lode_slice *slice = &self->options.slice;
    uint64_t to = slice->to == 0 && slice->from > 0 ? UINT64_MAX : slice->to;
    LODE_TRY(
        lode_window_init(&self->window, self->options.db, self->options.selection, slice->from, to, error));
    LODE_TRY(reserve_lines(self, self->window.count, error));
    struct profiles profiles = {.tracks = self};
    lode_strings_init(&profiles.keys);
    lode_status status = has_nodes(self, &profiles.with_nodes, error);
    for (uint32_t i = 0; i < self->window.count && status == LODE_OK; i++)
        status = add_trace_line(&profiles, i, error);
    lode_strings_free(&profiles.keys);
    return status;
}

/* ---- recordings ---- */

/* A track with something in the time window. */
struct found {
    uint32_t track;
    int32_t pid, tid;
    uint64_t begin, end;
    double share;  /* of its time that is in the time window */
    uint32_t line; /* that it goes to */
};

static lode_status find_track(struct lode_tracks *self, uint32_t track, struct found *found, bool *is_there,
                              lode_error *error)
{
    const lode_slice *slice = &self->options.slice;
    const lode_track *known = lode_recording_track(self->options.recording, track);
    uint64_t begin, end;
    lode_status status = lode_track_interval(self->options.recording, track, &begin, &end, error);
    *is_there = status == LODE_OK && lode_slice_meets(slice, begin, end);
    if (!*is_there)
        return status == LODE_ABSENT ? LODE_OK : status;
    double whole = (double)(end - begin);
    if (slice->to > 0 && end > slice->to)
        end = slice->to;
    begin = begin > slice->from ? begin : slice->from;
    end = end > begin ? end : begin;
    *found = (struct found){track, known->pid, known->tid, begin, end, 1, 0};
    if (whole > 0)
        found->share = (double)(end - begin) / whole;
    return LODE_OK;
}

/* By thread, then chronological. */
static int compare_requests(const void *left, const void *right)
{
    const struct found *a = left, *b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

static int compare_by_line(const void *left, const void *right)
{
    const struct found *a = left, *b = right;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

/* Requests of a thread go to one line, unless they overlap. Lines are numbered by first use. */
static uint32_t share_lines(struct found *items, size_t count)
{
    uint64_t ends[LANES_TRIED];
    uint32_t lines = 0, first = 0;
    qsort(items, count, sizeof *items, compare_requests);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || items[i].pid != items[i - 1].pid || items[i].tid != items[i - 1].tid)
            first = lines;
        uint32_t line = first;
        while (line < lines && line - first < LANES_TRIED && ends[line - first] > items[i].begin)
            line++;
        if (line - first >= LANES_TRIED)
            line = lines;
        lines += line == lines;
        if (line - first < LANES_TRIED)
            ends[line - first] = items[i].end;
        items[i].line = line;
    }
    qsort(items, count, sizeof *items, compare_by_line);
    return lines;
}

static lode_status add_recorded(struct lode_tracks *self, struct lode_map *pids, const struct found *found,
                                lode_error *error)
{
    const lode_recording *recording = self->options.recording;
    const lode_track *track = lode_recording_track(recording, found->track);
    char text[64];
    bool added, is_request = lode_recording_has_requests(recording) != 0;
    uint32_t *number = lode_map_add(pids, (uint32_t)found->pid, self->process_count, &added);
    LODE_TRY_ALLOC(number, error);
    snprintf(text, sizeof text, is_request ? "thread %" PRId32 : "process %" PRId32,
             is_request ? found->tid : found->pid);
    const char *program = lode_path_tail(track->program);
    const char *thread_name = lode_tracks_text(self, is_request ? text : track->name);
    const char *process_name =
        lode_tracks_text(self, program[0] ? program : (is_request ? "process" : track->name));
    LODE_TRY_ALLOC(thread_name && process_name, error);
    struct lode_line line = {.index = self->line_count,
                             .process = add_process(self, *number, process_name),
                             .tid = found->tid,
                             .name = thread_name,
                             .source = found->track,
                             .begin = found->begin};
    if (added)
        self->processes[line.process].pid = found->pid;
    self->lines[self->line_count++] = line;
    return LODE_OK;
}

static lode_status add_lines(struct lode_tracks *self, const struct found *items, uint32_t count,
                             lode_error *error)
{
    struct lode_map pids;
    lode_status status = LODE_OK;
    lode_map_init(&pids);
    for (uint32_t i = 0; i < count && status == LODE_OK; i++) {
        if (i == 0 || items[i].line != items[i - 1].line) {
            status = add_recorded(self, &pids, &items[i], error);
            if (status != LODE_OK)
                break;
            self->lines[self->line_count - 1].first = i;
        }
        struct lode_line *line = &self->lines[self->line_count - 1];
        line->end = items[i].end > line->end ? items[i].end : line->end;
        uint64_t bytes = lode_recording_track(self->options.recording, items[i].track)->bytes;
        line->bytes += bytes;
        line->window_bytes += (uint64_t)((double)bytes * items[i].share);
        self->sources[i] = items[i].track;
        line->count++;
    }
    lode_map_free(&pids);
    return status;
}

static lode_status find_tracks(struct lode_tracks *self, lode_error *error)
{
    const lode_slice *slice = &self->options.slice;
    uint32_t count, found = 0;
    LODE_TRY(lode_slice_tracks(slice, self->options.recording, &count, error));
    LODE_TRY(reserve_lines(self, count, error));
    struct found *items = calloc((size_t)count + 1, sizeof *items);
    LODE_TRY_ALLOC(items, error);
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < count && status == LODE_OK; i++) {
        bool is_there = false;
        status = find_track(self, lode_slice_track(slice, i), &items[found], &is_there, error);
        items[found].line = found;
        found += is_there;
    }
    if (lode_recording_has_requests(self->options.recording))
        share_lines(items, found);
    if (status == LODE_OK)
        status = add_lines(self, items, found, error);
    free(items);
    return status;
}

lode_status lode_tracks_find_lines(struct lode_tracks *self, lode_error *error)
{
    return self->options.db ? find_trace_lines(self, error) : find_tracks(self, error);
}
