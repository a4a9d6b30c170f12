/* SPDX-License-Identifier: BSD-3-Clause */
/* The activity of each track of a recording in a time window. */
#include "analysis/calls.h"
#include "analysis/slice.h"
#include "analysis/timeline.h"
#include "base/error.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/progress.h"
#include <lode/event.h>
#include <stdlib.h>

/* Key 0: outside of all calls; others: the index of a function, plus 1. */
enum {
    KEY_OUTSIDE = 0
};

/* What a worker knows of functions, by key, and the open calls of its track. */
struct tracer {
    _Alignas(LODE_TIMELINE_ALIGN) const lode_function **functions;
    uint8_t *is_idle;
    uint32_t capacity;
    uint32_t *stack; /* keys; the first is KEY_OUTSIDE */
    size_t depth, stack_capacity;
};

struct tracing {
    const lode_recording *recording;
    lode_timeline *timeline;
    unsigned depth; /* of shown functions; 0: the innermost */
    struct lode_timeline_tally *tallies;
    struct tracer *tracers;
    unsigned threads;
    const lode_function **functions; /* of all workers, by key */
    uint8_t *is_idle;
    uint32_t *ranks; /* by index of function */
    uint32_t keys;
    struct lode_progress progress;
};

/* ---- functions ---- */

static bool reserve_key(struct tracer *tracer, struct lode_timeline_tally *tally, uint32_t key)
{
    if (!lode_timeline_reserve(tally, key + 1))
        return false;
    if (key < tracer->capacity)
        return true;
    const lode_function **functions = realloc(tracer->functions, tally->capacity * sizeof *functions);
    if (functions == NULL)
        return false;
    tracer->functions = functions;
    uint8_t *is_idle = realloc(tracer->is_idle, tally->capacity);
    if (is_idle == NULL)
        return false;
    tracer->is_idle = is_idle;
    for (uint32_t i = tracer->capacity; i < tally->capacity; i++) {
        functions[i] = NULL;
        is_idle[i] = 0;
    }
    tracer->capacity = tally->capacity;
    return true;
}

static bool reserve_stack(struct tracer *tracer)
{
    if (tracer->depth + 1 < tracer->stack_capacity)
        return true;
    size_t capacity = tracer->stack_capacity ? tracer->stack_capacity * 2 : 64;
    uint32_t *stack = realloc(tracer->stack, capacity * sizeof *stack);
    if (stack == NULL)
        return false;
    tracer->stack = stack;
    tracer->stack_capacity = capacity;
    return true;
}

/* ---- a track ---- */

/* What was current until an event, and since when. */
struct moment {
    bool has_sample;
    uint64_t time;
    uint32_t key;
};

static lode_status push(struct tracer *tracer, struct lode_timeline_tally *tally, const lode_event *event,
                        lode_error *error)
{
    uint32_t key = event->function->index + 1;
    if (!reserve_key(tracer, tally, key) || !reserve_stack(tracer))
        return lode_fail_memory(error);
    tracer->functions[key] = event->function;
    tracer->is_idle[key] = event->kind == LODE_EVENT_SCHED_OUT;
    tracer->stack[++tracer->depth] = key;
    return LODE_OK;
}

/* Draws what the last event began, which lasts until `time`. */
static void draw_until(struct lode_pen *pen, const struct moment *last, uint64_t time)
{
    const struct lode_window *window = &pen->timeline->window;
    struct lode_window_sample sample = {.begins = last->time >= window->from,
                                        .from = last->time > window->from ? last->time : window->from,
                                        .to = time < window->to ? time : window->to};
    if (last->has_sample && last->time < window->to)
        lode_pen_draw(pen, last->key, &sample);
}

