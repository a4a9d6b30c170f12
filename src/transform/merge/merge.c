/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the trees of workers to one per rank, and from these to one of all on rank 0. Workers, and
 * the functions of ranks, merge pairwise in a binomial tree: number i is merged into i without its
 * lowest bit. Trees of ranks become one by hashes.
 */
#include "base/comm/pack.h"
#include "base/comm/tree.h"
#include "base/compare.h"
#include "base/error.h"
#include "transform/build/build.h"
#include <stdlib.h>
#include <string.h>

/* Adds a tree and its frames. `map` is by node of it. False if there is no memory. */
static bool merge_tree(struct lode_content_tree *tree, struct lode_frames *frames,
                       const struct lode_content_tree *from, const struct lode_frames *from_frames,
                       uint32_t *map)
{
    uint32_t *frame_map = calloc(from_frames->frames.items.count + 1, sizeof *frame_map);
    bool done = frame_map && lode_frames_merge(frames, from_frames, frame_map) &&
                lode_content_tree_merge(tree, from, frame_map, map);
    free(frame_map);
    return done;
}

/* ---- the trees of workers ---- */

struct step {
    struct lode_build *build;
    unsigned distance;
    uint32_t *counts; /* by worker: nodes that its tree had when it was merged into another */
};

static lode_status merge_pair(void *context, uint64_t item, unsigned number, lode_error *error)
{
    const struct step *step = context;
    struct lode_build *build = step->build;
    unsigned to = (unsigned)item * 2 * step->distance, from = to + step->distance;
    (void)number;
    if (from >= build->threads)
        return LODE_OK;
    struct lode_build_worker *worker = &build->workers[from], *into = &build->workers[to];
    struct lode_content_tree *tree = &worker->builder.tree;
    build->nodes[from] = calloc(tree->count, sizeof *build->nodes[from]);
    step->counts[from] = tree->count;
    if (build->nodes[from] == NULL ||
        !merge_tree(&into->builder.tree, &into->frames, tree, &worker->frames, build->nodes[from]))
        return lode_fail_memory(error);
    lode_content_tree_close(tree);
    lode_frames_free(&worker->frames);
    return LODE_OK;
}

/* Parents are needed to the end. What counts events is not, and would make the trees large. */
static lode_status note_parents(struct lode_build *build, unsigned worker, lode_error *error)
{
    struct lode_content_tree *tree = &build->workers[worker].builder.tree;
    lode_content_tree_compact(tree, sizeof(struct lode_tree_node));
    build->parents[worker] = calloc(tree->count, sizeof *build->parents[worker]);
    if (build->parents[worker] == NULL)
        return lode_fail_memory(error);
    build->node_counts[worker] = tree->count;
    for (uint32_t i = 0; i < tree->count; i++)
        build->parents[worker][i] = lode_tree_node(tree, i)->parent;
    return LODE_OK;
}

/* The tree of worker 0 becomes that of the rank. Maps of others go through the merged ones. */
static lode_status compose(struct lode_build *build, const uint32_t *counts, lode_error *error)
{
    uint32_t **nodes = build->nodes;
    struct lode_build_worker *first = &build->workers[0];
    build->tree = first->builder.tree;
    build->frames = first->frames;
    first->builder.tree = (struct lode_content_tree){0};
    lode_frames_init(&first->frames);
    nodes[0] = calloc(build->tree.count, sizeof *nodes[0]);
    if (nodes[0] == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < build->tree.count; i++)
        nodes[0][i] = i;
    for (unsigned worker = 1; worker < build->threads; worker++) {
        const uint32_t *way = nodes[worker & (worker - 1)];
        for (uint32_t i = 0; i < counts[worker]; i++)
            nodes[worker][i] = way[nodes[worker][i]];
    }
    return LODE_OK;
}

