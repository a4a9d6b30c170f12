/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpctoolkit/write/batch.h"

#include "base/io/bytes.h"
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

/* The maximal size of a context in cct.db. */
static uint64_t block_bytes(const struct hpct_sink *sink, uint32_t id)
{
    uint64_t values = atomic_load_explicit(&sink->values_of[id], memory_order_relaxed);
    uint64_t metrics = values < sink->value_ids ? values : sink->value_ids;
    return values * WIRE_ContextValue_SIZE + metrics * WIRE_MetricIndex_SIZE + 4;
}

uint64_t lode_batch_context_bytes(const struct hpct_sink *sink, uint32_t context)
{
    return block_bytes(sink, context) + sink->value_ids * (uint64_t)12 + WIRE_ContextInfo_SIZE;
}

static size_t most_scopes(const struct hpct_sink *sink)
{
    size_t most = 0;
    for (uint32_t m = 0; m < sink->base.about->metric_count; m++) {
        size_t scopes = sink->base.about->metrics[m].scope_count;
        most = scopes > most ? scopes : most;
    }
    return most;
}

static lode_status allocate_work(const struct hpct_sink *sink, struct batch *batch, lode_error *error)
{
    size_t cells = (size_t)(batch->range.end - batch->range.first) * sink->value_ids;
    batch->counts = calloc(cells + 1, sizeof *batch->counts);
    batch->cursors = calloc(cells + 1, sizeof *batch->cursors);
    batch->positions = calloc(most_scopes(sink) + 1, sizeof *batch->positions);
    return batch->counts && batch->cursors && batch->positions ? LODE_OK : lode_fail_memory(error);
}

static void release_work(struct batch *batch)
{
    free(batch->counts);
    free(batch->cursors);
    free(batch->positions);
    batch->counts = NULL;
    batch->cursors = NULL;
    batch->positions = NULL;
}

void lode_batch_release(struct batch *batch)
{
    release_work(batch);
    lode_blob_free(&batch->region);
    lode_blob_free(&batch->infos);
    lode_blob_free(&batch->statistics);
    lode_blob_free(&batch->indices);
    *batch = (struct batch){0};
}

void lode_batch_empty(struct batch *batch, uint64_t keep)
{
    struct lode_blob region = batch->region;
    batch->region = (struct lode_blob){0};
    lode_batch_release(batch);
    if (region.capacity > keep)
        lode_blob_free(&region);
    region.size = 0;
    batch->region = region;
}

/* ---- counting and placing ---- */

static void count_piece(const struct hpct_sink *sink, struct batch *batch, const lode_block *block,
                        uint32_t *start)
{
    const struct context_range *range = &batch->range;
    uint32_t ids = sink->value_ids;
    uint32_t group = *start = lode_block_seek(block, *start, range->first);
    for (; group < block->group_count; group++) {
        uint32_t context = block_group_key(block, group);
        if (context >= range->end)
            return;
        uint32_t *row = batch->counts + (size_t)(context - range->first) * ids;
        uint64_t end = batch_value(block, group + 1);
        for (uint64_t i = block_group_start(block, group); i < end; i++)
            row[get_u16le(block->values + i * WIRE_ProfileValue_SIZE)]++;
    }
}

static void place_piece(const struct hpct_sink *sink, struct batch *batch, const struct batch_piece *piece,
                        uint32_t start)
{
    const struct context_range *range = &batch->range;
    const lode_block *block = &piece->block;
    uint32_t ids = sink->value_ids, profile = piece->profile;
    uint8_t *region = batch->region.bytes;
    for (uint32_t group = start; group < block->group_count; group++) {
        uint32_t context = block_group_key(block, group);
        if (context >= range->end)
            return;
        uint64_t *row = batch->cursors + (size_t)(context - range->first) * ids;
        uint64_t end = batch_value(block, group + 1);
        for (uint64_t i = block_group_start(block, group); i < end; i++) {
            const uint8_t *value = block->values + i * WIRE_ProfileValue_SIZE;
            uint64_t *cursor = &row[get_u16le(value)];
            put_u32le(region + *cursor, profile);
            memcpy(region + *cursor + WIRE_ContextValue_value, value + WIRE_ProfileValue_value,
                   sizeof(double));
            *cursor += WIRE_ContextValue_SIZE;
        }
    }
}

