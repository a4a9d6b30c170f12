/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes traces: record := C8 9F events FF. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "base/memory/blob.h"
#include "format/zorka/write/chunk.h"
#include "format/zorka/write/write.h"

/* An id that no index has: strings are numbered from 1, and there are fewer. */
#define UNKNOWN_METHOD UINT32_MAX

enum {
    HEAD_MAX = 9,
    INFO_MAX = 2 + 2 * HEAD_MAX,      /* tag, map of one, key and number */
    ENTER_MAX = 2 + 2 * INFO_MAX,     /* record, start, method */
    LEAVE_MAX = 5 * INFO_MAX + 1,     /* three sums, stop, calls, break */
    ATTRIBUTE_MAX = 4 + 2 * HEAD_MAX, /* tag, map of one, and a key with its tag */
    ID_SIZE = 16,
    POSITION_BITS = 34 /* of a position in the output; the order of the track is above */
};

/* ---- bytes ---- */

/* Space for `size` bytes; NULL if out of memory, or while strings are noted. */
static uint8_t *room(struct zor_encoder *encoder, size_t size)
{
    struct lode_blob *payload = &encoder->payload;
    if (encoder->is_noting)
        return NULL;
    if (size > payload->capacity - payload->size && !lode_blob_prepare(payload, 2 * (payload->size + size))) {
        encoder->has_memory = false;
        return NULL;
    }
    return payload->bytes + payload->size;
}

static void count(struct zor_encoder *encoder, const uint8_t *end)
{
    encoder->payload.size = (size_t)(end - encoder->payload.bytes);
}

static uint8_t *put_head(uint8_t *at, uint8_t major, uint64_t value)
{
    uint8_t first = (uint8_t)(major << 5);
    if (value < 24) {
        *at = (uint8_t)(first | value);
        return at + 1;
    }
    if (value <= UINT8_MAX) {
        *at = first | 24;
        at[1] = (uint8_t)value;
        return at + 2;
    }
    if (value <= UINT16_MAX) {
        *at = first | 25;
        put_u16be(at + 1, (uint16_t)value);
        return at + 3;
    }
    /* Larger ones have 8 bytes, as in collectors' files. */
    if (value < INT32_MAX) {
        *at = first | 26;
        put_u32be(at + 1, (uint32_t)value);
        return at + 5;
    }
    *at = first | 27;
    put_u64be(at + 1, value);
    return at + 9;
}

static uint8_t *put_key(const struct zor_encoder *encoder, uint8_t *at, uint64_t key)
{
    at = put_head(at, ZOR_TAG, encoder->layout == ZOR_LAYOUT_PAGE ? ZOR_TAG_INFO_PAGE : ZOR_TAG_INFO);
    at = put_head(at, ZOR_MAP, 1);
    return put_head(at, ZOR_UNSIGNED, key);
}

static uint8_t *put_number(const struct zor_encoder *encoder, uint8_t *at, uint64_t key, uint64_t value)
{
    return put_head(put_key(encoder, at, key), ZOR_UNSIGNED, value);
}

void lode_zor_put_head(struct zor_encoder *encoder, uint8_t major, uint64_t value)
{
    uint8_t *at = room(encoder, HEAD_MAX);
    if (at)
        count(encoder, put_head(at, major, value));
}

void lode_zor_put_raw(struct zor_encoder *encoder, struct lode_range bytes)
{
    uint8_t *at = room(encoder, (size_t)bytes.size);
    if (at == NULL || bytes.size == 0)
        return;
    memcpy(at, bytes.data, (size_t)bytes.size);
    count(encoder, at + bytes.size);
}

/* ---- strings ---- */

uint64_t lode_zor_here(struct zor_encoder *encoder)
{
    uint64_t here = encoder->order << POSITION_BITS | encoder->position;
    encoder->position += encoder->position < (UINT64_C(1) << POSITION_BITS) - 1;
    return here;
}

static void note(struct zor_encoder *encoder, struct zor_entry *entry)
{
    uint64_t here = lode_zor_here(encoder);
    uint64_t before = atomic_load_explicit(&entry->first, memory_order_relaxed);
    while (here < before && !atomic_compare_exchange_weak_explicit(
                                &entry->first, &before, here, memory_order_relaxed, memory_order_relaxed))
        continue;
}

/* The id of a string; notes its use in the first pass. */
static uint32_t id_of(struct zor_encoder *encoder, struct zor_entry *entry)
{
    if (entry && encoder->is_noting)
        note(encoder, entry);
    return entry ? entry->id : 0;
}

void lode_zor_put_string(struct zor_encoder *encoder, struct zor_entry *text, bool is_bare)
{
    uint32_t id = id_of(encoder, text);
    if (!is_bare)
        lode_zor_put_head(encoder, ZOR_TAG, ZOR_TAG_STRING);
    lode_zor_put_head(encoder, ZOR_UNSIGNED, id);
}

/* ---- traces ---- */

void lode_zor_begin_track(struct zor_encoder *encoder, uint64_t order)
{
    encoder->order = order;
    encoder->position = 0;
    open_calls_reset(&encoder->calls);
}

void lode_zor_begin_trace(struct zor_encoder *encoder, struct zor_id id, uint64_t stamp)
{
    encoder->trace = (struct zor_written_trace){.id = id, .stamp = stamp};
    encoder->payload.size = 0;
}

lode_status lode_zor_more(struct zor_encoder *encoder, lode_error *error)
{
    if (encoder->payload.size < ZOR_PAYLOAD_SIZE)
        return LODE_OK;
    return lode_zor_pack(encoder, false, error);
}

