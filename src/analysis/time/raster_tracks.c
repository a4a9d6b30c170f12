/* SPDX-License-Identifier: BSD-3-Clause */
/* Tracks of a recording as cells of time. */
#include "analysis/time/raster_tracks.h"
#include "analysis/calls/calls.h"
#include "analysis/calls/slice.h"
#include "analysis/time/raster.h"
#include "base/error.h"
#include "base/memory/array.h"
#include "base/memory/map.h"
#include "base/pool.h"
#include "model/recording/open_calls.h"
#include <stdlib.h>

/* Number 0: outside of all calls; others: the index of a function, plus 1. */
enum {
    NUMBER_OUTSIDE = 0
};

#define PROBE_BUFFER 8192 /* bytes: a probe needs some records */

/* What a function has of one column of a row with several tracks. */
struct part {
    unsigned column;
    uint32_t number;
    uint64_t nanoseconds;
};

/* What a worker knows of functions, by number; the open calls of its track; parts of its row. */
struct tracer {
    _Alignas(LODE_RASTER_ALIGN) const lode_function **functions;
    uint32_t capacity;
    struct lode_open_calls calls; /* of uint32_t: numbers */
    struct lode_map part_of;      /* (column, number) to index */
    struct lode_array parts;
    uint32_t *best; /* by column: the part that shows, plus 1 */
};

struct tracing {
    const lode_recording *recording;
    lode_picture *picture;
    struct lode_raster_tally *tallies;
    struct tracer *tracers;
    unsigned threads;
    const lode_function **functions; /* of all workers, by number */
    uint8_t *is_idle;
    uint32_t *ranks; /* by index of function */
    uint32_t numbers;
};

/* ---- functions ---- */

static bool reserve_number(struct tracer *tracer, struct lode_raster_tally *tally, uint32_t number)
{
    if (!lode_raster_reserve(tally, number + 1))
        return false;
    if (number < tracer->capacity)
        return true;
    const lode_function **functions = realloc(tracer->functions, tally->capacity * sizeof *functions);
    if (functions == NULL)
        return false;
    tracer->functions = functions;
    for (uint32_t i = tracer->capacity; i < tally->capacity; i++)
        functions[i] = NULL;
    tracer->capacity = tally->capacity;
    return true;
}

/* ---- cells ---- */

/* Draws one track into its row. */
struct pen {
    lode_picture *picture;
    struct lode_raster_tally *tally;
    struct tracer *tracer;
    bool is_alone; /* the only track of its row */
    uint32_t row;
    unsigned column;
    uint64_t edge; /* where the column ends */
};

static struct pen pen_begin(const struct tracing *self, uint32_t row, unsigned worker)
{
    lode_picture *picture = self->picture;
    return (struct pen){.picture = picture,
                        .tally = &self->tallies[worker],
                        .tracer = &self->tracers[worker],
                        .is_alone = raster_row_begin(picture, row + 1) == raster_row_begin(picture, row) + 1,
                        .row = row,
                        .edge = raster_edge(picture, 0)};
}

/* The column is complete for this track. */
static lode_status pen_close(struct pen *pen, lode_error *error)
{
    struct lode_raster_tally *tally = pen->tally;
    if (pen->is_alone) {
        lode_raster_close(pen->picture, tally, pen->row, pen->column, false);
        return LODE_OK;
    }
    for (uint32_t i = 0; i < tally->touched_count; i++) {
        struct tracer *tracer = pen->tracer;
        uint32_t number = tally->touched[i];
        uint64_t nanoseconds = tally->bins[number].nanoseconds;
        bool added;
        if (nanoseconds == 0)
            continue;
        uint32_t *index = lode_map_add(&tracer->part_of, (uint64_t)pen->column << 32 | number,
                                       (uint32_t)tracer->parts.count, &added);
        struct part *part = index && added ? lode_array_push(&tracer->parts) : NULL;
        if (index == NULL || (added && part == NULL))
            return lode_fail_memory(error);
        if (added)
            *part = (struct part){pen->column, number, nanoseconds};
        else
            LODE_ARRAY_AT(&tracer->parts, struct part, *index)->nanoseconds += nanoseconds;
    }
    lode_raster_flush(tally);
    return LODE_OK;
}

