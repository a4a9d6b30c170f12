/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/otlp/decode/put.h"

#include "base/io/bytes.h"
#include "format/protobuf.h"
#include <math.h>
#include <stdlib.h>

enum {
    LENGTH_SIZE = 5, /* of a nested message: a varint that is padded, as its value comes later */
    VARINT_MOST = 10,
    REAL_MOST = 63 /* characters */
};

static uint8_t *extend(struct otlp_put *put, size_t size)
{
    size_t at = put->has_failed ? LODE_BLOB_FULL : lode_blob_extend(put->blob, size);
    put->has_failed = at == LODE_BLOB_FULL;
    return put->has_failed ? NULL : put->blob->bytes + at;
}

static size_t pack(uint8_t *out, uint64_t number)
{
    size_t size = 0;
    for (; number >= 0x80; number >>= 7)
        out[size++] = (uint8_t)(number | 0x80);
    out[size++] = (uint8_t)number;
    return size;
}

static void put_varint(struct otlp_put *put, uint64_t number)
{
    uint8_t bytes[VARINT_MOST];
    size_t size = pack(bytes, number);
    uint8_t *out = extend(put, size);
    if (out)
        memcpy(out, bytes, size);
}

static void put_key(struct otlp_put *put, unsigned field, unsigned type)
{
    put_varint(put, (uint64_t)field << 3 | type);
}

void lode_otlp_put_number(struct otlp_put *put, unsigned field, uint64_t number)
{
    put_key(put, field, LODE_PB_VARINT);
    put_varint(put, number);
}

void lode_otlp_put_fixed(struct otlp_put *put, unsigned field, uint64_t number)
{
    put_key(put, field, LODE_PB_FIXED64);
    uint8_t *out = extend(put, sizeof number);
    if (out)
        put_u64le(out, number);
}

void lode_otlp_put_double(struct otlp_put *put, unsigned field, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    lode_otlp_put_fixed(put, field, bits);
}

void lode_otlp_put_bytes(struct otlp_put *put, unsigned field, struct lode_range bytes)
{
    put_key(put, field, LODE_PB_BYTES);
    put_varint(put, bytes.size);
    uint8_t *out = extend(put, (size_t)bytes.size);
    if (out && bytes.size > 0)
        memcpy(out, bytes.data, (size_t)bytes.size);
}

otlp_nested lode_otlp_put_begin(struct otlp_put *put, unsigned field)
{
    put_key(put, field, LODE_PB_BYTES);
    (void)extend(put, LENGTH_SIZE);
    return put->blob->size;
}

void lode_otlp_put_end(struct otlp_put *put, otlp_nested nested)
{
    if (put->has_failed)
        return;
    uint64_t size = put->blob->size - nested;
    uint8_t *out = put->blob->bytes + nested - LENGTH_SIZE;
    for (unsigned i = 0; i < LENGTH_SIZE; i++, size >>= 7)
        out[i] = (uint8_t)((size & 0x7f) | (i + 1 < LENGTH_SIZE ? 0x80 : 0));
}

void lode_otlp_put_text(struct otlp_put *put, unsigned field, struct lode_range content)
{
    if (content.size == 0 || memchr(content.data, '\\', (size_t)content.size) == NULL) {
        lode_otlp_put_bytes(put, field, content);
        return;
    }
    otlp_nested nested = lode_otlp_put_begin(put, field);
    uint8_t *out = extend(put, (size_t)content.size);
    if (out == NULL)
        return;
    put->blob->size = nested + lode_json_unescape(content, out);
    lode_otlp_put_end(put, nested);
}

/* ---- ids ---- */

/* Digits plus 1, so that others are 0. */
static const uint8_t digits_plus_one[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16};

static bool read_hex(struct lode_range content, uint8_t *id, size_t size)
{
    size_t missing = 2 * size - (size_t)content.size;
    for (size_t i = 0; i < content.size; i++) {
        unsigned digit = digits_plus_one[content.data[i]];
        if (digit == 0)
            return false;
        size_t at = i + missing;
        id[at / 2] = (uint8_t)((unsigned)id[at / 2] << 4 | (digit - 1));
    }
    return true;
}

static int sextet_of(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z'   ? byte - 'A'
           : byte >= 'a' && byte <= 'z' ? byte - 'a' + 26
           : byte >= '0' && byte <= '9' ? byte - '0' + 52
           : byte == '+' || byte == '-' ? 62
           : byte == '/' || byte == '_' ? 63
                                        : -1;
}

/* Writes at most 3/4 of the size of the content; returns how many bytes. */
static size_t read_base64(struct lode_range content, uint8_t *out)
{
    uint32_t bits = 0;
    unsigned count = 0;
    size_t size = 0;
    for (uint64_t i = 0; i < content.size; i++) {
        int sextet = sextet_of(content.data[i]);
        if (sextet < 0)
            continue;
        bits = bits << 6 | (uint32_t)sextet;
        count += 6;
        if (count >= 8) {
            count -= 8;
            out[size++] = (uint8_t)(bits >> count);
        }
    }
    return size;
}

bool lode_otlp_read_id(struct lode_range content, size_t size, uint8_t *id)
{
    size_t base64 = (size + 2) / 3 * 4;
    memset(id, 0, OTLP_ID_MOST);
    if (content.size == base64 && content.data[content.size - 1] == '=')
        return read_base64(content, id) == size;
    return content.size > 0 && content.size <= 2 * size && read_hex(content, id, size);
}

void lode_otlp_put_id(struct otlp_put *put, unsigned field, struct lode_range content, size_t size)
{
    uint8_t id[OTLP_ID_MOST];
    if (lode_otlp_read_id(content, size, id))
        lode_otlp_put_bytes(put, field, (struct lode_range){id, size});
    else if (content.size > 0)
        lode_otlp_put_bytes(put, field, (struct lode_range){id, 1}); /* not valid, but one */
}

void lode_otlp_put_base64(struct otlp_put *put, unsigned field, struct lode_range content)
{
    otlp_nested nested = lode_otlp_put_begin(put, field);
    uint8_t *out = extend(put, (size_t)content.size);
    if (out == NULL)
        return;
    put->blob->size = nested + read_base64(content, out);
    lode_otlp_put_end(put, nested);
}

double lode_otlp_real(struct lode_range content)
{
    char text[REAL_MOST + 1];
    if (content.size == 0 || content.size > REAL_MOST || lode_json_is(content, "null"))
        return (double)NAN;
    memcpy(text, content.data, (size_t)content.size);
    text[content.size] = '\0';
    return strtod(text, NULL);
}
