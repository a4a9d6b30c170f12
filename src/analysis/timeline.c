/* SPDX-License-Identifier: BSD-3-Clause */
/* The activity of each thread in a time window. */
#include "analysis/timeline.h"
#include "analysis/key.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/progress.h"
#include "model/database.h"
#include "model/trace.h"
#include <stdlib.h>

/* Functions have keys; key 0 is a context that is not in the metadata. */
struct drawing {
    const lode_database *db;
    lode_timeline *timeline;
    uint32_t *key_of;                /* by index of context */
    const lode_context **context_of; /* by key */
    uint32_t keys;
    struct lode_timeline_tally *tallies;
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

/* ---- rows ---- */

static lode_status draw_row(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct drawing *self = context;
    lode_trace_line line;
    struct lode_window_sample sample;
    LODE_TRY(lode_database_trace_line(self->db, self->timeline->window.lines[item], &line, error));
    struct lode_pen pen = lode_pen_begin(self->timeline, &self->tallies[worker], (uint32_t)item);
    pen.is_by_key = true;
    for (struct lode_window_walk walk = window_walk(&self->timeline->window, &line);
         window_next(&walk, &sample);)
        lode_pen_draw(&pen, sample_key(self, sample.context_id), &sample);
    lode_pen_end(&pen);
    return LODE_OK;
}

static lode_status finish_row(void *context, uint64_t item, lode_error *error)
{
    struct drawing *self = context;
    (void)item;
    return lode_progress_add(&self->progress, 1, error);
}

/* ---- shares ---- */

static lode_timeline_share share_of(void *user, uint32_t key)
{
    const struct drawing *self = user;
    const lode_context *context = self->context_of[key];
    return (lode_timeline_share){.context = context,
                                 .function = context ? lode_context_function(context) : NULL,
                                 .is_idle = context && context->index == 0};
}

static uint32_t rank_of(void *user, uint32_t key)
{
    const struct drawing *self = user;
    return self->context_of[key] ? self->context_of[key]->index : 0;
}

static lode_status draw(struct drawing *self, const lode_timeline_options *options, lode_error *error)
{
    lode_timeline *timeline = self->timeline;
    struct lode_window *window = &timeline->window;
    LODE_TRY(lode_window_init(window, self->db, options->selection, options->from, options->to, error));
    LODE_TRY(number_functions(self, options->depth, error));
    unsigned threads = lode_pool_threads(lode_pool_asked(options->threads, options->pool), window->count);
    lode_status status = lode_timeline_prepare(timeline, options->columns, threads, &self->tallies, error);
    for (unsigned w = 0; w < threads && status == LODE_OK; w++)
        if (!lode_timeline_reserve(&self->tallies[w], self->keys))
            status = lode_fail_memory(error);
    struct lode_job job = {.items = window->count,
                           .work = draw_row,
                           .finish = finish_row,
                           .context = self,
                           .pool = options->pool};
    self->progress.total = window->count;
    if (status == LODE_OK)
        status = lode_pool_run(threads, &job, error);
    if (status == LODE_OK)
        status = lode_timeline_finish(timeline, self->tallies, threads, share_of, rank_of, self, error);
    lode_timeline_tallies_free(self->tallies, threads);
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
