/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a trace store that is rewritten. Their data is CBOR with ids of their own store. */
#include "base/error.h"
#include "format/zorka/write/origin.h"

enum {
    STAMP_UNIT = 1000000 /* nanoseconds of a millisecond */
};

/* An attribute of a call, such as a number. */
struct pair {
    uint64_t key;
    struct zor_item head; /* of the value */
    struct lode_range value;
};

static struct zor_input input_of(const lode_event *event)
{
    return zor_input((struct lode_range){event->data, event->data_size});
}

static bool next_pair(struct zor_input *in, struct pair *pair)
{
    struct zor_item key;
    if (!lode_zor_head(in, &key))
        return false;
    struct zor_input value = *in;
    pair->key = key.value;
    if (!lode_zor_head(&value, &pair->head) || !lode_zor_skip(in))
        return false;
    uint64_t begin = value.at - 1 - pair->head.width;
    pair->value = (struct lode_range){in->data + begin, in->at - begin};
    return true;
}

/* Encodes numbers in the shortest form. */
static void put_pair(struct zor_encoder *encoder, const struct pair *pair)
{
    bool is_number = pair->head.major <= ZOR_NEGATIVE;
    lode_zor_info(encoder, pair->key, is_number ? (struct lode_range){0} : pair->value);
    if (is_number)
        lode_zor_put_head(encoder, pair->head.major, pair->head.value);
}

/* Keys that the writer generates: for calls and chunks, and at the outermost call for the trace. */
static bool is_made_anew(const struct zor_encoder *encoder, uint64_t key)
{
    bool is_of_chunk = key >= ZOR_KEY_TRACE_ID && key <= ZOR_KEY_CHUNK_LENGTH;
    bool is_of_call = key == ZOR_KEY_START || key == ZOR_KEY_STOP || key == ZOR_KEY_METHOD;
    bool is_sum = key == ZOR_KEY_DURATION || key == ZOR_KEY_RECORDS || key == ZOR_KEY_ERRORS;
    return is_of_chunk || is_of_call || (is_sum && zor_depth(encoder) == 1);
}

static bool is_first(uint64_t key)
{
    return key == ZOR_KEY_STAMP || key == ZOR_KEY_SPAN || key == ZOR_KEY_PARENT;
}

/* ---- calls ---- */

/* All values of a key. */
static void put_key(struct zor_encoder *encoder, const lode_event *event, uint64_t key)
{
    struct zor_input in = input_of(event);
    struct pair pair;
    while (next_pair(&in, &pair))
        if (pair.key == key)
            put_pair(encoder, &pair);
}

/* The other attributes, in order. */
static void put_rest(struct zor_encoder *encoder, const lode_event *event)
{
    bool is_beginning = event->kind != LODE_EVENT_LEAVE && event->kind != LODE_EVENT_INSTANT;
    struct zor_input in = input_of(event);
    struct pair pair;
    while (next_pair(&in, &pair)) {
        if (pair.key == ZOR_KEY_FLAGS && pair.head.major == ZOR_UNSIGNED &&
            (pair.head.value & ZOR_FLAG_ERROR))
            lode_zor_failed(encoder);
        if (pair.key == ZOR_KEY_CALLS && pair.head.major == ZOR_UNSIGNED)
            lode_zor_counted(encoder, pair.head.value);
        else if (!(is_beginning && is_first(pair.key)) && !is_made_anew(encoder, pair.key))
            put_pair(encoder, &pair);
    }
}

/* Nanoseconds since a trace began. */
static uint64_t passed_at(const struct zor_origin *source, const struct zor_trace *trace,
                          const lode_event *event)
{
    uint64_t begin = zor_begin_of(zor_of(source->recording), trace);
    return event->time > begin ? event->time - begin : 0;
}

static lode_status enter(struct zor_origin *source, struct zor_encoder *encoder, uint32_t track,
                         const lode_event *event, lode_error *error)
{
    const struct zor_trace *trace = zor_trace_at(zor_of(source->recording), track);
    bool is_outermost = zor_depth(encoder) == 0;
    uint32_t index = event->function->index;
    struct zor_entry *method = index < source->method_count ? source->methods[index] : NULL;
    uint64_t passed = passed_at(source, trace, event);
    /* The beginning of a trace may be cut off. */
    uint64_t stamp = is_outermost && trace->stamp > 0 ? trace->stamp + passed / STAMP_UNIT : 0;
    if (is_outermost)
        lode_zor_begin_trace(encoder, lode_zor_track_id(&source->recording->tracks[track]), stamp);
    /* An unknown method stays unknown. */
    LODE_TRY(lode_zor_enter(encoder, trace->start + (passed >> ZOR_TICK_SHIFT), method, error));
    if (encoder->calls.hidden > 0)
        return LODE_OK;
    if (stamp > 0)
        lode_zor_number(encoder, ZOR_KEY_STAMP, stamp);
    else
        put_key(encoder, event, ZOR_KEY_STAMP);
    put_key(encoder, event, ZOR_KEY_SPAN);
    put_key(encoder, event, ZOR_KEY_PARENT);
    if (is_outermost)
        lode_zor_put_ids(encoder);
    put_rest(encoder, event);
    return LODE_OK;
}

/* The call failed; old stores use a flag that has another meaning in others. */
static void put_error(struct zor_encoder *encoder)
{
    if (!zor_innermost(encoder)->has_failed)
        lode_zor_number(encoder, ZOR_KEY_FLAGS, ZOR_FLAG_ERROR);
    lode_zor_failed(encoder);
}

