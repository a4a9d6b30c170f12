/* SPDX-License-Identifier: BSD-3-Clause */
/* Call trees: the pass that builds them, and the public API. */
#include "analysis/calls/calltree.h"

#include "analysis/calls/calls.h"
#include "analysis/calls/calltree_builder.h"
#include "analysis/calls/elapsed.h"
#include "analysis/calls/parts/estimate.h"
#include "base/error.h"
#include <lode/build.h>
#include <lode/unstable/search.h>
#include <stdlib.h>

struct worker {
    _Alignas(LODE_WORKER_ALIGN) struct lode_calltree_builder builder;
    struct lode_elapsed elapsed; /* by node */
};

struct lode_calltree_job {
    struct lode_pass pass;
    struct worker *workers;
    lode_calltree *tree;
    bool has_sides; /* calls run at the same time */
};

/* Trees of one recording need no frames: its functions have numbers. */
static uint32_t identify(void *user, const lode_function *function)
{
    (void)user;
    return function->index;
}

/* Calls of a side track are below those that made them. */
static lode_status begin_side(struct lode_calltree_builder *builder, const lode_recording *recording,
                              uint32_t track, lode_error *error)
{
    size_t count = 0, ignored;
    LODE_TRY(lode_track_callers(recording, track, NULL, 0, &count, error));
    const lode_function **callers = malloc((count + 1) * sizeof *callers);
    LODE_TRY_ALLOC(callers, error);
    lode_status status = lode_track_callers(recording, track, callers, count, &ignored, error);
    if (status == LODE_OK)
        status = lode_calltree_builder_below(builder, callers, count, error);
    free(callers);
    return status;
}

static lode_status begin_track(void *user, unsigned worker, const lode_track_row *row, lode_error *error)
{
    struct lode_calltree_job *self = user;
    struct lode_calltree_builder *builder = &self->workers[worker].builder;
    const lode_recording *recording = self->pass.recording;
    LODE_TRY(lode_calltree_builder_begin(builder, LODE_TREE_ROOT, error));
    if (recording_main(recording, row->track) == row->track)
        return LODE_OK;
    return begin_side(builder, recording, row->track, error);
}

/* The node of a call is known once the builder has taken it. */
static lode_status take_each(struct worker *worker, const lode_event *events, size_t count, lode_error *error)
{
    struct lode_calltree_builder *builder = &worker->builder;
    for (size_t i = 0; i < count; i++) {
        size_t depth = builder->depth;
        LODE_TRY(lode_calltree_builder_take(builder, &events[i], 1, error));
        bool done = builder->depth <= depth ||
                    lode_elapsed_enter(&worker->elapsed, builder->stack[builder->depth], events[i].time);
        if (builder->depth < depth)
            done = lode_elapsed_leave(&worker->elapsed, events[i].time);
        LODE_TRY_ALLOC(done, error);
    }
    return LODE_OK;
}

static lode_status take(void *user, unsigned worker, const lode_event *events, size_t count,
                        lode_error *error)
{
    struct lode_calltree_job *self = user;
    if (self->has_sides)
        return take_each(&self->workers[worker], events, count, error);
    return lode_calltree_builder_take(&self->workers[worker].builder, events, count, error);
}

static lode_status end_track(void *user, unsigned worker, lode_track_row *row, lode_error *error)
{
    struct lode_calltree_job *self = user;
    (void)row;
    lode_elapsed_end_track(&self->workers[worker].elapsed);
    return lode_calltree_builder_end(&self->workers[worker].builder, error);
}

static void end_request(void *user, unsigned worker)
{
    struct lode_calltree_job *self = user;
    lode_elapsed_end_request(&self->workers[worker].elapsed);
}

static lode_status resume(void *user, unsigned worker, const struct lode_cut *cut, lode_error *error)
{
    struct lode_calltree_job *self = user;
    return lode_calltree_builder_resume(&self->workers[worker].builder, cut, error);
}

static lode_status open_workers(struct lode_calltree_job *self, lode_error *error)
{
    static const struct lode_calltree_hooks hooks = {.identify = identify};
    for (unsigned i = 0; i < lode_pass_worker_count(&self->pass); i++)
        LODE_TRY(lode_calltree_builder_open(&self->workers[i].builder, &hooks, LODE_TRACE_NONE, error));
    return LODE_OK;
}

static lode_status restart(void *user, lode_error *error)
{
    struct lode_calltree_job *self = user;
    for (unsigned i = 0; i < lode_pass_worker_count(&self->pass); i++)
        lode_calltree_builder_close(&self->workers[i].builder);
    return open_workers(self, error);
}

static struct lode_calltree_counts *counts_of(const struct lode_content_tree *tree)
{
    return tree->nodes.bytes;
}

