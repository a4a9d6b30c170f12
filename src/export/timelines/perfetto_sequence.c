/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of a sequence, and the texts that they refer to. */
#include "export/timelines/perfetto.h"

#include <stdio.h>

/* ---- packets ---- */

size_t lode_perfetto_begin_packet(struct sequence *sequence, uint64_t time, struct lode_wire *out)
{
    size_t packet = wire_begin(out, TRACE_PACKET);
    wire_uint(out, PACKET_TIMESTAMP, time - sequence->time);
    wire_raw(out, sequence->suffix, sequence->suffix_size);
    if (sequence->interned.count > 0) {
        wire_bytes(out, PACKET_INTERNED_DATA, sequence->interned.bytes, sequence->interned.count);
        sequence->interned.count = 0;
    }
    sequence->time = time;
    return packet;
}

void lode_perfetto_intern(struct sequence *sequence, unsigned field, uint32_t id, const char *text,
                          size_t size)
{
    size_t entry = wire_begin(&sequence->interned, field);
    wire_uint(&sequence->interned, INTERNED_ID, id);
    wire_bytes(&sequence->interned, INTERNED_TEXT, text, size);
    wire_end(&sequence->interned, entry);
}

static void put_sample_defaults(struct lode_wire *out)
{
    static const unsigned cpu_clock = 1;
    size_t defaults = wire_begin(out, DEFAULTS_PERF_SAMPLE), timebase = wire_begin(out, PERF_TIMEBASE);
    wire_uint(out, TIMEBASE_FREQUENCY, 1);
    wire_uint(out, TIMEBASE_COUNTER, cpu_clock);
    wire_text(out, TIMEBASE_NAME, "samples");
    wire_end(out, timebase);
    wire_end(out, defaults);
}

void lode_perfetto_begin_sequence(const struct perfetto *self, struct sequence *sequence, uint64_t time,
                                  struct lode_wire *out)
{
    size_t packet = wire_begin(out, TRACE_PACKET);
    sequence->has_begun = true;
    sequence->time = time;
    /* The suffix without its last byte, which is the flags. */
    wire_raw(out, sequence->suffix, sequence->suffix_size - 1U);
    wire_varint(out, STATE_CLEARED | NEEDS_STATE);
    size_t snapshot = wire_begin(out, PACKET_CLOCK_SNAPSHOT);
    size_t clock = wire_begin(out, SNAPSHOT_CLOCKS);
    wire_uint(out, CLOCK_ID, BOOTTIME_CLOCK);
    wire_uint(out, CLOCK_TIMESTAMP, time);
    wire_end(out, clock);
    clock = wire_begin(out, SNAPSHOT_CLOCKS);
    wire_uint(out, CLOCK_ID, SEQUENCE_CLOCK);
    wire_uint(out, CLOCK_TIMESTAMP, time);
    wire_uint(out, CLOCK_IS_INCREMENTAL, 1);
    wire_end(out, clock);
    wire_end(out, snapshot);
    size_t defaults = wire_begin(out, PACKET_DEFAULTS);
    wire_uint(out, DEFAULTS_CLOCK_ID, SEQUENCE_CLOCK);
    size_t event = wire_begin(out, DEFAULTS_TRACK_EVENT);
    wire_uint(out, EVENT_TRACK_UUID, sequence->uuid);
    wire_end(out, event);
    if (self->has_samples)
        put_sample_defaults(out);
    wire_end(out, defaults);
    wire_end(out, packet);
}

void lode_perfetto_put_event(struct sequence *sequence, uint64_t time, unsigned type, uint32_t id,
                             unsigned category, struct lode_wire *out)
{
    size_t packet = lode_perfetto_begin_packet(sequence, time, out);
    size_t event = wire_begin(out, PACKET_TRACK_EVENT);
    wire_uint(out, EVENT_TYPE, type);
    if (id > 0)
        wire_uint(out, EVENT_NAME_ID, id);
    else if (type == TYPE_INSTANT)
        wire_bytes(out, EVENT_NAME, sequence->text.bytes, sequence->text.count);
    if (category > 0)
        wire_uint(out, EVENT_CATEGORY_IDS, category);
    wire_raw(out, sequence->more.bytes, sequence->more.count);
    wire_end(out, event);
    wire_end(out, packet);
}

