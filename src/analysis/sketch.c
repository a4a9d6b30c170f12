/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sketch.h"

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
    *sketches = (struct lode_sketches){.page_count = 1};
    lode_array_init(&sketches->high, sizeof(struct lode_sketch_carries), SIZE_MAX);
}

bool lode_sketches_reserve(struct lode_sketches *sketches, uint32_t keys)
{
    size_t bytes;
    if (keys <= sketches->keys)
        return true;
    if (!checked_mul_size(keys, sizeof *sketches->tables, &bytes))
        return false;
    void *tables = realloc(sketches->tables, bytes);
    if (tables == NULL)
        return false;
    sketches->tables = tables;
    memset(sketches->tables + sketches->keys, 0, (keys - sketches->keys) * sizeof *sketches->tables);
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

/* A copy rather than realloc, which does not keep pages at lines of the cache. */
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

uint32_t lode_sketches_add_page(struct lode_sketches *sketches, uint32_t key, uint32_t number)
{
    if (sketches->page_count >= sketches->page_capacity && !grow_pages(sketches))
        return 0;
    uint32_t page = sketches->page_count++;
    memset(sketches->counters + (size_t)page * LODE_SKETCH_PAGE, 0, LODE_SKETCH_PAGE);
    sketches->carried[page] = 0;
    sketches->tables[key][number] = page;
    return page;
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

static uint64_t used_pages(struct lode_sketches *const *sets, unsigned count, uint32_t key)
{
    uint64_t used = 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned page = 0; key < sets[i]->keys && page < LODE_SKETCH_PAGES; page++)
            used |= (uint64_t)(sets[i]->tables[key][page] != 0) << page;
    return used;
}

/* Where the counters of a page that is there begin. */
static size_t page_place(uint64_t used, unsigned page)
{
    uint64_t before = used & ((UINT64_C(1) << page) - 1);
    return (size_t)__builtin_popcountll(before) * LODE_SKETCH_PAGE;
}

static void add_page(uint64_t *sum, const struct lode_sketches *set, uint32_t page)
{
    const uint8_t *low = set->counters + (size_t)page * LODE_SKETCH_PAGE;
    uint32_t carried = set->carried[page];
    for (unsigned i = 0; i < LODE_SKETCH_PAGE; i++)
        sum[i] += low[i];
    if (carried == 0)
        return;
    const struct lode_sketch_carries *high = LODE_ARRAY_AT(&set->high, struct lode_sketch_carries, carried);
    for (unsigned i = 0; i < LODE_SKETCH_PAGE; i++)
        sum[i] += high->counters[i] * 256;
}

struct lode_sketch *lode_sketch_sum(struct lode_sketches *const *sets, unsigned count, uint32_t key,
                                    struct lode_arena *arena)
{
    uint64_t used = used_pages(sets, count, key);
    size_t counters = (size_t)__builtin_popcountll(used) * LODE_SKETCH_PAGE;
    struct lode_sketch *sum = lode_arena_alloc(arena, 1, sizeof *sum + counters * sizeof(uint64_t));
    if (sum == NULL)
        return NULL;
    sum->used = used;
    for (unsigned i = 0; i < count; i++)
        for (unsigned page = 0; key < sets[i]->keys && page < LODE_SKETCH_PAGES; page++)
            if (sets[i]->tables[key][page] != 0)
                add_page(&sum->counts[page_place(used, page)], sets[i], sets[i]->tables[key][page]);
    return sum;
}

/* ---- ranks ---- */

uint64_t lode_sketch_count(const struct lode_sketch *sketch)
{
    size_t counters = (size_t)__builtin_popcountll(sketch->used) * LODE_SKETCH_PAGE;
    uint64_t count = 0;
    for (size_t i = 0; i < counters; i++)
        count += sketch->counts[i];
    return count;
}

uint64_t lode_sketch_rank(const struct lode_sketch *sketch, uint64_t rank)
{
    const uint64_t *counts = sketch->counts;
    uint64_t seen = 0;
    for (uint32_t page = 0; page < LODE_SKETCH_PAGES; page++) {
        if ((sketch->used >> page & 1) == 0)
            continue;
        for (uint32_t i = 0; i < LODE_SKETCH_PAGE; i++, counts++) {
            seen += *counts;
            if (seen >= rank)
                return lode_sketch_value(page * LODE_SKETCH_PAGE + i);
        }
    }
    return 0;
}

uint64_t lode_sketch_rank_of(double q, uint64_t count)
{
    /* A product such as 0.07 * 100 must not come out above 7. */
    double rank = ceil(q * (double)count * (1.0 - 4 * DBL_EPSILON));
    if (!(rank > 1.0))
        return 1;
    return rank >= (double)count ? count : (uint64_t)rank;
}
