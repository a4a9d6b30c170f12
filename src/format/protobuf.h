/* SPDX-License-Identifier: BSD-3-Clause */
/* The wire format of protocol buffers: a walk over the fields of a message, whatever they mean. */
#ifndef LODE_FORMAT_PROTOBUF_H
#define LODE_FORMAT_PROTOBUF_H

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

/* A varint; bits beyond 64 are cut off, as other readers do. After an error, `at` is unchanged. */
enum lode_pb_step lode_pb_number(struct lode_pb_walk *walk, uint64_t *number);
/* The key of the next field, then its content. */
enum lode_pb_step lode_pb_key(struct lode_pb_walk *walk, struct lode_pb_field *field);
enum lode_pb_step lode_pb_content(struct lode_pb_walk *walk, struct lode_pb_field *field);
/* Both. After an error, `at` is the start of the field. */
enum lode_pb_step lode_pb_next(struct lode_pb_walk *walk, struct lode_pb_field *field);

#endif
