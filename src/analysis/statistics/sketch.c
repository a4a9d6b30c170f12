/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/statistics/sketch.h"

#include "base/checked.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t lode_sketch_value(uint32_t bucket)
{
    unsigned shift = bucket < 2 * LODE_SKETCH_PAGE ? 0 : bucket / LODE_SKETCH_PAGE - 1;
    uint64_t low = (uint64_t)(bucket - shift * LODE_SKETCH_PAGE) << shift;
    return low + ((UINT64_C(1) << shift) - 1) / 2;
}

void lode_sketches_init(struct lode_sketches *sketches)
{
    /* On the first pages no position is 0, even minus a value. */
    *sketches = (struct lode_sketches){.page_count = 2};
    lode_array_init(&sketches->high, sizeof(struct lode_sketch_carries), SIZE_MAX);
}

bool lode_sketches_reserve(struct lode_sketches *sketches, uint32_t keys)
{
    size_t bytes;
    if (keys <= sketches->keys)
        return true;
    if (!checked_mul_size(keys, sizeof *sketches->tables, &bytes))
        return false;
    uint32_t(*tables)[LODE_SKETCH_TABLE] = aligned_alloc(LODE_SKETCH_PAGE, bytes);
    if (tables == NULL)
        return false;
    if (sketches->keys > 0)
        memcpy(tables, sketches->tables, sketches->keys * sizeof *tables);
    memset(tables + sketches->keys, 0, (keys - sketches->keys) * sizeof *tables);
    free(sketches->tables);
    sketches->tables = tables;
    sketches->keys = keys;
    return true;
}

void lode_sketches_free(struct lode_sketches *sketches)
{
    free(sketches->tables);
    free(sketches->counters);
    free(sketches->carried);
    lode_array_free(&sketches->high);
    lode_sketches_init(sketches);
}

/* Copies instead of realloc, to keep pages aligned to cache lines. */
static bool grow_pages(struct lode_sketches *sketches)
{
    uint32_t capacity = sketches->page_capacity ? sketches->page_capacity + sketches->page_capacity / 2 : 256;
    if (capacity > LODE_SKETCH_PAGES_MAX)
        return false;
    uint32_t *carried = realloc(sketches->carried, capacity * sizeof *carried);
    if (carried == NULL)
        return false;
    sketches->carried = carried;
    uint8_t *counters = aligned_alloc(LODE_SKETCH_PAGE, (size_t)capacity * LODE_SKETCH_PAGE);
    if (counters == NULL)
        return false;
    if (sketches->page_capacity > 0)
        memcpy(counters, sketches->counters, (size_t)sketches->page_count * LODE_SKETCH_PAGE);
    free(sketches->counters);
    sketches->counters = counters;
    sketches->page_capacity = capacity;
    return true;
}

bool lode_sketches_add_page(struct lode_sketches *sketches, uint32_t key, uint64_t value)
{
    unsigned shift = sketch_shift(value);
    /* Values below 128 have width 1; for others the first in units of the width is 64. */
    uint32_t pages = shift == 0 ? 2 : 1, lowest = shift == 0 ? 0 : LODE_SKETCH_PAGE;
    if (sketches->page_count + pages > sketches->page_capacity && !grow_pages(sketches))
        return false;
    uint32_t page = sketches->page_count;
    sketches->page_count += pages;
    memset(sketches->counters + (size_t)page * LODE_SKETCH_PAGE, 0, (size_t)pages * LODE_SKETCH_PAGE);
    memset(sketches->carried + page, 0, pages * sizeof *sketches->carried);
    sketches->tables[key][shift] = page * LODE_SKETCH_PAGE - lowest;
    return true;
}

bool lode_sketches_carry(struct lode_sketches *sketches, uint32_t place)
{
    uint32_t *carried = &sketches->carried[place / LODE_SKETCH_PAGE];
    if (*carried == 0) {
        if (sketches->high.count == 0 && lode_array_push(&sketches->high) == NULL)
            return false;
        if (lode_array_push(&sketches->high) == NULL)
            return false;
        *carried = (uint32_t)(sketches->high.count - 1);
    }
    struct lode_sketch_carries *high = LODE_ARRAY_AT(&sketches->high, struct lode_sketch_carries, *carried);
    high->counters[place % LODE_SKETCH_PAGE]++;
    return true;
}

/* ---- sums ---- */

/* The buckets of one width. */
static uint32_t first_bucket(unsigned shift)
{
    return shift == 0 ? 0 : (shift + 1) * LODE_SKETCH_PAGE;
}

static uint64_t count_at(const struct lode_sketches *set, uint32_t place)
{
    uint32_t carried = set->carried[place / LODE_SKETCH_PAGE];
    uint64_t high = 0;
    if (carried > 0)
        high = LODE_ARRAY_AT(&set->high, struct lode_sketch_carries, carried)
                   ->counters[place % LODE_SKETCH_PAGE];
    return high * 256 + set->counters[place];
}

/* The range of buckets for which any of the sets has pages. */
static void find_bounds(struct lode_sketch *sum, struct lode_sketches *const *sets, unsigned count,
                        uint32_t key)
{
    uint32_t first = LODE_SKETCH_BUCKETS, end = 0;
    for (unsigned shift = 0; shift < LODE_SKETCH_SHIFTS; shift++)
        for (unsigned i = 0; i < count; i++)
            if (key < sets[i]->keys && sets[i]->tables[key][shift] != 0) {
                first = first < first_bucket(shift) ? first : first_bucket(shift);
                end = first_bucket(shift + 1);
            }
    sum->first = first;
    sum->count = end > first ? end - first : 0;
}

static void add_pages(struct lode_sketch *sum, const struct lode_sketches *set, uint32_t key)
{
    for (unsigned shift = 0; shift < LODE_SKETCH_SHIFTS; shift++) {
        uint32_t base = set->tables[key][shift];
        for (uint32_t i = first_bucket(shift); base != 0 && i < first_bucket(shift + 1); i++)
            sum->counts[i - sum->first] += count_at(set, base + i - shift * LODE_SKETCH_PAGE);
    }
}

struct lode_sketch *lode_sketch_sum(struct lode_sketches *const *sets, unsigned count, uint32_t key,
                                    struct lode_arena *arena)
{
    struct lode_sketch bounds, *sum;
    find_bounds(&bounds, sets, count, key);
    sum = lode_arena_alloc(arena, 1, sizeof *sum + bounds.count * sizeof(uint64_t));
    if (sum == NULL)
        return NULL;
    sum->first = bounds.first;
    sum->count = bounds.count;
    for (unsigned i = 0; i < count; i++)
        if (key < sets[i]->keys)
            add_pages(sum, sets[i], key);
    return sum;
}

/* ---- ranks ---- */

uint64_t lode_sketch_count(const struct lode_sketch *sketch)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < sketch->count; i++)
        count += sketch->counts[i];
    return count;
}

uint64_t lode_sketch_rank(const struct lode_sketch *sketch, uint64_t rank)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < sketch->count; i++) {
        seen += sketch->counts[i];
        if (seen >= rank)
            return lode_sketch_value(sketch->first + i);
    }
    return 0;
}

uint64_t lode_sketch_rank_of(double q, uint64_t count)
{
    /* A product such as 0.07 * 100 must not exceed 7. */
    double rank = ceil(q * (double)count * (1.0 - 4 * DBL_EPSILON));
    if (!(rank > 1.0))
        return 1;
    return rank >= (double)count ? count : (uint64_t)rank;
}
