/* SPDX-License-Identifier: BSD-3-Clause */
/* What the payload of a chunk says, one thing at a time, in the layout of the page and in that of the files that exist. */
#ifndef LODE_ZORKA_EVENTS_H
#define LODE_ZORKA_EVENTS_H

#include "base/bytes.h"
#include "format/zorka/cbor.h"

enum zor_tag {
    ZOR_TAG_INFO_PAGE = 0x02,
    ZOR_TAG_ATTRS_PAGE = 0x03,
    ZOR_TAG_STRING = 0x06,
    ZOR_TAG_RECORD = 0x08,
    ZOR_TAG_ATTRS = 0x09,
    ZOR_TAG_PROLOG_BE = 0x0a,
    ZOR_TAG_PROLOG_LE,
    ZOR_TAG_EPILOG_BE,
    ZOR_TAG_EPILOG_LE,
    ZOR_TAG_INFO = 0x0e,
    ZOR_TAG_FLAGS = 0x0f,
    ZOR_TAG_BEGIN = 0x21,
    ZOR_TAG_EXCEPTION = 0x22,
    ZOR_TAG_EXCEPTION_REF = 0x23
};

/* Of the flags of a call. */
enum {
    ZOR_FLAG_ERROR = 8
};

/* Keys of what is known of a call. */
enum zor_key {
    ZOR_KEY_TRACE_ID = 0x01,
    ZOR_KEY_CHUNK_NUMBER,
    ZOR_KEY_CHUNK_OFFSET,
    ZOR_KEY_CHUNK_LENGTH,
    ZOR_KEY_STAMP,
    ZOR_KEY_DURATION,
    ZOR_KEY_TYPE,
    ZOR_KEY_RECORDS,
    ZOR_KEY_CALLS,
    ZOR_KEY_ERRORS,
    ZOR_KEY_FLAGS,
    ZOR_KEY_START,
    ZOR_KEY_STOP,
    ZOR_KEY_METHOD,
    ZOR_KEY_SKIP,
    ZOR_KEY_CLEARED,
    ZOR_KEY_PARENT,
    ZOR_KEY_SPAN,
    ZOR_KEY_COUNT
};

enum zor_kind {
    ZOR_CALL,      /* a call begins */
    ZOR_RETURN,    /* it ends */
    ZOR_INFO,      /* key and value */
    ZOR_ATTRIBUTE, /* a pair of a map: `key` and `value_bytes` */
    ZOR_THROWN,    /* an exception: `value` is its id */
    ZOR_OTHER      /* something that is not known, passed over */
};

/* What is not of its kind is not set. */
struct zor_event {
    enum zor_kind kind;
    uint64_t at; /* where it is in the payload; of what is in a map, where its key is */
    /* ZOR_INFO: the key. ZOR_ATTRIBUTE: the id of the key's string; 0 if it is none, and then `key_bytes` has what it is. */
    uint64_t key;
    struct zor_item value;                    /* ZOR_INFO, ZOR_THROWN: its head */
    struct lode_range content;                /* ZOR_INFO: of a string */
    struct lode_range key_bytes, value_bytes; /* ZOR_ATTRIBUTE, ZOR_INFO: as encoded */
    bool is_page; /* ZOR_ATTRIBUTE: in the page's layout, where numbers are references */
};

enum {
    ZOR_COUNTED_MAX = 64 /* records of a definite length inside of each other */
};

/* A record of a definite length, which has no break at its end. */
struct zor_counted {
    uint64_t left; /* items */
    uint64_t open; /* records of no length that are open in it */
};

struct zor_events {
    struct zor_input in;
    struct zor_counted counted[ZOR_COUNTED_MAX];
    unsigned counted_depth;
    /* A map that is being read. */
    uint64_t pairs_left; /* UINT64_MAX: up to a break */
    bool is_in_map, has_attributes, is_page;
    /* What stands in one item but is two events. */
    struct zor_event second;
    bool has_second;
    bool is_malformed; /* ended before its end */
};

static inline void zor_events_begin(struct zor_events *events, struct lode_range payload)
{
    events->in = zor_input(payload);
    events->counted_depth = 0;
    events->pairs_left = 0;
    events->is_in_map = events->is_page = events->has_second = events->is_malformed = false;
}