static lode_status pen_draw(struct pen *pen, uint32_t number, const struct lode_window_sample *sample,
                            lode_error *error)
{
    unsigned begins = sample->begins;
    if (sample->from >= sample->to && begins)
        raster_add(pen->tally, number, 0, begins);
    for (uint64_t from = sample->from; from < sample->to;) {
        while (from >= pen->edge && pen->column + 1 < pen->picture->options.columns) {
            LODE_TRY(pen_close(pen, error));
            pen->edge = raster_edge(pen->picture, ++pen->column);
        }
        uint64_t stop = sample->to < pen->edge ? sample->to : pen->edge;
        raster_add(pen->tally, number, stop - from, begins);
        begins = 0;
        from = stop;
    }
    return LODE_OK;
}

/* Whether a part shows rather than another one; equal ones stay. */
static bool is_more(const struct tracing *self, const struct lode_raster_tally *tally, const struct part *a,
                    const struct part *b)
{
    if (self->picture->options.idle == LODE_PICTURE_IDLE_LAST &&
        tally->is_idle[a->number] != tally->is_idle[b->number])
        return tally->is_idle[b->number];
    return a->nanoseconds > b->nanoseconds;
}

static void show_parts(const struct tracing *self, uint32_t row, unsigned worker)
{
    struct tracer *tracer = &self->tracers[worker];
    unsigned columns = self->picture->options.columns;
    for (size_t i = 0; i < tracer->parts.count; i++) {
        const struct part *part = LODE_ARRAY_AT(&tracer->parts, struct part, i);
        uint32_t *best = &tracer->best[part->column];
        if (*best == 0 || is_more(self, &self->tallies[worker], part,
                                  LODE_ARRAY_AT(&tracer->parts, struct part, *best - 1)))
            *best = (uint32_t)i + 1;
    }
    for (unsigned column = 0; column < columns; column++) {
        if (tracer->best[column] == 0)
            continue;
        const struct part *part = LODE_ARRAY_AT(&tracer->parts, struct part, tracer->best[column] - 1);
        lode_raster_set(self->picture, row, column, part->number, part->nanoseconds);
        tracer->best[column] = 0;
    }
    lode_map_clear(&tracer->part_of);
    tracer->parts.count = 0;
}

/* ---- a track ---- */

/* What was current until an event, and since when. */
struct moment {
    bool has_sample;
    uint64_t time;
    uint32_t number;
};

static lode_status push(struct tracer *tracer, struct lode_raster_tally *tally, const lode_event *event,
                        lode_error *error)
{
    uint32_t number = event->function->index + 1, *added = open_calls_push(&tracer->calls);
    if (added == NULL || !reserve_number(tracer, tally, number))
        return lode_fail_memory(error);
    tracer->functions[number] = event->function;
    tally->is_idle[number] = event->kind == LODE_EVENT_SCHED_OUT;
    *added = number;
    return LODE_OK;
}

/* Draws what the last event began, which lasts until `time`. */
static lode_status draw_until(struct pen *pen, const struct moment *last, uint64_t time, lode_error *error)
{
    const struct lode_window *window = &pen->picture->window;
    struct lode_window_sample sample = {.begins = last->time >= window->from,
                                        .from = last->time > window->from ? last->time : window->from,
                                        .to = time < window->to ? time : window->to};
    if (last->has_sample && last->time < window->to)
        return pen_draw(pen, last->number, &sample, error);
    return LODE_OK;
}

static lode_status take(struct tracer *tracer, struct pen *pen, const lode_event *event, struct moment *last,
                        lode_error *error)
{
    size_t depth = pen->picture->options.depth;
    enum lode_call_step step = open_calls_take(&tracer->calls, event);
    if (step == LODE_CALL_NONE)
        return LODE_OK;
    LODE_TRY(draw_until(pen, last, event->time, error));
    if (step == LODE_CALL_BEGINS)
        LODE_TRY(push(tracer, pen->tally, event, error));
    else
        open_calls_pop(&tracer->calls);
    size_t open = open_calls_count(&tracer->calls), shown = depth && depth < open ? depth : open;
    uint32_t number = shown ? *OPEN_CALLS_AT(&tracer->calls, uint32_t, shown - 1) : NUMBER_OUTSIDE;
    *last = (struct moment){true, event->time, number};
    return LODE_OK;
}

