/* SPDX-License-Identifier: BSD-3-Clause */
/* Payloads: values padded to 4 bytes each, in the byte order of the recording. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "format/uftrace/args/args_number.h"
#include "format/uftrace/args/argspec.h"
#include <math.h>

/* A value in the payload. A string is without its length. */
struct piece {
    struct lode_range bytes;
    uint64_t end; /* of its padding */
};

static bool find_piece(const struct lode_uft_specs *specs, const struct lode_uft_value *value,
                       struct lode_range payload, uint64_t at, struct piece *piece)
{
    struct lode_range head;
    uint64_t start = at, size = value->size;
    if (value->kind == LODE_VALUE_TEXT) {
        if (!lode_range_part(payload, at, 2, &head))
            return false;
        size = lode_uft_number(head, specs->big_endian);
        start += 2;
    }
    if (!lode_range_part(payload, start, size, &piece->bytes))
        return false;
    piece->end = (start + size + 3) & ~UINT64_C(3);
    return piece->end <= UFT_PAYLOAD_MAX;
}

bool lode_uft_payload_size(const struct lode_uft_specs *specs, const struct lode_uft_spec *spec,
                           struct lode_range bytes, uint64_t *size)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < spec->count; i++) {
        struct piece piece;
        if (!find_piece(specs, &spec->values[i], bytes, at, &piece))
            return false;
        at = piece.end;
    }
    /* The padding of the last value may be cut off: no value is lost. */
    *size = at < bytes.size ? at : bytes.size;
    return true;
}

/* ---- decoding ---- */

/* The x87 format: a sign, 15 bits of exponent, 64 bits of significand without an implied one. */
static double real_of_80_bits(struct lode_range bytes, bool big_endian)
{
    struct lode_range high = {bytes.data + (big_endian ? 0 : 8), 2};
    struct lode_range low = {bytes.data + (big_endian ? 2 : 0), 8};
    uint64_t top = lode_uft_number(high, big_endian), mantissa = lode_uft_number(low, big_endian);
    int exponent = (int)(top & 0x7fff);
    double value;
    if (exponent == 0x7fff)
        value = mantissa << 1 ? (double)NAN : (double)INFINITY;
    else
        value = ldexp((double)mantissa, exponent - 16383 - 63);
    return top & 0x8000 ? -value : value;
}

static double real_of(struct lode_range bytes, bool big_endian)
{
    if (bytes.size == 10)
        return real_of_80_bits(bytes, big_endian);
    uint64_t bits = lode_uft_number(bytes, big_endian);
    if (bytes.size == 8)
        return f64_of_bits(bits);
    uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, sizeof value);
    return (double)value;
}

/* The upper half of a register is undefined for a 32-bit enumeration, signed or unsigned. */
static int64_t enumerator_of(const struct lode_uft_value *value, int64_t number)
{
    const struct lode_enumeration *type = &value->enumeration->type;
    int64_t least = type->count ? type->items[0].value : 0;
    int64_t most = type->count ? type->items[type->count - 1].value : 0;
    if (least < INT32_MIN || most > UINT32_MAX)
        return number;
    return most > INT32_MAX ? (int64_t)(uint32_t)number : (int64_t)(int32_t)(uint32_t)number;
}

static void decode_bytes(const struct lode_uft_value *value, struct lode_range bytes, lode_argument *argument)
{
    static const uint8_t none[4] = {0xff, 0xff, 0xff, 0xff};
    bool is_null = value->kind == LODE_VALUE_TEXT && bytes.size == 4 && memcmp(bytes.data, none, 4) == 0;
    argument->bytes = is_null ? NULL : bytes.data;
    argument->length = is_null ? 0 : (size_t)bytes.size;
}

static lode_argument decode(const struct lode_uft_specs *specs, const struct lode_uft_value *value,
                            struct lode_range bytes)
{
    lode_argument argument = {
        .name = "", .kind = value->kind, .bits = (unsigned)bytes.size * 8, .label = value->label};
    switch (value->kind) {
    case LODE_VALUE_REAL:
        argument.real = real_of(bytes, specs->big_endian);
        break;
    case LODE_VALUE_TEXT:
    case LODE_VALUE_BYTES:
        decode_bytes(value, bytes, &argument);
        break;
    case LODE_VALUE_UNSIGNED:
    case LODE_VALUE_HEX:
    case LODE_VALUE_OCTAL:
    case LODE_VALUE_POINTER:
        argument.unsigned_value = lode_uft_number(bytes, specs->big_endian);
        break;
    case LODE_VALUE_CHARACTER:
        argument.signed_value = (int64_t)(lode_uft_number(bytes, specs->big_endian) & 0xff);
        break;
    case LODE_VALUE_ENUM:
        argument.signed_value = enumerator_of(value, lode_uft_signed_number(bytes, specs->big_endian));
        argument.type = &value->enumeration->type;
        break;
    case LODE_VALUE_SIGNED:
    case LODE_VALUE_AUTO:
    case LODE_VALUE_CHANGE:
    case LODE_VALUE_STRUCTURE:
        argument.signed_value = lode_uft_signed_number(bytes, specs->big_endian);
        break;
    }
    return argument;
}

lode_status lode_uft_payload_decode(const struct lode_uft_specs *specs, const struct lode_uft_spec *spec,
                                    struct lode_range bytes, lode_argument *arguments, size_t capacity,
                                    size_t *count, lode_error *error)
{
    uint64_t at = 0;
    *count = 0;
    for (uint32_t i = 0; i < spec->count; i++) {
        struct piece piece;
        if (!find_piece(specs, &spec->values[i], bytes, at, &piece))
            return lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET,
                             "value %u of %u does not fit into the %llu bytes of its record", i + 1,
                             spec->count, (unsigned long long)bytes.size);
        at = piece.end;
        if (i < capacity)
            arguments[i] = decode(specs, &spec->values[i], piece.bytes);
    }
    *count = spec->count;
    return LODE_OK;
}
