/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace lines as cells of time. */
#include "analysis/cost/key.h"
#include "analysis/time/raster.h"
#include "base/error.h"
#include "base/pool.h"
#include "model/database/database.h"
#include "model/database/trace.h"
#include <stdlib.h>
#include <string.h>

/* Functions have numbers; 0 is a context that is not in the metadata. */
enum {
    NUMBER_UNLISTED = 0
};

/* Where the samples of a line are read, and the part of the current one that is still to add. */
struct cursor {
    const uint8_t *at, *end; /* the next sample */
    uint64_t from, to;
    uint32_t number;
    uint32_t idle_id;
    bool begins; /* in the window, and has not been counted yet */
    bool is_big, is_done;
};

struct drawing {
    const lode_database *db;
    lode_picture *picture;
    uint32_t *number_of;             /* by index of context */
    uint32_t *number_by_id;          /* by id of context, if ids are dense; else NULL */
    const lode_context **context_of; /* by number */
    uint32_t numbers;
    struct lode_raster_tally *tallies;
    struct cursor **cursors; /* of each worker */
    uint32_t most_lines;     /* of a row */
};

/* ---- functions ---- */

/* The context whose function gets the sample at `context`. */
static const lode_context *shown_context(const lode_context *context, unsigned depth, uint32_t *call_depth)
{
    const lode_context *parent = lode_context_parent(context);
    bool begins = begins_function(context) && context->lexical != LODE_LEXICAL_ENTRY && parent != NULL;
    call_depth[context->index] = (parent ? call_depth[parent->index] : 0) + begins;
    if (depth > 0 && call_depth[context->index] > depth)
        return NULL;
    return begins_function(context) ? context : NULL;
}

static lode_status number_functions(struct drawing *self, unsigned depth, lode_error *error)
{
    const struct lode_context_tree *tree = &self->db->tree;
    struct lode_keys keys;
    lode_status status = LODE_OK;
    uint32_t *call_depth = calloc(tree->count, sizeof *call_depth);
    self->number_of = calloc(tree->count, sizeof *self->number_of);
    self->context_of = calloc((size_t)tree->count + 1, sizeof *self->context_of);
    lode_keys_init(&keys);
    self->numbers = NUMBER_UNLISTED + 1;
    if (call_depth == NULL || self->number_of == NULL || self->context_of == NULL)
        status = lode_fail_memory(error);
    for (uint32_t i = 0; i < tree->count && status == LODE_OK; i++) {
        const lode_context *context = &tree->nodes[i];
        const lode_context *shown = shown_context(context, depth, call_depth);
        if (shown == NULL) {
            self->number_of[i] = self->number_of[context->parent];
            continue;
        }
        bool added;
        struct lode_key key = lode_key_of_function(shown);
        uint32_t number = lode_keys_add(&keys, &key, &added);
        if (number == LODE_NO_INDEX)
            status = lode_fail_memory(error);
        else if (added)
            self->context_of[self->numbers++] = shown;
        self->number_of[i] = number + 1;
    }
    lode_keys_free(&keys);
    free(call_depth);
    return status;
}

/* One look for a sample instead of two, which miss the cache. */
static lode_status number_ids(struct drawing *self, lode_error *error)
{
    const struct lode_context_tree *tree = &self->db->tree;
    if (tree->table_size == 0)
        return LODE_OK;
    self->number_by_id = calloc(tree->table_size, sizeof *self->number_by_id);
    LODE_TRY_ALLOC(self->number_by_id, error);
    for (uint64_t id = 0; id < tree->table_size; id++)
        if (tree->by_id[id] != LODE_NO_INDEX)
            self->number_by_id[id] = self->number_of[tree->by_id[id]];
    return LODE_OK;
}

static inline uint32_t number_of_id(const struct drawing *self, uint32_t id)
{
    if (self->number_by_id)
        return id < self->db->tree.table_size ? self->number_by_id[id] : NUMBER_UNLISTED;
    uint32_t index = lode_context_tree_find(&self->db->tree, id);
    return index == LODE_NO_INDEX ? NUMBER_UNLISTED : self->number_of[index];
}

/* ---- samples ---- */

static inline uint64_t time_at(const uint8_t *sample, bool is_big)
{
    return is_big ? get_u64be(sample) : get_u64le(sample);
}

