/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A growing buffer of bytes, and the wire form of protocol buffers written into it. Running out of
 * memory is remembered in `failed` and checked once, where the bytes are used.
 */
#ifndef LODE_EXPORT_WIRE_H
#define LODE_EXPORT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct lode_wire {
    uint8_t *bytes;
    size_t count, capacity;
    bool failed;
};

enum {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_VARINT_MAX = 10 /* bytes */
};

static inline void wire_free(struct lode_wire *wire)
{
    free(wire->bytes);
    *wire = (struct lode_wire){0};
}

/* Makes room for `more` bytes. */
static inline bool wire_reserve(struct lode_wire *wire, size_t more)
{
    if (more <= wire->capacity - wire->count)
        return true;
    size_t needed = wire->count + more;
    size_t capacity = needed > SIZE_MAX / 2 ? needed : 2 * needed;
    uint8_t *bytes = needed < more || wire->failed ? NULL : realloc(wire->bytes, capacity);
    if (bytes == NULL) {
        wire->failed = true;
        return false;
    }
    wire->bytes = bytes;
    wire->capacity = capacity;
    return true;
}

/* Writes at `at`, which has room; returns what follows. */
static inline uint8_t *wire_put_varint(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static inline size_t wire_varint_size(uint64_t value)
{
    size_t size = 1;
    for (; value >= 0x80; value >>= 7)
        size++;
    return size;
}

static inline void wire_varint(struct lode_wire *wire, uint64_t value)
{
    if (wire_reserve(wire, WIRE_VARINT_MAX))
        wire->count = (size_t)(wire_put_varint(wire->bytes + wire->count, value) - wire->bytes);
}

/* Bytes as they are: for other formats too. */
static inline void wire_raw(struct lode_wire *wire, const void *bytes, size_t size)
{
    if (size == 0 || !wire_reserve(wire, size))
        return;
    memcpy(wire->bytes + wire->count, bytes, size);
    wire->count += size;
}

static inline void wire_tag(struct lode_wire *wire, unsigned field, unsigned type)
{
    wire_varint(wire, field << 3 | type);
}

/* uint32, uint64, bool and enum fields. */
static inline void wire_uint(struct lode_wire *wire, unsigned field, uint64_t value)
{
    wire_tag(wire, field, WIRE_VARINT);
    wire_varint(wire, value);
}

/* int32 and int64 fields: a negative value has ten bytes. */
static inline void wire_int(struct lode_wire *wire, unsigned field, int64_t value)
{
    wire_uint(wire, field, (uint64_t)value);
}

static inline void wire_fixed64(struct lode_wire *wire, unsigned field, uint64_t value)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    wire_tag(wire, field, WIRE_FIXED64);
    wire_raw(wire, bytes, sizeof bytes);
}

static inline void wire_double(struct lode_wire *wire, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    wire_fixed64(wire, field, bits);
}

static inline void wire_bytes(struct lode_wire *wire, unsigned field, const void *bytes, size_t size)
{
    wire_tag(wire, field, WIRE_BYTES);
    wire_varint(wire, size);
    wire_raw(wire, bytes, size);
}

static inline void wire_text(struct lode_wire *wire, unsigned field, const char *text)
{
    wire_bytes(wire, field, text, strlen(text));
}

/* Begins a message in a field; wire_end takes what this returns. */
static inline size_t wire_begin(struct lode_wire *wire, unsigned field)
{
    wire_tag(wire, field, WIRE_BYTES);
    wire_varint(wire, 0);
    return wire->count;
}

/* Ends it: writes its length before it. Contents of 128 bytes or more move to make room. */
static inline void wire_end(struct lode_wire *wire, size_t begin)
{
    if (wire->failed)
        return;
    size_t size = wire->count - begin, more = wire_varint_size(size) - 1;
    if (more > 0) {
        if (!wire_reserve(wire, more))
            return;
        memmove(wire->bytes + begin + more, wire->bytes + begin, size);
        wire->count += more;
    }
    wire_put_varint(wire->bytes + begin - 1, size);
}

#endif
