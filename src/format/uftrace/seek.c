/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds records out of sequence: the next one after damage, the first one of a time, the last. */
#include "base/error.h"
#include "format/uftrace/cursor.h"

enum {
    ARGUMENTS_MAX = 1024, /* maximal size of a record's arguments */
    SHORT_CHAIN = 3,      /* consecutive records that suffice where one is expected */
    CHAIN = 8,            /* consecutive records that do not occur by chance */
    LINEAR = 4096,        /* a range too short for bisection */
    TAIL = 4096           /* bytes that are first searched for the last record */
};

#define NEAR    UINT64_C(1000000000) /* ns between records that are neighbours without a check */
#define GAP_MAX (UINT64_C(1) << 50)  /* ns: 13 days, the longest gap between two records */

static inline uint64_t word_at(const struct uft_cursor *self, const uint8_t *at)
{
    return self->rec->info.big_endian ? get_u64be(at) : get_u64le(at);
}

static bool is_record(uint64_t word)
{
    return (word >> 3 & 7) == UFT_MAGIC;
}

/* ---- payloads ---- */

static const struct lode_uft_spec *spec_of(const struct uft_cursor *self, const struct uft_record *record)
{
    uint64_t until;
    const struct uft_session *session = record->time >= self->epoch_end
                                            ? lode_uft_session_at(self->rec, self->task, record->time, &until)
                                            : self->session;
    const struct uft_function *function =
        (const struct uft_function *)lode_uft_find_named(self->rec, session, record->time, record->address);
    if (function == NULL)
        return NULL;
    return record->type == UFT_ENTRY ? function->arguments : function->result;
}

/* Sets the end of the payload, padded to 8; the last one of a file may be unpadded. */
static bool set_payload(struct uft_cursor *self, struct uft_record *record, struct lode_range rest,
                        uint64_t skipped, uint64_t size)
{
    uint64_t start = record->offset + UFT_RECORD_SIZE, end = start + skipped + size;
    if (size > UINT16_MAX || !lode_range_part(rest, skipped, size, &record->payload))
        return false;
    end += (start - end) & 7;
    record->next = end < self->stream.size ? end : self->stream.size;
    return true;
}

static lode_status read_event_payload(struct uft_cursor *self, struct uft_record *record)
{
    struct lode_range rest;
    uint64_t start = record->offset + UFT_RECORD_SIZE;
    LODE_TRY(lode_stream_at(&self->stream, start, 2, &rest, self->error));
    if (rest.size >= 2) {
        uint16_t length = self->rec->info.big_endian ? get_u16be(rest.data) : get_u16le(rest.data);
        LODE_TRY(lode_stream_at(&self->stream, start, (size_t)length + 2, &rest, self->error));
        record->is_unknown = !set_payload(self, record, rest, 2, length);
    }
    return LODE_OK;
}

static lode_status read_arguments(struct uft_cursor *self, struct uft_record *record)
{
    const struct lode_uft_spec *spec = spec_of(self, record);
    struct lode_range rest;
    uint64_t size;
    if (spec == NULL)
        return LODE_OK;
    LODE_TRY(
        lode_stream_at(&self->stream, record->offset + UFT_RECORD_SIZE, ARGUMENTS_MAX, &rest, self->error));
    if (lode_uft_payload_size(self->rec->specs, spec, rest, &size))
        record->is_unknown = !set_payload(self, record, rest, 0, size);
    return LODE_OK;
}

/* Distrusts a length that does not lead to a record. */
static lode_status check_next(struct uft_cursor *self, struct uft_record *record)
{
    struct lode_range bytes;
    if (record->is_unknown || self->stream.size - record->next < UFT_RECORD_SIZE)
        return LODE_OK;
    /* From the record on, so that the payload is in the buffer. */
    size_t length = (size_t)(record->next - record->offset);
    LODE_TRY(lode_stream_at(&self->stream, record->offset, length + UFT_RECORD_SIZE, &bytes, self->error));
    uint64_t skipped = record->type == UFT_EVENT ? 2 : 0;
    bool is_there = lode_range_part(bytes, UFT_RECORD_SIZE + skipped, record->payload.size, &record->payload);
    record->is_unknown = !is_there || bytes.size < length + UFT_RECORD_SIZE ||
                         !is_record(word_at(self, bytes.data + length + 8));
    return LODE_OK;
}

