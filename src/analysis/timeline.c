/* SPDX-License-Identifier: BSD-3-Clause */
/* The activity of each thread in a time window. */
#include "analysis/key.h"
#include "analysis/window.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/progress.h"
#include "model/database.h"
#include "model/trace.h"
#include <lode/timeline.h>
#include <stdlib.h>
#include <string.h>

/* Functions have keys; key 0 is a context that is not in the metadata. */
struct lode_timeline {
    struct lode_window window; /* its lines are the rows */
    uint64_t samples;
    lode_timeline_share *shares;
    size_t share_count;
    unsigned columns;
    int32_t *cells; /* [row][column]: key + 1 while computing, then the share or -1 */
};

/* Two cache lines, which CPUs prefetch together: avoids false sharing. */
#define TALLY_ALIGN 128

/* Sums of a worker: by key, and in the current bin. */
struct tally {
    _Alignas(TALLY_ALIGN) uint64_t *nanoseconds, *samples, *in_bin;
    uint32_t *touched; /* keys in the current bin */
    uint32_t touched_count;
    uint64_t sample_count;
};

struct drawing {
    const lode_database *db;
    lode_timeline *timeline;
    uint32_t *key_of;                /* by index of context */
    const lode_context **context_of; /* by key */
    uint32_t keys;
    struct tally *tallies;
    struct lode_progress progress;
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
    self->key_of = calloc(tree->count, sizeof *self->key_of);
    self->context_of = calloc((size_t)tree->count + 1, sizeof *self->context_of);
    lode_keys_init(&keys);
    self->keys = 1;
    if (call_depth == NULL || self->key_of == NULL || self->context_of == NULL)
        status = lode_fail_memory(error);
    for (uint32_t i = 0; i < tree->count && status == LODE_OK; i++) {
        const lode_context *context = &tree->nodes[i];
        const lode_context *shown = shown_context(context, depth, call_depth);
        if (shown == NULL) {
            self->key_of[i] = self->key_of[context->parent];
            continue;
        }
        bool added;
        struct lode_key key = lode_key_of_function(shown);
        uint32_t number = lode_keys_add(&keys, &key, &added);
        if (number == LODE_NO_INDEX)
            status = lode_fail_memory(error);
        else if (added)
            self->context_of[self->keys++] = shown;
        self->key_of[i] = number + 1;
    }
    lode_keys_free(&keys);
    free(call_depth);
    return status;
}

static uint32_t sample_key(const struct drawing *self, uint32_t context_id)
{
    uint32_t index = lode_context_tree_find(&self->db->tree, context_id);
    return index == LODE_NO_INDEX ? 0 : self->key_of[index];
}

/* ---- drawing one line ---- */

static uint64_t column_end(const lode_timeline *timeline, unsigned column)
{
    long double span = (long double)(timeline->window.to - timeline->window.from);
    if (column + 1 >= timeline->columns)
        return timeline->window.to;
    return timeline->window.from + (uint64_t)(span * (column + 1) / timeline->columns);
}

static void bin_add(struct tally *tally, uint32_t key, uint64_t nanoseconds)
{
    if (tally->in_bin[key] == 0)
        tally->touched[tally->touched_count++] = key;
    tally->in_bin[key] += nanoseconds;
}

/* The key with the largest part of the bin, plus 1; 0 if none. Clears the bin. */
static int32_t bin_take(struct tally *tally)
{
    uint32_t best = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < tally->touched_count; i++) {
        uint32_t key = tally->touched[i];
        if (tally->in_bin[key] > most || (tally->in_bin[key] == most && key < best)) {
            best = key;
            most = tally->in_bin[key];
        }
        tally->in_bin[key] = 0;
    }
    tally->touched_count = 0;
    return most > 0 ? (int32_t)best + 1 : 0;
}

/* A line being drawn, and its current bin. */
struct pen {
    const lode_timeline *timeline;
    struct tally *tally;
    int32_t *cells;
    unsigned column;
    uint64_t edge; /* where the column ends */
};