static lode_status read_track(struct tracer *tracer, struct pen *pen, lode_cursor *cursor, lode_error *error)
{
    struct moment last = {0};
    uint64_t end = pen->picture->window.to;
    const lode_event *events;
    size_t count;
    open_calls_reset(&tracer->calls);
    LODE_TRY_ALLOC(reserve_number(tracer, pen->tally, NUMBER_OUTSIDE), error);
    pen->tally->is_idle[NUMBER_OUTSIDE] = true;
    while (!last.has_sample || last.time < end) {
        lode_status status = lode_cursor_next(cursor, &events, &count, error);
        if (status == LODE_END)
            break;
        LODE_TRY(status);
        for (size_t i = 0; i < count && (!last.has_sample || last.time < end); i++)
            LODE_TRY(take(tracer, pen, &events[i], &last, error));
    }
    /* The last sample has no length. */
    LODE_TRY(draw_until(pen, &last, last.time, error));
    return pen_close(pen, error);
}

static lode_status draw_track(const struct tracing *self, uint32_t row, uint32_t track, unsigned worker,
                              lode_error *error)
{
    const struct lode_window *window = &self->picture->window;
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor = NULL;
    uint64_t begin, end;
    lode_status status = lode_track_interval(self->recording, track, &begin, &end, error);
    if (status == LODE_ABSENT || (status == LODE_OK && (begin >= window->to || end < window->from)))
        return LODE_OK;
    LODE_TRY(status);
    LODE_TRY(lode_cursor_open(&cursor, self->recording, track, &options, error));
    struct pen pen = pen_begin(self, row, worker);
    status = read_track(&self->tracers[worker], &pen, cursor, error);
    lode_cursor_close(cursor);
    return status;
}

/* ---- probes ---- */

/* What a track does in the middle of a column, all of the column, and all tracks of the row. */
static lode_status set_probe(const struct tracing *self, const struct lode_probe *probe, unsigned worker,
                             uint64_t nanoseconds, lode_error *error)
{
    struct tracer *tracer = &self->tracers[worker];
    struct lode_raster_tally *tally = &self->tallies[worker];
    uint32_t number = probe->kind == LODE_PROBE_CALL ? probe->function->index + 1 : NUMBER_OUTSIDE;
    if (!reserve_number(tracer, tally, number))
        return lode_fail_memory(error);
    tracer->functions[number] = probe->function;
    tally->is_idle[number] = number == NUMBER_OUTSIDE || probe->is_idle;
    raster_add(tally, number, nanoseconds, 0);
    return LODE_OK;
}

static lode_status draw_probes(const struct tracing *self, uint32_t row, lode_cursor *cursor,
                               const uint64_t interval[2], unsigned worker, lode_error *error)
{
    lode_picture *picture = self->picture;
    uint32_t lines = raster_row_begin(picture, row + 1) - raster_row_begin(picture, row);
    uint64_t begin = picture->window.from;
    for (unsigned column = 0; column < picture->options.columns; column++) {
        uint64_t edge = raster_edge(picture, column), width = edge - begin, time = begin + width / 2;
        struct lode_probe probe;
        begin = edge;
        /* Nothing before the first event, and after the last one. */
        if (width == 0 || time < interval[0] || time >= interval[1])
            continue;
        LODE_TRY(lode_probe_track(cursor, time, &probe, error));
        if (probe.kind == LODE_PROBE_UNKNOWN)
            continue;
        LODE_TRY(set_probe(self, &probe, worker, width * lines, error));
        lode_raster_close(picture, &self->tallies[worker], row, column, true);
    }
    return LODE_OK;
}

