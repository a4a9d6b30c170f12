/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What recordings count beside samples: branches that were taken before a sample, and the counters
 * of threads that end (perf record --stat), which are exact.
 */
#include "format/perf/read/stream.h"
#include "format/perf/source/chains.h"
#include "format/perf/source/collect.h"

enum {
    BRANCH_SIZE = 24, /* from, to, flags */
    BRANCH_FLAGS = 16,
    BRANCH_MISPREDICTED = 1
};

lode_status lode_perf_count_branches(struct perf_worker *worker, struct perf_known *known, uint32_t event,
                                     uint32_t node, const struct perf_sample *sample, lode_error *error)
{
    struct perf_amount amount = {.count = sample->branches.size / BRANCH_SIZE};
    if (amount.count == 0 || perf_branches_are_calls(perf_event_at(worker->store, event)))
        return LODE_OK;
    for (uint64_t i = 0; i < amount.count; i++)
        amount.sum +=
            perf_u64(worker->store->is_big, sample->branches.data + i * BRANCH_SIZE + BRANCH_FLAGS) &
            BRANCH_MISPREDICTED;
    return lode_perf_add_cost(worker, known, event | PERF_EVENT_BRANCHES, node, NULL, amount, error);
}

/* ---- counters of threads ---- */

struct ending {
    struct perf_worker *worker;
    struct perf_known *known;
    uint32_t event; /* of the record; others of its group have ids */
    lode_error *error;
};

static lode_status count_one(const struct ending *self, const uint64_t *id, uint64_t value)
{
    const uint32_t *owner = id ? lode_map_get(&self->worker->store->event_of, *id) : &self->event;
    struct perf_amount amount = {.sum = value};
    if (owner == NULL) {
        self->worker->counts.unknown_ids++;
        return LODE_OK;
    }
    return value == 0 ? LODE_OK
                      : lode_perf_add_cost(self->worker, self->known, *owner | PERF_EVENT_COUNTED,
                                           self->known->entry, NULL, amount, self->error);
}

static lode_status count_all(const struct ending *self, const struct perf_sample *counters, bool has_ids)
{
    bool is_big = self->worker->store->is_big;
    if (counters->counter_size == 0)
        return count_one(self, has_ids ? &counters->value_id : NULL, counters->value);
    for (uint64_t at = 0; at < counters->counters.size; at += counters->counter_size) {
        const uint8_t *bytes = counters->counters.data + at;
        uint64_t id = has_ids ? perf_u64(is_big, bytes + 8) : 0;
        LODE_TRY(count_one(self, has_ids ? &id : NULL, perf_u64(is_big, bytes)));
    }
    return LODE_OK;
}

lode_status lode_perf_take_read(struct perf_worker *worker, const struct perf_record *record,
                                lode_error *error)
{
    enum {
        IDS_SIZE = 8 /* process and thread */
    };
    const struct perf_store *store = worker->store;
    struct ending self = {.worker = worker, .error = error};
    struct perf_sample counters;
    self.event = lode_perf_event_of(store, record->bytes, record->size, false);
    if (self.event == LODE_NONE)
        return LODE_OK;
    const struct perf_event *event = perf_event_at(store, self.event);
    uint32_t around = PERF_RECORD_HEADER + (uint32_t)event->layout.trailer;
    if (record->size < around + IDS_SIZE)
        return LODE_OK;
    const uint8_t *body = record->bytes + PERF_RECORD_HEADER, *end = record->bytes + record->size;
    struct lode_range values = {body + IDS_SIZE, record->size - around - IDS_SIZE};
    if (!lode_perf_counters_read(&counters, &event->attr, store->is_big, values))
        return LODE_OK;
    bool has_time = event->layout.end_time != PERF_NO_FIELD;
    uint64_t time = has_time ? perf_u64(store->is_big, end - event->layout.end_time) : UINT64_MAX - 1;
    LODE_TRY(lode_perf_find_known(worker, (int32_t)perf_u32(store->is_big, body),
                                  (int32_t)perf_u32(store->is_big, body + 4), time, &self.known, error));
    return count_all(&self, &counters, (event->attr.read_format & PERF_READ_ID) != 0);
}
