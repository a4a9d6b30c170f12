/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/perf/source/collect.h"

#include "base/text/count.h"
#include "format/perf/read/stream.h"
#include "format/perf/source/chains.h"
#include "format/perf/source/path.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A counter: of all threads of an event or, if threads inherit it, of one. */
struct counter {
    uint64_t id;
    uint32_t tid, is_own;
};

/* ---- workers ---- */

uint32_t lode_perf_trace_event(const struct perf_store *store)
{
    for (size_t i = 0; i < store->events.count; i++) {
        const struct perf_event *event = perf_event_at(store, i);
        if (!event->is_dummy && event->attr.sample_type & PERF_HAS_TIME)
            return (uint32_t)i;
    }
    return LODE_NONE;
}

bool lode_perf_is_serial(const struct perf_store *store)
{
    bool found = false;
    for (size_t i = 0; i < store->events.count; i++)
        found |= (perf_event_at(store, i)->attr.sample_type & PERF_HAS_READ) != 0;
    return found;
}

bool lode_perf_has_stacks(const struct perf_store *store)
{
    bool found = false;
    for (size_t i = 0; i < store->events.count; i++)
        found |= (perf_event_at(store, i)->attr.sample_type & PERF_HAS_STACK_USER) != 0;
    return found;
}

/* All modules, with the numbers that they have. */
static lode_status add_modules(struct perf_worker *worker, lode_error *error)
{
    const struct perf_replay *replay = worker->replay;
    for (uint32_t i = 0; i < replay->modules.items.count; i++) {
        const char *name = lode_strings_at(&replay->store->strings, perf_module_at(replay, i)->name);
        LODE_TRY_ALLOC(lode_hpcrun_raw_add_module(&worker->raw, name, i) == i, error);
    }
    return LODE_OK;
}

lode_status lode_perf_worker_open(struct perf_worker *worker, const struct perf_replay *replay,
                                  unsigned number, int scratch, lode_error *error)
{
    char name[32];
    *worker = (struct perf_worker){.replay = replay,
                                   .store = replay->store,
                                   .spool = LODE_SPOOL_INIT,
                                   .number = number,
                                   .is_quick = lode_perf_is_quick(replay->store),
                                   .trace_event = lode_perf_trace_event(replay->store)};
    lode_interner_init(&worker->whos, sizeof(struct perf_who));
    lode_interner_init(&worker->lanes, sizeof(struct perf_lane));
    lode_interner_init(&worker->counters, sizeof(struct counter));
    lode_map_init(&worker->row_of);
    lode_map_init(&worker->known_of);
    lode_array_init(&worker->rows, sizeof(struct perf_row), UINT32_MAX - 1);
    lode_array_init(&worker->known, sizeof(struct perf_known), UINT32_MAX - 1);
    lode_array_init(&worker->totals, sizeof(uint64_t), UINT32_MAX - 1);
    lode_array_init(&worker->instants, sizeof(struct perf_instant), UINT32_MAX - 1);
    lode_array_init(&worker->runs, sizeof(struct perf_run), SIZE_MAX);
    worker->sites = lode_perf_sites_new();
    worker->recents = lode_perf_recents_new(replay->store->bytes);
    worker->path = calloc(1, sizeof *worker->path);
    worker->words = calloc(PERF_WORDS_MOST + 1, sizeof *worker->words);
    LODE_TRY_ALLOC(lode_hpcrun_raw_init(&worker->raw) && worker->sites && worker->recents && worker->path &&
                       worker->words,
                   error);
    LODE_TRY(add_modules(worker, error));
    if (scratch < 0)
        return LODE_OK;
    snprintf(name, sizeof name, "instants-%u", number);
    worker->has_spool = true;
    return lode_spool_open(&worker->spool, scratch, name, error);
}

void lode_perf_worker_close(struct perf_worker *worker)
{
    lode_hpcrun_raw_free(&worker->raw);
    lode_interner_free(&worker->whos);
    lode_interner_free(&worker->lanes);
    lode_interner_free(&worker->counters);
    lode_map_free(&worker->row_of);
    lode_map_free(&worker->known_of);
    lode_array_free(&worker->rows);
    lode_array_free(&worker->known);
    lode_array_free(&worker->totals);
    lode_array_free(&worker->instants);
    lode_array_free(&worker->runs);
    lode_perf_sites_free(worker->sites);
    lode_perf_recents_free(worker->recents);
    lode_spool_close(&worker->spool);
    free(worker->path);
    free(worker->words);
}

/* ---- threads ---- */