static lode_status merge_workers(struct lode_build *build, lode_error *error)
{
    struct step step = {.build = build, .counts = calloc(build->threads, sizeof *step.counts)};
    lode_status status = step.counts ? LODE_OK : lode_fail_memory(error);
    for (unsigned i = 0; i < build->threads && status == LODE_OK; i++)
        status = note_parents(build, i, error);
    for (step.distance = 1; step.distance < build->threads && status == LODE_OK; step.distance *= 2) {
        unsigned pairs = (build->threads + 2 * step.distance - 1) / (2 * step.distance);
        struct lode_job job = {
            .items = pairs, .work = merge_pair, .context = &step, .pool = build->inputs.options->pool};
        status = lode_pool_run(build->threads, &job, error);
    }
    if (status == LODE_OK)
        status = compose(build, step.counts, error);
    free(step.counts);
    return status;
}

/* ---- what ranks name ---- */

/* Adds the names and frames of another rank. */
static lode_status take_frames(void *user, unsigned level, const unsigned char *at, lode_error *error)
{
    struct lode_build *build = user;
    struct lode_frames frames;
    (void)level;
    lode_frames_init(&frames);
    bool done = lode_strings_unpack(&build->changes, &at) && lode_frames_unpack(&frames, &at);
    uint32_t *map = done ? calloc(frames.frames.items.count + 1, sizeof *map) : NULL;
    done = map && lode_frames_merge(&build->frames, &frames, map);
    free(map);
    lode_frames_free(&frames);
    LODE_TRY_ALLOC(done, error);
    return LODE_OK;
}

static bool pack_frames(void *user, struct lode_blob *blob)
{
    const struct lode_build *build = user;
    return lode_strings_pack(&build->changes, blob) && lode_frames_pack(&build->frames, blob);
}

/* By frame of this rank: that of rank 0, which has all. False if out of memory. */
static bool number_frames(const struct lode_build *build, const struct lode_blob *blob, uint32_t *numbers)
{
    struct lode_frames all;
    const unsigned char *at = blob->bytes;
    lode_frames_init(&all);
    bool done = lode_frames_unpack(&all, &at) && lode_frames_merge(&all, &build->frames, numbers);
    lode_frames_free(&all);
    return done;
}

static lode_status share_frames(const struct lode_build *build, uint32_t *numbers, lode_error *error)
{
    struct lode_blob blob = {0};
    bool is_first = build->comm->place.rank == 0;
    lode_status status =
        !is_first || lode_frames_pack(&build->frames, &blob) ? LODE_OK : lode_fail_memory(error);
    if (status == LODE_OK)
        status = lode_comm_broadcast_blob(build->comm, &blob, error);
    if (status == LODE_OK && !number_frames(build, &blob, numbers))
        status = lode_fail_memory(error);
    lode_blob_free(&blob);
    return status;
}

/* ---- the trees of ranks ---- */

/* On rank 0. */
static lode_status build_tree_of_all(struct lode_build *build, lode_error *error)
{
    struct lode_rank_trees *ranks = &build->ranks;
    bool done = lode_content_tree_open(&build->all, sizeof(struct lode_tree_node));
    for (uint32_t i = LODE_BUILD_MAIN; i < LODE_BUILD_FIRST && done; i++) {
        const struct lode_tree_node *node = lode_tree_node(&build->tree, i);
        done = lode_content_tree_append(&build->all, node->parent, node->frame) == i;
    }
    LODE_TRY_ALLOC(done, error);
    const uint32_t *frames = (const uint32_t *)(const void *)ranks->contents;
    return lode_rank_trees_build(ranks, frames, (uint32_t)build->frames.frames.items.count, &build->all,
                                 &build->node_of, error);
}

