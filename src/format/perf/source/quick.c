/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The usual sample in one go: fields of fixed places and a call chain that was seen lately, by a
 * thread that was looked up before. What is unusual is left to collect.c, with the same results.
 */
#include "base/io/bytes.h"
#include "format/perf/read/stream.h"
#include "format/perf/source/collect.h"
#include "format/perf/source/path.h"

enum {
    WORD = sizeof(uint64_t)
};

bool lode_perf_is_quick(const struct perf_store *store)
{
    for (size_t i = 0; i < store->events.count; i++) {
        const struct perf_event *event = perf_event_at(store, i);
        const struct perf_layout *layout = &event->layout;
        if (!lode_perf_has_chain_only(event) || event->is_switch || event->is_waking ||
            layout->tid == PERF_NO_FIELD || layout->time == PERF_NO_FIELD)
            return false;
    }
    return !store->is_big && store->events.count > 0;
}

/* The chain of a record; empty if it has none, or not only that, or ends with a mark. */
static struct lode_range chain_of(const struct perf_layout *layout, const struct perf_record *record)
{
    struct lode_range none = {0};
    uint32_t before = PERF_RECORD_HEADER + layout->fixed + WORD;
    if (record->size < before)
        return none;
    const uint8_t *chain = record->bytes + before;
    uint64_t words = get_u64le(chain - WORD), size = record->size - before;
    if (words != size / WORD || size % WORD != 0)
        return none;
    bool is_deferred = words >= 2 && get_u64le(chain + size - (size_t)2 * WORD) == PERF_CHAIN_DEFERRED;
    return is_deferred ? none : (struct lode_range){chain, size};
}

static lode_status add_period(struct perf_worker *worker, struct perf_known *known, uint32_t event,
                              struct perf_recent *recent, uint64_t period, lode_error *error)
{
    uint64_t overflows = 0;
    if (known->event != event || recent->lane != known->lane)
        return lode_perf_add_cost(worker, known, event, recent->node, recent, (struct perf_amount){1, period},
                                  error);
    struct perf_row *row = LODE_ARRAY_AT(&worker->rows, struct perf_row, recent->row);
    row->count++;
    lode_wide_add(&row->sum, period, &overflows);
    return LODE_OK;
}

lode_status lode_perf_take_quickly(struct perf_worker *worker, const struct perf_record *record,
                                   lode_error *error)
{
    uint32_t number = lode_perf_event_of(worker->store, record->bytes, record->size, true);
    if (number == LODE_NONE || worker->show || worker->last_known == 0)
        return LODE_ABSENT;
    const struct perf_event *event = perf_event_at(worker->store, number);
    const struct perf_layout *layout = &event->layout;
    const uint8_t *body = record->bytes + PERF_RECORD_HEADER;
    struct lode_range chain = chain_of(layout, record);
    if (chain.size == 0 || (int32_t)get_u32le(body + layout->tid + 4) != worker->last_tid)
        return LODE_ABSENT;
    struct perf_known *known = LODE_ARRAY_AT(&worker->known, struct perf_known, worker->last_known - 1);
    uint64_t time = get_u64le(body + layout->time);
    if (time < known->moment.from || time >= known->moment.to)
        return LODE_ABSENT;
    struct perf_recent_query query = {
        .key = {known->entry, known->moment.root, known->moment.kernel, perf_frames_most(event)},
        .chain = chain};
    struct perf_recent *recent = lode_perf_recent_find(worker->recents, &query);
    if (recent == NULL)
        return LODE_ABSENT;
    uint64_t period = layout->period == PERF_NO_FIELD ? event->attr.period : get_u64le(body + layout->period);
    worker->counts.cut += recent->is_cut;
    worker->counts.samples++;
    LODE_TRY(add_period(worker, known, number, recent, period, error));
    return number == worker->trace_event
               ? lode_perf_add_instant(worker, known->who, time, recent->node, error)
               : LODE_OK;
}