/* "sleep", or ":45" if nobody told the name. */
static const char *process_name(const struct perf_worker *worker, const struct perf_moment *moment,
                                int32_t pid, char buffer[16])
{
    const char *name = lode_strings_at(&worker->store->strings, moment->process_name);
    snprintf(buffer, 16, ":%d", pid);
    return name && name[0] ? name : buffer;
}

static lode_status renew(struct perf_worker *worker, struct perf_known *known, int32_t pid, int32_t tid,
                         uint64_t time, lode_error *error)
{
    char buffer[16];
    lode_perf_moment_find(worker->replay, pid, tid, time, &known->moment);
    /* Thread 0 is the idle one; others of that id cannot be distinguished. */
    uint32_t thread = tid == 0 ? LODE_NONE : known->moment.thread;
    int32_t owner = thread == LODE_NONE ? pid : perf_thread_at(worker->replay, thread)->pid;
    struct perf_who who = {owner, tid, thread};
    known->who = lode_interner_add(&worker->whos, &who, NULL);
    known->entry = lode_perf_entry(&worker->raw, process_name(worker, &known->moment, owner, buffer),
                                   owner == tid || owner == -1);
    known->event = LODE_NONE;
    LODE_TRY_ALLOC(known->who != LODE_NO_NUMBER && known->entry, error);
    return LODE_OK;
}

lode_status lode_perf_find_known(struct perf_worker *worker, int32_t pid, int32_t tid, uint64_t time,
                                 struct perf_known **out, lode_error *error)
{
    bool added = false;
    if (worker->last_known == 0 || worker->last_tid != tid) {
        uint32_t *number =
            lode_map_add(&worker->known_of, (uint32_t)tid, (uint32_t)worker->known.count, &added);
        LODE_TRY_ALLOC(number && (!added || lode_array_push(&worker->known)), error);
        worker->last_tid = tid;
        worker->last_known = *number + 1;
    }
    struct perf_known *known = LODE_ARRAY_AT(&worker->known, struct perf_known, worker->last_known - 1);
    *out = known;
    if (!added && time >= known->moment.from && time < known->moment.to)
        return LODE_OK;
    return renew(worker, known, pid, tid, time, error);
}

/* ---- sums ---- */

/* The number of a row, added if it is new. */
static lode_status find_row(struct perf_worker *worker, uint32_t lane, uint32_t node, uint32_t *out,
                            lode_error *error)
{
    bool added;
    uint32_t *number =
        lode_map_add(&worker->row_of, (uint64_t)lane << 32 | node, (uint32_t)worker->rows.count, &added);
    struct perf_row *row = number && added ? lode_array_push(&worker->rows) : NULL;
    LODE_TRY_ALLOC(number && (!added || row), error);
    if (added)
        *row = (struct perf_row){.lane = lane, .node = node};
    *out = *number;
    return LODE_OK;
}

lode_status lode_perf_add_cost(struct perf_worker *worker, struct perf_known *known, uint32_t event,
                               uint32_t node, struct perf_recent *recent, struct perf_amount amount,
                               lode_error *error)
{
    uint64_t overflows = 0;
    uint32_t number;
    if (known->event != event) {
        struct perf_lane lane = {known->who, event};
        known->lane = lode_interner_add(&worker->lanes, &lane, NULL);
        known->event = event;
        LODE_TRY_ALLOC(known->lane != LODE_NO_NUMBER, error);
    }
    if (recent && recent->lane == known->lane)
        number = recent->row;
    else
        LODE_TRY(find_row(worker, known->lane, node, &number, error));
    if (recent) {
        recent->lane = known->lane;
        recent->row = number;
    }
    struct perf_row *row = LODE_ARRAY_AT(&worker->rows, struct perf_row, number);
    row->count += amount.count;
    lode_wide_add(&row->sum, amount.sum, &overflows);
    return LODE_OK;
}

/* ---- counters ---- */

/* How much a counter has grown; one that falls has not. */
static lode_status grown(struct perf_worker *worker, uint64_t id, uint32_t tid, bool is_own, uint64_t value,
                         uint64_t *out, lode_error *error)
{
    struct counter counter = {id, is_own ? tid : 0, is_own};
    bool added;
    uint32_t number = lode_interner_add(&worker->counters, &counter, &added);
    LODE_TRY_ALLOC(number != LODE_NO_NUMBER && (!added || lode_array_push(&worker->totals)), error);
    uint64_t *total = LODE_ARRAY_AT(&worker->totals, uint64_t, number);
    worker->counts.falls += value < *total;
    *out = value < *total ? 0 : value - *total;
    *total = value;
    return LODE_OK;
}

