/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * speedscope: JSON. What threads did is an evented profile each; costs are a sampled profile for
 * each metric. Its importer refuses calls that are open or cross, and calls itself for each level
 * of a stack. Times count from the first event: since the epoch, a double would not hold them.
 */
#include "base/error.h"
#include "base/text/count.h"
#include "export/formats.h"
#include "export/json.h"
#include "export/stacks/stacks.h"
#include "export/timelines/tracks.h"
#include "model/recording/open_calls.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

enum {
    LEVELS_MAX = 3000, /* that its importer bears */
    EVENT_SIZE = 41,   /* of an event, for estimates */
    SIZE_MAX_IN_BROWSER = 450 * 1000 * 1000,
    FLUSH = 64 * 1024
};
#define EXACT_DOUBLE (UINT64_C(1) << 53)

struct thread {
    struct lode_open_calls open; /* of uint32_t: frames */
    bool has_events;
    uint64_t cut; /* calls that are too deep */
};

struct speedscope {
    struct lode_export *job;
    struct lode_tracks *tracks; /* NULL: no timeline */
    bool has_stacks;
    struct lode_stacks stacks;
    struct lode_wire out;
    uint64_t base, end;   /* of all threads */
    uint64_t profiles;    /* that were begun */
    uint32_t first_frame; /* of the timeline, behind those of stacks */
    uint32_t *path;       /* frames of a stack */
    uint32_t capacity;
    uint64_t stacks_cut;
    atomic_uint_fast64_t calls_cut;
};

/* {"type":TYPE,"name":"FIRST SECOND", of a profile. */
static void put_profile(struct lode_wire *out, bool is_first, const char *type, const char *first,
                        const char *second)
{
    json_text(out, is_first ? "\n{\"type\":\"" : ",\n{\"type\":\"");
    json_text(out, type);
    json_text(out, "\",\"name\":\"");
    json_escaped(out, first);
    json_text(out, first[0] && second[0] ? " " : "");
    json_escaped(out, second);
    json_text(out, "\",\"unit\":\"");
}

/* ---- stacks ---- */

static const char *unit_of(const struct lode_stack_metric *metric)
{
    static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(metric->unit, known[i]) == 0)
            return known[i];
    return "none";
}

static lode_status reserve_path(struct speedscope *self, uint32_t depth, lode_error *error)
{
    if (depth <= self->capacity)
        return LODE_OK;
    return LODE_GROW(self->path, self->capacity, 2 * (size_t)depth) ? LODE_OK : lode_fail_memory(error);
}

/* The stack of a position; levels that are too deep are left out. */
static lode_status put_stack(struct speedscope *self, const struct lode_position *position, bool is_first,
                             lode_error *error)
{
    uint32_t depth = position->depth < LEVELS_MAX ? position->depth : LEVELS_MAX;
    self->stacks_cut += position->depth > LEVELS_MAX;
    json_text(&self->out, is_first ? "[" : ",[");
    if (depth == 0) {
        uint32_t frame;
        LODE_TRY(lode_export_frames_named(&self->stacks.frames, "<no stack>", &frame, error));
        json_number(&self->out, frame);
    }
    for (uint32_t i = 0; i < depth; i++) {
        if (i > 0)
            json_text(&self->out, ",");
        json_number(&self->out, self->path[i]);
    }
    json_text(&self->out, "]");
    return lode_wire_flush(&self->out, self->job->file, FLUSH, error);
}

static lode_status put_samples(struct speedscope *self, size_t metric, lode_error *error)
{
    const struct lode_stacks *stacks = &self->stacks;
    bool is_first = true;
    for (uint32_t i = 0; i < stacks->count; i++) {
        const struct lode_position *position = &stacks->positions[i];
        /* In depth-first order, the path is already there but for the last level. */
        LODE_TRY(reserve_path(self, position->depth, error));
        if (position->depth > 0)
            self->path[position->depth - 1] = position->frame;
        if (stacks->values[i * stacks->metric_count + metric] <= 0)
            continue;
        LODE_TRY(put_stack(self, position, is_first, error));
        is_first = false;
    }
    return LODE_OK;
}