void lode_perfetto_make_tail(const struct sequence *sequence, uint32_t id, struct packet_tail *out)
{
    uint8_t bytes[sizeof sequence->suffix + (size_t)2 * WIRE_VARINT_MAX], *at = bytes + sequence->suffix_size;
    memcpy(bytes, sequence->suffix, sizeof sequence->suffix);
    uint8_t *event = at;
    *at++ = PACKET_TRACK_EVENT << 3 | WIRE_BYTES;
    at++; /* the size of the event */
    *at++ = EVENT_TYPE << 3 | WIRE_VARINT;
    *at++ = id > 0 ? TYPE_BEGIN : TYPE_END;
    if (id > 0) {
        *at++ = EVENT_NAME_ID << 3 | WIRE_VARINT;
        at = wire_put_varint(at, id);
    }
    event[1] = (uint8_t)(at - event - 2);
    bool fits = (size_t)(at - bytes) <= sizeof out->bytes;
    out->size = fits ? (uint8_t)(at - bytes) : 0;
    memcpy(out->bytes, bytes, sizeof out->bytes);
}

/* ---- texts ---- */

uint32_t lode_perfetto_name_id(struct perfetto *self, struct sequence *sequence, const lode_function *frame)
{
    if (frame->index < sequence->id_capacity && sequence->ids[frame->index] > 0)
        return sequence->ids[frame->index];
    if (frame->index >= sequence->id_capacity) {
        if (!LODE_GROW_ZEROED(sequence->ids, sequence->id_capacity, 2 * ((size_t)frame->index + 32)))
            return 0;
    }
    const struct lode_frame_name *name = lode_tracks_name(self->base.tracks, frame);
    uint32_t *used = lode_array_push(&sequence->used), id = sequence->next_id + 1;
    if (name == NULL || used == NULL)
        return 0;
    *used = frame->index;
    if (id >= sequence->tail_capacity && !LODE_GROW(sequence->tails, sequence->tail_capacity, 2 * (size_t)id))
        return 0;
    lode_perfetto_make_tail(sequence, id, &sequence->tails[id]);
    sequence->ids[frame->index] = sequence->next_id = id;
    lode_perfetto_intern(sequence, INTERNED_NAMES, sequence->next_id, name->text, name->length);
    return sequence->next_id;
}

uint32_t lode_perfetto_text_number(struct lode_strings *texts, const char *text, bool *is_new)
{
    uint32_t known = (uint32_t)texts->items.count;
    uint32_t number = known < TEXTS_MAX ? lode_strings_add(texts, text) : lode_strings_find(texts, text);
    *is_new = number != LODE_NO_NUMBER && number == known;
    return number == LODE_NO_NUMBER ? 0 : number + 1;
}

uint32_t lode_perfetto_instant_id(struct sequence *sequence, const char *name)
{
    bool is_new;
    uint32_t number = lode_perfetto_text_number(&sequence->texts, name, &is_new);
    sequence->text.count = 0;
    lode_wire_clean(&sequence->text, name, strlen(name));
    if (number == 0)
        return 0;
    if (is_new) {
        sequence->text_ids[number - 1] = ++sequence->next_id;
        lode_perfetto_intern(sequence, INTERNED_NAMES, sequence->next_id, (const char *)sequence->text.bytes,
                             sequence->text.count);
    }
    return sequence->text_ids[number - 1];
}

void lode_perfetto_categorize(struct sequence *sequence, unsigned category, const char *name)
{
    if (sequence->categories & category)
        return;
    sequence->categories |= category;
    lode_perfetto_intern(sequence, INTERNED_CATEGORIES, category, name, strlen(name));
}

/* ---- annotations ---- */