/* A sample on its way. */
struct taking {
    struct perf_worker *worker;
    const struct perf_sample *sample;
    struct perf_known *known;
    const struct perf_event *event;
    uint32_t number; /* of the event */
    uint32_t node;
    struct perf_recent *recent; /* its chain; may be NULL */
    lode_error *error;
};

static lode_status deliver(const struct taking *self, uint32_t event, uint64_t period)
{
    struct perf_worker *worker = self->worker;
    if (worker->show) {
        struct perf_seen seen = {self->sample, &self->known->moment, worker->path, event, period};
        worker->show(worker->user, &seen);
    }
    worker->counts.samples++;
    return lode_perf_add_cost(worker, self->known, event, self->node, self->recent,
                              (struct perf_amount){1, period}, self->error);
}

static lode_status deliver_counter(const struct taking *self, uint64_t id, uint64_t value)
{
    struct perf_worker *worker = self->worker;
    const uint32_t *owner = lode_map_get(&worker->store->event_of, id);
    bool is_own =
        perf_event_flag(self->event, PERF_FLAG_INHERIT) && self->event->attr.sample_type & PERF_HAS_TID;
    uint64_t period;
    if (owner == NULL) {
        worker->counts.unknown_ids++;
        return LODE_OK;
    }
    LODE_TRY(grown(worker, id, (uint32_t)self->sample->tid, is_own, value, &period, self->error));
    return period == 0 ? LODE_OK : deliver(self, *owner, period);
}

/* With counters, the period is that of the first one and counts nothing. */
static lode_status deliver_all(const struct taking *self)
{
    const struct perf_sample *sample = self->sample;
    bool is_big = self->worker->store->is_big;
    if (!sample->has_counters)
        return deliver(self, self->number, sample->period);
    if (sample->counter_size == 0)
        return deliver_counter(self, sample->value_id, sample->value);
    if (sample->counter_size < 16) {
        self->worker->counts.unknown_ids++;
        return LODE_OK;
    }
    for (uint64_t at = 0; at < sample->counters.size; at += sample->counter_size)
        LODE_TRY(deliver_counter(self, perf_u64(is_big, sample->counters.data + at + 8),
                                 perf_u64(is_big, sample->counters.data + at)));
    return LODE_OK;
}

/* ---- records ---- */

/* Records without a time see what holds in the end. */
static uint64_t time_of(const struct perf_sample *sample)
{
    return sample->has_time ? sample->time : UINT64_MAX - 1;
}

/* sched:sched_switch is a sample of the thread that leaves; the raw data name the next one. */
static lode_status take_switch(const struct taking *self)
{
    struct perf_worker *worker = self->worker;
    const struct perf_sample *sample = self->sample;
    struct perf_known *next;
    LODE_TRY(lode_perf_add_instant(worker, self->known->who, sample->time, self->node | PERF_INSTANT_OUT,
                                   self->error));
    if ((uint64_t)self->event->next_at + 4 > sample->raw.size || self->event->next_at == 0)
        return LODE_OK;
    int32_t tid = (int32_t)perf_u32(worker->store->is_big, sample->raw.data + self->event->next_at);
    LODE_TRY(lode_perf_find_known(worker, -1, tid, sample->time, &next, self->error));
    return lode_perf_add_instant(worker, next->who, sample->time, next->entry | PERF_INSTANT_IN, self->error);
}

/* A sample of the thread that wakes; the raw data name the other one. */
static lode_status take_waking(const struct taking *self)
{
    struct perf_worker *worker = self->worker;
    const struct perf_sample *sample = self->sample;
    uint32_t waker = self->known->who;
    struct perf_known *woken;
    if ((uint64_t)self->event->next_at + 4 > sample->raw.size || waker > PERF_INSTANT_NODE)
        return LODE_OK;
    int32_t tid = (int32_t)perf_u32(worker->store->is_big, sample->raw.data + self->event->next_at);
    /* A thread of a process that is not recorded has no profile. */
    if (lode_map_get(&worker->replay->task_of, (uint32_t)tid) == NULL)
        return LODE_OK;
    LODE_TRY(lode_perf_find_known(worker, -1, tid, sample->time, &woken, self->error));
    return lode_perf_add_instant(worker, woken->who, sample->time, waker | PERF_INSTANT_WOKEN, self->error);
}

