/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of code are shared by functions: the first one in the file has them, and a later one that
 * overlaps it is dropped as a whole. All bounds divide the addresses into cells. A tree of sums
 * (Fenwick) counts the cells that are taken; each cell is taken once, so that n ranges cost
 * O(n log n).
 */
#include "base/compare.h"
#include "format/hpcrun/scopes/structure.h"
#include <stdlib.h>

struct cells {
    uint64_t *bounds; /* sorted, different */
    size_t count;
    uint32_t *sums; /* from 1 */
};

static int compare_bounds(const void *left, const void *right)
{
    return LODE_COMPARE(*(const uint64_t *)left, *(const uint64_t *)right);
}

LODE_COMPARE_BY(compare_starts, struct hpcstruct_range, start);

static size_t cell_of(const struct cells *cells, uint64_t bound)
{
    size_t low = 0, high = cells->count;
    LODE_BISECT(low, high, cells->bounds[middle] < bound);
    return low;
}

/* Taken cells before this one. */
static uint32_t count_before(const struct cells *cells, size_t cell)
{
    uint32_t sum = 0;
    for (size_t i = cell; i > 0; i &= i - 1)
        sum += cells->sums[i];
    return sum;
}

static void take_cell(struct cells *cells, size_t cell)
{
    for (size_t i = cell + 1; i <= cells->count; i += i & (~i + 1))
        cells->sums[i]++;
}

static bool make_cells(struct cells *cells, const struct lode_array *ranges)
{
    size_t count = 0;
    cells->bounds = malloc((2 * ranges->count + 1) * sizeof *cells->bounds);
    cells->sums = calloc(2 * ranges->count + 1, sizeof *cells->sums);
    if (cells->bounds == NULL || cells->sums == NULL)
        return false;
    for (size_t i = 0; i < ranges->count; i++) {
        const struct hpcstruct_range *range = LODE_ARRAY_AT(ranges, struct hpcstruct_range, i);
        cells->bounds[2 * i] = range->start;
        cells->bounds[2 * i + 1] = range->end;
    }
    qsort(cells->bounds, 2 * ranges->count, sizeof *cells->bounds, compare_bounds);
    for (size_t i = 0; i < 2 * ranges->count; i++)
        if (i == 0 || cells->bounds[i] != cells->bounds[count - 1])
            cells->bounds[count++] = cells->bounds[i];
    cells->count = count;
    return true;
}

static void drop_overlaps(struct cells *cells, struct lode_array *ranges)
{
    size_t stored = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        struct hpcstruct_range range = *LODE_ARRAY_AT(ranges, struct hpcstruct_range, i);
        size_t first = cell_of(cells, range.start), past = cell_of(cells, range.end);
        if (count_before(cells, past) != count_before(cells, first))
            continue;
        for (size_t cell = first; cell < past; cell++)
            take_cell(cells, cell);
        *LODE_ARRAY_AT(ranges, struct hpcstruct_range, stored++) = range;
    }
    ranges->count = stored;
}

bool lode_hpcstruct_settle(struct lode_array *ranges, uint64_t *dropped)
{
    struct cells cells = {0};
    size_t before = ranges->count;
    bool done = before == 0 || make_cells(&cells, ranges);
    if (done && before > 0) {
        drop_overlaps(&cells, ranges);
        qsort(ranges->items, ranges->count, sizeof(struct hpcstruct_range), compare_starts);
    }
    *dropped = before - ranges->count;
    free(cells.bounds);
    free(cells.sums);
    return done;
}