/* The maximum. */
static size_t region_bytes(const struct hpct_sink *sink, const struct context_range *range)
{
    size_t bytes = 8;
    for (uint32_t id = range->first; id < range->end; id++)
        bytes += (size_t)block_bytes(sink, id);
    return bytes;
}

/* Assigns each context its block in the region, and each metric its place in the block. */
static lode_status lay_out(const struct hpct_sink *sink, struct batch *batch, lode_error *error)
{
    const struct context_range *range = &batch->range;
    uint32_t ids = sink->value_ids;
    if (!lode_blob_prepare(&batch->region, region_bytes(sink, range)))
        return lode_fail_memory(error);
    for (uint32_t context = range->first; context < range->end; context++) {
        const uint32_t *counts = batch->counts + (size_t)(context - range->first) * ids;
        uint64_t *cursors = batch->cursors + (size_t)(context - range->first) * ids;
        struct wire_ContextInfo info = {0};
        for (uint32_t id = 0; id < ids; id++) {
            info.nValues += counts[id];
            info.nMetrics = (uint16_t)(info.nMetrics + (counts[id] > 0));
        }
        /* Values are all placed below; only padding must be zero. */
        bool fits = lode_blob_reserve(&batch->region, 0, 4) != LODE_BLOB_FULL;
        size_t values = lode_blob_extend(&batch->region, (size_t)info.nValues * WIRE_ContextValue_SIZE);
        size_t indices = lode_blob_reserve(&batch->region, (size_t)info.nMetrics * WIRE_MetricIndex_SIZE, 2);
        size_t record = lode_blob_reserve(&batch->infos, WIRE_ContextInfo_SIZE, 1);
        if (!fits || values == LODE_BLOB_FULL || indices == LODE_BLOB_FULL || record == LODE_BLOB_FULL)
            return lode_fail_memory(error);
        info.pValues = values;
        info.pMetricIndices = indices;
        lode_wire_write_ContextInfo(&info, batch->infos.bytes + record);
        uint64_t start = 0;
        for (uint32_t id = 0; id < ids; id++) {
            cursors[id] = values + start * WIRE_ContextValue_SIZE;
            if (counts[id] == 0)
                continue;
            struct wire_MetricIndex index = {.metricId = (uint16_t)id, .startIndex = start};
            lode_wire_write_MetricIndex(&index, batch->region.bytes + indices);
            indices += WIRE_MetricIndex_SIZE;
            start += counts[id];
        }
    }
    /* Batches are contiguous, at multiples of 4. */
    return lode_blob_reserve(&batch->region, 0, 4) == LODE_BLOB_FULL ? lode_fail_memory(error) : LODE_OK;
}

/* ---- statistics ---- */

/* The values of one context and metric id: they end at the cursor. */
struct series {
    const uint8_t *values;
    uint32_t count;
};

static struct series series_of(const struct hpct_sink *sink, const struct batch *batch, uint32_t row,
                               uint32_t id)
{
    size_t cell = (size_t)row * sink->value_ids + id;
    uint32_t count = batch->counts[cell];
    return (struct series){
        batch->region.bytes + batch->cursors[cell] - (uint64_t)count * WIRE_ContextValue_SIZE, count};
}

static double series_value(const struct series *series, uint32_t index)
{
    return get_f64le(series->values + (size_t)index * WIRE_ContextValue_SIZE + WIRE_ContextValue_value);
}

/* How many profiles have the metric in any of its scopes: profiles rise in every series. */
static double profiles_with(const struct hpct_sink *sink, const struct batch *batch, uint32_t row,
                            const struct lode_metric *metric)
{
    uint32_t *positions = batch->positions;
    uint32_t count = 0;
    size_t scopes = metric->scope_count;
    memset(positions, 0, scopes * sizeof *positions);
    for (;;) {
        uint32_t next = UINT32_MAX;
        for (unsigned pass = 0; pass < 2; pass++) {
            for (size_t i = 0; i < scopes; i++) {
                struct series series = series_of(sink, batch, row, metric->scopes[i].id);
                if (positions[i] >= series.count)
                    continue;
                uint32_t profile = get_u32le(series.values + (size_t)positions[i] * WIRE_ContextValue_SIZE);
                if (pass == 0)
                    next = profile < next ? profile : next;
                else
                    positions[i] += profile == next;
            }
        }
        if (next == UINT32_MAX)
            return count;
        count++;
    }
}

