/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses above the innermost one are return addresses: one byte less is in the instruction that
 * called, which may be the last one of its function.
 */
#include "format/perf/source/path.h"

#include "base/memory/hash.h"
#include "format/hpcrun/read/placeholders.h"
#include <lode/context.h>
#include <stdio.h>
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
    struct site *slot =
        frame != LODE_NO_NUMBER && lode_index_reserve(&sites->index) ? lode_array_push(&sites->items) : NULL;
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
    struct hpcrun_raw_frame frame = {
        .offset = is_main ? LODE_ENTRY_MAIN_THREAD : LODE_ENTRY_APPLICATION_THREAD, .kind = HPCRUN_RAW_ENTRY};
    frame.module = lode_hpcrun_raw_module(raw, process, LODE_NO_NUMBER);
    return frame.module == LODE_NO_NUMBER ? 0 : child(raw, LODE_TREE_ROOT, &frame);
}

uint32_t lode_perf_woken(struct hpcrun_raw *raw, uint32_t wait, const char *name)
{
    struct hpcrun_raw_frame frame = {.kind = HPCRUN_RAW_POINT};
    char text[256];
    snprintf(text, sizeof text, "woken by %.200s", name);
    frame.module = lode_hpcrun_raw_add_module(raw, text, PERF_KEY_WAKER);
    return frame.module == LODE_NO_NUMBER ? 0 : child(raw, wait, &frame);
}

/* ---- words ---- */

static uint32_t root_of(const struct perf_moment *moment, unsigned mode)
{
    return mode == PERF_MODE_KERNEL ? moment->kernel : mode == PERF_MODE_USER ? moment->root : 0;
}

static bool is_mark(uint64_t word)
{
    return word >= PERF_CHAIN_MARKS;
}

/* The mappings of what follows a mark. False if it is unknown. */
static bool follow_mark(uint64_t mark, const struct perf_moment *moment, uint32_t *root)
{
    *root = mark == PERF_CHAIN_USER ? moment->root : mark == PERF_CHAIN_KERNEL ? moment->kernel : 0;
    return mark == PERF_CHAIN_USER || mark == PERF_CHAIN_KERNEL || mark == PERF_CHAIN_HV;
}

/* Words of a chain, the innermost one first. */
struct words {
    const uint8_t *data;
    uint64_t count;
    bool is_swapped; /* of another byte order than this machine's */
};

/* As it stands in the file. */
static uint64_t raw_at(const struct words *words, uint64_t index)
{
    uint64_t raw;
    memcpy(&raw, words->data + index * sizeof raw, sizeof raw);
    return raw;
}

static uint64_t word_at(const struct words *words, uint64_t index)
{
    uint64_t raw = raw_at(words, index);
    return words->is_swapped ? __builtin_bswap64(raw) : raw;
}

/* What follows a cookie for frames that come later, in another record, is no address. */
static struct words words_of(const struct perf_store *store, struct lode_range chain)
{
    struct words words = {chain.data, chain.size / sizeof(uint64_t),
                          store->is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)};
    if (words.count > PERF_WORDS_MOST)
        words.count = PERF_WORDS_MOST;
    if (words.count >= 2 && word_at(&words, words.count - 2) == PERF_CHAIN_DEFERRED)
        words.count -= 2;
    return words;
}

/* ---- nodes ---- */

/*
 * How many steps stay as they are. The innermost address is none of them, unless the chains are
 * equal: it is no return address.
 */
static uint32_t common(const struct perf_path *path, const struct words *words, uint32_t entry,
                       const struct perf_moment *moment)
{
    uint32_t most = path->count < words->count ? path->count : (uint32_t)words->count, count = 0, own;
    uint64_t leaf = 0;
    /* Equal words under other mappings are different addresses. */
    if (path->entry != entry || path->root != moment->root || path->kernel != moment->kernel)
        return 0;
    while (count < most && path->steps[count].raw == raw_at(words, words->count - 1 - count))
        count++;
    if (count == path->count && count == words->count)
        return count;
    while (leaf < words->count && is_mark(word_at(words, leaf)))
        leaf++;
    own = (uint32_t)(words->count - (leaf < words->count ? leaf + 1 : leaf));
    count = count > path->leaf ? path->leaf : count;
    return count > own ? own : count;
}

/* Finds the mappings of the words that are new. False if a mark is unknown. */
static bool find_roots(struct perf_path *path, const struct words *words, const struct perf_moment *moment,
                       uint64_t count, uint32_t *leaf, uint32_t *last)
{
    uint32_t root = moment->root;
    *leaf = UINT32_MAX;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t word = word_at(words, i);
        if (is_mark(word) && !follow_mark(word, moment, &root))
            return false;
        if (!is_mark(word) && *leaf == UINT32_MAX)
            *leaf = (uint32_t)i;
        path->roots[i] = root;
    }
    *last = root;
    return true;
}