static lode_status put_weights(struct speedscope *self, size_t metric, lode_error *error)
{
    const struct lode_stacks *stacks = &self->stacks;
    const char *comma = "";
    for (uint32_t i = 0; i < stacks->count; i++) {
        int64_t value = stacks->values[i * stacks->metric_count + metric];
        if (value <= 0)
            continue;
        json_text(&self->out, comma);
        json_number(&self->out, (uint64_t)value);
        comma = ",";
        LODE_TRY(lode_wire_flush(&self->out, self->job->file, FLUSH, error));
    }
    return LODE_OK;
}

static lode_status write_sampled(struct speedscope *self, size_t metric, lode_error *error)
{
    const struct lode_stacks *stacks = &self->stacks;
    const struct lode_stack_metric *what = &stacks->metrics[metric];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < stacks->count; i++) {
        int64_t value = stacks->values[i * stacks->metric_count + metric];
        sum += value > 0 ? (uint64_t)value : 0;
    }
    put_profile(&self->out, self->profiles++ == 0, "sampled", stacks->group.label, what->name);
    json_text(&self->out, unit_of(what));
    json_text(&self->out, "\",\"startValue\":0,\"endValue\":");
    json_number(&self->out, sum);
    json_text(&self->out, ",\"samples\":[");
    LODE_TRY(put_samples(self, metric, error));
    json_text(&self->out, "],\"weights\":[");
    LODE_TRY(put_weights(self, metric, error));
    json_text(&self->out, "]}");
    return LODE_OK;
}

static lode_status write_stacks(struct speedscope *self, lode_error *error)
{
    lode_status status;
    while ((status = lode_stacks_next(&self->stacks, error)) == LODE_OK)
        for (size_t i = 0; i < self->stacks.metric_count; i++)
            LODE_TRY(write_sampled(self, i, error));
    return status == LODE_END ? LODE_OK : status;
}

/* ---- the timeline ---- */

static lode_status begin(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                         lode_error *error)
{
    const struct speedscope *self = user;
    struct thread *thread = state;
    (void)error;
    if (thread->open.items.item_size == 0)
        open_calls_init(&thread->open, sizeof(uint32_t), LEVELS_MAX);
    put_profile(out, self->profiles == 0 && line->index == 0, "evented",
                lode_tracks_process(self->tracks, line->process)->name, line->name);
    json_text(out, "nanoseconds\",\"startValue\":0,\"endValue\":");
    json_number(out, self->end - self->base);
    json_text(out, ",\"events\":[");
    return LODE_OK;
}

static void put_event(const struct speedscope *self, struct thread *thread, const char *kind, uint32_t frame,
                      uint64_t time, struct lode_wire *out)
{
    json_text(out, thread->has_events ? ",\n" : "\n");
    thread->has_events = true;
    json_text(out, kind);
    json_number(out, (uint64_t)self->first_frame + frame);
    json_text(out, ",\"at\":");
    json_number(out, time > self->base ? time - self->base : 0);
    json_text(out, "}");
}

static lode_status put(const struct speedscope *self, struct thread *thread, const lode_event *event,
                       struct lode_wire *out, lode_error *error)
{
    uint32_t *frame;
    switch (open_calls_take(&thread->open, event)) {
    case LODE_CALL_BEGINS:
        frame = open_calls_push(&thread->open);
        LODE_TRY_ALLOC(frame, error);
        *frame = lode_tracks_rank(self->tracks, event->function);
        put_event(self, thread, "{\"type\":\"O\",\"frame\":", *frame, event->time, out);
        break;
    case LODE_CALL_ENDS:
        frame = open_calls_pop(&thread->open);
        put_event(self, thread, "{\"type\":\"C\",\"frame\":", *frame, event->time, out);
        break;
    case LODE_CALL_HIDES:
        thread->cut++;
        break;
    case LODE_CALL_NONE:
        break;
    }
    return LODE_OK;
}