static inline uint32_t id_at(const uint8_t *sample, bool is_big, uint32_t idle_id)
{
    uint32_t id = is_big ? get_u32be(sample + 8) : get_u32le(sample + 8);
    return id == idle_id ? 0 : id;
}

/* Adds the next samples as long as they are in the window and end in the column, as most. */
static inline const uint8_t *add_complete(const struct drawing *self, struct lode_raster_tally *tally,
                                          const struct cursor *cursor, const uint8_t *at, uint64_t edge,
                                          bool is_big)
{
    const uint64_t window_begin = self->picture->window.from;
    const uint32_t *numbers = self->number_by_id, idle_id = cursor->idle_id;
    const uint64_t known = self->db->tree.table_size;
    if (numbers == NULL || cursor->end - at < (ptrdiff_t)2 * TRACE_SAMPLE_SIZE ||
        time_at(at, is_big) < window_begin)
        return at;
    const uint8_t *last = cursor->end - TRACE_SAMPLE_SIZE;
    uint64_t time = time_at(at, is_big);
    while (at < last) {
        uint64_t next = time_at(at + TRACE_SAMPLE_SIZE, is_big);
        uint32_t id = id_at(at, is_big, idle_id);
        if (time >= next || next > edge)
            break;
        raster_add(tally, id < known ? numbers[id] : NUMBER_UNLISTED, next - time, 1);
        time = next;
        at += TRACE_SAMPLE_SIZE;
    }
    return at;
}

/*
 * Adds what a line has up to the end of a column. Samples whose part in the window is empty count,
 * but have no time.
 */
static inline void add_samples(const struct drawing *self, struct lode_raster_tally *shared,
                               struct cursor *cursor, uint64_t edge, bool is_big)
{
    struct lode_raster_tally own = *shared, *tally = &own; /* its count stays in a register */
    const uint64_t window_begin = self->picture->window.from, window_end = self->picture->window.to;
    const uint8_t *at = cursor->at, *const end = cursor->end;
    uint64_t from = cursor->from, to = cursor->to;
    uint32_t number = cursor->number;
    bool begins = cursor->begins;
    while (from < edge || from >= to) {
        uint64_t stop = to < edge ? to : edge;
        if (from < to || begins)
            raster_add(tally, number, from < to ? stop - from : 0, begins);
        begins = false;
        from = from < to ? stop : to;
        if (from < to)
            break;
        at = add_complete(self, tally, cursor, at, edge, is_big);
        uint64_t time = at < end ? time_at(at, is_big) : window_end;
        if (time >= window_end) {
            cursor->is_done = true;
            break;
        }
        number = number_of_id(self, id_at(at, is_big, cursor->idle_id));
        at += TRACE_SAMPLE_SIZE;
        uint64_t next = at < end ? time_at(at, is_big) : time;
        begins = time >= window_begin;
        from = begins ? time : window_begin;
        to = next < window_end ? next : window_end;
    }
    shared->touched_count = own.touched_count;
    cursor->at = at;
    cursor->from = from;
    cursor->to = to;
    cursor->number = number;
    cursor->begins = begins;
}

static lode_status open_cursor(const struct drawing *self, uint32_t position, struct cursor *cursor,
                               lode_error *error)
{
    lode_trace_line line;
    const struct lode_window *window = &self->picture->window;
    LODE_TRY(lode_database_trace_line(self->db, window->lines[position], &line, error));
    struct lode_window_walk walk = window_walk(window, &line);
    *cursor = (struct cursor){.at = line.samples + walk.next * TRACE_SAMPLE_SIZE,
                              .end = line.samples + line.sample_count * TRACE_SAMPLE_SIZE,
                              .idle_id = line.idle_id,
                              .is_big = line.layout == LODE_LAYOUT_BIG,
                              .is_done = line.sample_count == 0};
    return LODE_OK;
}

/* ---- rows ---- */