static void forget_payload(struct uft_record *record)
{
    record->is_unknown = true;
    record->payload = (struct lode_range){NULL, 0};
    record->next = record->offset + UFT_RECORD_SIZE;
}

static lode_status read_payload(struct uft_cursor *self, struct uft_record *record)
{
    record->is_unknown = true;
    if (record->type == UFT_EVENT)
        LODE_TRY(read_event_payload(self, record));
    else if (record->type != UFT_LOST)
        LODE_TRY(read_arguments(self, record));
    LODE_TRY(check_next(self, record));
    if (record->is_unknown)
        forget_payload(record);
    return LODE_OK;
}

/* Reads a plausible record. */
static lode_status look_at(struct uft_cursor *self, uint64_t offset, struct uft_record *out)
{
    struct lode_range bytes;
    if (offset >= self->stream.size)
        return LODE_END;
    LODE_TRY(lode_stream_at(&self->stream, offset, UFT_RECORD_SIZE, &bytes, self->error));
    if (bytes.size < UFT_RECORD_SIZE)
        return LODE_NOT_FOUND;
    uint64_t word = word_at(self, bytes.data + 8);
    if (!is_record(word))
        return LODE_NOT_FOUND;
    *out = (struct uft_record){.time = word_at(self, bytes.data),
                               .address = word >> 16,
                               .depth = (uint32_t)(word >> 6) & 0x3ff,
                               .type = word & 3,
                               .offset = offset,
                               .next = offset + UFT_RECORD_SIZE};
    return word & 4 ? read_payload(self, out) : LODE_OK;
}

/* ---- chains ---- */

/*
 * Whether `length` contiguous records start at an offset, or as many as fit before the end of the
 * file, with times that do not go back. `first` is the first one that has a time.
 */
static lode_status is_chain(struct uft_cursor *self, uint64_t offset, unsigned length, uint64_t not_before,
                            bool *out, struct uft_record *first)
{
    uint64_t last = not_before;
    bool has_first = false;
    *out = false;
    for (unsigned i = 0; i < length; i++) {
        struct uft_record record;
        lode_status status = look_at(self, offset, &record);
        /* A truncated record counts as the end. */
        bool is_end =
            status == LODE_END || (status == LODE_NOT_FOUND && self->stream.size - offset < UFT_RECORD_SIZE);
        if (is_end && has_first)
            break;
        if (is_end || status == LODE_NOT_FOUND)
            return LODE_OK;
        LODE_TRY(status);
        offset = record.next;
        if (record.is_unknown && i + 1 < length)
            return LODE_OK;
        if (record.type == UFT_LOST)
            continue;
        if (record.time < last || (last > 0 && record.time - last > GAP_MAX))
            return LODE_OK;
        if (!has_first)
            *first = record;
        has_first = true;
        last = record.time;
    }
    *out = has_first;
    return LODE_OK;
}

/* Whether a record can follow a payload: yes if its time is near, else its successors decide. */
static lode_status is_likely(struct uft_cursor *self, const struct uft_record *record, bool *out)
{
    struct lode_range bytes;
    struct uft_record first;
    LODE_TRY(lode_stream_at(&self->stream, record->next, UFT_RECORD_SIZE, &bytes, self->error));
    *out = bytes.size < UFT_RECORD_SIZE;
    if (*out)
        return LODE_OK;
    uint64_t time = word_at(self, bytes.data);
    bool is_lost = (word_at(self, bytes.data + 8) & 3) == UFT_LOST;
    *out = is_lost || (time >= record->time && time - record->time <= NEAR);
    if (*out)
        return LODE_OK;
    /* Reading ahead moves the stream, which the payloads of this batch borrow from. */
    self->is_paused = *out = self->has_payload;
    if (self->is_paused)
        return LODE_OK;
    return is_chain(self, record->next, SHORT_CHAIN, time < record->time ? 0 : record->time, out, &first);
}