/* Takes the new words, from the outermost one on. */
static uint32_t take_words(struct perf_worker *worker, const struct words *words, uint32_t done,
                           uint32_t leaf, uint32_t node)
{
    struct perf_path *path = worker->path;
    uint32_t depth = done > 0 ? path->steps[done - 1].depth : 0;
    for (uint32_t i = done; i < words->count && node > 0; i++) {
        uint32_t from = (uint32_t)words->count - 1 - i;
        struct perf_step *step = &path->steps[i];
        *step = (struct perf_step){raw_at(words, from), word_at(words, from), path->roots[from], node, depth};
        if (is_mark(step->word))
            continue;
        uint32_t frame = frame_of(worker, step->word, step->root, from != leaf);
        node = frame == LODE_NO_NUMBER ? 0 : lode_content_tree_child(&worker->raw.tree, node, frame);
        step->node = node;
        step->depth = ++depth;
    }
    return node;
}

static uint32_t walk_words(struct perf_worker *worker, const struct perf_chain *chain,
                           const struct words *words, uint32_t entry, bool *has_mark)
{
    struct perf_path *path = worker->path;
    uint32_t done = common(path, words, entry, chain->moment), leaf, last;
    *has_mark = !find_roots(path, words, chain->moment, words->count - done, &leaf, &last);
    /* Equal words below different marks are different addresses. */
    if (!*has_mark && done > 0 && done < words->count && path->steps[done - 1].root != last) {
        done = 0;
        *has_mark = !find_roots(path, words, chain->moment, words->count, &leaf, &last);
    }
    if (*has_mark) {
        path->count = 0;
        return 0;
    }
    if (done == words->count && done > 0)
        return path->steps[done - 1].node;
    uint32_t node = done > 0 ? path->steps[done - 1].node : entry;
    node = take_words(worker, words, done, leaf, node);
    path->count = node > 0 ? (uint32_t)words->count : 0;
    path->entry = entry;
    path->root = chain->moment->root;
    path->kernel = chain->moment->kernel;
    path->leaf = leaf == UINT32_MAX ? path->count : (uint32_t)words->count - 1 - leaf;
    return node;
}

/* ---- samples ---- */

/* The address of the sample itself is all that is known. */
static uint32_t walk_own(struct perf_worker *worker, const struct perf_chain *chain)
{
    struct perf_path *path = worker->path;
    uint32_t root = root_of(chain->moment, chain->mode), node = chain->entry;
    path->count = path->leaf = 0;
    if (!chain->sample->has_ip)
        return node;
    uint32_t frame = frame_of(worker, chain->sample->ip, root, false);
    node = frame == LODE_NO_NUMBER ? 0 : lode_content_tree_child(&worker->raw.tree, node, frame);
    path->steps[0] = (struct perf_step){0, chain->sample->ip, root, node, 1};
    /* For those who look at it; it is no chain that others could begin with. */
    path->count = 1;
    path->entry = 0;
    return node;
}

static uint32_t truncated_below(struct hpcrun_raw *raw, uint32_t entry)
{
    static const struct hpcrun_raw_frame truncated = {
        .offset = HPCRUN_TRUNCATED, .module = LODE_NO_NUMBER, .kind = HPCRUN_RAW_PLACEHOLDER};
    return child(raw, entry, &truncated);
}

static uint64_t count_addresses(const struct words *words)
{
    uint64_t marks = 0;
    if (words->is_swapped)
        for (uint64_t i = 0; i < words->count; i++)
            marks += is_mark(word_at(words, i));
    else
        for (uint64_t i = 0; i < words->count; i++)
            marks += is_mark(raw_at(words, i));
    return words->count - marks;
}

/* The table is for chains that lead somewhere; those that are looked at by tests are walked. */
static struct perf_recent *find_recent(const struct perf_worker *worker, struct perf_recent_query *query)
{
    return query->chain.size == 0 || worker->show ? NULL : lode_perf_recent_find(worker->recents, query);
}

struct perf_walked lode_perf_walk(struct perf_worker *worker, const struct perf_chain *chain)
{
    struct words words = words_of(worker->store, chain->sample->chain);
    struct perf_walked walked = {.node = chain->entry};
    uint32_t most = perf_frames_most(chain->event);
    struct perf_recent_query query = {.key = {chain->entry, chain->moment->root, chain->moment->kernel, most},
                                      .chain = {words.data, words.count * sizeof(uint64_t)}};
    struct perf_recent *recent = find_recent(worker, &query);
    if (recent)
        return (struct perf_walked){.node = recent->node, .is_cut = recent->is_cut, .recent = recent};
    walked.is_cut = words.count >= most && count_addresses(&words) >= most;
    uint32_t entry = walked.is_cut ? truncated_below(&worker->raw, chain->entry) : chain->entry;
    if (entry == 0)
        return (struct perf_walked){0};
    if (words.count > 0)
        walked.node = walk_words(worker, chain, &words, entry, &walked.has_mark);
    bool is_empty = words.count == 0 || walked.has_mark ||
                    (walked.node > 0 && worker->path->steps[worker->path->count - 1].depth == 0);
    if (is_empty)
        walked.node = walk_own(worker, chain);
    else if (walked.node > 0 && !worker->show)
        walked.recent = lode_perf_recent_add(worker->recents, &query, walked.node, walked.is_cut);
    return walked;
}
