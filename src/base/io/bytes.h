/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and stores of numbers at any alignment, in either byte order, on any host. They do not
 * check bounds: byte ranges do (base/io/range.h), once per section of a file.
 */
#ifndef LODE_BASE_BYTES_H
#define LODE_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BYTES_FROM_LE(bits, x) __builtin_bswap##bits(x)
#define BYTES_FROM_BE(bits, x) (x)
#else
#define BYTES_FROM_LE(bits, x) (x)
#define BYTES_FROM_BE(bits, x) __builtin_bswap##bits(x)
#endif

#define BYTES_ACCESSORS(bits)                                                                                \
    static inline uint##bits##_t get_u##bits##le(const uint8_t *p)                                           \
    {                                                                                                        \
        uint##bits##_t x;                                                                                    \
        memcpy(&x, p, sizeof x);                                                                             \
        return (uint##bits##_t)BYTES_FROM_LE(bits, x);                                                       \
    }                                                                                                        \
    static inline uint##bits##_t get_u##bits##be(const uint8_t *p)                                           \
    {                                                                                                        \
        uint##bits##_t x;                                                                                    \
        memcpy(&x, p, sizeof x);                                                                             \
        return (uint##bits##_t)BYTES_FROM_BE(bits, x);                                                       \
    }                                                                                                        \
    static inline void put_u##bits##le(uint8_t *p, uint##bits##_t x)                                         \
    {                                                                                                        \
        x = (uint##bits##_t)BYTES_FROM_LE(bits, x);                                                          \
        memcpy(p, &x, sizeof x);                                                                             \
    }                                                                                                        \
    static inline void put_u##bits##be(uint8_t *p, uint##bits##_t x)                                         \
    {                                                                                                        \
        x = (uint##bits##_t)BYTES_FROM_BE(bits, x);                                                          \
        memcpy(p, &x, sizeof x);                                                                             \
    }

BYTES_ACCESSORS(16)
BYTES_ACCESSORS(32)
BYTES_ACCESSORS(64)

#undef BYTES_ACCESSORS
#undef BYTES_FROM_LE
#undef BYTES_FROM_BE

static inline uint8_t get_u8(const uint8_t *p)
{
    return *p;
}

static inline void put_u8(uint8_t *p, uint8_t x)
{
    *p = x;
}

static inline double f64_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t bits_of_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double get_f64le(const uint8_t *p)
{
    return f64_of_bits(get_u64le(p));
}

static inline void put_f64le(uint8_t *p, double value)
{
    put_u64le(p, bits_of_f64(value));
}

#endif