static lode_status take(const struct tracing *self, struct tracer *tracer, struct lode_pen *pen,
                        const lode_event *event, struct moment *last, lode_error *error)
{
    bool begins = event->kind == LODE_EVENT_ENTER || event->kind == LODE_EVENT_SCHED_OUT;
    bool ends = event->kind == LODE_EVENT_LEAVE || event->kind == LODE_EVENT_SCHED_IN;
    if (!begins && (!ends || tracer->depth == 0))
        return LODE_OK;
    draw_until(pen, last, event->time);
    if (begins)
        LODE_TRY(push(tracer, pen->tally, event, error));
    else
        tracer->depth--;
    size_t shown = self->depth && self->depth < tracer->depth ? self->depth : tracer->depth;
    *last = (struct moment){true, event->time, tracer->stack[shown]};
    return LODE_OK;
}

static lode_status read_track(const struct tracing *self, struct tracer *tracer, struct lode_pen *pen,
                              lode_cursor *cursor, lode_error *error)
{
    struct moment last = {0};
    const lode_event *events;
    size_t count;
    tracer->depth = 0;
    if (!reserve_key(tracer, pen->tally, KEY_OUTSIDE) || !reserve_stack(tracer))
        return lode_fail_memory(error);
    tracer->stack[0] = KEY_OUTSIDE;
    while (!last.has_sample || last.time < self->timeline->window.to) {
        lode_status status = lode_cursor_next(cursor, &events, &count, error);
        if (status == LODE_END)
            break;
        LODE_TRY(status);
        for (size_t i = 0; i < count && (!last.has_sample || last.time < self->timeline->window.to); i++)
            LODE_TRY(take(self, tracer, pen, &events[i], &last, error));
    }
    /* The last sample has no length. */
    draw_until(pen, &last, last.time);
    return LODE_OK;
}

static lode_status work(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct tracing *self = context;
    const struct lode_window *window = &self->timeline->window;
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor = NULL;
    uint64_t begin, end;
    lode_status status = lode_track_interval(self->recording, window->profiles[item], &begin, &end, error);
    if (status == LODE_ABSENT || (status == LODE_OK && (begin >= window->to || end < window->from)))
        return LODE_OK;
    LODE_TRY(status);
    LODE_TRY(lode_cursor_open(&cursor, self->recording, window->profiles[item], &options, error));
    struct lode_pen pen = lode_pen_begin(self->timeline, &self->tallies[worker], (uint32_t)item);
    status = read_track(self, &self->tracers[worker], &pen, cursor, error);
    lode_pen_end(&pen);
    lode_cursor_close(cursor);
    return status;
}

static lode_status finish(void *context, uint64_t item, lode_error *error)
{
    struct tracing *self = context;
    (void)item;
    return lode_progress_add(&self->progress, 1, error);
}

/* ---- shares ---- */

static lode_timeline_share share_of(void *user, uint32_t key)
{
    const struct tracing *self = user;
    return (lode_timeline_share){.function = self->functions[key],
                                 .is_idle = key == KEY_OUTSIDE || self->is_idle[key]};
}

static uint32_t rank_of(void *user, uint32_t key)
{
    const struct tracing *self = user;
    return key == KEY_OUTSIDE ? 0 : self->ranks[key - 1] + 1;
}

/* Merges what workers know of functions. */
static lode_status rank_functions(struct tracing *self, lode_error *error)
{
    size_t count = 0;
    for (unsigned w = 0; w < self->threads; w++)
        self->keys = self->tracers[w].capacity > self->keys ? self->tracers[w].capacity : self->keys;
    self->functions = calloc((size_t)self->keys + 1, sizeof *self->functions);
    self->is_idle = calloc((size_t)self->keys + 1, 1);
    self->ranks = calloc((size_t)self->keys + 1, sizeof *self->ranks);
    const lode_function **known = calloc((size_t)self->keys + 1, sizeof *known);
    if (!self->functions || !self->is_idle || !self->ranks || !known) {
        free(known);
        return lode_fail_memory(error);
    }
    for (uint32_t key = 1; key < self->keys; key++) {
        for (unsigned w = 0; w < self->threads; w++) {
            const struct tracer *tracer = &self->tracers[w];
            if (key >= tracer->capacity || tracer->functions[key] == NULL)
                continue;
            self->functions[key] = tracer->functions[key];
            self->is_idle[key] |= tracer->is_idle[key];
        }
        if (self->functions[key])
            known[count++] = self->functions[key];
    }
    lode_status status = lode_rank_functions(known, count, self->ranks, error);
    free(known);
    return status;
}

