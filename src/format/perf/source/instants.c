/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads did when, as it goes to the spool of a worker: in runs of one thread each. */
#include "format/perf/source/collect.h"

#include <stdlib.h>
#include <string.h>

lode_status lode_perf_add_instant(struct perf_worker *worker, uint32_t who, uint64_t time, uint32_t node,
                                  lode_error *error)
{
    if (!worker->has_spool)
        return LODE_OK;
    struct perf_instant *instant = lode_array_push(&worker->instants);
    LODE_TRY_ALLOC(instant, error);
    *instant = (struct perf_instant){time, who, node};
    return LODE_OK;
}

/* Sorts instants of one thread by time; equal times stay in the order of the file. */
static void sort_times(struct perf_instant *items, struct perf_instant *other, size_t count)
{
    bool is_sorted = true;
    for (size_t i = 1; i < count && is_sorted; i++)
        is_sorted = items[i - 1].time <= items[i].time;
    for (size_t width = 1; width < count && !is_sorted; width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            size_t middle = begin + width < count ? begin + width : count;
            size_t end = middle + width < count ? middle + width : count, a = begin, b = middle;
            for (size_t i = begin; i < end; i++)
                other[i] =
                    a < middle && (b == end || items[a].time <= items[b].time) ? items[a++] : items[b++];
        }
        memcpy(items, other, count * sizeof *items);
    }
}

/* By thread, then by time. Threads are few: they are counted. */
static bool sort_instants(struct perf_worker *worker)
{
    struct lode_array *instants = &worker->instants;
    struct perf_instant *items = instants->items;
    size_t count = instants->count, threads = worker->whos.items.count, at = 0;
    struct perf_instant *other = malloc((count + 1) * sizeof *other);
    size_t *starts = calloc(threads + 1, sizeof *starts);
    bool done = other && starts;
    for (size_t i = 0; done && i < count; i++)
        starts[items[i].who]++;
    for (size_t i = 0; done && i < threads; i++) {
        size_t size = starts[i];
        starts[i] = at;
        at += size;
    }
    for (size_t i = 0; done && i < count; i++)
        other[starts[items[i].who]++] = items[i];
    if (done && count > 0)
        memcpy(items, other, count * sizeof *items);
    for (size_t i = 0, begin = 0; done && i < threads; begin = starts[i++])
        sort_times(items + begin, other, starts[i] - begin);
    free(other);
    free(starts);
    return done;
}

lode_status lode_perf_spool_instants(struct perf_worker *worker, uint64_t piece, lode_error *error)
{
    const struct perf_instant *items = worker->instants.items;
    size_t count = worker->instants.count;
    if (count == 0)
        return LODE_OK;
    LODE_TRY_ALLOC(sort_instants(worker), error);
    for (size_t i = 0; i < count;) {
        size_t end = i;
        bool is_own = false;
        for (; end < count && items[end].who == items[i].who; end++)
            is_own |= !(items[end].node & PERF_INSTANT_IN);
        struct perf_run *run = lode_array_push(&worker->runs);
        LODE_TRY_ALLOC(run, error);
        *run = (struct perf_run){.first = items[i].time,
                                 .last = items[end - 1].time,
                                 .at = worker->spool.size,
                                 .piece = piece,
                                 .count = (uint32_t)(end - i),
                                 .who = items[i].who,
                                 .worker = worker->number,
                                 .is_own = is_own};
        LODE_TRY(lode_spool_write(&worker->spool, items + i, (end - i) * sizeof *items, error));
        i = end;
    }
    worker->instants.count = 0;
    return LODE_OK;
}