/* Column by column: memory for one position in each line, and one bin for each function. */
static lode_status draw_exact(struct drawing *self, uint32_t row, unsigned worker, lode_error *error)
{
    lode_picture *picture = self->picture;
    struct lode_raster_tally *tally = &self->tallies[worker];
    struct cursor *cursors = self->cursors[worker];
    uint32_t first = raster_row_begin(picture, row), live = raster_row_begin(picture, row + 1) - first;
    for (uint32_t i = 0; i < live; i++)
        LODE_TRY(open_cursor(self, first + i, &cursors[i], error));
    for (unsigned column = 0; column < picture->options.columns && live > 0; column++) {
        uint64_t edge = raster_edge(picture, column);
        for (uint32_t i = 0; i < live;) {
            if (cursors[i].is_big)
                add_samples(self, tally, &cursors[i], edge, true);
            else
                add_samples(self, tally, &cursors[i], edge, false);
            /* The order of lines is of no account for sums. */
            if (cursors[i].is_done)
                cursors[i] = cursors[--live];
            else
                i++;
        }
        lode_raster_close(picture, tally, row, column, true);
    }
    return LODE_OK;
}

/* The first sample from `low` on that is after `time`: samples are nearly even in time. */
static uint64_t seek_beyond(const lode_trace_line *line, uint64_t low, uint64_t time)
{
    enum {
        SMALL = 64,
        NEAR = 16
    };
    uint64_t high = line->sample_count;
    for (unsigned step = 0; high - low > SMALL && step < SMALL; step++) {
        uint64_t a = trace_time(line, low), b = trace_time(line, high - 1);
        if (time < a)
            return low;
        if (time >= b || a >= b)
            break;
        uint64_t guess = low + (uint64_t)((double)(high - 1 - low) * ((double)(time - a) / (double)(b - a)));
        uint64_t left = guess > low + NEAR ? guess - NEAR : low;
        uint64_t right = guess < high - NEAR ? guess + NEAR : high;
        if (trace_time(line, left) > time)
            high = left;
        else if (trace_time(line, right - 1) <= time)
            low = right;
        else {
            low = left;
            high = right;
        }
    }
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (trace_time(line, middle) <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The line in the middle of the row, at the middle of each column. */
static lode_status draw_probes(struct drawing *self, uint32_t row, unsigned worker, lode_error *error)
{
    lode_picture *picture = self->picture;
    struct lode_raster_tally *tally = &self->tallies[worker];
    uint32_t first = raster_row_begin(picture, row), lines = raster_row_begin(picture, row + 1) - first;
    uint64_t next = 0, begin = picture->window.from;
    lode_trace_line line;
    LODE_TRY(lode_database_trace_line(self->db, picture->window.lines[first + lines / 2], &line, error));
    for (unsigned column = 0; column < picture->options.columns; column++) {
        uint64_t edge = raster_edge(picture, column), width = edge - begin, time = begin + width / 2;
        begin = edge;
        next = seek_beyond(&line, next, time);
        /* Nothing before the first sample, and the last one has no length. */
        if (next == 0 || next >= line.sample_count || width == 0)
            continue;
        raster_add(tally, number_of_id(self, trace_context(&line, next - 1)), width * lines, 0);
        lode_raster_close(picture, tally, row, column, true);
    }
    return LODE_OK;
}

static lode_status draw_row(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct drawing *self = context;
    if (self->picture->options.quality == LODE_PICTURE_PROBES)
        return draw_probes(self, (uint32_t)item, worker, error);
    return draw_exact(self, (uint32_t)item, worker, error);
}

static lode_status finish_row(void *context, uint64_t item, lode_error *error)
{
    const struct drawing *self = context;
    return lode_raster_finish_row(self->picture, (uint32_t)item, error);
}

/* ---- shares ---- */

static lode_picture_share share_of(void *user, uint32_t number)
{
    const struct drawing *self = user;
    const lode_context *context = self->context_of[number];
    return (lode_picture_share){.context = context,
                                .function = context ? lode_context_function(context) : NULL,
                                .is_idle = context && context->index == 0};
}

static uint32_t rank_of(void *user, uint32_t number)
{
    const struct drawing *self = user;
    return self->context_of[number] ? self->context_of[number]->index : 0;
}

static uint32_t number_of_share(void *user, const lode_picture_share *share)
{
    const struct drawing *self = user;
    if (share->context == NULL)
        return NUMBER_UNLISTED;
    return share->context->index < self->db->tree.count ? self->number_of[share->context->index]
                                                        : LODE_NO_INDEX;
}

/* ---- the picture ---- */

/* The lines in the order of the caller, if there is one. */
static lode_status list_lines(struct drawing *self, lode_error *error)
{
    struct lode_window *window = &self->picture->window;
    const lode_picture_options *options = &self->picture->options;
    uint32_t *lines = calloc((size_t)options->line_count + 1, sizeof *lines);
    uint32_t *profiles = calloc((size_t)options->line_count + 1, sizeof *profiles);
    lode_status status = lines && profiles ? LODE_OK : lode_fail_memory(error);
    for (uint32_t i = 0; i < options->line_count && status == LODE_OK; i++) {
        lode_trace_line line;
        status = lode_database_trace_line(self->db, options->lines[i], &line, error);
        lines[i] = options->lines[i];
        profiles[i] = status == LODE_OK ? line.profile : 0;
    }
    lode_window_free(window);
    window->lines = lines;
    window->profiles = profiles;
    window->count = options->line_count;
    return status;
}

/*
 * Without a window, the bounds that the file states: the first and the last sample of each line are
 * pages all over the file.
 */
static lode_status open_window(struct drawing *self, lode_error *error)
{
    lode_picture *picture = self->picture;
    const lode_picture_options *options = &picture->options;
    uint64_t from = options->from, to = options->to, min, max;
    if (from == 0 && to == 0 && lode_database_trace_bounds(self->db, &min, &max) == LODE_OK && min <= max) {
        from = min;
        to = max < UINT64_MAX ? max + (max > 0) : max;
    }
    LODE_TRY(lode_window_init(&picture->window, self->db, options->selection, from, to, error));
    if (options->lines)
        LODE_TRY(list_lines(self, error));
    picture->rows = raster_rows(options, picture->window.count);
    return LODE_OK;
}

static lode_status make_scratch(struct drawing *self, unsigned threads, lode_error *error)
{
    const lode_picture *picture = self->picture;
    for (uint32_t row = 0; row < picture->rows; row++) {
        uint32_t lines = raster_row_begin(picture, row + 1) - raster_row_begin(picture, row);
        self->most_lines = lines > self->most_lines ? lines : self->most_lines;
    }
    self->cursors = calloc(threads, sizeof *self->cursors);
    LODE_TRY_ALLOC(self->cursors, error);
    for (unsigned w = 0; w < threads; w++) {
        self->cursors[w] = calloc((size_t)self->most_lines + 1, sizeof **self->cursors);
        LODE_TRY_ALLOC(self->cursors[w] && lode_raster_reserve(&self->tallies[w], self->numbers), error);
        /* Number 1 is the function of the global context. */
        for (uint32_t number = 0; number < self->numbers; number++)
            self->tallies[w].is_idle[number] = number > 0 && self->context_of[number]->index == 0;
    }
    return LODE_OK;
}

static lode_status draw(struct drawing *self, unsigned *threads, lode_error *error)
{
    lode_picture *picture = self->picture;
    const lode_picture_options *options = &picture->options;
    LODE_TRY(open_window(self, error));
    LODE_TRY(number_functions(self, options->depth, error));
    LODE_TRY(number_ids(self, error));
    LODE_TRY(lode_raster_take_keys(picture, self->numbers, number_of_share, self, error));
    *threads = lode_pool_threads(lode_pool_asked(options->threads, options->pool), picture->rows);
    LODE_TRY(lode_raster_prepare(picture, *threads, &self->tallies, error));
    LODE_TRY(make_scratch(self, *threads, error));
    struct lode_job job = {.items = picture->rows,
                           .work = draw_row,
                           .finish = finish_row,
                           .context = self,
                           .pool = options->pool};
    struct lode_raster_meaning meaning = {share_of, rank_of, self};
    LODE_TRY(lode_pool_run(*threads, &job, error));
    return lode_raster_finish(picture, self->tallies, *threads, &meaning, error);
}

lode_status lode_raster_lines(lode_picture *picture, const lode_database *db, lode_error *error)
{
    struct drawing self = {.db = db, .picture = picture};
    unsigned threads = 0;
    lode_status status = draw(&self, &threads, error);
    lode_raster_tallies_free(self.tallies, threads);
    for (unsigned w = 0; self.cursors && w < threads; w++)
        free(self.cursors[w]);
    free(self.cursors);
    free(self.number_of);
    free(self.number_by_id);
    free(self.context_of);
    return status;
}
