/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pass over the headers of all records. Records of processes, threads and mappings are few:
 * they are listed here and replayed in order of time. Samples are counted.
 */
#include "base/compare.h"
#include "base/text/count.h"
#include "format/perf/read/stream.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct survey {
    struct perf_store *store;
    struct perf_stream stream;
    uint32_t part;
    uint64_t order; /* of the next record */
    uint64_t unknown_ids;
    bool has_aux;
};

static const struct perf_part *part_of(const struct survey *self)
{
    return perf_part_at(self->store, self->part);
}

static uint64_t offset_of(const struct survey *self, const struct perf_record *record)
{
    return part_of(self)->start + record->offset;
}

/* ---- events ---- */

uint32_t lode_perf_event_of(const struct perf_store *store, const uint8_t *record, uint32_t size,
                            bool is_sample)
{
    uint32_t body = size - PERF_RECORD_HEADER;
    if (store->events.count <= 1)
        return store->events.count == 1 ? 0 : LODE_NONE;
    /* The id is at a place that all events have in common. */
    const struct perf_layout *layout = &perf_event_at(store, 0)->layout;
    uint32_t at = is_sample ? layout->id : layout->end_id;
    if (at == PERF_NO_FIELD)
        return is_sample ? LODE_NONE : 0;
    if (is_sample ? at + 8 > body : at > body)
        return LODE_NONE;
    uint64_t id = perf_u64(store->is_big, is_sample ? record + PERF_RECORD_HEADER + at : record + size - at);
    const uint32_t *number = id == 0 ? NULL : lode_map_get(&store->event_of, id);
    return id == 0 ? 0 : number ? *number : LODE_NONE;
}

/* Events of records are known if the id is at the same place in those of all events. */
static lode_status check_layouts(struct perf_store *store)
{
    const struct perf_layout *first = store->events.count > 0 ? &perf_event_at(store, 0)->layout : NULL;
    for (size_t i = 1; i < store->events.count; i++) {
        const struct perf_event *event = perf_event_at(store, i);
        bool is_same = event->attr.sample_type == perf_event_at(store, 0)->attr.sample_type;
        if (event->layout.id == first->id && event->layout.end_id == first->end_id &&
            (is_same || event->attr.sample_type & PERF_HAS_IDENTIFIER))
            continue;
        LODE_TRY(perf_finding(store, PERF_RULE_SAMPLE_TYPES, perf_part_at(store, 0)->name, LODE_NO_OFFSET,
                              "events have different sample types, and records do not say whose they are"));
        return LODE_END;
    }
    return LODE_OK;
}

/* ---- records ---- */

static lode_status add_side(struct survey *self, const struct perf_record *record)
{
    struct perf_store *store = self->store;
    const uint8_t *bytes = record->bytes;
    if (record->is_unpacked) {
        uint8_t *copy = lode_arena_alloc(&store->arena, record->size, 1);
        LODE_TRY_ALLOC(copy, store->report->error);
        bytes = memcpy(copy, record->bytes, record->size);
    }
    struct perf_side *side = lode_array_push(&store->sides);
    LODE_TRY_ALLOC(side, store->report->error);
    *side = (struct perf_side){
        .order = self->order, .bytes = bytes, .offset = offset_of(self, record), .part = self->part};
    return LODE_OK;
}

/* Of a pipe: an event. */
static lode_status add_attr(struct survey *self, const struct perf_record *record)
{
    struct perf_store *store = self->store;
    const uint8_t *body = record->bytes + PERF_RECORD_HEADER;
    uint32_t left = record->size - PERF_RECORD_HEADER;
    uint32_t size = left >= PERF_ATTR_LEAST ? perf_u32(store->is_big, body + 4) : 0;
    size = size == 0 ? PERF_ATTR_LEAST : size;
    if (size < PERF_ATTR_LEAST || size > left)
        return perf_finding(store, PERF_RULE_ATTRIBUTES, part_of(self)->name, offset_of(self, record),
                            "an event has an impossible size");
    return lode_perf_add_event(store, (struct lode_range){body, size},
                               (struct lode_range){body + size, left - size}, part_of(self)->name,
                               offset_of(self, record));
}

/* A name of an event that comes as a record: kind 2. */
static lode_status update_event(struct survey *self, const struct perf_record *record)
{
    enum {
        KIND_NAME = 2,
        AT_ID = 16,
        AT_NAME = 24
    };
    struct perf_store *store = self->store;
    if (record->size <= AT_NAME || perf_u64(store->is_big, record->bytes + PERF_RECORD_HEADER) != KIND_NAME)
        return LODE_OK;
    const uint32_t *event = lode_map_get(&store->event_of, perf_u64(store->is_big, record->bytes + AT_ID));
    uint32_t name;
    LODE_TRY(lode_perf_string(
        store, (struct lode_range){record->bytes + AT_NAME, (uint64_t)record->size - AT_NAME}, &name));
    if (event)
        perf_event_at(store, *event)->name = lode_strings_at(&store->strings, name);
    return LODE_OK;
}

