/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/chunks/events.h"

enum {
    TICK_BITS = 40 /* of a word of ticks and another number */
};

static bool is_break(const struct zor_item *item)
{
    return item->major == ZOR_SIMPLE && item->is_open;
}

static struct lode_range bytes_between(const struct zor_events *events, uint64_t begin, uint64_t end)
{
    return (struct lode_range){events->in.data + begin, end - begin};
}

static void set_number(struct zor_event *event, uint64_t key, uint64_t value)
{
    event->kind = ZOR_INFO;
    event->key = key;
    event->value = (struct zor_item){.major = ZOR_UNSIGNED, .value = value};
}

/* ---- maps ---- */

/* A reference to a string: tag 6 and an id; the documented layout may omit the tag. */
static bool read_reference(struct zor_input in, uint64_t *id)
{
    struct zor_item item;
    if (!lode_zor_head(&in, &item))
        return false;
    bool is_tagged = item.major == ZOR_TAG && item.value == ZOR_TAG_STRING;
    if (is_tagged && !lode_zor_head(&in, &item))
        return false;
    *id = item.value;
    return item.major == ZOR_UNSIGNED;
}

static bool read_attribute(struct zor_events *events, struct zor_event *event)
{
    uint64_t key_at = events->in.at, id = 0;
    struct zor_input key = events->in;
    if (!lode_zor_skip(&events->in))
        return false;
    uint64_t value_at = events->in.at;
    key.size = value_at;
    event->kind = ZOR_ATTRIBUTE;
    event->is_page = events->is_page;
    event->key = read_reference(key, &id) ? id : 0;
    event->key_bytes = bytes_between(events, key_at, value_at);
    if (!lode_zor_skip(&events->in))
        return false;
    event->value_bytes = bytes_between(events, value_at, events->in.at);
    return true;
}

static bool read_info(struct zor_events *events, struct zor_event *event)
{
    struct zor_item key;
    struct zor_input value;
    uint64_t key_at = events->in.at;
    if (!lode_zor_head(&events->in, &key))
        return false;
    if (key.major != ZOR_UNSIGNED) {
        events->in.at = key_at;
        event->kind = ZOR_OTHER;
        if (!lode_zor_skip(&events->in))
            return false;
        return lode_zor_skip(&events->in);
    }
    value = events->in;
    event->kind = ZOR_INFO;
    event->key = key.value;
    event->key_bytes = bytes_between(events, key_at, events->in.at);
    if (!lode_zor_skip(&events->in) || !lode_zor_head(&value, &event->value))
        return false;
    event->value_bytes = bytes_between(events, key_at + event->key_bytes.size, events->in.at);
    if ((event->value.major == ZOR_BYTES || event->value.major == ZOR_TEXT) &&
        !lode_zor_content(&value, &event->value, &event->content))
        event->content = (struct lode_range){0};
    return true;
}

/* Whether the map has one more pair; skips the break after the last. */
static bool has_pair(struct zor_events *events)
{
    if (events->pairs_left == 0) {
        events->is_in_map = false;
    } else if (events->pairs_left < UINT64_MAX) {
        events->pairs_left--;
    } else if (events->in.at < events->in.size && events->in.data[events->in.at] == 0xff) {
        events->in.at++;
        events->is_in_map = false;
    }
    return events->is_in_map;
}

static bool begin_map(struct zor_events *events, bool has_attributes, bool is_page)
{
    struct zor_item item;
    if (!lode_zor_head(&events->in, &item) || item.major != ZOR_MAP)
        return false;
    events->pairs_left = item.is_open ? UINT64_MAX : item.value;
    /* Each pair takes at least two bytes. */
    if (!item.is_open && item.value > (events->in.size - events->in.at) / 2)
        return false;
    events->is_in_map = true;
    events->has_attributes = has_attributes;
    events->is_page = is_page;
    return true;
}

/* ---- records of a definite length ---- */

