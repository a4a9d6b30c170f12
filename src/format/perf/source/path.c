/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples that follow each other have most of their frames in common: those are not looked up again.
 * Frames above the innermost one are return addresses: one byte less is in the instruction that
 * called, which may be the last one of its function.
 */
#include "format/perf/source/path.h"

#include "base/memory/hash.h"
#include "format/hpcrun/read/placeholders.h"
#include <lode/context.h>
#include <stdlib.h>

/* ---- addresses ---- */

struct site {
    uint64_t address;
    uint32_t root, frame; /* of mappings; of the tree of addresses */
    bool is_caller;
};

struct perf_sites {
    struct lode_index index;
    struct lode_array items; /* struct site */
};

struct perf_sites *lode_perf_sites_new(void)
{
    struct perf_sites *sites = calloc(1, sizeof *sites);
    if (sites)
        lode_array_init(&sites->items, sizeof(struct site), UINT32_MAX - 1);
    return sites;
}

void lode_perf_sites_free(struct perf_sites *sites)
{
    if (sites == NULL)
        return;
    lode_index_free(&sites->index);
    lode_array_free(&sites->items);
    free(sites);
}

/* The frame of an address, by what is mapped there. */
static uint32_t make_frame(struct perf_worker *worker, uint64_t address, uint32_t root, bool is_caller)
{
    const struct perf_maps *maps = &worker->replay->maps;
    const struct perf_mapping *mapping = lode_perf_maps_find(maps, root, address);
    if (mapping == NULL && is_caller)
        mapping = lode_perf_maps_find(maps, root, address - 1);
    /* What returns to the beginning of a mapping was not called from it. */
    bool is_moved = is_caller && address > 0 && !(mapping && mapping->start == address);
    struct hpcrun_raw_frame frame = {.offset = address - is_moved - (mapping ? mapping->shift : 0),
                                     .module = mapping ? mapping->module : 0,
                                     .kind = HPCRUN_RAW_POINT};
    return lode_interner_add(&worker->raw.frames, &frame, NULL);
}

static uint32_t frame_of(struct perf_worker *worker, uint64_t address, uint32_t root, bool is_caller)
{
    struct perf_sites *sites = worker->sites;
    uint64_t hash = lode_hash_pair(address, (uint64_t)root << 1 | is_caller);
    struct lode_index_probe probe = lode_index_begin(&sites->index, hash);
    for (uint32_t number; lode_index_next(&probe, &number);) {
        const struct site *site = LODE_ARRAY_AT(&sites->items, struct site, number);
        if (site->address == address && site->root == root && site->is_caller == is_caller)
            return site->frame;
    }
    uint32_t frame = make_frame(worker, address, root, is_caller);
    struct site *slot = frame != LODE_NO_NUMBER && lode_index_reserve(&sites->index)
                            ? lode_array_push(&sites->items)
                            : NULL;
    if (slot == NULL)
        return LODE_NO_NUMBER;
    *slot = (struct site){address, root, frame, is_caller};
    lode_index_put(&sites->index, hash, (uint32_t)sites->items.count - 1);
    return frame;
}

/* ---- entry points ---- */

static uint32_t child(struct hpcrun_raw *raw, uint32_t parent, const struct hpcrun_raw_frame *frame)
{
    uint32_t number = lode_interner_add(&raw->frames, frame, NULL);
    return number == LODE_NO_NUMBER ? 0 : lode_content_tree_child(&raw->tree, parent, number);
}

uint32_t lode_perf_entry(struct hpcrun_raw *raw, const char *process, bool is_main)
{
    struct hpcrun_raw_frame frame = {.offset = is_main ? LODE_ENTRY_MAIN_THREAD
                                                       : LODE_ENTRY_APPLICATION_THREAD,
                                     .kind = HPCRUN_RAW_ENTRY};
    frame.module = lode_hpcrun_raw_module(raw, process, LODE_NO_NUMBER);
    return frame.module == LODE_NO_NUMBER ? 0 : child(raw, LODE_TREE_ROOT, &frame);
}

/* ---- frames of a sample ---- */

