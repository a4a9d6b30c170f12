/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what workers have read to one tree of addresses per rank, and from these to one of all on
 * rank 0. Load modules, metrics and names of ranks merge pairwise, as there are few; trees become
 * one by hashes.
 */
#include "base/compare.h"
#include "base/error.h"
#include "format/hpcrun/source/source.h"
#include <stdlib.h>

/* ---- workers ---- */

/* Skips are needed no more. The raw data of the first worker becomes that of the rank. */
static lode_status merge_workers(struct hpcrun_source *source, lode_error *error)
{
    for (unsigned w = 0; w < source->threads; w++) {
        struct hpcrun_raw *raw = &source->workers[w].raw;
        source->nodes[w] = calloc((size_t)raw->tree.count + 1, sizeof **source->nodes);
        source->metrics[w] = calloc(raw->metrics.count + 1, sizeof **source->metrics);
        source->metric_counts[w] = (uint32_t)raw->metrics.count;
        LODE_TRY_ALLOC(source->nodes[w] && source->metrics[w], error);
        if (w == 0) {
            source->raw = *raw;
            *raw = (struct hpcrun_raw){0};
            for (uint32_t i = 0; i < source->raw.tree.count; i++)
                source->nodes[w][i] = i;
            for (uint32_t i = 0; i < source->raw.metrics.count; i++)
                source->metrics[w][i] = i;
            continue;
        }
        LODE_TRY_ALLOC(lode_hpcrun_raw_merge(&source->raw, raw, source->nodes[w], source->metrics[w]), error);
        lode_hpcrun_raw_free(raw);
    }
    return LODE_OK;
}

/* ---- what ranks name ---- */

static bool merge_packed(struct hpcrun_raw *raw, const unsigned char *bytes)
{
    struct hpcrun_raw from;
    uint32_t root[1];
    bool done = lode_hpcrun_raw_init(&from) && lode_hpcrun_raw_unpack(&from, &bytes) &&
                lode_hpcrun_raw_merge(raw, &from, root, NULL);
    lode_hpcrun_raw_free(&from);
    return done;
}

static lode_status take(void *user, unsigned level, const unsigned char *bytes, lode_error *error)
{
    struct hpcrun_source *source = user;
    (void)level;
    LODE_TRY_ALLOC(merge_packed(&source->raw, bytes), error);
    return LODE_OK;
}

static bool pack(void *user, struct lode_blob *blob)
{
    const struct hpcrun_source *source = user;
    return lode_hpcrun_raw_pack(&source->raw, blob);
}

/* The frames of this rank with the numbers that rank 0 has for load modules. */
static bool number_modules(const struct hpcrun_raw *raw, const unsigned char *bytes,
                           struct hpcrun_raw_frame *frames)
{
    struct hpcrun_raw all;
    bool done = lode_hpcrun_raw_init(&all) && lode_hpcrun_raw_unpack(&all, &bytes);
    for (uint32_t i = 0; i < raw->frames.items.count && done; i++) {
        frames[i] = *lode_hpcrun_raw_frame(raw, i);
        if (frames[i].module == LODE_NO_NUMBER)
            continue;
        const struct hpcrun_module_key *key =
            LODE_ARRAY_AT(&raw->modules.items, struct hpcrun_module_key, frames[i].module);
        frames[i].module =
            lode_hpcrun_raw_add_module(&all, lode_strings_at(&raw->paths, key->path), key->directory);
        done = frames[i].module != LODE_NO_NUMBER;
    }
    lode_hpcrun_raw_free(&all);
    return done;
}

/* Rank 0 knows everything; the others add metrics and names that they do not have. */
static lode_status share_facts(struct hpcrun_source *source, struct hpcrun_raw_frame *frames,
                               lode_error *error)
{
    struct lode_blob blob = {0};
    bool is_first = source->comm->place.rank == 0;
    bool done = !is_first || lode_hpcrun_raw_pack(&source->raw, &blob);
    lode_status status =
        done ? lode_comm_broadcast_blob(source->comm, &blob, error) : lode_fail_memory(error);
    if (status == LODE_OK) {
        done = number_modules(&source->raw, blob.bytes, frames) &&
               (is_first || merge_packed(&source->raw, blob.bytes));
        status = done ? LODE_OK : lode_fail_memory(error);
    }
    lode_blob_free(&blob);
    return status;
}

/* ---- the tree of all, on rank 0 ---- */

/* An order of frames that does not depend on who met them first. */
struct frame_order {
    const struct hpcrun_raw_frame *frames;
    const uint32_t *modules; /* ranks */
};

static int compare_frames(const void *left, const void *right, void *argument)
{
    const struct frame_order *self = argument;
    const struct hpcrun_raw_frame *a = &self->frames[*(const uint32_t *)left],
                                  *b = &self->frames[*(const uint32_t *)right];
    uint32_t x = a->module == LODE_NO_NUMBER ? LODE_NO_NUMBER : self->modules[a->module];
    uint32_t y = b->module == LODE_NO_NUMBER ? LODE_NO_NUMBER : self->modules[b->module];
    int order = LODE_COMPARE(x, y);
    order = order ? order : LODE_COMPARE(a->offset, b->offset);
    return order ? order : LODE_COMPARE(a->kind, b->kind);
}