static bool begin_record(struct zor_events *events)
{
    struct zor_item item;
    struct zor_counted *around =
        events->counted_depth > 0 ? &events->counted[events->counted_depth - 1] : NULL;
    if (!lode_zor_head(&events->in, &item) || item.major != ZOR_ARRAY)
        return false;
    if (item.is_open) {
        if (around)
            around->open++;
        return true;
    }
    /* Each item takes at least a byte. */
    if (events->counted_depth == ZOR_COUNTED_MAX || item.value > events->in.size - events->in.at)
        return false;
    events->counted[events->counted_depth++] = (struct zor_counted){item.value, 0};
    return true;
}

/* An item is complete: count it in a record of definite length. */
static void count_item(struct zor_events *events)
{
    if (events->counted_depth > 0 && events->counted[events->counted_depth - 1].open == 0)
        events->counted[events->counted_depth - 1].left--;
}

/* A break; false if the innermost record has none. */
static bool end_record(struct zor_events *events, struct zor_event *event)
{
    struct zor_counted *around =
        events->counted_depth > 0 ? &events->counted[events->counted_depth - 1] : NULL;
    event->kind = ZOR_RETURN;
    if (around && around->open-- == 0)
        return false;
    count_item(events);
    return true;
}

/* Whether a record of definite length is complete: it ends with its last item. */
static bool ends_counted(struct zor_events *events, struct zor_event *event)
{
    const struct zor_counted *innermost = &events->counted[events->counted_depth - 1];
    if (events->is_in_map || innermost->open > 0 || innermost->left > 0)
        return false;
    events->counted_depth--;
    count_item(events);
    event->kind = ZOR_RETURN;
    event->at = events->in.at - 1;
    return true;
}

/* ---- the agents' wire format, if it occurs in a file ---- */

/* A string of one or two words: ticks, and a number in the upper bits or in the second word. */
static bool read_words(struct zor_events *events, struct zor_event *event, unsigned tag)
{
    struct zor_item item;
    struct lode_range words;
    if (!lode_zor_head(&events->in, &item) || item.major != ZOR_BYTES ||
        !lode_zor_content(&events->in, &item, &words) || (words.size != 8 && words.size != 16))
        return false;
    bool is_prolog = tag == ZOR_TAG_PROLOG_BE || tag == ZOR_TAG_PROLOG_LE;
    bool is_little = tag == ZOR_TAG_PROLOG_LE || tag == ZOR_TAG_EPILOG_LE;
    uint64_t first = is_little ? get_u64le(words.data) : get_u64be(words.data), other = first >> TICK_BITS;
    if (words.size == 16)
        other = is_little ? get_u64le(words.data + 8) : get_u64be(words.data + 8);
    set_number(event, is_prolog ? ZOR_KEY_START : ZOR_KEY_STOP, first & ((UINT64_C(1) << TICK_BITS) - 1));
    events->second = *event;
    set_number(&events->second, is_prolog ? ZOR_KEY_METHOD : ZOR_KEY_CALLS, other);
    events->has_second = true;
    return true;
}

/* [time stamp, ...]: the rest changed over the years. */
static bool read_begin(struct zor_events *events, struct zor_event *event)
{
    struct zor_item array, stamp;
    uint64_t begin = events->in.at;
    if (!lode_zor_skip(&events->in))
        return false;
    struct zor_input in = events->in;
    in.at = begin;
    if (!lode_zor_head(&in, &array) || array.major != ZOR_ARRAY || !lode_zor_head(&in, &stamp) ||
        stamp.major != ZOR_UNSIGNED)
        return true;
    set_number(event, ZOR_KEY_STAMP, stamp.value);
    return true;
}

/* An id, or an array that begins with one. */
static bool read_thrown(struct zor_events *events, struct zor_event *event)
{
    uint64_t begin = events->in.at;
    if (!lode_zor_skip(&events->in))
        return false;
    struct zor_input in = events->in;
    in.at = begin;
    if (!lode_zor_head(&in, &event->value) ||
        (event->value.major == ZOR_ARRAY && !lode_zor_head(&in, &event->value)))
        return false;
    event->kind = event->value.major == ZOR_UNSIGNED ? ZOR_THROWN : ZOR_OTHER;
    return true;
}