static lode_status take(void *user, void *state, const struct lode_line *line, uint32_t track,
                        const lode_event *events, size_t count, struct lode_wire *out, lode_error *error)
{
    (void)line, (void)track;
    for (size_t i = 0; i < count; i++)
        LODE_TRY(put(user, state, &events[i], out, error));
    return LODE_OK;
}

static lode_status end(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                       lode_error *error)
{
    struct speedscope *self = user;
    struct thread *thread = state;
    (void)line, (void)error;
    json_text(out, "]}");
    atomic_fetch_add(&self->calls_cut, thread->cut);
    open_calls_reset(&thread->open);
    thread->has_events = false;
    thread->cut = 0;
    return LODE_OK;
}

static void close(void *user, void *state)
{
    struct thread *thread = state;
    (void)user;
    open_calls_free(&thread->open);
}

static lode_status write_timeline(struct speedscope *self, lode_error *error)
{
    struct lode_encoder encoder = {.state_size = sizeof(struct thread),
                                   .user = self,
                                   .begin = begin,
                                   .take = take,
                                   .end = end,
                                   .close = close};
    struct lode_tracks_counts counts;
    LODE_TRY(lode_tracks_warn(self->tracks, self->job, EVENT_SIZE, SIZE_MAX_IN_BROWSER, "speedscope", error));
    LODE_TRY(lode_tracks_find_frames(self->tracks, error));
    if (self->has_stacks)
        self->first_frame = lode_export_frames_count(&self->stacks.frames);
    LODE_TRY(lode_wire_flush(&self->out, self->job->file, 1, error));
    LODE_TRY(lode_tracks_run(self->tracks, &encoder, &counts, error));
    self->profiles += lode_tracks_line_count(self->tracks);
    return lode_tracks_report(self->job, &counts, error);
}

/* ---- frames ---- */

/* The module stands for a file that is not known. */
static lode_status put_frame(struct speedscope *self, bool is_first, const struct lode_export_frame *frame,
                             lode_error *error)
{
    const char *file = frame->file[0] ? frame->file : frame->module;
    json_text(&self->out, is_first ? "\n{\"name\":" : ",\n{\"name\":");
    json_string(&self->out, frame->name);
    if (file[0]) {
        json_text(&self->out, ",\"file\":");
        json_string(&self->out, file);
    }
    if (frame->file[0] && frame->line > 0) {
        json_text(&self->out, ",\"line\":");
        json_number(&self->out, frame->line);
    }
    json_text(&self->out, "}");
    return lode_wire_flush(&self->out, self->job->file, FLUSH, error);
}

static lode_status put_timeline_frame(struct speedscope *self, uint32_t rank, lode_error *error)
{
    const lode_function *function = lode_tracks_frame(self->tracks, rank);
    const struct lode_frame_name *name = lode_tracks_name(self->tracks, function);
    const lode_file *file = lode_function_file(function);
    const lode_module *module = lode_function_module(function);
    LODE_TRY_ALLOC(name, error);
    struct lode_export_frame frame = {.name = name->text,
                                      .file = file ? lode_file_path(file) : "",
                                      .module = module ? lode_module_path(module) : "",
                                      .line = lode_function_line(function)};
    return put_frame(self, self->first_frame + rank == 0, &frame, error);
}

static lode_status write_frames(struct speedscope *self, lode_error *error)
{
    uint32_t count = self->has_stacks ? lode_export_frames_count(&self->stacks.frames) : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct lode_export_frame frame = lode_export_frames_at(&self->stacks.frames, i);
        LODE_TRY(put_frame(self, i == 0, &frame, error));
    }
    for (uint32_t i = 0; self->tracks && i < lode_tracks_frame_count(self->tracks); i++)
        LODE_TRY(put_timeline_frame(self, i, error));
    return LODE_OK;
}

