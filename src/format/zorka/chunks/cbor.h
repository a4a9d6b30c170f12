/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pull parser for the part of CBOR (RFC 8949) that trace stores use. It neither allocates nor
 * recurses, and rejects lengths that exceed the rest of the input.
 */
#ifndef LODE_ZORKA_CBOR_H
#define LODE_ZORKA_CBOR_H

#include "base/io/range.h"

enum {
    ZOR_UNSIGNED,
    ZOR_NEGATIVE, /* -1 - value */
    ZOR_BYTES,
    ZOR_TEXT,
    ZOR_ARRAY,
    ZOR_MAP,
    ZOR_TAG,
    ZOR_SIMPLE
};

enum {
    ZOR_NESTING_MAX = 64, /* levels of arrays, maps and tags */
    ZOR_FALSE = 20,
    ZOR_TRUE = 21,
    ZOR_NULL = 22
};

/* The head of an item. */
struct zor_item {
    uint8_t major;
    bool is_open;  /* of indefinite length; ZOR_SIMPLE: a break */
    bool is_float; /* ZOR_SIMPLE: value has its bits */
    uint8_t width; /* bytes of the argument after the first byte: 0, 1, 2, 4, 8 */
    uint64_t value;
};

/* Bytes and a read position. */
struct zor_input {
    const uint8_t *data;
    uint64_t size, at;
};

static inline struct zor_input zor_input(struct lode_range bytes)
{
    return (struct zor_input){bytes.data, bytes.size, 0};
}

/* Reads a head. False, without moving `at`, if it is missing, cut off or malformed. */
bool lode_zor_head(struct zor_input *in, struct zor_item *item);
/* Skips one item. False, without moving `at`, if it is invalid, a break, or nested too deeply. */
bool lode_zor_skip(struct zor_input *in);
/* The content of a string of definite length whose head was just read. */
bool lode_zor_content(struct zor_input *in, const struct zor_item *item, struct lode_range *content);

#endif