static lode_status add_feature(struct survey *self, const struct perf_record *record)
{
    enum {
        AT_CONTENT = 16
    };
    if (record->size < AT_CONTENT)
        return LODE_OK;
    uint64_t feature = perf_u64(self->store->is_big, record->bytes + PERF_RECORD_HEADER);
    /* Of this one, bytes are kept where they are. */
    if (feature == PERF_FEATURE_TRACING_DATA && record->is_unpacked)
        return LODE_OK;
    struct lode_range bytes = {record->bytes + AT_CONTENT, (uint64_t)record->size - AT_CONTENT};
    return feature < PERF_FEATURES ? lode_perf_feature(self->store, (unsigned)feature, bytes,
                                                       part_of(self)->name, offset_of(self, record))
                                   : LODE_OK;
}

static void count_lost(struct survey *self, const struct perf_record *record)
{
    struct perf_store *store = self->store;
    if (record->type == PERF_LOST && record->size >= PERF_RECORD_HEADER + 16)
        store->lost += perf_u64(store->is_big, record->bytes + PERF_RECORD_HEADER + 8);
    else if (record->type == PERF_LOST_SAMPLES && record->size >= PERF_RECORD_HEADER + 8)
        store->lost_samples += perf_u64(store->is_big, record->bytes + PERF_RECORD_HEADER);
}

static bool is_known(uint32_t type)
{
    return (type >= PERF_MMAP && type <= PERF_KERNEL_LAST) ||
           (type >= PERF_USER_FIRST && type <= PERF_USER_LAST);
}

static lode_status count_record(struct survey *self, const struct perf_record *record)
{
    struct perf_store *store = self->store;
    uint32_t slot = record->type < PERF_TYPES ? record->type : PERF_TYPES - 1;
    bool is_new = store->counts[slot]++ == 0;
    if (is_known(record->type) || !is_new)
        return LODE_OK;
    return perf_finding(store, PERF_RULE_UNKNOWN_RECORD, part_of(self)->name, offset_of(self, record),
                        "records of type %" PRIu32 " are unknown", record->type);
}

static lode_status take_record(struct survey *self, const struct perf_record *record)
{
    LODE_TRY(count_record(self, record));
    switch (record->type) {
    case PERF_MMAP:
    case PERF_MMAP2:
    case PERF_COMM:
    case PERF_FORK:
    case PERF_KSYMBOL:
        return add_side(self, record);
    case PERF_LOST:
    case PERF_LOST_SAMPLES:
        count_lost(self, record);
        return LODE_OK;
    case PERF_AUX:
    case PERF_AUXTRACE_INFO:
    case PERF_AUXTRACE:
        self->has_aux = true;
        return LODE_OK;
    case PERF_HEADER_ATTR:
        return add_attr(self, record);
    case PERF_HEADER_BUILD_ID:
        return lode_perf_add_build_id(self->store, (struct lode_range){record->bytes, record->size});
    case PERF_EVENT_UPDATE:
        return update_event(self, record);
    case PERF_HEADER_FEATURE:
        return add_feature(self, record);
    default:
        return LODE_OK;
    }
}

/* ---- parts ---- */

static lode_status add_piece(struct survey *self, uint64_t begin, uint64_t end, uint64_t order)
{
    struct perf_piece *piece = lode_array_push(&self->store->pieces);
    LODE_TRY_ALLOC(piece, self->store->report->error);
    *piece = (struct perf_piece){begin, end, order, self->part};
    return LODE_OK;
}

static lode_status report_stop(struct survey *self)
{
    static const struct {
        unsigned rule;
        const char *text;
    } stops[] = {
        [PERF_STOP_CUT] = {PERF_RULE_UNFINISHED, "the last record is cut off"},
        [PERF_STOP_SIZE] = {PERF_RULE_RECORD_SIZE, "a record has an impossible size"},
        [PERF_STOP_PAYLOAD] = {PERF_RULE_PAYLOAD, "what follows a record ends after the data"},
        [PERF_STOP_PACKED] = {PERF_RULE_PACKED, "compressed records are damaged, or compressed twice"},
        [PERF_STOP_RATIO] = {PERF_RULE_RATIO, "compressed records unpack to too much"},
        [PERF_STOP_ZSTD] = {PERF_RULE_ZSTD, "records are compressed by zstd, and this build has no zstd"},
    };
    enum perf_stop why = self->stream.why;
    if (why == PERF_STOP_END)
        return LODE_OK;
    LODE_TRY_ALLOC(why != PERF_STOP_MEMORY, self->store->report->error);
    /* Where the data end is unknown: what follows them is no record. */
    if (why == PERF_STOP_SIZE && self->store->is_unfinished)
        return LODE_OK;
    self->store->is_unfinished |= why == PERF_STOP_CUT;
    return perf_finding(self->store, stops[why].rule, part_of(self)->name,
                        part_of(self)->start + self->stream.at, "%s", stops[why].text);
}