/* ---- the timeline ---- */

static lode_status list_tracks(struct tracing *self, const lode_slice *slice,
                               const lode_timeline_options *options, lode_error *error)
{
    struct lode_window *window = &self->timeline->window;
    bool everything = options->from == 0 && options->to == 0;
    uint32_t count;
    LODE_TRY(lode_slice_tracks(slice, self->recording, &count, error));
    *window = (struct lode_window){.from = options->from, .to = options->to ? options->to : UINT64_MAX};
    if (everything)
        *window = (struct lode_window){.from = UINT64_MAX};
    window->profiles = calloc((size_t)count + 1, sizeof *window->profiles);
    LODE_TRY_ALLOC(window->profiles, error);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t begin, end;
        uint32_t track = lode_slice_track(slice, i);
        window->profiles[window->count++] = track;
        lode_status status = lode_track_interval(self->recording, track, &begin, &end, error);
        if (status < 0)
            return status;
        if (!everything || status != LODE_OK)
            continue;
        window->from = begin < window->from ? begin : window->from;
        window->to = end >= window->to && end < UINT64_MAX ? end + 1 : window->to;
    }
    if (window->from >= window->to)
        window->from = window->to = everything ? 0 : options->from;
    return LODE_OK;
}

static lode_status trace(struct tracing *self, const lode_slice *slice, const lode_timeline_options *options,
                         lode_error *error)
{
    LODE_TRY(list_tracks(self, slice, options, error));
    uint32_t count = self->timeline->window.count;
    self->threads = lode_pool_threads(lode_pool_asked(options->threads, options->pool), count);
    self->depth = options->depth;
    LODE_TRY(lode_timeline_prepare(self->timeline, options->columns, self->threads, &self->tallies, error));
    self->tracers = aligned_alloc(LODE_TIMELINE_ALIGN, self->threads * sizeof *self->tracers);
    LODE_TRY_ALLOC(self->tracers, error);
    for (unsigned w = 0; w < self->threads; w++)
        self->tracers[w] = (struct tracer){0};
    struct lode_job job = {
        .items = count, .work = work, .finish = finish, .context = self, .pool = options->pool};
    self->progress.total = count;
    LODE_TRY(lode_pool_run(self->threads, &job, error));
    LODE_TRY(rank_functions(self, error));
    return lode_timeline_finish(self->timeline, self->tallies, self->threads, share_of, rank_of, self, error);
}

lode_status lode_timeline_compute_recording(lode_timeline **out, const lode_recording *recording,
                                            const lode_slice *slice, const lode_timeline_options *given,
                                            lode_error *error)
{
    lode_timeline_options options = LODE_TIMELINE_OPTIONS_INIT;
    lode_slice part = LODE_SLICE_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    LODE_TRY(lode_options_take(&part, slice, error));
    lode_timeline *timeline = calloc(1, sizeof *timeline);
    LODE_TRY_ALLOC(timeline, error);
    struct tracing self = {
        .recording = recording,
        .timeline = timeline,
        .progress = {.report = options.on_progress, .user = options.user, .phase = "reading"}};
    lode_status status = trace(&self, &part, &options, error);
    lode_timeline_tallies_free(self.tallies, self.threads);
    for (unsigned w = 0; self.tracers && w < self.threads; w++) {
        free(self.tracers[w].functions);
        free(self.tracers[w].is_idle);
        free(self.tracers[w].stack);
    }
    free(self.tracers);
    free(self.functions);
    free(self.is_idle);
    free(self.ranks);
    if (status == LODE_OK)
        *out = timeline;
    else
        lode_timeline_free(timeline);
    return status;
}