static lode_status unite_trees(struct lode_build *build, lode_error *error)
{
    uint32_t frames = (uint32_t)build->frames.frames.items.count,
             *numbers = calloc((size_t)frames + 1, sizeof *numbers);
    lode_status status = numbers ? share_frames(build, numbers, error) : lode_fail_memory(error);
    struct lode_rank_tree tree = {.tree = &build->tree,
                                  .fixed = LODE_BUILD_FIRST,
                                  .contents = numbers,
                                  .content_size = sizeof *numbers,
                                  .frame_count = frames};
    if (status == LODE_OK)
        status = lode_rank_trees_unite(&build->ranks, build->comm, &tree, error);
    free(numbers);
    return status;
}

static lode_status merge_ranks(struct lode_build *build, lode_error *error)
{
    struct lode_comm_reduction reduction = {take_frames, pack_frames, build};
    if (build->comm->place.size == 1)
        return LODE_OK;
    LODE_TRY(lode_comm_reduce(build->comm, &reduction, error));
    LODE_TRY(unite_trees(build, error));
    return build->comm->place.rank == 0 ? build_tree_of_all(build, error) : LODE_OK;
}

/* ---- changes ---- */

static lode_status list_changes(struct lode_build *build, lode_error *error)
{
    for (unsigned worker = 0; worker < build->threads; worker++) {
        const struct lode_strings *strings = &build->workers[worker].changes.metrics;
        for (uint32_t i = 0; i < strings->items.count; i++)
            if (lode_strings_add(&build->changes, lode_strings_at(strings, i)) == LODE_NO_NUMBER)
                return lode_fail_memory(error);
    }
    return LODE_OK;
}

/* All names, sorted, so that it does not matter who met them first. */
static bool pack_sorted(struct lode_strings *strings, struct lode_blob *blob)
{
    if (strings->items.count > 1)
        qsort(strings->items.items, strings->items.count, sizeof(const char *), lode_compare_strings);
    return lode_strings_pack(strings, blob);
}

/* Rank 0 knows all names; everybody gets them. */
static lode_status agree_on_changes(struct lode_build *build, lode_error *error)
{
    struct lode_blob blob = {0};
    bool done = build->comm->place.rank > 0 || pack_sorted(&build->changes, &blob);
    lode_status status = done ? lode_comm_broadcast_blob(build->comm, &blob, error) : lode_fail_memory(error);
    lode_strings_free(&build->changes);
    lode_strings_init(&build->changes);
    const unsigned char *at = blob.bytes;
    if (status == LODE_OK && !lode_strings_unpack(&build->changes, &at))
        status = lode_fail_memory(error);
    lode_blob_free(&blob);
    return status;
}

static lode_status map_changes(struct lode_build *build, unsigned worker, lode_error *error)
{
    const struct lode_strings *strings = &build->workers[worker].changes.metrics;
    uint32_t *map = build->metrics[worker] = calloc(strings->items.count + 1, sizeof *map);
    if (map == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < strings->items.count; i++) {
        uint32_t number = lode_strings_add(&build->changes, lode_strings_at(strings, i));
        if (number == LODE_NO_NUMBER)
            return lode_fail_memory(error);
        map[i] = LODE_BUILD_METRICS + number;
    }
    return LODE_OK;
}

/* ---- all of it ---- */

lode_status lode_build_merge(struct lode_build *build, lode_error *error)
{
    build->nodes = calloc(build->threads, sizeof *build->nodes);
    build->metrics = calloc(build->threads, sizeof *build->metrics);
    build->node_counts = calloc(build->threads, sizeof *build->node_counts);
    build->parents = calloc(build->threads, sizeof *build->parents);
    if (!build->nodes || !build->metrics || !build->node_counts || !build->parents)
        return lode_fail_memory(error);
    LODE_TRY(merge_workers(build, error));
    LODE_TRY(list_changes(build, error));
    LODE_TRY(merge_ranks(build, error));
    LODE_TRY(agree_on_changes(build, error));
    for (unsigned i = 0; i < build->threads; i++)
        LODE_TRY(map_changes(build, i, error));
    build->metric_count = LODE_BUILD_METRICS + (uint32_t)build->changes.items.count;
    return LODE_OK;
}
