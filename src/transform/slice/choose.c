/* SPDX-License-Identifier: BSD-3-Clause */
/* Which contexts a slice has. */
#include "analysis/cost/cost.h"
#include "analysis/cost/window.h"
#include "base/error.h"
#include "transform/slice/slice.h"
#include <lode/unstable/match.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- costs ---- */

static lode_status compute_cost(const struct lode_merge_source *self, const struct lode_merge_part *part,
                                lode_cost **out, lode_error *error)
{
    const lode_database_slice *slice = part->filter->slice;
    if (lode_slice_has_window(part)) {
        lode_window_cost_options options = LODE_WINDOW_COST_OPTIONS_INIT;
        options.from = slice->from;
        options.to = slice->to;
        options.selection = slice->selection;
        options.threads = self->threads;
        return lode_cost_compute_window(out, part->db, &options, error);
    }
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    options.metric = slice->metric;
    options.selection = slice->selection;
    options.threads = self->threads;
    return lode_cost_compute(out, part->db, &options, error);
}

/* ---- the focus ---- */

/* Everything below the topmost contexts of the function is inside. */
static lode_status find_focus(const struct lode_merge_part *part, const lode_cost *cost, lode_error *error)
{
    struct lode_merge_filter *filter = part->filter;
    const struct lode_context_tree *tree = &part->db->tree;
    lode_matches *matches;
    filter->is_top = calloc(tree->count, sizeof *filter->is_top);
    LODE_TRY_ALLOC(filter->is_top, error);
    LODE_TRY(lode_matches_find(&matches, cost, filter->slice->focus, filter->slice->shown, error));
    filter->target[0] = LODE_NONE;
    for (uint32_t i = 1; i < tree->count; i++) {
        const lode_context *context = &tree->nodes[i];
        bool is_inside = context->parent > 0 && filter->target[context->parent] != LODE_NONE;
        filter->is_top[i] = !is_inside && lode_matches_has(matches, context);
        filter->target[i] = is_inside || filter->is_top[i] ? i : LODE_NONE;
    }
    lode_matches_free(matches);
    return LODE_OK;
}

/* ---- depth and share ---- */

/* A context goes where its parent goes. */
static void leave_out(const struct lode_merge_part *part, uint32_t index)
{
    part->filter->target[index] = part->filter->target[part->db->tree.nodes[index].parent];
}

static bool is_inside(const struct lode_merge_filter *filter, uint32_t index)
{
    return filter->target[index] != LODE_NONE && !(filter->is_top && filter->is_top[index]);
}

/* Calls above a context, and itself; lines and loops have the level of their function. */
static lode_status cut_depth(const struct lode_merge_part *part, lode_error *error)
{
    const struct lode_context_tree *tree = &part->db->tree;
    struct lode_merge_filter *filter = part->filter;
    uint32_t *level = calloc((size_t)tree->count + 1, sizeof *level);
    LODE_TRY_ALLOC(level, error);
    for (uint32_t i = 1; i < tree->count; i++) {
        const lode_context *context = &tree->nodes[i];
        bool is_call = context->lexical != LODE_LEXICAL_ENTRY && context->relation != LODE_RELATION_LEXICAL;
        bool is_top = filter->is_top && filter->is_top[i];
        level[i] = is_top ? 1 : level[context->parent] + is_call;
        if (level[i] > filter->slice->depth && is_inside(filter, i))
            leave_out(part, i);
    }
    free(level);
    return LODE_OK;
}

static void cut_share(const struct lode_merge_part *part, const lode_cost *cost)
{
    const struct lode_context_tree *tree = &part->db->tree;
    struct lode_merge_filter *filter = part->filter;
    double total = filter->is_top ? 0.0 : cost->inclusive[0];
    for (uint32_t i = 1; filter->is_top && i < tree->count; i++)
        total += filter->is_top[i] ? cost->inclusive[i] : 0.0;
    double least = filter->slice->min_share * fabs(total);
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t parent = tree->nodes[i].parent;
        bool is_cut = parent > 0 && filter->target[parent] != parent;
        if (is_inside(filter, i) && (is_cut || fabs(cost->inclusive[i]) < least))
            leave_out(part, i);
    }
}

/* ---- contexts without values ---- */

struct use {
    const struct lode_merge_source *source;
    const struct lode_merge_part *part;
    uint64_t *is_used; /* by index; words, so that ranks can reduce them */
};