/* The track in the middle of the row. */
static lode_status probe_row(const struct tracing *self, uint32_t row, unsigned worker, lode_error *error)
{
    const lode_picture *picture = self->picture;
    uint32_t first = raster_row_begin(picture, row), last = raster_row_begin(picture, row + 1);
    uint32_t track = picture->window.profiles[first + (last - first) / 2];
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor = NULL;
    uint64_t interval[2];
    lode_status status = lode_track_interval(self->recording, track, &interval[0], &interval[1], error);
    if (status == LODE_ABSENT)
        return LODE_OK;
    LODE_TRY(status);
    options.buffer = PROBE_BUFFER;
    LODE_TRY(lode_cursor_open(&cursor, self->recording, track, &options, error));
    status = draw_probes(self, row, cursor, interval, worker, error);
    lode_cursor_close(cursor);
    return status;
}

static lode_status work(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct tracing *self = context;
    if (lode_probes_fit(self->recording, &self->picture->options))
        return probe_row(self, (uint32_t)item, worker, error);
    uint32_t row = (uint32_t)item, end = raster_row_begin(self->picture, row + 1);
    for (uint32_t i = raster_row_begin(self->picture, row); i < end; i++)
        LODE_TRY(draw_track(self, row, self->picture->window.profiles[i], worker, error));
    show_parts(self, row, worker);
    return LODE_OK;
}

static lode_status finish(void *context, uint64_t item, lode_error *error)
{
    const struct tracing *self = context;
    return lode_raster_finish_row(self->picture, (uint32_t)item, error);
}

/* ---- shares ---- */

static lode_picture_share share_of(void *user, uint32_t number)
{
    const struct tracing *self = user;
    return (lode_picture_share){.function = self->functions[number],
                                .is_idle = number == NUMBER_OUTSIDE || self->is_idle[number]};
}

static uint32_t rank_of(void *user, uint32_t number)
{
    const struct tracing *self = user;
    return number == NUMBER_OUTSIDE ? 0 : self->ranks[number - 1] + 1;
}

static uint32_t number_of_share(void *user, const lode_picture_share *share)
{
    (void)user;
    return share->function ? share->function->index + 1 : NUMBER_OUTSIDE;
}

/* Merges what workers know of functions. */
static lode_status rank_functions(struct tracing *self, lode_error *error)
{
    size_t count = 0;
    for (unsigned w = 0; w < self->threads; w++)
        self->numbers = self->tracers[w].capacity > self->numbers ? self->tracers[w].capacity : self->numbers;
    self->functions = calloc((size_t)self->numbers + 1, sizeof *self->functions);
    self->is_idle = calloc((size_t)self->numbers + 1, 1);
    self->ranks = calloc((size_t)self->numbers + 1, sizeof *self->ranks);
    const lode_function **known = calloc((size_t)self->numbers + 1, sizeof *known);
    if (!self->functions || !self->is_idle || !self->ranks || !known) {
        free(known);
        return lode_fail_memory(error);
    }
    for (uint32_t number = 1; number < self->numbers; number++) {
        for (unsigned w = 0; w < self->threads; w++) {
            const struct tracer *tracer = &self->tracers[w];
            if (number >= tracer->capacity || tracer->functions[number] == NULL)
                continue;
            self->functions[number] = tracer->functions[number];
            self->is_idle[number] |= self->tallies[w].is_idle[number];
        }
        if (self->functions[number])
            known[count++] = self->functions[number];
    }
    lode_status status = lode_rank_functions(known, count, self->ranks, error);
    free(known);
    return status;
}

/* ---- the picture ---- */

static lode_status widen(struct tracing *self, uint32_t track, bool everything, lode_error *error)
{
    struct lode_window *window = &self->picture->window;
    uint64_t begin, end;
    window->profiles[window->count++] = track;
    lode_status status = lode_track_interval(self->recording, track, &begin, &end, error);
    if (!everything || status != LODE_OK)
        return status < 0 ? status : LODE_OK;
    window->from = begin < window->from ? begin : window->from;
    window->to = end >= window->to && end < UINT64_MAX ? end + 1 : window->to;
    return LODE_OK;
}