static lode_status place(struct taking *self, unsigned mode)
{
    struct perf_worker *worker = self->worker;
    const struct perf_sample *sample = self->sample;
    struct perf_sample completed;
    if (lode_perf_complete(worker, self->event, sample, &self->known->moment, &completed))
        sample = &completed;
    struct perf_chain chain = {self->event, sample, &self->known->moment, mode, self->known->entry};
    struct perf_walked walked = lode_perf_walk(worker, &chain);
    self->node = walked.node;
    self->recent = walked.recent;
    worker->counts.marks += walked.has_mark;
    worker->counts.cut += walked.is_cut;
    worker->counts.untimed += !self->sample->has_time;
    worker->counts.rest += self->sample->rest > 0;
    LODE_TRY_ALLOC(self->node, self->error);
    return LODE_OK;
}

static void count_bad(struct perf_worker *worker, const struct perf_record *record, uint32_t part,
                      uint64_t order)
{
    struct perf_counts *counts = &worker->counts;
    if (counts->bad++ > 0 && counts->bad_order < order)
        return;
    counts->bad_order = order;
    counts->bad_part = part;
    counts->bad_offset = perf_part_at(worker->store, part)->start + record->offset;
}

/* False: its event is unknown, or it is too short. */
static bool read_sample(struct perf_worker *worker, const struct perf_record *record, uint32_t part,
                        uint64_t order, uint32_t *event, struct perf_sample *sample)
{
    const struct perf_store *store = worker->store;
    *event = lode_perf_event_of(store, record->bytes, record->size, true);
    if (*event == LODE_NONE) {
        worker->counts.unknown_ids++;
        return false;
    }
    if (lode_perf_sample_read(sample, perf_event_at(store, *event), store->is_big, record->bytes,
                              record->size))
        return true;
    count_bad(worker, record, part, order);
    return false;
}

static lode_status take_sample(struct perf_worker *worker, const struct perf_record *record,
                               const struct perf_sample *sample, uint32_t event, lode_error *error)
{
    struct taking self = {.worker = worker,
                          .sample = sample,
                          .event = perf_event_at(worker->store, event),
                          .number = event,
                          .error = error};
    LODE_TRY(lode_perf_find_known(worker, sample->pid, sample->tid, time_of(sample), &self.known, error));
    LODE_TRY(place(&self, record->misc & PERF_MODE));
    LODE_TRY(deliver_all(&self));
    if (sample->branches.size > 0)
        LODE_TRY(lode_perf_count_branches(worker, self.known, event, self.node, sample, error));
    if (!sample->has_time)
        return LODE_OK;
    if (self.event->is_switch)
        return take_switch(&self);
    if (event == worker->trace_event)
        LODE_TRY(lode_perf_add_instant(worker, self.known->who, sample->time, self.node, error));
    return self.event->is_waking ? take_waking(&self) : LODE_OK;
}

/* A thread leaves or gets a processor: which one, is in the trailer. */
static lode_status take_change(struct perf_worker *worker, const struct perf_record *record,
                               lode_error *error)
{
    const struct perf_store *store = worker->store;
    uint32_t event = lode_perf_event_of(store, record->bytes, record->size, false);
    const struct perf_layout *layout = event == LODE_NONE ? NULL : &perf_event_at(store, event)->layout;
    struct perf_known *known;
    if (layout == NULL || layout->end_time == PERF_NO_FIELD || layout->end_tid == PERF_NO_FIELD ||
        record->size < PERF_RECORD_HEADER + (uint32_t)layout->trailer)
        return LODE_OK;
    const uint8_t *end = record->bytes + record->size;
    uint64_t time = perf_u64(store->is_big, end - layout->end_time);
    int32_t pid = (int32_t)perf_u32(store->is_big, end - layout->end_tid);
    int32_t tid = (int32_t)perf_u32(store->is_big, end - layout->end_tid + 4);
    LODE_TRY(lode_perf_find_known(worker, pid, tid, time, &known, error));
    uint32_t change = record->misc & PERF_MISC_OUT ? PERF_INSTANT_OUT : PERF_INSTANT_IN;
    return lode_perf_add_instant(worker, known->who, time, known->entry | change, error);
}

/* ---- all of a piece ---- */

/* Real recordings have one for every 20 bytes of their files. */
static uint64_t most_contexts(const struct perf_store *store)
{
    enum {
        FLOOR = 1 << 16,
        BYTES = 8
    };
    return FLOOR + store->bytes / BYTES;
}

lode_status lode_perf_limit_contexts(struct perf_store *store, uint64_t contexts)
{
    uint64_t most = most_contexts(store);
    if (contexts <= most)
        return LODE_OK;
    LODE_TRY(perf_finding(store, PERF_RULE_LIMIT, perf_part_at(store, 0)->name, LODE_NO_OFFSET,
                          "there are more than %" PRIu64 " contexts in %" PRIu64 " bytes", most,
                          store->bytes));
    return LODE_END;
}

