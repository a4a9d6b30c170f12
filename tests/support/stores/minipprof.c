/* SPDX-License-Identifier: BSD-3-Clause */
#include "minipprof.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static unsigned char *reserve(struct lode_blob *out, size_t size)
{
    size_t at = lode_blob_reserve(out, size, 1);
    if (at == LODE_BLOB_FULL)
        abort();
    return out->bytes + at;
}

void minipprof_number(struct lode_blob *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *reserve(out, 1) = (unsigned char)(number | 0x80);
    *reserve(out, 1) = (unsigned char)number;
}

void minipprof_field(struct lode_blob *out, unsigned field, uint64_t number)
{
    minipprof_number(out, field << 3);
    minipprof_number(out, number);
}

void minipprof_bytes(struct lode_blob *out, unsigned field, const void *bytes, size_t size)
{
    minipprof_number(out, field << 3 | 2);
    minipprof_number(out, size);
    unsigned char *to = reserve(out, size);
    if (size > 0)
        memcpy(to, bytes, size);
}

/* A message as a field of the profile; it is freed. */
static void put_message(struct lode_blob *out, unsigned field, struct lode_blob *message)
{
    minipprof_bytes(out, field, message->bytes, message->size);
    lode_blob_free(message);
}

void minipprof_string(struct lode_blob *out, const char *text)
{
    minipprof_bytes(out, 6, text, strlen(text));
}

void minipprof_type(struct lode_blob *out, uint64_t type, uint64_t unit)
{
    struct lode_blob message = {0};
    minipprof_field(&message, 1, type);
    minipprof_field(&message, 2, unit);
    put_message(out, 1, &message);
}

void minipprof_mapping(struct lode_blob *out, uint64_t id, uint64_t start, uint64_t limit, uint64_t name)
{
    struct lode_blob message = {0};
    minipprof_field(&message, 1, id);
    minipprof_field(&message, 2, start);
    minipprof_field(&message, 3, limit);
    minipprof_field(&message, 5, name);
    put_message(out, 3, &message);
}

void minipprof_function(struct lode_blob *out, uint64_t id, uint64_t name)
{
    struct lode_blob message = {0};
    minipprof_field(&message, 1, id);
    minipprof_field(&message, 2, name);
    minipprof_field(&message, 4, MINI_FILE);
    put_message(out, 5, &message);
}

void minipprof_location(struct lode_blob *out, uint64_t id, uint64_t mapping, uint64_t address,
                        uint64_t function)
{
    struct lode_blob message = {0}, line = {0};
    minipprof_field(&message, 1, id);
    minipprof_field(&message, 2, mapping);
    minipprof_field(&message, 3, address);
    if (function > 0) {
        minipprof_field(&line, 1, function);
        minipprof_field(&line, 2, 10 + id);
        minipprof_bytes(&message, 4, line.bytes, line.size);
        lode_blob_free(&line);
    }
    put_message(out, 4, &message);
}

void minipprof_sample(struct lode_blob *out, const uint64_t *locations, size_t count, int64_t value)
{
    struct lode_blob message = {0}, packed = {0};
    for (size_t i = 0; i < count; i++)
        minipprof_number(&packed, locations[i]);
    minipprof_bytes(&message, 1, packed.bytes, packed.size);
    minipprof_field(&message, 2, (uint64_t)value);
    lode_blob_free(&packed);
    put_message(out, 2, &message);
}

void minipprof_strings(struct lode_blob *out)
{
    static const char *const strings[MINI_STRINGS] = {"",  "cpu", "nanoseconds", "main",
                                                      "f", "g",   "a.c",         "/bin/prog"};
    for (size_t i = 0; i < MINI_STRINGS; i++)
        minipprof_string(out, strings[i]);
}

void minipprof_records(struct lode_blob *out)
{
    static const uint64_t stack[] = {3, 2, 1};
    minipprof_mapping(out, 1, 0x1000, 0x9000, MINI_PROGRAM);
    for (uint64_t i = 1; i <= 3; i++) {
        minipprof_function(out, i, MINI_MAIN + i - 1);
        minipprof_location(out, i, 1, 0x1000 + i, i);
    }
    minipprof_sample(out, stack, 3, 7);
    minipprof_sample(out, stack + 1, 2, 5);
}

void minipprof_make(struct lode_blob *out)
{
    minipprof_strings(out);
    minipprof_records(out);
    minipprof_type(out, MINI_CPU, MINI_NANOSECONDS);
}

void minipprof_gzip(struct lode_blob *out)
{
    struct lode_blob packed = {0};
    z_stream stream = {0};
    if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    size_t most = deflateBound(&stream, (uLong)out->size);
    reserve(&packed, most);
    stream.next_in = out->bytes;
    stream.avail_in = (uInt)out->size;
    stream.next_out = packed.bytes;
    stream.avail_out = (uInt)most;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        abort();
    packed.size = most - stream.avail_out;
    deflateEnd(&stream);
    lode_blob_free(out);
    *out = packed;
}