lode_status lode_uft_record_at(struct uft_cursor *self, uint64_t offset, struct uft_record *out)
{
    struct lode_range bytes;
    bool is_sound;
    LODE_TRY(look_at(self, offset, out));
    if (out->is_unknown || out->next == offset + UFT_RECORD_SIZE)
        return LODE_OK;
    LODE_TRY(is_likely(self, out, &is_sound));
    LODE_TRY(lode_stream_at(&self->stream, offset, (size_t)(out->next - offset), &bytes, self->error));
    uint64_t skipped = out->type == UFT_EVENT ? 2 : 0;
    if (!is_sound || !lode_range_part(bytes, UFT_RECORD_SIZE + skipped, out->payload.size, &out->payload))
        forget_payload(out);
    return LODE_OK;
}

/* The first chain at or after an offset and before `limit`; LODE_NOT_FOUND if there is none. */
static lode_status find_chain(struct uft_cursor *self, uint64_t from, uint64_t limit, unsigned length,
                              uint64_t not_before, struct uft_record *first)
{
    *first = (struct uft_record){0};
    for (uint64_t at = (from + 7) & ~UINT64_C(7); at < limit; at += 8) {
        bool is_found;
        LODE_TRY(is_chain(self, at, length, not_before, &is_found, first));
        if (is_found)
            return LODE_OK;
    }
    return LODE_NOT_FOUND;
}

lode_status lode_uft_resync(struct uft_cursor *self, uint64_t from, uint64_t *out)
{
    struct uft_record record;
    uint64_t size = self->stream.size;
    *out = size;
    /* A loss has no time: its record is recognized as the predecessor of the chain. */
    lode_status status = find_chain(self, from, size, 2, self->last_time, &record);
    if (status == LODE_OK)
        *out = record.offset;
    return status == LODE_NOT_FOUND ? LODE_OK : status;
}

/* ---- times ---- */

/* Skips records without payload before a time, as far as they are in the buffer. */
static lode_status skip_plain(struct uft_cursor *self, uint64_t *offset, uint64_t time)
{
    struct lode_range bytes;
    LODE_TRY(lode_stream_at(&self->stream, *offset, UFT_RECORD_SIZE, &bytes, self->error));
    for (uint64_t at = 0; at + UFT_RECORD_SIZE <= bytes.size; at += UFT_RECORD_SIZE) {
        uint64_t word = word_at(self, bytes.data + at + 8);
        bool is_plain = (word & 0x3c) == UFT_MAGIC << 3 && (word & 3) != UFT_LOST;
        if (!is_plain || word_at(self, bytes.data + at) >= time)
            break;
        *offset += UFT_RECORD_SIZE;
    }
    return LODE_OK;
}

static lode_status step_to(struct uft_cursor *self, uint64_t offset, uint64_t time)
{
    for (;;) {
        struct uft_record record;
        LODE_TRY(skip_plain(self, &offset, time));
        lode_status status = lode_uft_record_at(self, offset, &record);
        if (status < 0)
            return status;
        bool is_there = status == LODE_OK;
        if (status == LODE_END || (is_there && record.type != UFT_LOST && record.time >= time)) {
            self->offset = is_there ? offset : self->stream.size;
            return LODE_OK;
        }
        offset = is_there ? record.next : offset;
        if (!is_there || record.is_unknown)
            LODE_TRY(lode_uft_resync(self, offset, &offset));
    }
}

/* The state before the time window, as far as its first record and perf show. */
static lode_status enter_window(struct uft_cursor *self, uint64_t time)
{
    struct uft_record record;
    const struct lode_uft_perf_event *before = NULL;
    lode_status status = lode_uft_record_at(self, self->offset, &record);
    if (status < 0)
        return status;
    if (status == LODE_OK && self->is_window && (record.type == UFT_ENTRY || record.type == UFT_EXIT))
        self->unseen = self->due = record.depth + (record.type == UFT_EXIT);
    for (; self->perf < self->perf_end && self->perf->time < time; self->perf++)
        if (self->perf->kind <= UFT_PERF_OUT_PREEMPTED)
            before = self->perf;
    if (before && before->kind != UFT_PERF_IN && self->unseen > 0)
        lode_uft_set_state(self, before);
    return LODE_OK;
}

