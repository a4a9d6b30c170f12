/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/time/density.h"

#include "base/error.h"
#include "base/getter.h"
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 10, /* ranges of a power of ten */
    ROWS = 194  /* 0, and as many as begin below 2^64 */
};

struct lode_density {
    struct lode_intervals columns;
    uint64_t found;
    lode_match method;       /* of the tracks in the cells */
    uint32_t *index;         /* [column][row]: a cell plus 1; 0: none */
    struct lode_array cells; /* of lode_density_cell */
    uint64_t begins[ROWS];   /* of ranges of durations */
};

/* ---- ranges ---- */

static void make_ranges(uint64_t begins[ROWS])
{
    static const unsigned steps[STEPS] = {100, 125, 160, 200, 250, 315, 400, 500, 630, 800};
    uint64_t power = 1;
    begins[0] = 0;
    for (unsigned i = 0; i + 1 < ROWS; i++) {
        /* In hundredths as long as there are any: the last products would not fit. */
        unsigned decade = i / STEPS;
        if (i % STEPS == 0 && decade != 0 && decade != 2)
            power *= 10;
        power = i == 2 * STEPS ? 1 : power;
        begins[i + 1] = decade < 2 ? steps[i % STEPS] * power / 100 : steps[i % STEPS] * power;
    }
}

/* The last range that begins at a duration or below. */
static unsigned row_of(const uint64_t begins[ROWS], uint64_t duration)
{
    unsigned first = 0, last = ROWS - 1;
    while (first < last) {
        unsigned middle = (first + last + 1) / 2;
        if (begins[middle] <= duration)
            first = middle;
        else
            last = middle - 1;
    }
    return first;
}

/* ---- cells ---- */

lode_status lode_density_init(lode_density **out, struct lode_intervals columns, lode_error *error)
{
    lode_density *self = calloc(1, sizeof *self);
    *out = self;
    LODE_TRY_ALLOC(self, error);
    self->columns = columns;
    make_ranges(self->begins);
    lode_array_init(&self->cells, sizeof(lode_density_cell), UINT32_MAX - 1);
    self->index = calloc(columns.count, ROWS * sizeof *self->index);
    LODE_TRY_ALLOC(self->index, error);
    return LODE_OK;
}

static lode_density_cell new_cell(const lode_density *self, unsigned column, unsigned row)
{
    return (lode_density_cell){.column = column,
                               .row = row,
                               .from = intervals_begin(&self->columns, column),
                               .to = intervals_begin(&self->columns, column + 1),
                               .min_duration = self->begins[row],
                               .max_duration = row + 1 < ROWS ? self->begins[row + 1] : UINT64_MAX};
}

static lode_density_cell *cell_at(lode_density *self, uint64_t begin, uint64_t duration)
{
    const struct lode_intervals *columns = &self->columns;
    unsigned column = begin >= columns->from ? intervals_find(columns, begin) : 0;
    unsigned row = row_of(self->begins, duration);
    uint32_t *index = &self->index[(size_t)column * ROWS + row];
    if (*index == 0) {
        lode_density_cell *added = lode_array_push(&self->cells);
        if (added == NULL)
            return NULL;
        *added = new_cell(self, column, row);
        *index = (uint32_t)self->cells.count;
    }
    return LODE_ARRAY_AT(&self->cells, lode_density_cell, *index - 1);
}

static void forget(lode_density *self)
{
    memset(self->index, 0, (size_t)self->columns.count * ROWS * sizeof *self->index);
    self->cells.count = 0;
    self->found = 0;
}

lode_status lode_density_add(lode_density *self, const struct lode_found *found, uint64_t duration,
                             lode_error *error)
{
    if (found->method < self->method)
        return LODE_OK;
    if (found->method > self->method)
        forget(self);
    self->method = found->method;
    lode_density_cell *cell = cell_at(self, found->begin, duration);
    LODE_TRY_ALLOC(cell, error);
    bool is_longest = cell->tracks == 0 || duration > cell->longest_duration ||
                      (duration == cell->longest_duration && found->track < cell->longest);
    cell->tracks++;
    /* Times of damaged recordings can be anything. */
    if (__builtin_add_overflow(cell->duration, duration, &cell->duration))
        cell->duration = UINT64_MAX;
    if (is_longest) {
        cell->longest_duration = duration;
        cell->longest = found->track;
    }
    self->found++;
    return LODE_OK;
}

static int compare_cells(const void *left, const void *right)
{
    const lode_density_cell *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->column < b->column ? -1 : a->column > b->column;
}

void lode_density_finish(lode_density *self)
{
    if (self->cells.count)
        qsort(self->cells.items, self->cells.count, sizeof(lode_density_cell), compare_cells);
}

/* ---- the result ---- */

void lode_density_free(lode_density *density)
{
    if (density == NULL)
        return;
    free(density->index);
    lode_array_free(&density->cells);
    free(density);
}

void lode_density_window(const lode_density *density, uint64_t *from, uint64_t *to)
{
    *from = density->columns.from;
    *to = density->columns.to;
}

LODE_GETTER(unsigned, lode_density_columns, lode_density, columns.count);
LODE_GETTER(uint64_t, lode_density_found, lode_density, found);
LODE_GETTER(size_t, lode_density_count, lode_density, cells.count);

const lode_density_cell *lode_density_at(const lode_density *density, size_t index)
{
    return index < density->cells.count ? LODE_ARRAY_AT(&density->cells, lode_density_cell, index) : NULL;
}