static lode_status list_tracks(struct tracing *self, const lode_slice *slice, lode_error *error)
{
    const lode_picture_options *options = &self->picture->options;
    struct lode_window *window = &self->picture->window;
    bool everything = options->from == 0 && options->to == 0;
    uint32_t count;
    LODE_TRY(lode_slice_tracks(slice, self->recording, &count, error));
    count = options->lines ? options->line_count : count;
    *window = (struct lode_window){.from = options->from, .to = options->to ? options->to : UINT64_MAX};
    if (everything)
        *window = (struct lode_window){.from = UINT64_MAX};
    window->profiles = calloc((size_t)count + 1, sizeof *window->profiles);
    LODE_TRY_ALLOC(window->profiles, error);
    for (uint32_t i = 0; i < count; i++)
        LODE_TRY(
            widen(self, options->lines ? options->lines[i] : lode_slice_track(slice, i), everything, error));
    if (window->from >= window->to)
        window->from = window->to = everything ? 0 : options->from;
    self->picture->rows = raster_rows(options, window->count);
    return LODE_OK;
}

static lode_status make_tracers(struct tracing *self, lode_error *error)
{
    self->tracers = aligned_alloc(LODE_RASTER_ALIGN, self->threads * sizeof *self->tracers);
    LODE_TRY_ALLOC(self->tracers, error);
    for (unsigned w = 0; w < self->threads; w++) {
        struct tracer *tracer = &self->tracers[w];
        *tracer = (struct tracer){0};
        open_calls_init(&tracer->calls, sizeof(uint32_t), SIZE_MAX);
        lode_map_init(&tracer->part_of);
        lode_array_init(&tracer->parts, sizeof(struct part), LODE_NO_INDEX - 1);
    }
    for (unsigned w = 0; w < self->threads; w++) {
        self->tracers[w].best = calloc(self->picture->options.columns, sizeof *self->tracers[w].best);
        LODE_TRY_ALLOC(self->tracers[w].best, error);
    }
    return LODE_OK;
}

static lode_status trace(struct tracing *self, const lode_slice *slice, lode_error *error)
{
    lode_picture *picture = self->picture;
    const lode_picture_options *options = &picture->options;
    uint32_t known = 0;
    LODE_TRY(list_tracks(self, slice, error));
    for (size_t i = 0; options->keys && i < options->keys->share_count; i++) {
        uint32_t number = number_of_share(NULL, &options->keys->shares[i]);
        known = number >= known ? number + 1 : known;
    }
    LODE_TRY(lode_raster_take_keys(picture, known, number_of_share, NULL, error));
    self->threads = lode_pool_threads(lode_pool_asked(options->threads, options->pool), picture->rows);
    LODE_TRY(lode_raster_prepare(picture, self->threads, &self->tallies, error));
    LODE_TRY(make_tracers(self, error));
    struct lode_job job = {
        .items = picture->rows, .work = work, .finish = finish, .context = self, .pool = options->pool};
    struct lode_raster_meaning meaning = {share_of, rank_of, self};
    LODE_TRY(lode_pool_run(self->threads, &job, error));
    LODE_TRY(rank_functions(self, error));
    return lode_raster_finish(picture, self->tallies, self->threads, &meaning, error);
}

lode_status lode_raster_tracks(lode_picture *picture, const lode_recording *recording,
                               const lode_slice *slice, lode_error *error)
{
    struct tracing self = {.recording = recording, .picture = picture};
    lode_status status = trace(&self, slice, error);
    lode_raster_tallies_free(self.tallies, self.threads);
    for (unsigned w = 0; self.tracers && w < self.threads; w++) {
        free(self.tracers[w].functions);
        open_calls_free(&self.tracers[w].calls);
        free(self.tracers[w].best);
        lode_map_free(&self.tracers[w].part_of);
        lode_array_free(&self.tracers[w].parts);
    }
    free(self.tracers);
    free(self.functions);
    free(self.is_idle);
    free(self.ranks);
    return status;
}