/* ---- events ---- */

/* A tag that does not begin a map. */
static bool read_tagged(struct zor_events *events, struct zor_event *event, uint64_t tag)
{
    struct zor_item item;
    switch (tag) {
    case ZOR_TAG_RECORD:
        event->kind = ZOR_CALL;
        return begin_record(events);
    case ZOR_TAG_PROLOG_BE:
    case ZOR_TAG_PROLOG_LE:
    case ZOR_TAG_EPILOG_BE:
    case ZOR_TAG_EPILOG_LE:
        return read_words(events, event, (unsigned)tag);
    case ZOR_TAG_FLAGS:
        if (!lode_zor_head(&events->in, &item) || item.major != ZOR_UNSIGNED)
            return false;
        set_number(event, ZOR_KEY_FLAGS, item.value);
        return true;
    case ZOR_TAG_BEGIN:
        return read_begin(events, event);
    case ZOR_TAG_EXCEPTION:
    case ZOR_TAG_EXCEPTION_REF:
        return read_thrown(events, event);
    default:
        return lode_zor_skip(&events->in);
    }
}

static bool is_map_next(const struct zor_events *events)
{
    return events->in.at < events->in.size && events->in.data[events->in.at] >> 5 == ZOR_MAP;
}

/* An item outside of maps. If it opens a map, `event` stays ZOR_OTHER and is_in_map is set. */
static bool read_item(struct zor_events *events, struct zor_event *event)
{
    struct zor_item item;
    uint64_t begin = events->in.at;
    if (!lode_zor_head(&events->in, &item))
        return false;
    if (is_break(&item))
        return end_record(events, event);
    if (item.major != ZOR_TAG) {
        events->in.at = begin;
        return lode_zor_skip(&events->in);
    }
    bool is_info = item.value == ZOR_TAG_INFO || item.value == ZOR_TAG_INFO_PAGE;
    bool is_attributes = item.value == ZOR_TAG_ATTRS || item.value == ZOR_TAG_ATTRS_PAGE;
    if ((is_info || is_attributes) && is_map_next(events))
        return begin_map(events, is_attributes,
                         item.value == ZOR_TAG_ATTRS_PAGE || item.value == ZOR_TAG_INFO_PAGE);
    return read_tagged(events, event, item.value);
}

/* Counts an item outside of maps, unless it opens a map or a record. */
static bool read_counted_item(struct zor_events *events, struct zor_event *event)
{
    if (!read_item(events, event))
        return false;
    if (!events->is_in_map && event->kind != ZOR_CALL && event->kind != ZOR_RETURN)
        count_item(events);
    return true;
}

/* False at the end, or at malformed bytes: event->at is their position. */
static bool read_event(struct zor_events *events, struct zor_event *event)
{
    for (;;) {
        bool is_sound;
        event->at = events->in.at;
        if (events->counted_depth > 0 && ends_counted(events, event))
            return true;
        if (events->is_in_map) {
            if (!has_pair(events)) {
                count_item(events);
                continue;
            }
            is_sound = events->has_attributes ? read_attribute(events, event) : read_info(events, event);
        } else {
            if (events->in.at >= events->in.size)
                return false;
            is_sound = read_counted_item(events, event);
            if (is_sound && events->is_in_map)
                continue;
        }
        events->is_malformed = !is_sound;
        return is_sound;
    }
}

bool lode_zor_event(struct zor_events *events, struct zor_event *event)
{
    if (events->has_second) {
        events->has_second = false;
        *event = events->second;
        return true;
    }
    *event = (struct zor_event){.kind = ZOR_OTHER};
    if (!read_event(events, event)) {
        if (events->is_malformed)
            events->in.at = event->at;
        return false;
    }
    /* After the last pair, so that the next event can take the fast path. */
    if (events->is_in_map && events->pairs_left == 0) {
        events->is_in_map = false;
        count_item(events);
    }
    return true;
}
