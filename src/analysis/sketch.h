/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sketches: how often each duration occurred, in buckets whose width is 1/64 of the power of two below, and 1 below 128. The middle
 * of a bucket is within 1/128 of all that is in it (LODE_PERCENTILE_ERROR). Counts are exact, so sketches can be added up in any
 * order. Counters come in pages of 64, one for each power of two that occurs, and two for all below 128. They are bytes, so that a page is
 * a line of the cache: what passes 256 is carried to wider ones.
 */
#ifndef LODE_ANALYSIS_SKETCH_H
#define LODE_ANALYSIS_SKETCH_H

#include "base/arena.h"
#include "base/array.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    LODE_SKETCH_PAGE = 64,   /* counters in a page */
    LODE_SKETCH_SHIFTS = 58, /* widths of buckets: 1, 2, 4... up to 2^57 */
    LODE_SKETCH_BUCKETS = (LODE_SKETCH_SHIFTS + 1) * LODE_SKETCH_PAGE,
    LODE_SKETCH_TABLE = 64,
    LODE_SKETCH_PAGES_MAX = 1 << 26 /* of all keys: places are 32 bits */
};

/* How often each counter of a page has passed 256. */
struct lode_sketch_carries {
    uint64_t counters[LODE_SKETCH_PAGE];
};

/* Sketches of many keys, for one thread to add to. */
struct lode_sketches {
    /* By key and width: the place of a counter, less its value in units of the width; 0: there is none yet. */
    uint32_t (*tables)[LODE_SKETCH_TABLE];
    uint32_t keys;
    uint8_t *counters; /* of all pages */
    uint32_t page_count, page_capacity;
    uint32_t *carried;      /* by page: its carries; 0: none yet */
    struct lode_array high; /* of struct lode_sketch_carries; the first is never used */
};

/* One key's sketch, complete. */
struct lode_sketch {
    uint32_t first, count; /* buckets */
    uint64_t counts[];
};

/* The width of the bucket that a value is in, as a power of two. */
static inline unsigned sketch_shift(uint64_t value)
{
    return ((unsigned)__builtin_clzll(value | 64) ^ 63) - 6;
}

/* Buckets are numbered by rising values. */
static inline uint32_t sketch_bucket(uint64_t value)
{
    unsigned shift = sketch_shift(value);
    return shift * LODE_SKETCH_PAGE + (uint32_t)(value >> shift);
}

/* The middle of a bucket. */
uint64_t lode_sketch_value(uint32_t bucket);

void lode_sketches_init(struct lode_sketches *sketches);
/* Makes room for keys below `keys`. */
bool lode_sketches_reserve(struct lode_sketches *sketches, uint32_t keys);
void lode_sketches_free(struct lode_sketches *sketches);

/*
 * Counting a value is finding the place of its counter, and counting there: whoever has many can find all places first, and not wait for
 * the memory at each. The key must be below what was reserved. 0: it has none yet, and needs a page.
 */
static inline uint32_t sketch_place(const struct lode_sketches *sketches, uint32_t key, uint64_t value)
{
    unsigned shift = sketch_shift(value);
    uint32_t base = sketches->tables[key][shift];
    return __builtin_expect(base != 0, 1) ? base + (uint32_t)(value >> shift) : 0;
}
/* Makes the page. False: there is no memory. */
bool lode_sketches_add_page(struct lode_sketches *sketches, uint32_t key, uint64_t value);

/* What whoever counts at a place does when its counter has come to 0. False: there is no memory. */
bool lode_sketches_carry(struct lode_sketches *sketches, uint32_t place);

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