void lode_zor_put_ids(struct zor_encoder *encoder)
{
    const struct zor_written_trace *trace = &encoder->trace;
    uint8_t *at = room(encoder, INFO_MAX + ID_SIZE);
    if (at == NULL)
        return;
    if (encoder->layout == ZOR_LAYOUT_PAGE && zor_id_is_known(trace->id))
        at = lode_zor_put_trace_id(at, trace->id);
    count(encoder, at);
    encoder->trace.ids_at = encoder->payload.size;
}

/* ---- calls ---- */

static uint64_t hold_tick(struct zor_encoder *encoder, uint64_t tick)
{
    tick = tick < ZOR_TICKS_END ? tick : ZOR_TICKS_END - 1;
    encoder->trace.stop = tick;
    return tick;
}

lode_status lode_zor_enter(struct zor_encoder *encoder, uint64_t tick, struct zor_entry *method,
                           lode_error *error)
{
    if (open_calls_begin(&encoder->calls) == LODE_CALL_HIDES) {
        encoder->left_out++;
        return LODE_OK;
    }
    LODE_TRY(lode_zor_more(encoder, error));
    struct zor_open_call *call = open_calls_push(&encoder->calls);
    LODE_TRY_ALLOC(call, error);
    *call = (struct zor_open_call){.calls = 1};
    encoder->trace.records++;
    tick = hold_tick(encoder, tick);
    if (zor_depth(encoder) == 1) {
        encoder->trace.start = tick;
        encoder->trace.method = method;
    }
    uint32_t id = method ? id_of(encoder, method) : UNKNOWN_METHOD;
    uint8_t *at = room(encoder, ENTER_MAX);
    if (at) {
        at = put_head(at, ZOR_TAG, ZOR_TAG_RECORD);
        *at++ = ZOR_ARRAY << 5 | 31;
        at = put_number(encoder, at, ZOR_KEY_START, tick);
        count(encoder, put_number(encoder, at, ZOR_KEY_METHOD, id));
    }
    return LODE_OK;
}

void lode_zor_number(struct zor_encoder *encoder, uint64_t key, uint64_t value)
{
    uint8_t *at = room(encoder, INFO_MAX);
    if (at)
        count(encoder, put_number(encoder, at, key, value));
}

void lode_zor_info(struct zor_encoder *encoder, uint64_t key, struct lode_range value)
{
    uint8_t *at = room(encoder, INFO_MAX);
    if (at)
        count(encoder, put_key(encoder, at, key));
    lode_zor_put_raw(encoder, value);
}

void lode_zor_failed(struct zor_encoder *encoder)
{
    struct zor_open_call *frame = zor_innermost(encoder);
    encoder->trace.errors += !frame->has_failed;
    frame->has_failed = true;
}

void lode_zor_thrown(struct zor_encoder *encoder, struct zor_entry *exception)
{
    uint32_t id = id_of(encoder, exception);
    lode_zor_put_head(encoder, ZOR_TAG, ZOR_TAG_EXCEPTION_REF);
    lode_zor_put_head(encoder, ZOR_UNSIGNED, id);
    lode_zor_failed(encoder);
}

/* For the outermost call. */
static uint8_t *put_sums(const struct zor_encoder *encoder, uint8_t *at)
{
    const struct zor_written_trace *trace = &encoder->trace;
    at = put_number(encoder, at, ZOR_KEY_DURATION, trace->stop - trace->start);
    at = put_number(encoder, at, ZOR_KEY_RECORDS, trace->records);
    return put_number(encoder, at, ZOR_KEY_ERRORS, trace->errors);
}

void lode_zor_counted(struct zor_encoder *encoder, uint64_t calls)
{
    zor_innermost(encoder)->counted = calls;
}

lode_status lode_zor_leave(struct zor_encoder *encoder, uint64_t tick, lode_error *error)
{
    if (open_calls_end(&encoder->calls) != LODE_CALL_ENDS)
        return LODE_OK;
    const struct zor_open_call *call = open_calls_pop(&encoder->calls);
    bool is_outermost = zor_depth(encoder) == 0;
    uint64_t calls = call->counted > 0 ? call->counted : call->calls;
    tick = hold_tick(encoder, tick);
    uint8_t *at = room(encoder, LEAVE_MAX);
    if (at) {
        if (is_outermost && encoder->layout == ZOR_LAYOUT_PAGE)
            at = put_sums(encoder, at);
        at = put_number(encoder, at, ZOR_KEY_STOP, tick);
        at = put_number(encoder, at, ZOR_KEY_CALLS, calls);
        *at++ = 0xff;
        count(encoder, at);
    }
    if (!is_outermost) {
        zor_innermost(encoder)->calls += calls;
        return LODE_OK;
    }
    encoder->trace.calls = calls;
    return lode_zor_pack(encoder, true, error);
}

/* ---- attributes ---- */

void lode_zor_attribute(struct zor_encoder *encoder, struct zor_entry *key, bool has_strings_only)
{
    bool is_bare = zor_is_bare(encoder, has_strings_only);
    lode_zor_put_head(encoder, ZOR_TAG, is_bare ? ZOR_TAG_ATTRS_PAGE : ZOR_TAG_ATTRS);
    lode_zor_put_head(encoder, ZOR_MAP, 1);
    if (key)
        lode_zor_put_string(encoder, key, is_bare);
}

void lode_zor_attribute_text(struct zor_encoder *encoder, struct zor_entry *key, struct zor_entry *value)
{
    lode_zor_attribute(encoder, key, true);
    lode_zor_put_string(encoder, value, zor_is_bare(encoder, true));
}

void lode_zor_attribute_number(struct zor_encoder *encoder, struct zor_entry *key, int64_t value)
{
    lode_zor_attribute(encoder, key, false);
    lode_zor_put_head(encoder, value < 0 ? ZOR_NEGATIVE : ZOR_UNSIGNED,
                      value < 0 ? (uint64_t)~value : (uint64_t)value);
}
