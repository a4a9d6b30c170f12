/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sketches: how often each duration occurred, in buckets whose width is 1/64 of the power of two below, and 1 below 128. The middle
 * of a bucket is within 1/128 of all that is in it (LODE_PERCENTILE_ERROR). Counts are exact, so sketches can be added up in any
 * order. Counters come in pages, one for each power of two that occurs. They are bytes, so that a page is a line of the cache: what
 * passes 256 is carried to wider ones.
 */
#ifndef LODE_ANALYSIS_SKETCH_H
#define LODE_ANALYSIS_SKETCH_H

#include "base/arena.h"
#include "base/array.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    LODE_SKETCH_PAGE = 64,  /* counters in a page */
    LODE_SKETCH_PAGES = 59, /* of a key, at most: all 64-bit numbers */
    LODE_SKETCH_TABLE = 64,
    LODE_SKETCH_PAGES_MAX = 1 << 26 /* of all keys: places are 32 bits */
};

/* How often each counter of a page has passed 256. */
struct lode_sketch_carries {
    uint64_t counters[LODE_SKETCH_PAGE];
};

/* Sketches of many keys, for one thread to add to. */
struct lode_sketches {
    /* By key: where its pages are; 0: nowhere. Page 0 is never used. */
    uint32_t (*tables)[LODE_SKETCH_TABLE];
    uint32_t keys;
    uint8_t *counters; /* of all pages */
    uint32_t page_count, page_capacity;
    uint32_t *carried;      /* by page: its carries; 0: none yet */
    struct lode_array high; /* of struct lode_sketch_carries; the first is never used */
};

/* One key's sketch, complete. */
struct lode_sketch {
    uint64_t used;     /* bit i: page i is there */
    uint64_t counts[]; /* the pages that are there, in their order */
};

static inline uint32_t sketch_bucket(uint64_t value)
{
    unsigned shift = 57u - (unsigned)__builtin_clzll(value | 64);
    return shift * LODE_SKETCH_PAGE + (uint32_t)(value >> shift);
}

/* The middle of a bucket. */
uint64_t lode_sketch_value(uint32_t bucket);

void lode_sketches_init(struct lode_sketches *sketches);
/* Makes room for keys below `keys`. */
bool lode_sketches_reserve(struct lode_sketches *sketches, uint32_t keys);
void lode_sketches_free(struct lode_sketches *sketches);

/* The rare cases of the two below. */
uint32_t lode_sketches_add_page(struct lode_sketches *sketches, uint32_t key, uint32_t number);
bool lode_sketches_carry(struct lode_sketches *sketches, uint32_t place);

/*
 * Counting a value is finding the place of its counter, and counting there: whoever has many can find all places first, and not wait for
 * the memory at each. The key must be below what was reserved. 0: there is no memory.
 */
static inline uint32_t sketch_place(struct lode_sketches *sketches, uint32_t key, uint64_t value)
{
    uint32_t bucket = sketch_bucket(value);
    uint32_t page = sketches->tables[key][bucket / LODE_SKETCH_PAGE];
    if (__builtin_expect(page == 0, 0))
        page = lode_sketches_add_page(sketches, key, bucket / LODE_SKETCH_PAGE);
    return page * LODE_SKETCH_PAGE + bucket % LODE_SKETCH_PAGE;
}

/* False: there is no memory. */
static inline bool sketch_count(struct lode_sketches *sketches, uint32_t place)
{
    return __builtin_expect(++sketches->counters[place] != 0, 1) || lode_sketches_carry(sketches, place);
}

/* The sum of a key's sketches in `count` sets. The arena's; NULL if there is no memory. */
struct lode_sketch *lode_sketch_sum(struct lode_sketches *const *sets, unsigned count, uint32_t key,
                                    struct lode_arena *arena);
/* How many values there are. */
uint64_t lode_sketch_count(const struct lode_sketch *sketch);
/* The value of the `rank`th smallest, from 1; 0 if there are fewer. */
uint64_t lode_sketch_rank(const struct lode_sketch *sketch, uint64_t rank);
/* The rank that a share `q` of `count` values reaches: from 1 to `count`. */
uint64_t lode_sketch_rank_of(double q, uint64_t count);

#endif
