/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the fuzzer's bytes as a recording of perf: its records, and every sample, in two ways. */
#include "format/perf/read/rules.h"
#include "format/perf/source/collect.h"
#include "format/perf/source/path.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Steps of a path are in mappings that exist. */
static void look(void *user, const struct perf_seen *seen)
{
    const struct perf_replay *replay = user;
    for (uint32_t i = 0; i < seen->path->count; i++) {
        const struct perf_step *step = &seen->path->steps[i];
        const struct perf_mapping *mapping = lode_perf_maps_find(&replay->maps, step->root, step->word);
        if (mapping && (mapping->module >= replay->modules.items.count || step->word < mapping->start ||
                        step->word >= mapping->end))
            abort();
    }
}

/* What samples add up to. */
struct sums {
    struct perf_counts counts;
    uint64_t rows, count;
    lode_wide sum;
};

static struct sums collect(struct perf_replay *replay, perf_seen_fn show, lode_error *error)
{
    struct perf_worker worker;
    lode_status status = lode_perf_worker_open(&worker, replay, 0, -1, error);
    worker.show = show;
    worker.user = replay;
    for (uint64_t i = 0; i < replay->store->pieces.count && status == LODE_OK; i++)
        status = lode_perf_collect(&worker, i, error);
    if (status == LODE_OK && worker.counts.samples > replay->store->bytes * 1024 + (16 << 20))
        abort();
    struct sums sums = {.counts = worker.counts, .rows = worker.rows.count};
    for (size_t i = 0; i < worker.rows.count; i++) {
        sums.count += LODE_ARRAY_AT(&worker.rows, struct perf_row, i)->count;
        sums.sum += LODE_ARRAY_AT(&worker.rows, struct perf_row, i)->sum;
    }
    lode_perf_worker_close(&worker);
    return sums;
}

/* Samples that somebody looks at are walked one by one, others are taken quickly. */
static void collect_twice(struct perf_replay *replay, lode_error *error)
{
    struct sums slow = collect(replay, look, error), quick = collect(replay, NULL, error);
    if (slow.counts.samples != quick.counts.samples || slow.counts.cut != quick.counts.cut ||
        slow.counts.marks != quick.counts.marks || slow.counts.bad != quick.counts.bad ||
        slow.counts.rest != quick.counts.rest || slow.rows != quick.rows || slow.count != quick.count ||
        slow.sum != quick.sum)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lode_memory_file file = {"perf.data", data, size};
    struct lode_report report;
    struct lode_folder folder;
    struct perf_store store;
    struct perf_replay replay;
    lode_error error = {0};
    if (lode_report_open(&report, lode_perf_rules, PERF_RULE_COUNT, 1, NULL, NULL, &error) != LODE_OK)
        return 0;
    lode_folder_open_memory(&folder, &file, 1);
    lode_perf_init(&store, &report);
    lode_perf_replay_init(&replay, &store);
    if (lode_perf_read(&store, &replay, &folder) == LODE_OK)
        collect_twice(&replay, &error);
    lode_perf_replay_free(&replay);
    lode_perf_free(&store);
    lode_folder_close(&folder);
    lode_report_close(&report);
    return 0;
}