/* Keeps the counts only. */
static struct lode_content_tree *finish_worker(struct worker *worker)
{
    struct lode_content_tree *tree = &worker->builder.tree;
    lode_content_tree_compact(tree, sizeof(struct lode_calltree_counts));
    return tree;
}

static uint64_t node_elapsed(const struct worker *worker, uint32_t node)
{
    return node == LODE_TREE_ROOT ? worker->elapsed.whole : elapsed_of(&worker->elapsed, node);
}

/* `elapsed` is that of all nodes of the tree; NULL: no calls run at the same time. */
static lode_status merge_trees(struct lode_content_tree *tree, struct worker *worker, uint64_t **elapsed,
                               lode_error *error)
{
    const struct lode_content_tree *from = finish_worker(worker);
    uint32_t before = tree->count;
    uint32_t *map = calloc(from->count, sizeof *map);
    bool done = map && lode_content_tree_merge(tree, from, NULL, map);
    for (uint32_t i = 1; i < from->count && done; i++) {
        uint64_t *calls = &counts_of(tree)[map[i]].calls, more = counts_of(from)[i].calls;
        *calls = (*calls + (more & ~LODE_CALLTREE_OFF_CPU)) | (more & LODE_CALLTREE_OFF_CPU);
        counts_of(tree)[map[i]].self += counts_of(from)[i].self;
    }
    if (done && *elapsed)
        done = lode_grow(elapsed, before, tree->count, sizeof **elapsed, true);
    for (uint32_t i = 0; i < from->count && done && *elapsed; i++)
        (*elapsed)[map[i]] += node_elapsed(worker, i);
    free(map);
    return done ? LODE_OK : lode_fail_memory(error);
}

/* From what an estimate read to all. A call that was open in all parts is one. */
static void scale_counts(struct lode_content_tree *tree, const struct lode_sampling *sample,
                         uint64_t *elapsed)
{
    double times = lode_sample_times(sample), counted = lode_sample_counts(sample);
    for (uint32_t i = 1; i < tree->count; i++) {
        struct lode_calltree_counts *counts = &counts_of(tree)[i];
        uint64_t off_cpu = counts->calls & LODE_CALLTREE_OFF_CPU, calls = counts->calls - off_cpu;
        calls = lode_sample_scaled(calls, counted);
        counts->calls = off_cpu | (calls > 0 ? calls : 1);
        counts->self = lode_sample_scaled(counts->self, times);
    }
    for (uint32_t i = 0; elapsed && i < tree->count; i++)
        elapsed[i] = lode_sample_scaled(elapsed[i], times);
}

/* Of workers that have what an estimate reads in any case, or of the others. */
static lode_status merge_some(struct lode_calltree_job *self, struct lode_content_tree *nodes, bool is_sure,
                              uint64_t **elapsed, lode_error *error)
{
    for (unsigned i = 1; i < lode_pass_worker_count(&self->pass); i++) {
        if (lode_sample_is_sure(&self->pass.sample, i) != is_sure)
            continue;
        LODE_TRY(merge_trees(nodes, &self->workers[i], elapsed, error));
        lode_calltree_builder_close(&self->workers[i].builder);
    }
    return LODE_OK;
}

static lode_status merge_workers(struct lode_calltree_job *self, struct lode_content_tree *nodes,
                                 uint64_t **elapsed, lode_error *error)
{
    if (self->has_sides) {
        *elapsed = calloc(nodes->count, sizeof **elapsed);
        LODE_TRY_ALLOC(*elapsed, error);
        for (uint32_t i = 0; i < nodes->count; i++)
            (*elapsed)[i] = node_elapsed(&self->workers[0], i);
    }
    LODE_TRY(merge_some(self, nodes, false, elapsed, error));
    if (self->pass.sample.piece == 0)
        return LODE_OK;
    scale_counts(nodes, &self->pass.sample, *elapsed);
    return merge_some(self, nodes, true, elapsed, error);
}

static lode_status merge_all(struct lode_calltree_job *self, lode_calltree *tree, lode_error *error)
{
    uint64_t *elapsed = NULL; /* by node */
    struct lode_content_tree *nodes = finish_worker(&self->workers[0]);
    lode_status status = merge_workers(self, nodes, &elapsed, error);
    tree->estimate = self->pass.sample.read;
    tree->cost.profiles = self->pass.row_count;
    if (status == LODE_OK)
        status = lode_calltree_arrange(tree, nodes, elapsed, self->pass.recording, error);
    free(elapsed);
    return status;
}