static uint32_t root_of(const struct perf_moment *moment, unsigned mode)
{
    return mode == PERF_MODE_KERNEL ? moment->kernel : mode == PERF_MODE_USER ? moment->root : 0;
}

static void add_frame(struct perf_path *path, uint64_t address, uint32_t root)
{
    path->frames[path->count++] = (struct perf_frame){address, root};
}

/* Turns the frames: chains begin with the innermost one. */
static void turn(struct perf_path *path)
{
    for (uint32_t i = 0, j = path->count; i + 1 < j; i++) {
        struct perf_frame swapped = path->frames[i];
        path->frames[i] = path->frames[--j];
        path->frames[j] = swapped;
    }
}

/* False if there is a mark that says nothing of what follows. */
static bool read_chain(struct perf_path *path, const struct perf_sample *sample,
                       const struct perf_moment *moment, bool is_big)
{
    uint64_t count = sample->chain.size / sizeof(uint64_t);
    uint32_t root = moment->root;
    for (uint64_t i = 0; i < count && path->count < PERF_FRAMES_MOST; i++) {
        uint64_t address = perf_u64(is_big, sample->chain.data + i * sizeof address);
        if (address < PERF_CHAIN_MARKS)
            add_frame(path, address, root);
        else if (address == PERF_CHAIN_USER)
            root = moment->root;
        else if (address == PERF_CHAIN_DEFERRED)
            break; /* what follows is no address: the frames come later, in another record */
        else if (address == PERF_CHAIN_KERNEL)
            root = moment->kernel;
        else if (address == PERF_CHAIN_HV)
            root = 0;
        else
            return false;
    }
    turn(path);
    return true;
}

void lode_perf_path_read(struct perf_path *next, const struct perf_event *event,
                         const struct perf_sample *sample, const struct perf_moment *moment, unsigned mode,
                         bool is_big, bool *has_mark)
{
    enum {
        STACK_MOST = 127 /* what the kernel permits unless it is told otherwise */
    };
    uint32_t most = event->attr.max_stack ? event->attr.max_stack : STACK_MOST;
    next->count = 0;
    *has_mark = sample->has_chain && !read_chain(next, sample, moment, is_big);
    if (*has_mark)
        next->count = 0;
    next->is_cut = next->count >= most;
    if (next->count == 0 && sample->has_ip)
        add_frame(next, sample->ip, root_of(moment, mode));
}

/* ---- nodes ---- */

static bool is_same(const struct perf_frame *a, const struct perf_frame *b)
{
    return a->address == b->address && a->root == b->root;
}

/* How many frames lead to the same nodes. The innermost one is no return address. */
static uint32_t common(const struct perf_path *last, const struct perf_path *next)
{
    uint32_t count = 0, less = last->count < next->count ? last->count : next->count;
    if (less == 0 || last->entry != next->entry || last->is_cut != next->is_cut)
        return 0;
    while (count + 1 < less && is_same(&last->frames[count], &next->frames[count]))
        count++;
    bool is_all = count + 1 == less && last->count == next->count &&
                  is_same(&last->frames[count], &next->frames[count]);
    return count + is_all;
}

uint32_t lode_perf_path_walk(struct perf_worker *worker, struct perf_path *last, struct perf_path *next,
                             uint32_t entry)
{
    static const struct hpcrun_raw_frame truncated = {
        .offset = HPCRUN_TRUNCATED, .module = LODE_NO_NUMBER, .kind = HPCRUN_RAW_PLACEHOLDER};
    next->entry = entry;
    uint32_t done = common(last, next);
    uint32_t node = done > 0 ? last->nodes[done - 1] : entry;
    if (done == 0 && next->is_cut)
        node = child(&worker->raw, entry, &truncated);
    if (done > 0)
        memcpy(next->nodes, last->nodes, done * sizeof *next->nodes);
    for (uint32_t i = done; i < next->count && node > 0; i++) {
        const struct perf_frame *frame = &next->frames[i];
        bool is_caller = i + 1 < next->count;
        uint32_t number = frame_of(worker, frame->address, frame->root, is_caller);
        if (number == LODE_NO_NUMBER)
            return 0;
        node = next->nodes[i] = lode_content_tree_child(&worker->raw.tree, node, number);
    }
    return node;
}
