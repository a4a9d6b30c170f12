/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sketches: histograms of durations with buckets of width 1/64 of the power of two below, and 1
 * below 128. The middle of a bucket is within 1/128 of its values (LODE_PERCENTILE_ERROR). Counts
 * are exact, so sums are order-independent. Counters are bytes in pages of 64, a cache line: one
 * page per power of two that occurs, two for all below 128. Overflows are carried to wider
 * counters.
 */
#ifndef LODE_ANALYSIS_SKETCH_H
#define LODE_ANALYSIS_SKETCH_H

#include "base/memory/arena.h"
#include "base/memory/array.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    LODE_SKETCH_PAGE = 64,   /* counters per page */
    LODE_SKETCH_SHIFTS = 58, /* bucket widths: 1, 2, 4... up to 2^57 */
    LODE_SKETCH_BUCKETS = (LODE_SKETCH_SHIFTS + 1) * LODE_SKETCH_PAGE,
    LODE_SKETCH_TABLE = 64,
    LODE_SKETCH_PAGES_MAX = 1 << 26 /* of all keys: positions have 32 bits */
};

/* How often each counter of a page overflowed. */
struct lode_sketch_carries {
    uint64_t counters[LODE_SKETCH_PAGE];
};

/* Sketches of many keys, for one thread. */
struct lode_sketches {
    /* By key and width: position of a counter minus its value in units of the width; 0: none. */
    uint32_t (*tables)[LODE_SKETCH_TABLE];
    uint32_t keys;
    uint8_t *counters; /* of all pages */
    uint32_t page_count, page_capacity;
    uint32_t *carried;      /* by page: index of its carries; 0: none */
    struct lode_array high; /* of struct lode_sketch_carries; the first is unused */
};

/* One key's sketch, complete. */
struct lode_sketch {
    uint32_t first, count; /* buckets */
    uint64_t counts[];
};

/* log2 of the bucket width for a value. */
static inline unsigned sketch_shift(uint64_t value)
{
    return ((unsigned)__builtin_clzll(value | 64) ^ 63) - 6;
}

/* Bucket numbers ascend with values. */
static inline uint32_t sketch_bucket(uint64_t value)
{
    unsigned shift = sketch_shift(value);
    return shift * LODE_SKETCH_PAGE + (uint32_t)(value >> shift);
}

/* The middle of a bucket. */
uint64_t lode_sketch_value(uint32_t bucket);

void lode_sketches_init(struct lode_sketches *sketches);
/* Reserves space for keys below `keys`. */
bool lode_sketches_reserve(struct lode_sketches *sketches, uint32_t keys);
void lode_sketches_free(struct lode_sketches *sketches);

/*
 * Finds the position of the counter for a value; the caller then increments it. To hide memory
 * latency, find many positions first. The key must be reserved. 0: it needs a page.
 */
static inline uint32_t sketch_place(const struct lode_sketches *sketches, uint32_t key, uint64_t value)
{
    unsigned shift = sketch_shift(value);
    uint32_t base = sketches->tables[key][shift];
    return __builtin_expect(base != 0, 1) ? base + (uint32_t)(value >> shift) : 0;
}
/* Adds the page. False if out of memory. */
bool lode_sketches_add_page(struct lode_sketches *sketches, uint32_t key, uint64_t value);

/* Call this when a counter has wrapped to 0. False if out of memory. */
bool lode_sketches_carry(struct lode_sketches *sketches, uint32_t place);

/* The sum of a key's sketches in `count` sets, in the arena; NULL if out of memory. */
struct lode_sketch *lode_sketch_sum(struct lode_sketches *const *sets, unsigned count, uint32_t key,
                                    struct lode_arena *arena);
/* The number of values. */
uint64_t lode_sketch_count(const struct lode_sketch *sketch);
/* The value of the `rank`th smallest, from 1; 0 if there are fewer. */
uint64_t lode_sketch_rank(const struct lode_sketch *sketch, uint64_t rank);
/* The rank of quantile `q` of `count` values: from 1 to `count`. */
uint64_t lode_sketch_rank_of(double q, uint64_t count);

#endif
