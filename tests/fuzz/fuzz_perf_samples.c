/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the fuzzer's bytes as a recording of perf: its records, and every sample with its path. */
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

static void collect(struct perf_replay *replay, lode_error *error)
{
    struct perf_worker worker;
    lode_status status = lode_perf_worker_open(&worker, replay, 0, -1, error);
    worker.show = look;
    worker.user = replay;
    for (uint64_t i = 0; i < replay->store->pieces.count && status == LODE_OK; i++)
        status = lode_perf_collect(&worker, i, error);
    if (status == LODE_OK && worker.counts.samples > replay->store->bytes * 1024 + (16 << 20))
        abort();
    lode_perf_worker_close(&worker);
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
        collect(&replay, &error);
    lode_perf_replay_free(&replay);
    lode_perf_free(&store);
    lode_folder_close(&folder);
    lode_report_close(&report);
    return 0;
}
