/* SPDX-License-Identifier: BSD-3-Clause */
/* The compact protocol of Thrift, as far as the metadata of Parquet needs it. */
#ifndef LODE_EXPORT_THRIFT_H
#define LODE_EXPORT_THRIFT_H

#include "export/wire.h"

enum {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_I8 = 3,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12,
    THRIFT_LEVELS = 8,     /* of nested structs, at most */
    THRIFT_SHORT_LIST = 15 /* lists of fewer elements have a header of one byte */
};

/* Zeroed: inside the outermost struct, whose fields are written in ascending order. */
struct lode_thrift {
    struct lode_wire *wire;
    unsigned level;
    unsigned last[THRIFT_LEVELS]; /* the last field, by level */
};

static inline uint64_t thrift_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline void thrift_byte(struct lode_thrift *thrift, unsigned byte)
{
    uint8_t x = (uint8_t)byte;
    wire_raw(thrift->wire, &x, 1);
}

static inline void thrift_field(struct lode_thrift *thrift, unsigned id, unsigned type)
{
    unsigned *last = &thrift->last[thrift->level];
    if (id - *last <= 15) {
        thrift_byte(thrift, (id - *last) << 4 | type);
    } else {
        thrift_byte(thrift, type);
        wire_varint(thrift->wire, thrift_zigzag((int64_t)id));
    }
    *last = id;
}

static inline void thrift_i32(struct lode_thrift *thrift, unsigned id, int32_t value)
{
    thrift_field(thrift, id, THRIFT_I32);
    wire_varint(thrift->wire, thrift_zigzag(value));
}

static inline void thrift_i64(struct lode_thrift *thrift, unsigned id, int64_t value)
{
    thrift_field(thrift, id, THRIFT_I64);
    wire_varint(thrift->wire, thrift_zigzag(value));
}

static inline void thrift_i8(struct lode_thrift *thrift, unsigned id, int8_t value)
{
    thrift_field(thrift, id, THRIFT_I8);
    thrift_byte(thrift, (uint8_t)value);
}

static inline void thrift_boolean(struct lode_thrift *thrift, unsigned id, bool is_true)
{
    thrift_field(thrift, id, is_true ? THRIFT_TRUE : THRIFT_FALSE);
}

/* An element of a list of strings; also what follows the header of such a field. */
static inline void thrift_bytes_element(struct lode_thrift *thrift, const void *bytes, size_t size)
{
    wire_varint(thrift->wire, size);
    wire_raw(thrift->wire, bytes, size);
}

static inline void thrift_bytes(struct lode_thrift *thrift, unsigned id, const void *bytes, size_t size)
{
    thrift_field(thrift, id, THRIFT_BINARY);
    thrift_bytes_element(thrift, bytes, size);
}

static inline void thrift_text(struct lode_thrift *thrift, unsigned id, const char *text)
{
    thrift_bytes(thrift, id, text, strlen(text));
}

/* A struct as an element of a list: thrift_end is due. */
static inline void thrift_element(struct lode_thrift *thrift)
{
    thrift->last[++thrift->level] = 0;
}

static inline void thrift_struct(struct lode_thrift *thrift, unsigned id)
{
    thrift_field(thrift, id, THRIFT_STRUCT);
    thrift_element(thrift);
}

static inline void thrift_end(struct lode_thrift *thrift)
{
    thrift_byte(thrift, 0);
    if (thrift->level > 0)
        thrift->level--;
}

/* Its elements follow. */
static inline void thrift_list(struct lode_thrift *thrift, unsigned id, unsigned type, size_t count)
{
    thrift_field(thrift, id, THRIFT_LIST);
    if (count < THRIFT_SHORT_LIST) {
        thrift_byte(thrift, (unsigned)count << 4 | type);
    } else {
        thrift_byte(thrift, 0xf0 | type);
        wire_varint(thrift->wire, count);
    }
}

static inline void thrift_i32_element(struct lode_thrift *thrift, int32_t value)
{
    wire_varint(thrift->wire, thrift_zigzag(value));
}

#endif