/* ---- the file ---- */

/* Events stream: what they point to comes last. */
static lode_status write_all(struct speedscope *self, lode_error *error)
{
    const struct lode_export *job = self->job;
    const char *title = job->options->title;
    if (title == NULL)
        title = job->db ? lode_database_title(job->db) : "";
    json_text(&self->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                          "\"exporter\":\"lode@");
    json_text(&self->out, lode_version());
    json_text(&self->out, "\",\"name\":");
    json_text(&self->out, "\"");
    json_escaped(&self->out, title);
    if (self->tracks) {
        lode_tracks_bounds(self->tracks, &self->base, &self->end);
        json_text(&self->out, title[0] ? " (time 0 is " : "(time 0 is ");
        json_number(&self->out, self->base);
        json_text(&self->out, " ns)");
    }
    json_text(&self->out, "\"");
    json_text(&self->out, ",\"activeProfileIndex\":0,\n\"profiles\":[");
    if (self->has_stacks)
        LODE_TRY(write_stacks(self, error));
    if (self->tracks)
        LODE_TRY(write_timeline(self, error));
    json_text(&self->out, "],\n\"shared\":{\"frames\":[");
    LODE_TRY(write_frames(self, error));
    json_text(&self->out, "]}}\n");
    return lode_wire_flush(&self->out, self->job->file, 1, error);
}

static lode_status report(struct speedscope *self, lode_error *error)
{
    LODE_TRY(
        lode_tracks_report_cut(self->job, self->calls_cut, LEVELS_MAX, "speedscope bears no more", error));
    if (self->stacks_cut > 0)
        LODE_TRY(lode_export_lost(self->job, "depth", error, "%s cut at %d levels: speedscope bears no more",
                                  LODE_COUNTED(self->stacks_cut, "stack was", "stacks were"), LEVELS_MAX));
    return self->has_stacks ? lode_stacks_report(&self->stacks, error) : LODE_OK;
}

/* A timeline where there is one, unless options ask for costs; both with --samples. */
static lode_status open_parts(struct speedscope *self, lode_error *error)
{
    static const struct lode_stack_form form = {.no_negative = true, .limit = EXACT_DOUBLE};
    const lode_export_options *options = self->job->options;
    bool wants_costs = options->metric_count > 0 || options->by_profile || options->focus || options->loops;
    if (!wants_costs || options->samples) {
        lode_status status = lode_tracks_open(&self->tracks, self->job, error);
        if (status != LODE_OK) {
            lode_tracks_close(self->tracks);
            self->tracks = NULL;
        }
        if (status != LODE_OK && status != LODE_ABSENT)
            return status;
    }
    self->has_stacks = self->tracks == NULL || options->samples;
    return self->has_stacks ? lode_stacks_open(&self->stacks, self->job, &form, error) : LODE_OK;
}

static lode_status run(struct lode_export *job, lode_error *error)
{
    struct speedscope self = {.job = job};
    lode_status status = open_parts(&self, error);
    if (status == LODE_OK)
        status = write_all(&self, error);
    if (status == LODE_OK)
        status = report(&self, error);
    if (self.has_stacks)
        lode_stacks_close(&self.stacks);
    lode_tracks_close(self.tracks);
    wire_free(&self.out);
    free(self.path);
    return status;
}

const struct lode_export_format lode_export_speedscope = {
    .name = "speedscope",
    .description = "speedscope (JSON): speedscope.app",
    .suffix = ".speedscope.json",
    .names = "*.speedscope.json *.speedscope",
    .loses = "arguments, instants and statistics; levels below 3000",
    .holds = LODE_EXPORT_STACKS | LODE_EXPORT_TIMELINE,
    .compressions = 1U << LODE_COMPRESSION_GZIP,
    .run = run,
};
