/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cct.db out of profile.db, and the summary on the way.
 *
 * Contexts are cut into windows whose part of cct.db fits into the memory that a thread may use. For a window, each profile's
 * values of these contexts (one piece of its block) are read twice: to count, and to put each value where it belongs in the
 * window's part of cct.db, which is then written in one piece. Profiles are visited in their order, so that
 * the values of a context and metric come out in the order of profiles, and statistics are computed in that order.
 *
 * With V values, P profiles and memory M: 12 V / M windows; all of profile.db is read once in pieces of about 10 M / 12 P bytes
 * (the second reading finds it in the page cache), cct.db is written once, sequentially.
 */
#include "base/blob.h"
#include "base/bytes.h"
#include "base/pool.h"
#include "base/progress.h"
#include "format/hpctoolkit/write.h"
#include "model/block.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    WINDOWS_PER_THREAD = 2 /* one that is worked on, and one that waits for an earlier one */
};

struct window_range {
    uint32_t first, end; /* ids of contexts */
};

/* One window: its part of cct.db, its records, and its part of the summary. */
struct window {
    struct lode_blob region, infos, statistics, indices;
    uint32_t *counts;  /* [context][value id] */
    uint64_t *cursors; /* [context][value id]: where the next value goes in the region */
    uint64_t statistic_count;
};

struct transpose {
    lode_writer *writer;
    uint8_t *mapped; /* profile.db, to be read */
    size_t mapped_size;
    lode_block *blocks; /* by profile, in their order; blocks[0] is the first behind the summary */
    uint32_t profiles;
    struct lode_array ranges; /* of struct window_range */
    struct window *slots;     /* by item % slot_count */
    unsigned threads, slot_count;
    /* [worker][profile]: the first group of the worker's window; its next window lies behind. */
    uint32_t *starts;
    uint64_t table; /* where context records are in cct.db */
    struct wire_Profile *summary;
    struct lode_blob summary_indices;
    struct lode_progress progress;
};

/* ---- windows ---- */

/* What a context takes in cct.db, at most. */
static uint64_t block_bytes(const lode_writer *writer, uint32_t id)
{
    uint64_t values = atomic_load_explicit(&writer->values_of[id], memory_order_relaxed);
    uint64_t metrics = values < writer->value_ids ? values : writer->value_ids;
    return values * WIRE_ContextValue_SIZE + metrics * WIRE_MetricIndex_SIZE + 4;
}

/* What it takes in a window: with its counts, cursors and record. */
static uint64_t context_bytes(const lode_writer *writer, uint32_t id)
{
    return block_bytes(writer, id) + writer->value_ids * (uint64_t)12 + WIRE_ContextInfo_SIZE;
}

static lode_status cut_windows(struct transpose *self, uint64_t bytes, lode_error *error)
{
    struct window_range *range = NULL;
    uint64_t used = 0;
    lode_array_init(&self->ranges, sizeof(struct window_range), SIZE_MAX);
    for (uint32_t id = 0; id < self->writer->id_count; id++) {
        uint64_t needed = context_bytes(self->writer, id);
        if (range == NULL || needed > bytes - used) {
            range = lode_array_push(&self->ranges);
            if (range == NULL)
                return lode_fail_memory(error);
            range->first = id;
            used = 0;
        }
        range->end = id + 1;
        used += needed < bytes - used ? needed : bytes - used;
    }
    return LODE_OK;
}

static lode_status allocate_window(const struct transpose *self, struct window *window,
                                   const struct window_range *range, lode_error *error)
{
    size_t cells = (size_t)(range->end - range->first) * self->writer->value_ids;
    window->counts = calloc(cells + 1, sizeof *window->counts);
    window->cursors = calloc(cells + 1, sizeof *window->cursors);
    return window->counts && window->cursors ? LODE_OK : lode_fail_memory(error);
}

static void release_work(struct window *window)
{
    free(window->counts);
    free(window->cursors);
    window->counts = NULL;
    window->cursors = NULL;
}

static void release_window(struct window *window)
{
    release_work(window);
    lode_blob_free(&window->region);
    lode_blob_free(&window->infos);
    lode_blob_free(&window->statistics);
    lode_blob_free(&window->indices);
    window->statistic_count = 0;
}