static void mark(const struct use *self, uint32_t id)
{
    uint32_t index = lode_context_tree_find(&self->part->db->tree, id);
    if (index != LODE_NO_INDEX)
        __atomic_store_n(&self->is_used[index], 1, __ATOMIC_RELAXED);
}

static lode_status mark_line(const struct use *self, uint32_t profile, lode_error *error)
{
    const lode_database_slice *slice = self->part->filter->slice;
    uint32_t number = self->part->trace_of[profile];
    lode_trace_line line;
    if (number == LODE_NONE)
        return LODE_OK;
    LODE_TRY(lode_database_trace_line(self->part->db, number, &line, error));
    struct lode_window window = {.from = slice->from, .to = slice->to ? slice->to : UINT64_MAX};
    struct lode_window_sample sample;
    for (struct lode_window_walk walk = window_walk(&window, &line); window_next(&walk, &sample);)
        mark(self, sample.context_id);
    return LODE_OK;
}

static lode_status mark_profile(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    const struct use *self = context;
    uint32_t profile = self->source->profiles[self->source->base.first + item].profile;
    lode_block block;
    (void)worker;
    LODE_TRY(mark_line(self, profile, error));
    if (lode_slice_has_window(self->part))
        return LODE_OK;
    LODE_TRY(lode_profile_block(self->part->db, profile, &block, error));
    for (uint32_t g = 0; g < block.group_count; g++)
        mark(self, block_group_key(&block, g));
    return LODE_OK;
}

/* Contexts that have nothing, and nothing below them, go without a trace. */
static lode_status cut_unused(const struct lode_merge_source *self, const struct lode_merge_part *part,
                              lode_error *error)
{
    const struct lode_context_tree *tree = &part->db->tree;
    struct use use = {self, part, calloc((size_t)tree->count + 1, sizeof *use.is_used)};
    LODE_TRY_ALLOC(use.is_used, error);
    struct lode_job job = {
        .items = self->base.count, .work = mark_profile, .context = &use, .pool = self->options->pool};
    lode_status status = lode_pool_run(lode_pool_threads(self->threads, job.items), &job, error);
    if (status == LODE_OK && self->comm)
        status = lode_comm_allreduce(self->comm, use.is_used, tree->count, LODE_COMM_MAX, error);
    for (uint32_t i = tree->count; i-- > 1;)
        use.is_used[tree->nodes[i].parent] |= use.is_used[i];
    for (uint32_t i = 1; i < tree->count && status == LODE_OK; i++)
        if (!use.is_used[i] && part->filter->target[i] != LODE_NONE) {
            bool is_top = part->filter->is_top && part->filter->is_top[i];
            part->filter->target[i] = is_top ? LODE_NONE : part->filter->target[tree->nodes[i].parent];
            if (part->filter->is_top)
                part->filter->is_top[i] = false;
        }
    free(use.is_used);
    return status;
}

/* ---- all of it ---- */

static lode_status choose(const struct lode_merge_source *self, const struct lode_merge_part *part,
                          const lode_cost *cost, lode_error *error)
{
    struct lode_merge_filter *filter = part->filter;
    const lode_database_slice *slice = filter->slice;
    if (slice->focus)
        LODE_TRY(find_focus(part, cost, error));
    if (slice->depth > 0)
        LODE_TRY(cut_depth(part, error));
    if (slice->min_share > 0 && cost)
        cut_share(part, cost);
    filter->moves = slice->focus || slice->depth > 0 || slice->min_share > 0;
    return slice->keep_contexts ? LODE_OK : cut_unused(self, part, error);
}

lode_status lode_slice_choose(struct lode_merge_source *self, struct lode_merge_part *part, lode_error *error)
{
    struct lode_merge_filter *filter = part->filter;
    const lode_database_slice *slice = filter->slice;
    lode_cost *cost = NULL;
    filter->target = calloc((size_t)part->db->tree.count + 1, sizeof *filter->target);
    LODE_TRY_ALLOC(filter->target, error);
    for (uint32_t i = 0; i < part->db->tree.count; i++)
        filter->target[i] = i;
    if (slice->focus || slice->min_share > 0)
        LODE_TRY(compute_cost(self, part, &cost, error));
    lode_status status = choose(self, part, cost, error);
    lode_cost_free(cost);
    return status;
}

void lode_slice_free(struct lode_merge_filter *filter)
{
    free(filter->target);
    free(filter->is_top);
    filter->target = NULL;
    filter->is_top = NULL;
}