lode_status lode_uft_enter(struct uft_cursor *self, uint64_t offset, uint64_t time)
{
    LODE_TRY(step_to(self, offset, time));
    self->last_time = time;
    self->is_window = self->offset > 0;
    return enter_window(self, time);
}

lode_status lode_uft_time_after(struct uft_cursor *self, uint64_t from, uint64_t limit, uint64_t not_before,
                                uint64_t *offset, uint64_t *time)
{
    struct uft_record record;
    LODE_TRY(find_chain(self, from, limit, CHAIN, not_before, &record));
    *offset = record.offset;
    *time = record.time;
    return LODE_OK;
}

lode_status lode_uft_seek(struct uft_cursor *self, uint64_t time)
{
    uint64_t low = 0, high = self->stream.size;
    /* Each probe looks up its session. */
    self->epoch_end = 0;
    while (high - low > LINEAR) {
        uint64_t middle = low + (high - low) / 2;
        struct uft_record record;
        lode_status status = find_chain(self, middle, high, CHAIN, 0, &record);
        if (status < 0)
            return status;
        if (status == LODE_OK && record.offset < high && record.time < time)
            low = record.offset;
        else
            high = middle;
    }
    return lode_uft_enter(self, low, time);
}

/* ---- the first and the last ---- */

lode_status lode_uft_first_time(struct uft_cursor *self, uint64_t from, uint64_t *time)
{
    uint64_t offset = self->offset;
    struct uft_record record;
    LODE_TRY(step_to(self, from, 0));
    lode_status status = lode_uft_record_at(self, self->offset, &record);
    self->offset = offset;
    if (status == LODE_OK)
        *time = record.time;
    return status;
}

static lode_status find_first(struct uft_cursor *self, uint64_t *begin)
{
    struct uft_record record;
    lode_status status = lode_uft_first_time(self, 0, begin);
    if (status != LODE_END)
        return status;
    /* A loss has no time. */
    status = lode_uft_record_at(self, 0, &record);
    return status == LODE_END || status == LODE_NOT_FOUND ? LODE_ABSENT : status;
}

static lode_status find_last(struct uft_cursor *self, uint64_t *end)
{
    uint64_t size = self->stream.size, tail = TAIL;
    struct uft_record record;
    lode_status status;
    do {
        status = find_chain(self, size > tail ? size - tail : 0, size, CHAIN, 0, &record);
        tail *= 16;
    } while (status == LODE_NOT_FOUND && tail / 16 < size);
    if (status != LODE_OK)
        return status == LODE_NOT_FOUND ? LODE_OK : status;
    for (uint64_t at = record.offset; (status = lode_uft_record_at(self, at, &record)) == LODE_OK;
         at = record.next)
        if (record.type != UFT_LOST && record.time > *end)
            *end = record.time;
    return status < 0 ? status : LODE_OK;
}

static lode_status find_span(struct uft_cursor *self, uint64_t *begin, uint64_t *end)
{
    LODE_TRY(find_first(self, begin));
    *end = *begin;
    LODE_TRY(find_last(self, end));
    if (self->perf < self->perf_end && self->perf_end[-1].time > *end)
        *end = self->perf_end[-1].time;
    return LODE_OK;
}

lode_status lode_uft_track_interval(const lode_recording *recording, uint32_t track, uint64_t *begin,
                                    uint64_t *end, lode_error *error)
{
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor;
    *begin = *end = 0;
    if (uft_of(recording)->tasks[track].file == NULL)
        return LODE_ABSENT;
    options.buffer = TAIL;
    LODE_TRY(lode_uft_cursor_open(&cursor, recording, track, &options, error));
    lode_status status = find_span((struct uft_cursor *)cursor, begin, end);
    lode_uft_cursor_close(cursor);
    return status;
}