static void draw_span(struct pen *pen, uint32_t key, uint64_t from, uint64_t to)
{
    while (from < to) {
        while (from >= pen->edge && pen->column + 1 < pen->timeline->columns) {
            pen->cells[pen->column++] = bin_take(pen->tally);
            pen->edge = column_end(pen->timeline, pen->column);
        }
        uint64_t stop = to < pen->edge ? to : pen->edge;
        bin_add(pen->tally, key, stop - from);
        from = stop;
    }
}

static void draw_line(const struct drawing *self, const lode_trace_line *line, struct tally *tally,
                      int32_t *cells)
{
    const lode_timeline *timeline = self->timeline;
    struct pen pen = {.timeline = timeline, .tally = tally, .cells = cells, .edge = column_end(timeline, 0)};
    struct lode_window_walk walk = window_walk(&timeline->window, line);
    for (struct lode_window_sample sample; window_next(&walk, &sample);) {
        uint32_t key = sample_key(self, sample.context_id);
        tally->samples[key] += sample.begins;
        tally->sample_count += sample.begins;
        if (sample.from < sample.to) {
            tally->nanoseconds[key] += sample.to - sample.from;
            draw_span(&pen, key, sample.from, sample.to);
        }
    }
    cells[pen.column] = bin_take(tally);
}

static lode_status draw_row(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct drawing *self = context;
    lode_trace_line line;
    LODE_TRY(lode_database_trace_line(self->db, self->timeline->window.lines[item], &line, error));
    draw_line(self, &line, &self->tallies[worker], self->timeline->cells + item * self->timeline->columns);
    return LODE_OK;
}

static lode_status finish_row(void *context, uint64_t item, lode_error *error)
{
    struct drawing *self = context;
    (void)item;
    return lode_progress_add(&self->progress, 1, error);
}

/* ---- shares ---- */

static int compare_shares(const void *left, const void *right)
{
    const lode_timeline_share *a = left, *b = right;
    if (a->nanoseconds != b->nanoseconds)
        return a->nanoseconds > b->nanoseconds ? -1 : 1;
    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    uint32_t i = a->context ? a->context->index : 0, k = b->context ? b->context->index : 0;
    return i < k ? -1 : i > k;
}

static lode_status make_shares(struct drawing *self, unsigned workers, lode_error *error)
{
    lode_timeline *timeline = self->timeline;
    timeline->shares = calloc(self->keys, sizeof *timeline->shares);
    int32_t *share_of = calloc(self->keys, sizeof *share_of);
    if (timeline->shares == NULL || share_of == NULL) {
        free(share_of);
        return lode_fail_memory(error);
    }
    for (uint32_t key = 0; key < self->keys; key++) {
        lode_timeline_share share = {.context = self->context_of[key]};
        for (unsigned w = 0; w < workers; w++) {
            share.nanoseconds += self->tallies[w].nanoseconds[key];
            share.samples += self->tallies[w].samples[key];
        }
        if (share.nanoseconds > 0 || share.samples > 0)
            timeline->shares[timeline->share_count++] = share;
    }
    qsort(timeline->shares, timeline->share_count, sizeof *timeline->shares, compare_shares);
    for (size_t i = 0; i < timeline->share_count; i++) {
        const lode_context *context = timeline->shares[i].context;
        share_of[context ? self->key_of[context->index] : 0] = (int32_t)i;
    }
    for (size_t i = 0; i < (size_t)timeline->window.count * timeline->columns; i++)
        timeline->cells[i] = timeline->cells[i] ? share_of[timeline->cells[i] - 1] : -1;
    for (unsigned w = 0; w < workers; w++)
        timeline->samples += self->tallies[w].sample_count;
    free(share_of);
    return LODE_OK;
}

