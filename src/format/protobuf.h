/* SPDX-License-Identifier: BSD-3-Clause */
/* The wire format of protocol buffers: a walk over the fields of a message, whatever they mean. */
#ifndef LODE_FORMAT_PROTOBUF_H
#define LODE_FORMAT_PROTOBUF_H

#include "base/io/bytes.h"
#include "base/io/range.h"

/* Wire types. 3 and 4 were groups, 6 and 7 never existed. */
enum {
    LODE_PB_VARINT = 0,
    LODE_PB_FIXED64 = 1,
    LODE_PB_BYTES = 2,
    LODE_PB_FIXED32 = 5
};

enum lode_pb_step {
    LODE_PB_FIELD,
    LODE_PB_END,
    LODE_PB_CUT,      /* a field exceeds its message */
    LODE_PB_TOO_LONG, /* a number of more than 10 bytes */
    LODE_PB_TYPE      /* a wire type that does not exist, or groups */
};

/* A field. Fixed numbers have their bytes, and are in `value` too. */
struct lode_pb_field {
    uint64_t number;
    unsigned type;
    uint64_t value; /* of BYTES: their size */
    struct lode_range bytes;
    const uint8_t *start; /* of its key */
};

struct lode_pb_walk {
    const uint8_t *at, *end;
};

static inline struct lode_pb_walk lode_pb_walk_of(struct lode_range bytes)
{
    /* A field that is a number has no bytes. */
    return (struct lode_pb_walk){bytes.data, bytes.data ? bytes.data + bytes.size : NULL};
}

/* A varint of several bytes, which `at` is the first of. */
enum lode_pb_step lode_pb_long_number(struct lode_pb_walk *walk, uint64_t *number);

/*
 * The functions below are inline, for all large files are read by them: most fields are skipped,
 * and their callers use a part of each only.
 */

/* A varint; bits beyond 64 are cut off, as other readers do. After an error, `at` is unchanged. */
static inline enum lode_pb_step lode_pb_number(struct lode_pb_walk *walk, uint64_t *number)
{
    *number = 0;
    if (walk->at == walk->end)
        return LODE_PB_END;
    if (*walk->at >= 0x80)
        return lode_pb_long_number(walk, number);
    *number = *walk->at++; /* most keys and lengths */
    return LODE_PB_FIELD;
}

/* A number that must follow. */
static inline enum lode_pb_step lode_pb_take_number(struct lode_pb_walk *walk, uint64_t *number)
{
    enum lode_pb_step step = lode_pb_number(walk, number);
    return step == LODE_PB_END ? LODE_PB_CUT : step;
}

static inline enum lode_pb_step lode_pb_take(struct lode_pb_walk *walk, uint64_t size,
                                             struct lode_range *bytes)
{
    if (size > (uint64_t)(walk->end - walk->at))
        return LODE_PB_CUT;
    *bytes = (struct lode_range){walk->at, size};
    walk->at += size;
    return LODE_PB_FIELD;
}

/* The key of the next field, then its content. */
static inline enum lode_pb_step lode_pb_key(struct lode_pb_walk *walk, struct lode_pb_field *field)
{
    uint64_t key;
    *field = (struct lode_pb_field){.start = walk->at};
    enum lode_pb_step step = lode_pb_number(walk, &key);
    field->type = key & 7;
    field->number = key >> 3;
    return step;
}

static inline enum lode_pb_step lode_pb_content(struct lode_pb_walk *walk, struct lode_pb_field *field)
{
    enum lode_pb_step step;
    switch (field->type) {
    case LODE_PB_VARINT:
        return lode_pb_take_number(walk, &field->value);
    case LODE_PB_BYTES:
        step = lode_pb_take_number(walk, &field->value);
        return step == LODE_PB_FIELD ? lode_pb_take(walk, field->value, &field->bytes) : step;
    case LODE_PB_FIXED64:
        step = lode_pb_take(walk, sizeof(uint64_t), &field->bytes);
        field->value = step == LODE_PB_FIELD ? get_u64le(field->bytes.data) : 0;
        return step;
    case LODE_PB_FIXED32:
        step = lode_pb_take(walk, sizeof(uint32_t), &field->bytes);
        field->value = step == LODE_PB_FIELD ? get_u32le(field->bytes.data) : 0;
        return step;
    default:
        return LODE_PB_TYPE;
    }
}

/* Both. After an error, `at` is the start of the field. */
static inline enum lode_pb_step lode_pb_next(struct lode_pb_walk *walk, struct lode_pb_field *field)
{
    enum lode_pb_step step = lode_pb_key(walk, field);
    if (step == LODE_PB_FIELD)
        step = lode_pb_content(walk, field);
    if (step != LODE_PB_FIELD)
        walk->at = field->start;
    return step;
}

#endif