static double statistic_value(const struct hpct_sink *sink, const struct batch *batch, uint32_t row,
                              const struct lode_metric *metric, const lode_metric_statistic *statistic)
{
    struct series series = series_of(sink, batch, row, sink->value_of[statistic->id]);
    enum lode_formula formula = lode_formula_of(statistic->formula);
    double result = 0.0;
    if (formula == LODE_FORMULA_ONE) {
        double count = profiles_with(sink, batch, row, metric);
        return statistic->combine == LODE_COMBINE_SUM ? count : count > 0.0;
    }
    for (uint32_t i = 0; i < series.count; i++) {
        double value = series_value(&series, i);
        if (formula == LODE_FORMULA_SQUARE && !sink->base.about->folds_squares)
            value *= value;
        if (statistic->combine == LODE_COMBINE_SUM)
            result += value;
        else if (i == 0 || (statistic->combine == LODE_COMBINE_MIN ? value < result : value > result))
            result = value;
    }
    return result;
}

static bool has_values(const struct hpct_sink *sink, const struct batch *batch, uint32_t row)
{
    const uint32_t *counts = batch->counts + (size_t)row * sink->value_ids;
    for (uint32_t id = 0; id < sink->value_ids; id++)
        if (counts[id] > 0)
            return true;
    return false;
}

/* Statistics were numbered metric by metric, so their ids rise. */
static lode_status summarise(const struct hpct_sink *sink, struct batch *batch, uint32_t context,
                             lode_error *error)
{
    uint32_t row = context - batch->range.first;
    uint64_t first = batch->statistic_count;
    if (!has_values(sink, batch, row))
        return LODE_OK;
    for (uint32_t m = 0; m < sink->base.about->metric_count; m++) {
        const struct lode_metric *metric = &sink->base.about->metrics[m];
        for (size_t i = 0; i < metric->statistic_count; i++) {
            const lode_metric_statistic *statistic = &metric->statistics[i];
            struct wire_ProfileValue value = {.metricId = statistic->id};
            if (!lode_hpct_loop_statistic(sink, context, m, statistic, &value.value))
                value.value = statistic_value(sink, batch, row, metric, statistic);
            if (value.value == 0.0)
                continue;
            size_t at = lode_blob_reserve(&batch->statistics, WIRE_ProfileValue_SIZE, 1);
            if (at == LODE_BLOB_FULL)
                return lode_fail_memory(error);
            lode_wire_write_ProfileValue(&value, batch->statistics.bytes + at);
            batch->statistic_count++;
        }
    }
    if (batch->statistic_count == first)
        return LODE_OK;
    struct wire_ContextIndex index = {.ctxId = context, .startIndex = first};
    size_t at = lode_blob_reserve(&batch->indices, WIRE_ContextIndex_SIZE, 1);
    if (at == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    lode_wire_write_ContextIndex(&index, batch->indices.bytes + at);
    return LODE_OK;
}

/* ---- top level ---- */

lode_status lode_batch_fill(struct batch *batch, const struct hpct_sink *sink,
                            const struct batch_piece *pieces, size_t piece_count, uint32_t *starts,
                            lode_error *error)
{
    LODE_TRY(allocate_work(sink, batch, error));
    for (size_t i = 0; i < piece_count; i++)
        count_piece(sink, batch, &pieces[i].block, &starts[i]);
    LODE_TRY(lay_out(sink, batch, error));
    for (size_t i = 0; i < piece_count; i++)
        place_piece(sink, batch, &pieces[i], starts[i]);
    for (uint32_t context = batch->range.first; context < batch->range.end; context++)
        LODE_TRY(summarise(sink, batch, context, error));
    release_work(batch);
    return LODE_OK;
}