/* ---- counting and placing ---- */

static uint64_t group_end(const lode_block *block, uint32_t group)
{
    return group + 1 < block->group_count ? block_group_start(block, group + 1) : block->value_count;
}

static void count_profile(const struct transpose *self, struct window *window,
                          const struct window_range *range, uint32_t profile, uint32_t *start)
{
    const lode_block *block = &self->blocks[profile];
    uint32_t ids = self->writer->value_ids;
    uint32_t group = *start = lode_block_seek(block, *start, range->first);
    for (; group < block->group_count; group++) {
        uint32_t context = block_group_key(block, group);
        if (context >= range->end)
            return;
        uint32_t *row = window->counts + (size_t)(context - range->first) * ids;
        uint64_t end = group_end(block, group);
        for (uint64_t i = block_group_start(block, group); i < end; i++)
            row[get_u16le(block->values + i * WIRE_ProfileValue_SIZE)]++;
    }
}

static void place_profile(const struct transpose *self, struct window *window,
                          const struct window_range *range, uint32_t profile, uint32_t start)
{
    const lode_block *block = &self->blocks[profile];
    uint32_t ids = self->writer->value_ids;
    uint8_t *region = window->region.bytes;
    for (uint32_t group = start; group < block->group_count; group++) {
        uint32_t context = block_group_key(block, group);
        if (context >= range->end)
            return;
        uint64_t *row = window->cursors + (size_t)(context - range->first) * ids;
        uint64_t end = group_end(block, group);
        for (uint64_t i = block_group_start(block, group); i < end; i++) {
            const uint8_t *value = block->values + i * WIRE_ProfileValue_SIZE;
            uint64_t *cursor = &row[get_u16le(value)];
            /* Profile 0 is the summary. */
            put_u32le(region + *cursor, profile + 1);
            memcpy(region + *cursor + WIRE_ContextValue_value, value + WIRE_ProfileValue_value,
                   sizeof(double));
            *cursor += WIRE_ContextValue_SIZE;
        }
    }
}

/* At most. */
static size_t region_bytes(const lode_writer *writer, const struct window_range *range)
{
    size_t bytes = 8;
    for (uint32_t id = range->first; id < range->end; id++)
        bytes += (size_t)block_bytes(writer, id);
    return bytes;
}

/* Gives each context its block in the region, and each metric its place in the block. */
static lode_status lay_out(const struct transpose *self, struct window *window,
                           const struct window_range *range, lode_error *error)
{
    uint32_t ids = self->writer->value_ids;
    if (!lode_blob_prepare(&window->region, region_bytes(self->writer, range)))
        return lode_fail_memory(error);
    for (uint32_t context = range->first; context < range->end; context++) {
        const uint32_t *counts = window->counts + (size_t)(context - range->first) * ids;
        uint64_t *cursors = window->cursors + (size_t)(context - range->first) * ids;
        struct wire_ContextInfo info = {0};
        for (uint32_t id = 0; id < ids; id++) {
            info.nValues += counts[id];
            info.nMetrics = (uint16_t)(info.nMetrics + (counts[id] > 0));
        }
        size_t values = lode_blob_reserve(&window->region, (size_t)info.nValues * WIRE_ContextValue_SIZE, 4);
        size_t indices = lode_blob_reserve(&window->region, (size_t)info.nMetrics * WIRE_MetricIndex_SIZE, 2);
        size_t record = lode_blob_reserve(&window->infos, WIRE_ContextInfo_SIZE, 1);
        if (values == LODE_BLOB_FULL || indices == LODE_BLOB_FULL || record == LODE_BLOB_FULL)
            return lode_fail_memory(error);
        info.pValues = values;
        info.pMetricIndices = indices;
        lode_wire_write_ContextInfo(&info, window->infos.bytes + record);
        uint64_t start = 0;
        for (uint32_t id = 0; id < ids; id++) {
            cursors[id] = values + start * WIRE_ContextValue_SIZE;
            if (counts[id] == 0)
                continue;
            struct wire_MetricIndex index = {.metricId = (uint16_t)id, .startIndex = start};
            lode_wire_write_MetricIndex(&index, window->region.bytes + indices);
            indices += WIRE_MetricIndex_SIZE;
            start += counts[id];
        }
    }
    /* Windows follow each other at multiples of 4. */
    return lode_blob_reserve(&window->region, 0, 4) == LODE_BLOB_FULL ? lode_fail_memory(error) : LODE_OK;
}