static lode_status allocate_tallies(struct drawing *self, unsigned workers, lode_error *error)
{
    self->tallies = aligned_alloc(TALLY_ALIGN, workers * sizeof *self->tallies);
    if (self->tallies)
        memset(self->tallies, 0, workers * sizeof *self->tallies);
    for (unsigned w = 0; self->tallies && w < workers; w++) {
        struct tally *tally = &self->tallies[w];
        tally->nanoseconds = calloc(self->keys, sizeof *tally->nanoseconds);
        tally->samples = calloc(self->keys, sizeof *tally->samples);
        tally->in_bin = calloc(self->keys, sizeof *tally->in_bin);
        tally->touched = calloc(self->keys, sizeof *tally->touched);
        if (!tally->nanoseconds || !tally->samples || !tally->in_bin || !tally->touched)
            return lode_fail_memory(error);
    }
    return self->tallies ? LODE_OK : lode_fail_memory(error);
}

static lode_status draw(struct drawing *self, const lode_timeline_options *options, lode_error *error)
{
    lode_timeline *timeline = self->timeline;
    struct lode_window *window = &timeline->window;
    LODE_TRY(lode_window_init(window, self->db, options->selection, options->from, options->to, error));
    LODE_TRY(number_functions(self, options->depth, error));
    unsigned threads =
        lode_pool_threads(lode_pool_asked(options->threads, options->pool), timeline->window.count);
    timeline->columns = options->columns ? options->columns : 1;
    timeline->cells = calloc((size_t)timeline->window.count * timeline->columns + 1, sizeof *timeline->cells);
    LODE_TRY_ALLOC(timeline->cells, error);
    lode_status status = allocate_tallies(self, threads, error);
    struct lode_job job = {.items = timeline->window.count,
                           .work = draw_row,
                           .finish = finish_row,
                           .context = self,
                           .pool = options->pool};
    self->progress.total = timeline->window.count;
    if (status == LODE_OK)
        status = lode_pool_run(threads, &job, error);
    if (status == LODE_OK)
        status = make_shares(self, threads, error);
    for (unsigned w = 0; self->tallies && w < threads; w++) {
        free(self->tallies[w].nanoseconds);
        free(self->tallies[w].samples);
        free(self->tallies[w].in_bin);
        free(self->tallies[w].touched);
    }
    return status;
}

lode_status lode_timeline_compute(lode_timeline **out, const lode_database *db,
                                  const lode_timeline_options *given, lode_error *error)
{
    lode_timeline_options options = LODE_TIMELINE_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    lode_timeline *timeline = calloc(1, sizeof *timeline);
    LODE_TRY_ALLOC(timeline, error);
    struct drawing self = {
        .db = db,
        .timeline = timeline,
        .progress = {.report = options.on_progress, .user = options.user, .phase = "reading traces"}};
    lode_status status = draw(&self, &options, error);
    free(self.key_of);
    free(self.context_of);
    free(self.tallies);
    if (status == LODE_OK)
        *out = timeline;
    else
        lode_timeline_free(timeline);
    return status;
}

void lode_timeline_free(lode_timeline *timeline)
{
    if (timeline == NULL)
        return;
    free(timeline->shares);
    lode_window_free(&timeline->window);
    free(timeline->cells);
    free(timeline);
}

void lode_timeline_window(const lode_timeline *timeline, uint64_t *from, uint64_t *to)
{
    *from = timeline->window.from;
    *to = timeline->window.to;
}

LODE_GETTER(uint64_t, lode_timeline_samples, lode_timeline, samples);
LODE_GETTER(size_t, lode_timeline_share_count, lode_timeline, share_count);

const lode_timeline_share *lode_timeline_share_at(const lode_timeline *timeline, size_t index)
{
    return index < timeline->share_count ? &timeline->shares[index] : NULL;
}

LODE_GETTER(uint32_t, lode_timeline_row_count, lode_timeline, window.count);

uint32_t lode_timeline_row_profile(const lode_timeline *timeline, uint32_t row)
{
    return row < timeline->window.count ? timeline->window.profiles[row] : 0;
}

int lode_timeline_cell(const lode_timeline *timeline, uint32_t row, unsigned column)
{
    if (row >= timeline->window.count || column >= timeline->columns)
        return -1;
    return timeline->cells[(size_t)row * timeline->columns + column];
}