static void put_key(struct sequence *sequence, const char *key, size_t length, struct lode_wire *out)
{
    char text[128];
    bool is_new = false;
    sequence->text.count = 0;
    lode_wire_clean(&sequence->text, key, length);
    size_t size = sequence->text.count;
    uint32_t number = 0;
    if (size < sizeof text) {
        if (size > 0)
            memcpy(text, sequence->text.bytes, size);
        text[size] = '\0';
        number = lode_perfetto_text_number(&sequence->keys, text, &is_new);
    }
    if (is_new)
        lode_perfetto_intern(sequence, INTERNED_ANNOTATION_NAMES, number, text, size);
    if (number > 0)
        wire_uint(out, ANNOTATION_NAME_ID, number);
    else
        wire_bytes(out, ANNOTATION_NAME, sequence->text.bytes, size);
}

static void put_value(struct sequence *sequence, const lode_argument *argument, struct lode_wire *out)
{
    lode_value_kind kind = argument->kind;
    if (kind == LODE_VALUE_SIGNED || kind == LODE_VALUE_CHANGE) {
        wire_int(out, ANNOTATION_INT, argument->signed_value);
    } else if (kind == LODE_VALUE_UNSIGNED) {
        wire_uint(out, ANNOTATION_UINT, argument->unsigned_value);
    } else if (kind == LODE_VALUE_HEX || (kind == LODE_VALUE_POINTER && argument->label == NULL)) {
        wire_uint(out, ANNOTATION_POINTER, argument->unsigned_value);
    } else if (kind == LODE_VALUE_REAL) {
        wire_double(out, ANNOTATION_DOUBLE, argument->real);
    } else {
        sequence->text.count = 0;
        lode_wire_argument(&sequence->text, argument);
        wire_bytes(out, ANNOTATION_STRING, sequence->text.bytes, sequence->text.count);
    }
}

void lode_perfetto_annotate(struct sequence *sequence, const char *key, size_t length,
                            const lode_argument *argument, struct lode_wire *out)
{
    size_t annotation = wire_begin(out, EVENT_ANNOTATIONS);
    put_key(sequence, key, length, out);
    put_value(sequence, argument, out);
    wire_end(out, annotation);
}

void lode_perfetto_annotate_all(struct sequence *sequence, const char *unnamed, struct lode_wire *out)
{
    const struct lode_arguments *arguments = &sequence->base.arguments;
    for (size_t i = 0; i < arguments->count; i++) {
        char text[32];
        bool is_numbered = arguments->count > 1 || unnamed[0] == 'a';
        const char *key = lode_argument_key(arguments, i, unnamed, is_numbered, text, sizeof text);
        lode_perfetto_annotate(sequence, key, strlen(key), &arguments->items[i], out);
    }
}

void lode_perfetto_annotate_flag(struct sequence *sequence, const char *key, struct lode_wire *out)
{
    size_t annotation = wire_begin(out, EVENT_ANNOTATIONS);
    put_key(sequence, key, strlen(key), out);
    wire_uint(out, ANNOTATION_BOOL, 1);
    wire_end(out, annotation);
}

void lode_perfetto_annotate_text(struct sequence *sequence, const char *key, const char *text,
                                 struct lode_wire *out)
{
    lode_argument value = {.kind = LODE_VALUE_TEXT, .bytes = text, .length = strlen(text)};
    lode_perfetto_annotate(sequence, key, strlen(key), &value, out);
}

/* ---- exceptions ---- */

static void put_stack(struct sequence *sequence, const struct lode_thrown *thrown, struct lode_wire *out)
{
    size_t annotation = wire_begin(out, EVENT_ANNOTATIONS);
    put_key(sequence, thrown->key, strlen(thrown->key), out);
    for (size_t i = 0; i < thrown->frame_count; i++) {
        sequence->text.count = 0;
        lode_wire_frame(&sequence->text, &sequence->base.arguments, thrown->frame + 4 * i);
        size_t value = wire_begin(out, ANNOTATION_ARRAY);
        wire_bytes(out, ANNOTATION_STRING, sequence->text.bytes, sequence->text.count);
        wire_end(out, value);
    }
    wire_end(out, annotation);
}

void lode_perfetto_annotate_exception(struct sequence *sequence, struct lode_wire *out)
{
    struct lode_thrown thrown = {0};
    while (lode_thrown_next(&thrown, &sequence->base.arguments))
        if (thrown.value)
            lode_perfetto_annotate(sequence, thrown.key, strlen(thrown.key), thrown.value, out);
        else
            put_stack(sequence, &thrown, out);
}