/* The next event; false at the end, or where bytes are malformed: `in.at` is where the first of them is. */
bool lode_zor_event(struct zor_events *events, struct zor_event *event);

/*
 * What nearly all of a payload is: calls, their ends, and numbers in maps of their own. These are read without all that others may need.
 */
enum {
    ZOR_COMMON_SIZE = 12 /* of the longest: a tag, a map, a key, a head and a number of eight bytes */
};

/* Whether what comes next may be read as such: it is long enough, and not a part of something else. */
static inline bool zor_is_common(const struct zor_events *events)
{
    return events->in.size - events->in.at >= ZOR_COMMON_SIZE && !events->is_in_map && !events->has_second &&
           events->counted_depth == 0;
}

/*
 * An unsigned number, and how many bytes it has with its head; 0 if it is none. Branches, not sums: as most can be foreseen, what comes
 * behind the number need not wait for it.
 */
static inline unsigned zor_common_number(const uint8_t *bytes, uint64_t *value)
{
    switch (bytes[0]) {
    case 24:
        *value = bytes[1];
        return 2;
    case 25:
        *value = get_u16be(bytes + 1);
        return 3;
    case 26:
        *value = get_u32be(bytes + 1);
        return 5;
    case 27:
        *value = get_u64be(bytes + 1);
        return 9;
    default:
        *value = bytes[0];
        return bytes[0] < 24;
    }
}

static inline bool zor_is_info(const uint8_t *bytes)
{
    return (bytes[0] == (0xc0 | ZOR_TAG_INFO) || bytes[0] == (0xc0 | ZOR_TAG_INFO_PAGE)) &&
           bytes[1] == 0xa1 && bytes[2] < 24;
}

static inline bool zor_common_info(struct zor_events *events, struct zor_event *event, const uint8_t *bytes)
{
    uint64_t value;
    unsigned size = zor_is_info(bytes) ? zor_common_number(bytes + 3, &value) : 0;
    if (size == 0)
        return false;
    event->kind = ZOR_INFO;
    event->at = events->in.at + 2;
    event->key = bytes[2];
    event->value = (struct zor_item){.major = ZOR_UNSIGNED, .width = (uint8_t)(size - 1), .value = value};
    event->key_bytes = (struct lode_range){bytes + 2, 1};
    event->value_bytes = (struct lode_range){bytes + 3, size};
    events->in.at += 3 + size;
    events->is_page = bytes[0] == (0xc0 | ZOR_TAG_INFO_PAGE);
    return true;
}

/* The number of a key, if that is what comes next. */
static inline bool zor_take_number(struct zor_events *events, enum zor_key key, uint64_t *value)
{
    const uint8_t *bytes = events->in.data + events->in.at;
    uint64_t number;
    unsigned size = zor_is_common(events) && zor_is_info(bytes) && bytes[2] == key
                        ? zor_common_number(bytes + 3, &number)
                        : 0;
    if (size == 0)
        return false;
    *value = number;
    events->in.at += 3 + size;
    events->is_page = bytes[0] == (0xc0 | ZOR_TAG_INFO_PAGE);
    return true;
}

/* The next event, if it is a common one. False, with nothing changed, if lode_zor_event has to look at it. */
static inline bool zor_common_event(struct zor_events *events, struct zor_event *event)
{
    if (!zor_is_common(events))
        return false;
    const uint8_t *bytes = events->in.data + events->in.at;
    event->at = events->in.at;
    if (bytes[0] == (0xc0 | ZOR_TAG_RECORD) && bytes[1] == 0x9f) {
        event->kind = ZOR_CALL;
        events->in.at += 2;
        return true;
    }
    if (bytes[0] == 0xff) {
        event->kind = ZOR_RETURN;
        events->in.at++;
        return true;
    }
    return zor_common_info(events, event, bytes);
}

/* lode_zor_event, but faster. */
static inline bool zor_next_event(struct zor_events *events, struct zor_event *event)
{
    return zor_common_event(events, event) || lode_zor_event(events, event);
}

#endif