/* Packed records can be read from the beginning only: they are one piece. */
static lode_status survey_records(struct survey *self)
{
    struct perf_record record;
    uint64_t begin = 0, order = self->order;
    struct perf_part *part = perf_part_at(self->store, self->part);
    while (perf_stream_next(&self->stream, &record)) {
        part->is_packed |= record.is_unpacked;
        if (!part->is_packed && record.offset - begin >= PERF_PIECE) {
            LODE_TRY(add_piece(self, begin, record.offset, order));
            begin = record.offset;
            order = self->order;
        }
        if (record.type == PERF_SAMPLE)
            self->store->counts[PERF_SAMPLE]++;
        else
            LODE_TRY(take_record(self, &record));
        self->order++;
    }
    LODE_TRY(add_piece(self, begin, self->stream.at, order));
    return report_stop(self);
}

/* ---- order ---- */

/* Without a time, or with that of a synthesised record: older than everything. */
static void time_sides(struct survey *self)
{
    struct perf_store *store = self->store;
    size_t kept = 0;
    for (size_t i = 0; i < store->sides.count; i++) {
        struct perf_side side = *LODE_ARRAY_AT(&store->sides, struct perf_side, i);
        uint32_t size = perf_u16(store->is_big, side.bytes + 6);
        side.event = lode_perf_event_of(store, side.bytes, size, false);
        if (side.event == LODE_NONE) {
            self->unknown_ids++;
            continue;
        }
        uint8_t at = perf_event_at(store, side.event)->layout.end_time;
        if (at != PERF_NO_FIELD && (uint32_t)at + PERF_RECORD_HEADER <= size)
            side.time = perf_u64(store->is_big, side.bytes + size - at);
        side.time = side.time == UINT64_MAX ? 0 : side.time;
        *LODE_ARRAY_AT(&store->sides, struct perf_side, kept++) = side;
    }
    store->sides.count = kept;
}

LODE_COMPARE_BY_2(compare_sides, struct perf_side, time, order);

void lode_perf_sort_sides(struct perf_store *store)
{
    if (store->sides.count > 1)
        qsort(store->sides.items, store->sides.count, sizeof(struct perf_side), compare_sides);
}

static lode_status report_counts(const struct survey *self)
{
    struct perf_store *store = self->store;
    const char *file = perf_part_at(store, 0)->name;
    if (self->unknown_ids > 0)
        LODE_TRY(perf_finding(store, PERF_RULE_UNKNOWN_ID, file, LODE_NO_OFFSET, "%s of unknown events",
                              LODE_COUNTED(self->unknown_ids, "record is", "records are")));
    if (self->has_aux)
        LODE_TRY(perf_finding(store, PERF_RULE_AUX, file, LODE_NO_OFFSET,
                              "data of AUX buffers (Intel PT, Arm SPE and others) are not read"));
    if (store->lost_samples > 0 || store->lost > 0)
        LODE_TRY(perf_finding(store, PERF_RULE_LOST, file, LODE_NO_OFFSET,
                              "the kernel lost %s; %s lost in all",
                              LODE_COUNTED(store->lost_samples, "sample", "samples"),
                              LODE_COUNTED(store->lost, "record was", "records were")));
    return LODE_OK;
}

lode_status lode_perf_survey(struct perf_store *store)
{
    struct survey self = {.store = store};
    lode_status status = LODE_OK;
    for (; self.part < store->parts.count && status == LODE_OK; self.part++) {
        lode_perf_stream_open(&self.stream, store, part_of(&self), 0, part_of(&self)->records.size);
        status = survey_records(&self);
        lode_perf_stream_close(&self.stream);
    }
    LODE_TRY(status);
    if (store->events.count == 0) {
        LODE_TRY(perf_finding(store, PERF_RULE_EVENTS, perf_part_at(store, 0)->name, LODE_NO_OFFSET,
                              "no event is described"));
        return LODE_END;
    }
    LODE_TRY(check_layouts(store));
    time_sides(&self);
    lode_perf_sort_sides(store);
    return report_counts(&self);
}
