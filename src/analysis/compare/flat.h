/* SPDX-License-Identifier: BSD-3-Clause */
/* The flat comparison: rows of both sides by key. */
#ifndef LODE_ANALYSIS_COMPARE_FLAT_H
#define LODE_ANALYSIS_COMPARE_FLAT_H

#include "analysis/compare/keys.h"
#include "analysis/cost/hotspot.h"
#include "base/memory/map.h"

/* A row before it is shown. */
struct lode_flat_row {
    struct lode_normal_numbers key;
    uint32_t names[LODE_SIDES]; /* the names that it has there */
    uint32_t joined;            /* the row that it is part of, by a simple name; else itself */
    const lode_hotspot *hotspots[LODE_SIDES];
    unsigned marks;
};

struct lode_comparison {
    lode_compare_options options;
    const lode_cost **costs[LODE_SIDES]; /* by run and metric */
    size_t runs[LODE_SIDES], metrics;
    struct lode_normalizer normalizer;
    lode_hotspots **tables;   /* by side, run and metric */
    size_t columns;           /* runs of both sides times metrics */
    struct lode_map row_of;   /* by name: row */
    struct lode_array rows;   /* struct lode_flat_row */
    struct lode_array values; /* by row and column: exclusive, inclusive */
    uint32_t *order;          /* shown rows */
    lode_compare_row *shown;
    size_t count, hidden;
    double *totals;              /* by column */
    double *matched[LODE_SIDES]; /* by metric */
    uint32_t *moved;             /* by metric and shown row: string; 0: it did not move */
};

static inline const lode_cost *lode_flat_cost(const lode_comparison *self, lode_compare_side side, size_t run,
                                              size_t metric)
{
    return self->costs[side][run * self->metrics + metric];
}

static inline double lode_flat_scale(const lode_comparison *self, lode_compare_side side, size_t run,
                                     size_t metric)
{
    const double *scales = side == LODE_BASE ? self->options.base_scales : self->options.new_scales;
    return scales ? scales[run * self->metrics + metric] : 1.0;
}

static inline size_t lode_flat_column(const lode_comparison *self, lode_compare_side side, size_t run,
                                      size_t metric)
{
    return ((side == LODE_BASE ? 0 : self->runs[LODE_BASE]) + run) * self->metrics + metric;
}

/* Exclusive and inclusive cost. */
static inline double *lode_flat_value(const lode_comparison *self, size_t row, size_t column)
{
    return LODE_ARRAY_AT(&self->values, double, 2 * (row * self->columns + column));
}

/* The mean exclusive cost of a row over the runs of a side. */
double lode_flat_mean(const lode_comparison *self, size_t row, lode_compare_side side, size_t metric);

/* The row of a context that begins a function; rows that were joined are one. */
uint32_t lode_flat_row_of(const lode_comparison *self, const struct lode_tree_names *names,
                          const lode_context *context);

/* Finds costs that moved; marks rows whose cost of the first metric did. */
lode_status lode_flat_find_moved(lode_comparison *self, lode_error *error);

/* Marks of rows that are shown, after all else is known. */
lode_status lode_flat_mark(lode_comparison *self, lode_error *error);

#endif