static lode_status leave(const struct zor_origin *source, struct zor_encoder *encoder,
                         const struct zor_trace *trace, const lode_event *event, lode_error *error)
{
    uint64_t ticks = passed_at(source, trace, event) >> ZOR_TICK_SHIFT;
    if (encoder->calls.hidden == 0) {
        LODE_TRY(lode_zor_more(encoder, error));
        put_rest(encoder, event);
        if (event->flags & LODE_EVENT_FAILED)
            put_error(encoder);
    }
    return lode_zor_leave(encoder, trace->start + ticks, error);
}

/* ---- attributes ---- */

/* Splits a key or a value into references and other bytes. */
struct value_reader {
    struct zor_input in;
    bool is_page;   /* numbers without a tag are references */
    bool is_tagged; /* the next item has the tag of a reference */
};

/* The next item: `id` if it is a reference, else its bytes. False at the end. */
static bool next_part(struct value_reader *reader, bool *is_reference, uint64_t *id, struct lode_range *bytes)
{
    struct zor_input *in = &reader->in;
    struct zor_item item;
    struct lode_range content;
    uint64_t begin = in->at;
    if (!lode_zor_head(in, &item))
        return false;
    *is_reference = reader->is_page && item.major == ZOR_UNSIGNED && !reader->is_tagged;
    if (item.major == ZOR_TAG && item.value == ZOR_TAG_STRING) {
        struct zor_input next = *in;
        struct zor_item number;
        if (lode_zor_head(&next, &number) && number.major == ZOR_UNSIGNED) {
            *in = next;
            item = number;
            *is_reference = true;
        }
    }
    *id = item.value;
    reader->is_tagged = item.major == ZOR_TAG;
    if ((item.major == ZOR_BYTES || item.major == ZOR_TEXT) && !item.is_open &&
        !lode_zor_content(in, &item, &content))
        return false;
    *bytes = (struct lode_range){in->data + begin, in->at - begin};
    return true;
}

static bool is_array_or_map(uint8_t first)
{
    return first >> 5 == ZOR_ARRAY || first >> 5 == ZOR_MAP || first == 0xff;
}

static bool has_strings_only(struct value_reader reader)
{
    struct lode_range bytes;
    bool is_reference;
    uint64_t id;
    while (next_part(&reader, &is_reference, &id, &bytes))
        if (!is_reference && !is_array_or_map(bytes.data[0]))
            return false;
    return true;
}

static lode_status put_value(struct zor_origin *source, struct zor_encoder *encoder, uint32_t store,
                             struct value_reader reader, bool is_bare, lode_error *error)
{
    struct lode_range bytes;
    bool is_reference;
    uint64_t id;
    while (next_part(&reader, &is_reference, &id, &bytes)) {
        if (!is_reference) {
            lode_zor_put_raw(encoder, bytes);
            continue;
        }
        struct zor_entry *text = lode_zor_translate_string(source, store, id, source->unknown_text);
        LODE_TRY_ALLOC(text, error);
        lode_zor_put_string(encoder, text, is_bare);
    }
    return LODE_OK;
}

/* A key that is no reference precedes the value. */
static lode_status put_attribute(struct zor_origin *source, struct zor_encoder *encoder, uint32_t store,
                                 const lode_event *event, lode_error *error)
{
    struct value_reader reader = {input_of(event), (event->id & ZOR_POINT_PAGE) != 0, false};
    bool is_named = !(event->id & ZOR_POINT_SPECIAL), has_strings = has_strings_only(reader);
    struct zor_entry *key = NULL;
    if (is_named) {
        key = lode_zor_translate_string(source, store, (uint32_t)event->id, source->unknown_key);
        LODE_TRY_ALLOC(key, error);
    }
    lode_zor_attribute(encoder, key, has_strings);
    return put_value(source, encoder, store, reader, zor_is_bare(encoder, has_strings), error);
}

static lode_status put_point(struct zor_origin *source, struct zor_encoder *encoder, uint32_t store,
                             const lode_event *event, lode_error *error)
{
    bool is_special = (event->id & ZOR_POINT_SPECIAL) != 0;
    LODE_TRY(lode_zor_more(encoder, error));
    if (!is_special || (uint32_t)event->id == ZOR_POINT_NAMELESS)
        return put_attribute(source, encoder, store, event, error);
    if ((uint32_t)event->id == ZOR_POINT_INFO) {
        put_rest(encoder, event);
        return LODE_OK;
    }
    struct zor_input in = input_of(event);
    struct zor_item id;
    if (!lode_zor_head(&in, &id))
        return LODE_OK;
    struct zor_entry *exception = lode_zor_translate_exception(source, store, id.value);
    LODE_TRY_ALLOC(exception, error);
    lode_zor_thrown(encoder, exception);
    return LODE_OK;
}

lode_status lode_zor_take_translated(struct zor_origin *source, struct zor_encoder *encoder, uint32_t track,
                                     const lode_event *event, lode_error *error)
{
    const struct zor_recording *rec = zor_of(source->recording);
    const struct zor_trace *trace = zor_trace_at(rec, track);
    if (lode_event_begins(event))
        return enter(source, encoder, track, event, error);
    if (lode_event_ends(event))
        return leave(source, encoder, trace, event, error);
    return put_point(source, encoder, zor_store_of(rec, trace), event, error);
}