/* By module: its rank. NULL if out of memory. */
static uint32_t *rank_modules(struct hpcrun_raw *raw)
{
    uint32_t count = (uint32_t)raw->modules.items.count;
    uint32_t *sorted = calloc((size_t)count + 1, sizeof *sorted);
    uint32_t *ranks = sorted ? calloc((size_t)count + 1, sizeof *ranks) : NULL;
    if (ranks)
        lode_hpcrun_raw_sort_modules(raw, sorted);
    for (uint32_t i = 0; ranks && i < count; i++)
        ranks[sorted[i]] = i;
    free(sorted);
    return ranks;
}

/* Puts distinct frames into their order; `frames` by number follow. */
static bool sort_frames(struct hpcrun_raw *raw, struct lode_interner *distinct, uint32_t *frames,
                        uint32_t first, uint32_t total)
{
    uint32_t count = (uint32_t)distinct->items.count;
    uint32_t *sorted = calloc((size_t)count + 1, sizeof *sorted), *modules = rank_modules(raw);
    uint32_t *moved = calloc((size_t)count + 1, sizeof *moved);
    struct frame_order order = {distinct->items.items, modules};
    bool done = sorted && modules && moved;
    for (uint32_t i = 0; done && i < count; i++)
        sorted[i] = i;
    if (done && count > 1)
        qsort_r(sorted, count, sizeof *sorted, compare_frames, &order);
    for (uint32_t i = 0; done && i < count; i++) {
        moved[sorted[i]] = lode_interner_add(&raw->frames, &order.frames[sorted[i]], NULL);
        done = moved[sorted[i]] != LODE_NO_NUMBER;
    }
    for (uint32_t i = first; done && i < total; i++)
        frames[i] = moved[frames[i]];
    free(sorted);
    free(modules);
    free(moved);
    return done;
}

/* By number: the frame, in `raw`, which has no others. */
static bool intern_frames(struct hpcrun_source *source, uint32_t *frames)
{
    const struct lode_rank_trees *ranks = &source->ranks;
    const struct hpcrun_raw_frame *contents = (const struct hpcrun_raw_frame *)(const void *)ranks->contents;
    struct lode_interner distinct;
    bool done = true;
    lode_interner_init(&distinct, sizeof *contents);
    lode_interner_clear(&source->raw.frames);
    for (uint32_t i = ranks->fixed; i < ranks->total && done; i++)
        done = (frames[i] = lode_interner_add(&distinct, &contents[i], NULL)) != LODE_NO_NUMBER;
    done = done && sort_frames(&source->raw, &distinct, frames, ranks->fixed, ranks->total);
    lode_interner_free(&distinct);
    return done;
}

static lode_status build_tree_of_all(struct hpcrun_source *source, lode_error *error)
{
    uint32_t *frames = calloc(source->ranks.total, sizeof *frames);
    bool done = frames && intern_frames(source, frames) &&
                lode_content_tree_open(&source->raw.tree, sizeof(struct lode_tree_node));
    lode_status status =
        done ? lode_rank_trees_build(&source->ranks, frames, (uint32_t)source->raw.frames.items.count,
                                     &source->raw.tree, &source->node_of, error)
             : lode_fail_memory(error);
    free(frames);
    return status;
}

/* ---- all of it ---- */

static lode_status merge_ranks(struct hpcrun_source *source, lode_error *error)
{
    struct lode_comm_reduction reduction = {take, pack, source};
    uint32_t count = (uint32_t)source->raw.frames.items.count;
    LODE_TRY(lode_comm_reduce(source->comm, &reduction, error));
    struct hpcrun_raw_frame *frames = calloc((size_t)count + 1, sizeof *frames);
    lode_status status = frames ? share_facts(source, frames, error) : lode_fail_memory(error);
    struct lode_rank_tree tree = {.tree = &source->raw.tree,
                                  .fixed = 1,
                                  .contents = frames,
                                  .content_size = sizeof *frames,
                                  .frame_count = count};
    if (status == LODE_OK)
        status = lode_rank_trees_unite(&source->ranks, source->comm, &tree, error);
    free(frames);
    source->own = source->raw.tree;
    source->raw.tree = (struct lode_content_tree){0};
    return status;
}

lode_status lode_hpcrun_merge(struct hpcrun_source *source, lode_error *error)
{
    LODE_TRY(merge_workers(source, error));
    if (source->comm->place.size == 1)
        return LODE_OK;
    LODE_TRY(merge_ranks(source, error));
    return source->comm->place.rank == 0 ? build_tree_of_all(source, error) : LODE_OK;
}