static lode_status prepare(struct lode_calltree_job *self, const lode_recording *recording,
                           const lode_slice *slice, const lode_calls_options *options, lode_error *error)
{
    self->tree = calloc(1, sizeof *self->tree);
    LODE_TRY_ALLOC(self->tree, error);
    LODE_TRY(lode_pass_open(&self->pass, recording, slice, options, error));
    LODE_TRY(lode_pass_sample(&self->pass, error));
    self->workers = lode_pass_workers(&self->pass, sizeof *self->workers);
    if (self->workers == NULL)
        return lode_fail_memory(error);
    for (unsigned i = 0; i < lode_pass_worker_count(&self->pass); i++)
        self->workers[i].builder.samples = (struct lode_spool)LODE_SPOOL_INIT;
    self->has_sides = lode_pass_has_sides(&self->pass);
    for (unsigned i = 0; i < lode_pass_worker_count(&self->pass); i++)
        lode_elapsed_init(&self->workers[i].elapsed);
    LODE_TRY(open_workers(self, error));
    self->pass.resume = resume;
    self->pass.restart = restart;
    self->pass.begin = begin_track;
    self->pass.take = take;
    self->pass.end = end_track;
    self->pass.end_request = self->has_sides ? end_request : NULL;
    self->pass.user = self;
    return LODE_OK;
}

lode_status lode_calltree_prepare(struct lode_calltree_job **job, const lode_recording *recording,
                                  const lode_slice *slice, const lode_calls_options *options,
                                  lode_error *error)
{
    *job = calloc(1, sizeof **job);
    LODE_TRY_ALLOC(*job, error);
    return prepare(*job, recording, slice, options, error);
}

struct lode_pass *lode_calltree_pass(struct lode_calltree_job *job)
{
    return &job->pass;
}

lode_status lode_calltree_conclude(lode_calltree **out, struct lode_calltree_job *job, lode_error *error)
{
    LODE_TRY(merge_all(job, job->tree, error));
    *out = job->tree;
    job->tree = NULL;
    return LODE_OK;
}

void lode_calltree_end(struct lode_calltree_job *job)
{
    if (job == NULL)
        return;
    for (unsigned i = 0; job->workers && i < lode_pass_worker_count(&job->pass); i++) {
        lode_calltree_builder_close(&job->workers[i].builder);
        lode_elapsed_free(&job->workers[i].elapsed);
    }
    free(job->workers);
    lode_pass_close(&job->pass);
    lode_calltree_free(job->tree);
    free(job);
}

const lode_calls_sample *lode_calltree_estimate(const lode_calltree *tree)
{
    return tree->estimate.parts > 0 ? &tree->estimate : NULL;
}

lode_status lode_calltree_compute(lode_calltree **out, const lode_recording *recording,
                                  const lode_slice *slice, const lode_calls_options *options,
                                  lode_error *error)
{
    struct lode_calltree_job *job;
    *out = NULL;
    lode_status status = lode_calltree_prepare(&job, recording, slice, options, error);
    if (status == LODE_OK)
        status = lode_pass_run(&job->pass, error);
    if (status == LODE_OK)
        status = lode_calltree_conclude(out, job, error);
    lode_calltree_end(job);
    return status;
}

void lode_calltree_free(lode_calltree *tree)
{
    if (tree == NULL)
        return;
    lode_context_tree_free(&tree->contexts);
    free(tree->calls);
    free(tree->is_off_cpu);
    free(tree->total);
    free(tree->self);
    free(tree->elapsed);
    free(tree->cost.inclusive);
    free(tree->cost.own);
    free(tree);
}

const lode_cost *lode_calltree_cost(const lode_calltree *tree)
{
    return &tree->cost;
}

lode_status lode_calltree_calls(lode_cost **out, const lode_calltree *tree, lode_error *error)
{
    uint32_t count = tree->contexts.count;
    lode_cost *cost = calloc(1, sizeof *cost);
    *out = NULL;
    if (cost) {
        cost->inclusive = calloc(count, sizeof *cost->inclusive);
        cost->own = calloc(count, sizeof *cost->own);
    }
    if (!cost || !cost->inclusive || !cost->own) {
        lode_cost_free(cost);
        return lode_fail_memory(error);
    }
    cost->tree = &tree->contexts;
    cost->calls = tree->calls;
    cost->profiles = tree->cost.profiles;
    for (uint32_t i = count; i-- > 1;) {
        cost->own[i] = tree->is_off_cpu[i] ? 0 : (double)tree->calls[i];
        cost->inclusive[i] += cost->own[i];
        cost->inclusive[tree->contexts.nodes[i].parent] += cost->inclusive[i];
    }
    *out = cost;
    return LODE_OK;
}

const uint64_t *lode_calltree_elapsed(const lode_calltree *tree)
{
    return tree->elapsed;
}

uint32_t lode_calltree_context_count(const lode_calltree *tree)
{
    return tree->contexts.count;
}