static lode_status take_records(struct perf_worker *worker, struct perf_stream *stream,
                                const struct perf_piece *piece, lode_error *error)
{
    enum {
        INSTANTS_MOST = 1 << 20 /* before they are spooled */
    };
    struct perf_record record;
    struct perf_sample sample;
    uint64_t most = most_contexts(worker->store);
    uint64_t order = piece->order,
             number = (uint64_t)(piece - (struct perf_piece *)worker->store->pieces.items);
    uint32_t event;
    while (worker->raw.tree.count <= most && perf_stream_next(stream, &record)) {
        lode_status status = worker->is_quick && record.type == PERF_SAMPLE
                                 ? lode_perf_take_quickly(worker, &record, error)
                                 : LODE_ABSENT;
        if (status != LODE_ABSENT)
            LODE_TRY(status);
        else if (record.type == PERF_SAMPLE &&
                 read_sample(worker, &record, piece->part, order, &event, &sample))
            LODE_TRY(take_sample(worker, &record, &sample, event, error));
        else if (record.type == PERF_SWITCH || record.type == PERF_SWITCH_CPU)
            LODE_TRY(take_change(worker, &record, error));
        else if (record.type == PERF_READ)
            LODE_TRY(lode_perf_take_read(worker, &record, error));
        if (worker->instants.count >= INSTANTS_MOST)
            LODE_TRY(lode_perf_spool_instants(worker, number, error));
        order++;
    }
    LODE_TRY_ALLOC(stream->why != PERF_STOP_MEMORY, error);
    return lode_perf_spool_instants(worker, number, error);
}

lode_status lode_perf_collect(struct perf_worker *worker, uint64_t number, lode_error *error)
{
    const struct perf_piece *piece = LODE_ARRAY_AT(&worker->store->pieces, struct perf_piece, number);
    struct perf_stream stream;
    lode_perf_stream_open(&stream, worker->store, perf_part_at(worker->store, piece->part), piece->begin,
                          piece->end);
    lode_status status = take_records(worker, &stream, piece, error);
    lode_perf_stream_close(&stream);
    return status;
}

/* ---- counts ---- */

void lode_perf_counts_add(struct perf_counts *to, const struct perf_counts *from)
{
    if (from->bad > 0 && (to->bad == 0 || from->bad_order < to->bad_order)) {
        to->bad_order = from->bad_order;
        to->bad_offset = from->bad_offset;
        to->bad_part = from->bad_part;
    }
    to->samples += from->samples;
    to->untimed += from->untimed;
    to->bad += from->bad;
    to->rest += from->rest;
    to->unknown_ids += from->unknown_ids;
    to->marks += from->marks;
    to->cut += from->cut;
    to->stacks += from->stacks;
    to->falls += from->falls;
}

lode_status lode_perf_report_counts(struct perf_store *store, const struct perf_counts *counts)
{
    const char *file = perf_part_at(store, 0)->name;
    const struct {
        unsigned rule;
        uint64_t count;
        const char *one, *many, *rest;
    } found[] = {
        {PERF_RULE_SAMPLE_REST, counts->rest, "sample is", "samples are", "longer than its event says"},
        {PERF_RULE_UNKNOWN_ID, counts->unknown_ids, "sample is", "samples are", "of an unknown event"},
        {PERF_RULE_CHAIN, counts->marks, "call chain has", "call chains have", "unknown marks"},
        {PERF_RULE_CHAIN_CUT, counts->cut, "call chain is", "call chains are",
         "as long as the kernel permits: the outermost frames are missing"},
        {PERF_RULE_NO_UNWINDING, counts->stacks, "user stack is", "user stacks are",
         "not unwound: only the sample's own address is known"},
        {PERF_RULE_COUNTER, counts->falls, "counter value", "counter values", "fell since the last sample"},
        {PERF_RULE_NO_TIME, counts->untimed, "sample has", "samples have", "no time"},
    };
    if (counts->bad > 0)
        LODE_TRY(perf_finding(store, PERF_RULE_SAMPLE, perf_part_at(store, counts->bad_part)->name,
                              counts->bad_offset, "%s shorter than its event says",
                              LODE_COUNTED(counts->bad, "sample is", "samples are")));
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        if (found[i].count > 0)
            LODE_TRY(perf_finding(store, found[i].rule, file, LODE_NO_OFFSET, "%s %s",
                                  LODE_COUNTED(found[i].count, found[i].one, found[i].many), found[i].rest));
    return LODE_OK;
}
