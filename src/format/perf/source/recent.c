/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/source/recent.h"

#include <lode/writer.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_LEAST = 1 << 8,
    SLOTS_MOST = 1 << 15,
    WAYS = 4,                  /* slots for each hash */
    POOL_WORDS_MOST = 1 << 20, /* of all chains: 8 MiB */
    CHAIN_WORDS = 256          /* of one: the kernel permits 127 frames unless told otherwise */
};

struct perf_recents {
    uint32_t slot_count; /* a power of two */
    uint32_t pool_words;
    uint32_t used; /* of these */
    uint64_t *pool;
    struct perf_recent slots[];
};

/* Small recordings need small tables; compressed ones have more chains than bytes. */
struct perf_recents *lode_perf_recents_new(uint64_t bytes)
{
    uint32_t slots = SLOTS_LEAST;
    while (slots < SLOTS_MOST && slots < bytes / 8)
        slots *= 2;
    uint64_t words = bytes + CHAIN_WORDS;
    uint32_t pool = words < POOL_WORDS_MOST ? (uint32_t)words : POOL_WORDS_MOST;
    struct perf_recents *recents = calloc(1, sizeof *recents + slots * sizeof(struct perf_recent));
    uint64_t *memory = calloc(pool, sizeof *memory);
    if (recents == NULL || memory == NULL) {
        free(recents);
        free(memory);
        return NULL;
    }
    recents->slot_count = slots;
    recents->pool_words = pool;
    recents->pool = memory;
    return recents;
}

void lode_perf_recents_free(struct perf_recents *recents)
{
    if (recents)
        free(recents->pool);
    free(recents);
}

static uint64_t load(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/*
 * It is cheap, and everybody can make chains that collide: then they replace each other and are
 * walked, which takes as long as without a table. Only the upper half depends on all bits.
 */
static uint32_t hash_query(const struct perf_recent_query *query)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    const struct perf_recent_key *key = &query->key;
    const uint8_t *at = query->chain.data, *end = at + query->chain.size;
    uint64_t a = query->chain.size, b = key->entry, c = key->root, d = key->kernel;
    /* Four at once, since a product takes longer than the next one needs to begin. */
    for (; end - at >= 32; at += 32) {
        a = (a ^ load(at)) * factor;
        b = (b ^ load(at + 8)) * factor;
        c = (c ^ load(at + 16)) * factor;
        d = (d ^ load(at + 24)) * factor;
    }
    for (; at < end; at += 8)
        d = (d ^ load(at)) * factor;
    a = (a ^ (b << 32 | b >> 32)) * factor;
    c = (c ^ (d << 32 | d >> 32)) * factor;
    return (uint32_t)(((a ^ (c << 32 | c >> 32)) * factor) >> 32);
}

static inline bool is_same(const struct perf_recents *recents, const struct perf_recent *slot,
                           const struct perf_recent_query *query)
{
    return slot->hash == query->hash && slot->node > 0 &&
           slot->words == query->chain.size / sizeof(uint64_t) &&
           memcmp(&slot->key, &query->key, sizeof slot->key) == 0 &&
           memcmp(recents->pool + slot->at, query->chain.data, (size_t)query->chain.size) == 0;
}

struct perf_recent *lode_perf_recent_find(struct perf_recents *recents, struct perf_recent_query *query)
{
    query->hash = hash_query(query);
    uint32_t first = query->hash & (recents->slot_count - 1);
    struct perf_recent *slot = &recents->slots[first];
    if (is_same(recents, slot, query))
        return slot;
    for (uint32_t way = 1; way < WAYS; way++) {
        slot = &recents->slots[first ^ way];
        if (is_same(recents, slot, query))
            return slot;
    }
    return NULL;
}

struct perf_recent *lode_perf_recent_add(struct perf_recents *recents, const struct perf_recent_query *query,
                                         uint32_t node, bool is_cut)
{
    uint32_t words = (uint32_t)(query->chain.size / sizeof(uint64_t));
    if (words > CHAIN_WORDS)
        return NULL;
    if (words > recents->pool_words - recents->used) {
        memset(recents->slots, 0, recents->slot_count * sizeof *recents->slots);
        recents->used = 0;
    }
    uint32_t first = query->hash & (recents->slot_count - 1);
    struct perf_recent *slot = &recents->slots[first];
    for (uint32_t way = WAYS - 1; way > 0; way--)
        recents->slots[first ^ way] = recents->slots[first ^ (way - 1)];
    *slot = (struct perf_recent){.key = query->key,
                                 .hash = query->hash,
                                 .words = words,
                                 .at = recents->used,
                                 .node = node,
                                 .is_cut = is_cut,
                                 .lane = LODE_NONE};
    memcpy(recents->pool + recents->used, query->chain.data, (size_t)query->chain.size);
    recents->used += words;
    return slot;
}
