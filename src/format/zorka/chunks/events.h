/* SPDX-License-Identifier: BSD-3-Clause */
/* Pull parser for chunks, in the documented layout (page) and in that of existing files (real). */
#ifndef LODE_ZORKA_EVENTS_H
#define LODE_ZORKA_EVENTS_H

#include "base/io/bytes.h"
#include "format/zorka/chunks/cbor.h"

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

/* Flags of a call. */
enum {
    ZOR_FLAG_ERROR = 8
};

/* Keys of a call's attributes. */
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
    ZOR_OTHER      /* unknown, skipped */
};

/* Fields that do not apply to the kind are not set. */
struct zor_event {
    enum zor_kind kind;
    uint64_t at; /* offset in the payload; in a map, of its key */
    /* ZOR_INFO: the key. ZOR_ATTRIBUTE: string id of the key, or 0 and `key_bytes` has the key. */
    uint64_t key;
    struct zor_item value;                    /* ZOR_INFO, ZOR_THROWN: head of the value */
    struct lode_range content;                /* ZOR_INFO: content of a string */
    struct lode_range key_bytes, value_bytes; /* ZOR_ATTRIBUTE, ZOR_INFO: as encoded */
    bool is_page; /* ZOR_ATTRIBUTE: in the documented layout, where numbers are references */
};

enum {
    ZOR_COUNTED_MAX = 64 /* nested records of definite length */
};

/* A record of definite length, which has no break. */
struct zor_counted {
    uint64_t left; /* items */
    uint64_t open; /* open records of indefinite length in it */
};

struct zor_events {
    struct zor_input in;
    struct zor_counted counted[ZOR_COUNTED_MAX];
    unsigned counted_depth;
    /* The current map. */
    uint64_t pairs_left; /* UINT64_MAX: up to a break */
    bool is_in_map, has_attributes, is_page;
    /* The second event of one item. */
    struct zor_event second;
    bool has_second;
    bool is_malformed; /* stopped at malformed bytes */
};

static inline void zor_events_begin(struct zor_events *events, struct lode_range payload)
{
    events->in = zor_input(payload);
    events->counted_depth = 0;
    events->pairs_left = 0;
    events->is_in_map = events->is_page = events->has_second = events->is_malformed = false;
}

/* The next event; false at the end, or at malformed bytes, which begin at `in.at`. */
bool lode_zor_event(struct zor_events *events, struct zor_event *event);

/* The fast path for most of a payload: calls, their ends, and numbers in maps of one pair. */
enum {
    ZOR_COMMON_SIZE = 12 /* the longest: tag, map, key, head and a number of 8 bytes */
};

/* Whether the fast path may read on: enough bytes are left, outside of maps and counted records. */
static inline bool zor_is_common(const struct zor_events *events)
{
    return events->in.size - events->in.at >= ZOR_COMMON_SIZE && !events->is_in_map && !events->has_second &&
           events->counted_depth == 0;
}

/*
 * An unsigned number, and its size with the head; 0 if it is none. Uses branches, not arithmetic:
 * most are predictable, so that the bytes after the number need not wait for it.
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

/* Reads the number of a key, if it comes next. */
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

/* The next event on the fast path. False, without a change, if lode_zor_event must read it. */
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

/* Like lode_zor_event, but faster. */
static inline bool zor_next_event(struct zor_events *events, struct zor_event *event)
{
    return zor_common_event(events, event) || lode_zor_event(events, event);
}

#endif