/* ---- statistics ---- */

/* The values of one context and metric id: they end where the cursor stands. */
struct series {
    const uint8_t *values;
    uint32_t count;
};

static struct series series_of(const struct transpose *self, const struct window *window, uint32_t row,
                               uint32_t id)
{
    size_t cell = (size_t)row * self->writer->value_ids + id;
    uint32_t count = window->counts[cell];
    return (struct series){
        window->region.bytes + window->cursors[cell] - (uint64_t)count * WIRE_ContextValue_SIZE, count};
}

static double series_value(const struct series *series, uint32_t index)
{
    return get_f64le(series->values + (size_t)index * WIRE_ContextValue_SIZE + WIRE_ContextValue_value);
}

/* How many profiles have the metric in any of its scopes: profiles rise in every series. */
static double profiles_with(const struct transpose *self, const struct window *window, uint32_t row,
                            const struct written_metric *metric)
{
    uint32_t positions[64] = {0};
    uint32_t count = 0;
    size_t scopes = metric->scopes.count < 64 ? metric->scopes.count : 64;
    for (;;) {
        uint32_t next = UINT32_MAX;
        for (unsigned pass = 0; pass < 2; pass++) {
            for (size_t i = 0; i < scopes; i++) {
                struct series series = series_of(
                    self, window, row, LODE_ARRAY_AT(&metric->scopes, struct written_metric_scope, i)->id);
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

static double statistic_value(const struct transpose *self, const struct window *window, uint32_t row,
                              const struct written_metric *metric, const struct written_statistic *statistic)
{
    struct series series = series_of(self, window, row, statistic->value_id);
    enum lode_formula formula = lode_formula_of(statistic->formula);
    double result = 0.0;
    if (formula == LODE_FORMULA_ONE) {
        double count = profiles_with(self, window, row, metric);
        return statistic->combine == LODE_COMBINE_SUM ? count : count > 0.0;
    }
    for (uint32_t i = 0; i < series.count; i++) {
        double value = series_value(&series, i);
        if (formula == LODE_FORMULA_SQUARE)
            value *= value;
        if (statistic->combine == LODE_COMBINE_SUM)
            result += value;
        else if (i == 0 || (statistic->combine == LODE_COMBINE_MIN ? value < result : value > result))
            result = value;
    }
    return result;
}

static bool has_values(const struct transpose *self, const struct window *window, uint32_t row)
{
    const uint32_t *counts = window->counts + (size_t)row * self->writer->value_ids;
    for (uint32_t id = 0; id < self->writer->value_ids; id++)
        if (counts[id] > 0)
            return true;
    return false;
}

/* Statistics were numbered metric by metric, so they come out in the order of their ids. */
static lode_status summarise(const struct transpose *self, struct window *window,
                             const struct window_range *range, uint32_t context, lode_error *error)
{
    const lode_writer *writer = self->writer;
    uint32_t row = context - range->first;
    uint64_t first = window->statistic_count;
    if (!has_values(self, window, row))
        return LODE_OK;
    for (uint32_t m = 0; m < writer->metrics.count; m++) {
        const struct written_metric *metric = WRITTEN(writer, metrics, metric, m);
        for (size_t i = 0; i < metric->statistics.count; i++) {
            const struct written_statistic *statistic =
                LODE_ARRAY_AT(&metric->statistics, struct written_statistic, i);
            struct wire_ProfileValue value = {.metricId = statistic->id,
                                              .value = statistic_value(self, window, row, metric, statistic)};
            if (value.value == 0.0)
                continue;
            size_t at = lode_blob_reserve(&window->statistics, WIRE_ProfileValue_SIZE, 1);
            if (at == LODE_BLOB_FULL)
                return lode_fail_memory(error);
            lode_wire_write_ProfileValue(&value, window->statistics.bytes + at);
            window->statistic_count++;
        }
    }
    if (window->statistic_count == first)
        return LODE_OK;
    struct wire_ContextIndex index = {.ctxId = context, .startIndex = first};
    size_t at = lode_blob_reserve(&window->indices, WIRE_ContextIndex_SIZE, 1);
    if (at == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    lode_wire_write_ContextIndex(&index, window->indices.bytes + at);
    return LODE_OK;
}

/* ---- items ---- */

static lode_status work_window(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct transpose *self = context;
    struct window *window = &self->slots[item % self->slot_count];
    const struct window_range *range = LODE_ARRAY_AT(&self->ranges, struct window_range, item);
    uint32_t *starts = self->starts + (size_t)worker * self->profiles;
    LODE_TRY(allocate_window(self, window, range, error));
    for (uint32_t p = 0; p < self->profiles; p++)
        count_profile(self, window, range, p, &starts[p]);
    LODE_TRY(lay_out(self, window, range, error));
    for (uint32_t p = 0; p < self->profiles; p++)
        place_profile(self, window, range, p, starts[p]);
    for (uint32_t id = range->first; id < range->end; id++)
        LODE_TRY(summarise(self, window, range, id, error));
    release_work(window);
    return LODE_OK;
}

static lode_status write_summary_part(struct transpose *self, struct window *window, lode_error *error)
{
    struct lode_output_file *file = &self->writer->files[HPCT_PROFILE];
    LODE_TRY(lode_output_write(file, window->statistics.bytes, window->statistics.size, error));
    size_t count = window->indices.size / WIRE_ContextIndex_SIZE;
    size_t at = lode_blob_reserve(&self->summary_indices, window->indices.size, 1);
    if (at == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        struct wire_ContextIndex index;
        lode_wire_read_ContextIndex(&index, window->indices.bytes + i * WIRE_ContextIndex_SIZE,
                                    WIRE_ContextIndex_SIZE);
        index.startIndex += self->summary->nValues;
        lode_wire_write_ContextIndex(&index, self->summary_indices.bytes + at + i * WIRE_ContextIndex_SIZE);
    }
    self->summary->nCtxs += (uint32_t)count;
    self->summary->nValues += window->statistic_count;
    return LODE_OK;
}

static lode_status finish_window(void *context, uint64_t item, lode_error *error)
{
    struct transpose *self = context;
    struct window *window = &self->slots[item % self->slot_count];
    const struct window_range *range = LODE_ARRAY_AT(&self->ranges, struct window_range, item);
    struct lode_output_file *file = &self->writer->files[HPCT_CCT];
    uint64_t base = file->size;
    for (size_t at = 0; at < window->infos.size; at += WIRE_ContextInfo_SIZE) {
        struct wire_ContextInfo info;
        lode_wire_read_ContextInfo(&info, window->infos.bytes + at, WIRE_ContextInfo_SIZE);
        info.pValues += base;
        info.pMetricIndices += base;
        lode_wire_write_ContextInfo(&info, window->infos.bytes + at);
    }
    lode_status status = lode_output_write(file, window->region.bytes, window->region.size, error);
    if (status == LODE_OK)
        status = lode_output_write_at(file, self->table + (uint64_t)range->first * WIRE_ContextInfo_SIZE,
                                      window->infos.bytes, window->infos.size, error);
    if (status == LODE_OK)
        status = write_summary_part(self, window, error);
    release_window(window);
    return status == LODE_OK ? lode_progress_add(&self->progress, 1, error) : status;
}

/* ---- all of it ---- */

static lode_status map_profiles(struct transpose *self, const uint32_t *order, lode_error *error)
{
    const lode_writer *writer = self->writer;
    const struct lode_output_file *file = &writer->files[HPCT_PROFILE];
    void *mapped = mmap(NULL, (size_t)file->size, PROT_READ, MAP_SHARED, file->fd, 0);
    if (mapped == MAP_FAILED)
        return lode_fail_errno(error, file->name, "cannot map");
    self->mapped = mapped;
    self->mapped_size = (size_t)file->size;
    self->blocks = calloc((size_t)self->profiles + 1, sizeof *self->blocks);
    if (self->blocks == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < self->profiles; i++) {
        const struct wire_Profile *wire = &WRITTEN(writer, profiles, profile, order[i])->wire;
        self->blocks[i] = (lode_block){.value_count = wire->nValues,
                                       .group_count = wire->nCtxs,
                                       .group_key_size = sizeof(uint32_t),
                                       .value_key_size = sizeof(uint16_t),
                                       .groups = self->mapped + wire->pCtxIndices,
                                       .values = self->mapped + wire->pValues};
    }
    return LODE_OK;
}

/* The section with the context records, which are filled in as windows are done. */
static lode_status begin_section(struct transpose *self, struct wire_Section *section, lode_error *error)
{
    struct lode_output_file *file = &self->writer->files[HPCT_CCT];
    uint8_t bytes[(WIRE_ContextInfos_SIZE + 7) / 8 * 8] = {0};
    section->p = file->size;
    self->table = section->p + sizeof bytes;
    section->sz = sizeof bytes + (uint64_t)self->writer->id_count * WIRE_ContextInfo_SIZE;
    struct wire_ContextInfos header = {
        .pCtxs = self->table, .nCtxs = self->writer->id_count, .szCtx = WIRE_ContextInfo_SIZE};
    lode_wire_write_ContextInfos(&header, bytes);
    LODE_TRY(lode_output_write(file, bytes, sizeof bytes, error));
    LODE_TRY(lode_output_flush(file, error));
    file->size = section->p + section->sz;
    return LODE_OK;
}

static lode_status run_windows(struct transpose *self, lode_error *error)
{
    self->slots = calloc(self->slot_count, sizeof *self->slots);
    self->starts = calloc((size_t)self->threads * self->profiles + 1, sizeof *self->starts);
    if (self->slots == NULL || self->starts == NULL) {
        free(self->slots);
        free(self->starts);
        return lode_fail_memory(error);
    }
    self->progress = (struct lode_progress){.report = self->writer->options.on_progress,
                                            .user = self->writer->options.user,
                                            .phase = "transposing",
                                            .total = self->ranges.count};
    struct lode_job job = {.items = self->ranges.count,
                           .work = work_window,
                           .finish = finish_window,
                           .context = self,
                           .window = self->slot_count};
    lode_status status = lode_pool_run(self->threads, &job, error);
    for (unsigned i = 0; i < self->slot_count; i++)
        release_window(&self->slots[i]);
    free(self->slots);
    free(self->starts);
    return status;
}

static lode_status transpose(struct transpose *self, const uint32_t *order, struct wire_Section *section,
                             lode_error *error)
{
    lode_writer *writer = self->writer;
    struct lode_output_file *profiles = &writer->files[HPCT_PROFILE];
    self->threads = writer->options.threads ? writer->options.threads : lode_pool_processors();
    self->slot_count = self->threads * WINDOWS_PER_THREAD;
    LODE_TRY(lode_output_align(profiles, 2, error));
    LODE_TRY(lode_output_flush(profiles, error));
    self->summary->pValues = profiles->size;
    self->summary->flags = HPCT_PROFILE_SUMMARY;
    LODE_TRY(map_profiles(self, order, error));
    LODE_TRY(begin_section(self, section, error));
    /* Windows that wait for an earlier one hold their memory. */
    LODE_TRY(cut_windows(self, writer->options.memory / self->slot_count, error));
    LODE_TRY(run_windows(self, error));
    LODE_TRY(lode_output_align(profiles, 4, error));
    self->summary->pCtxIndices = profiles->size;
    return lode_output_write(profiles, self->summary_indices.bytes, self->summary_indices.size, error);
}

lode_status lode_writer_transpose(lode_writer *writer, const uint32_t *order, struct wire_Profile *summary,
                                  struct wire_Section *section, lode_error *error)
{
    struct transpose self = {
        .writer = writer, .profiles = (uint32_t)writer->profiles.count, .summary = summary};
    *summary = (struct wire_Profile){0};
    lode_status status = transpose(&self, order, section, error);
    if (self.mapped)
        munmap(self.mapped, self.mapped_size);
    free(self.blocks);
    lode_array_free(&self.ranges);
    lode_blob_free(&self.summary_indices);
    return status;
}
