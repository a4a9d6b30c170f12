/* SPDX-License-Identifier: BSD-3-Clause */
/* The contexts of a hotspot, and its costs by profile. */
#include "analysis/cost/cost.h"
#include "analysis/cost/hotspot.h"
#include "base/error.h"
#include <lode/unstable/spread.h>
#include <stdlib.h>

/* The public part comes first; contexts follow. */
struct detail {
    lode_hotspot_detail shown;
    const lode_context *contexts[];
};

static lode_status find_contexts(struct detail **out, const lode_cost *cost, const uint32_t *rows,
                                 uint32_t row, lode_error *error)
{
    const struct lode_context_tree *tree = cost->tree;
    size_t count = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        count += rows[i] == row;
    struct detail *detail = calloc(1, sizeof *detail + count * sizeof *detail->contexts);
    LODE_TRY_ALLOC(detail, error);
    for (uint32_t i = 0; i < tree->count; i++)
        if (rows[i] == row)
            detail->contexts[detail->shown.context_count++] = &tree->nodes[i];
    detail->shown.contexts = detail->contexts;
    *out = detail;
    return LODE_OK;
}

static lode_status distribute(lode_hotspot_detail *detail, const lode_spread *spread, lode_error *error)
{
    size_t count = lode_spread_count(spread);
    double *values = calloc(2 * count + 1, sizeof *values);
    LODE_TRY_ALLOC(values, error);
    for (size_t i = 0; i < count; i++) {
        const lode_spread_row *row = lode_spread_at(spread, i);
        values[i] = row->inclusive;
        values[count + i] = row->exclusive;
    }
    lode_distribution_of(&detail->inclusive, values, count);
    lode_distribution_of(&detail->exclusive, values + count, count);
    free(values);
    return LODE_OK;
}

static lode_status add_profiles(lode_hotspot_detail *detail, const lode_cost *cost,
                                const lode_selection *selection, lode_error *error)
{
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    lode_spread *spread = NULL;
    options.metric = cost->metric;
    options.selection = selection;
    options.contexts = detail->contexts;
    options.context_count = detail->context_count;
    LODE_TRY(lode_spread_compute(&spread, cost->db, &options, error));
    lode_status status = distribute(detail, spread, error);
    lode_spread_free(spread);
    return status;
}

static lode_status find(struct detail **out, const lode_hotspots *hotspots, const lode_hotspot *hotspot,
                        const lode_cost *cost, lode_error *error)
{
    uint32_t *rows = calloc((size_t)cost->tree->count + 1, sizeof *rows);
    LODE_TRY_ALLOC(rows, error);
    lode_status status = lode_hotspots_rows_of_contexts(hotspots, cost, rows, error);
    if (status == LODE_OK)
        status = find_contexts(out, cost, rows, rows[hotspot->sample->index], error);
    free(rows);
    return status;
}

lode_status lode_hotspots_detail(lode_hotspot_detail **out, const lode_hotspots *hotspots, size_t index,
                                 const lode_cost *cost, const lode_selection *selection, lode_error *error)
{
    struct detail *detail = NULL;
    const lode_hotspot *hotspot = lode_hotspots_at(hotspots, index);
    *out = NULL;
    if (hotspot == NULL)
        return lode_fail(error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET, "no such row");
    LODE_TRY(find(&detail, hotspots, hotspot, cost, error));
    bool has_profiles = cost->db && (hotspot->by == LODE_BY_FUNCTION || hotspot->by == LODE_BY_SYMBOL);
    lode_status status = has_profiles ? add_profiles(&detail->shown, cost, selection, error) : LODE_OK;
    if (status == LODE_OK)
        *out = &detail->shown;
    else
        free(detail);
    return status;
}

void lode_hotspot_detail_free(lode_hotspot_detail *detail)
{
    free(detail);
}
