/* SPDX-License-Identifier: BSD-3-Clause */
#include "minizor.h"

#include <assert.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void minizor_add(struct minizor_bytes *to, const void *bytes, size_t size)
{
    if (to->size + size > to->capacity) {
        to->capacity = 2 * (to->size + size);
        to->bytes = realloc(to->bytes, to->capacity);
        if (to->bytes == NULL)
            abort();
    }
    if (size > 0)
        memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static unsigned digit_of(char character)
{
    return character <= '9' ? (unsigned)(character - '0') : (unsigned)(character - 'a' + 10);
}

void minizor_hex(struct minizor_bytes *to, const char *digits)
{
    for (; *digits; digits++) {
        if (*digits == ' ')
            continue;
        unsigned char byte = (unsigned char)(digit_of(digits[0]) << 4 | digit_of(digits[1]));
        minizor_add(to, &byte, 1);
        digits++;
    }
}

void minizor_u32(struct minizor_bytes *to, uint32_t number)
{
    const unsigned char bytes[4] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                                    (unsigned char)(number >> 8), (unsigned char)number};
    minizor_add(to, bytes, 4);
}

/* As the original program does: the stream is flushed, not finished. */
static size_t deflate_all(const struct minizor_bytes *payload, unsigned char *out, size_t capacity)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    stream.next_in = payload->bytes;
    stream.avail_in = (uInt)payload->size;
    stream.next_out = out;
    stream.avail_out = (uInt)capacity;
    deflate(&stream, Z_FULL_FLUSH);
    size_t size = capacity - stream.avail_out;
    deflateEnd(&stream);
    return size;
}

size_t minizor_chunk(struct minizor_bytes *to, const struct minizor_bytes *payload, enum minizor_codec codec)
{
    size_t begin = to->size, capacity = payload->size * 2 + 1024, size = payload->size;
    unsigned char *packed = malloc(capacity);
    if (packed == NULL)
        abort();
    if (codec == MINIZOR_DEFLATE)
        size = deflate_all(payload, packed, capacity);
    else if (codec == MINIZOR_LZ4)
        size = (size_t)LZ4_compress_default((const char *)payload->bytes, (char *)packed, (int)payload->size,
                                            (int)capacity);
    else if (size > 0)
        memcpy(packed, payload->bytes, size);
    minizor_add(to, "ZCH0", 4);
    minizor_u32(to, (uint32_t)size);
    minizor_u32(to, (uint32_t)payload->size);
    minizor_u32(to, (uint32_t)crc32(crc32(0, NULL, 0), packed, (uInt)size));
    minizor_add(to, packed, size);
    free(packed);
    return begin;
}

struct minizor_bytes *minizor_file(struct minizor *store, const char *name)
{
    for (size_t i = 0; i < store->count; i++)
        if (strcmp(store->files[i].name, name) == 0)
            return &store->files[i].content;
    if (store->count == MINIZOR_FILES)
        abort();
    store->files[store->count].name = name;
    return &store->files[store->count++].content;
}

size_t minizor_list(const struct minizor *store, lode_memory_file *files)
{
    for (size_t i = 0; i < store->count; i++)
        files[i] = (lode_memory_file){store->files[i].name, store->files[i].content.bytes,
                                      store->files[i].content.size};
    return store->count;
}

void minizor_free(struct minizor *store)
{
    for (size_t i = 0; i < store->count; i++)
        free(store->files[i].content.bytes);
    *store = (struct minizor){0};
}

static const char wal_name[] = "text-00000001.wal";

void minizor_text(struct minizor *store, int id, const char *text)
{
    struct minizor_bytes *wal = minizor_file(store, wal_name);
    const char begin[2] = {(char)('0' + id), 1}, end[3] = {2, (char)('0' + id), 3};
    wal->size -= 4;
    minizor_add(wal, begin, sizeof begin);
    minizor_add(wal, text, strlen(text));
    minizor_add(wal, end, sizeof end);
    minizor_add(wal, "\0\0\0\0", 4);
}

static void make_texts(struct minizor *store)
{
    static const char *const texts[MINIZOR_TEXTS] = {"",
                                                     "\5a.B\5",
                                                     "\6run\6",
                                                     "\10()V\10",
                                                     "\13"
                                                     "1\13"
                                                     "2\13"
                                                     "3\13",
                                                     "key",
                                                     "a value",
                                                     "\16"
                                                     "1\16"
                                                     "2\16"
                                                     "5\16"
                                                     ":\16",
                                                     "\15"
                                                     "7\15",
                                                     "\14"
                                                     "1\14"
                                                     "6\14"
                                                     "8\14"
                                                     "0\14"};
    minizor_add(minizor_file(store, wal_name), "WAL\3\0\0\0\0", 8);
    for (int id = 1; id < MINIZOR_TEXTS; id++)
        minizor_text(store, id, texts[id]);
}

/* Payloads are written with the tags of files that exist. */
static void add_chunk(struct minizor_bytes *data, const char *digits, enum minizor_codec codec, bool is_page)
{
    struct minizor_bytes payload = {0};
    minizor_hex(&payload, digits);
    for (size_t i = 0; is_page && i < payload.size; i++) {
        if (payload.bytes[i] == 0xce)
            payload.bytes[i] = 0xc2;
        if (payload.bytes[i] == 0xc9)
            payload.bytes[i] = 0xc3;
    }
    minizor_chunk(data, &payload, codec);
    free(payload.bytes);
}

void minizor_make(struct minizor *store, unsigned flags, bool is_page)
{
    *store = (struct minizor){0};
    struct minizor_bytes *data = minizor_file(store, "traces.dat");
    unsigned number = flags & 15;
    enum minizor_codec codec = number == 0                ? MINIZOR_PLAIN
                               : (number == 1) != is_page ? MINIZOR_DEFLATE
                                                          : MINIZOR_LZ4;
    minizor_add(data, "ZTS0", 4);
    minizor_u32(data, flags);
    minizor_u32(data, 0);
    minizor_u32(data, 0);
    add_chunk(data,
              "c89f cea10c10 cea10e04 cea1051b0000016311155db8 c9a1c605c606"
              "c89f cea10c11 cea10e04 d82309 cea10b01 cea10d12 cea10901 ff"
              "cea10d14 cea10902 ff",
              codec, is_page);
    add_chunk(data, "c89f cea10c10 cea10e04 cea1051b0000016311155dc0 c89f cea10c11 cea10e04", codec, is_page);
    add_chunk(data, "c9a1c605c606 cea10d12 cea10901 ff cea10d13 cea10902 ff", codec, is_page);
    make_texts(store);
}

void minizor_payload(struct minizor *store, const char *digits)
{
    struct minizor_bytes *data = minizor_file(store, "traces.dat");
    data->size = 16;
    data->bytes[7] = 0x10;
    minizor_more(store, digits);
}

size_t minizor_more(struct minizor *store, const char *digits)
{
    struct minizor_bytes payload = {0};
    minizor_hex(&payload, digits);
    size_t begin = minizor_chunk(minizor_file(store, "traces.dat"), &payload, MINIZOR_PLAIN);
    free(payload.bytes);
    return begin;
}

/* ---- the compressed text index ---- */

enum {
    INDEX_HEADER = 32 + 1024,
    INDEX_BLOCK = 14
};

static uint32_t get_number(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void set_number(unsigned char *at, uint32_t number, bool is_big)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (unsigned char)(number >> 8 * (is_big ? 3 - i : i));
}

static void add_number(struct minizor_bytes *to, uint32_t number, bool is_big)
{
    unsigned char bytes[4];
    set_number(bytes, number, is_big);
    minizor_add(to, bytes, sizeof bytes);
}

static void seal_block(unsigned char *block, unsigned char *bytes, size_t size, size_t end)
{
    size_t begin = get_number(block) + (size_t)7 * block[12];
    if (begin <= end && end <= size)
        set_number(block + 8, (uint32_t)crc32(0, bytes + begin, (uInt)(end - begin)), false);
}

void minizor_seal(unsigned char *bytes, size_t size)
{
    size_t count = size < INDEX_HEADER ? 0 : get_number(bytes + 4);
    if (size < INDEX_HEADER || count > (size - INDEX_HEADER) / INDEX_BLOCK)
        return;
    for (size_t i = 0; i < count; i++) {
        unsigned char *block = bytes + INDEX_HEADER + i * INDEX_BLOCK;
        seal_block(block, bytes, size, i + 1 < count ? get_number(block + INDEX_BLOCK) : size);
    }
    set_number(bytes + 24, 0, false);
    set_number(bytes + 24, (uint32_t)crc32(0, bytes, (uInt)(INDEX_HEADER + count * INDEX_BLOCK)), false);
}

static const unsigned char *rotated;

static int compare_rotations(const void *left, const void *right)
{
    const unsigned *a = left, *b = right;
    /* Both end with the only byte 0, which comes sooner or later. */
    return strcmp((const char *)rotated + *a, (const char *)rotated + *b);
}

/* The last column of all rotations in their order; `first` is where the text itself is. */
static struct minizor_bytes transform(const unsigned char *text, unsigned count, unsigned *first)
{
    struct minizor_bytes column = {0};
    unsigned rows[512];
    assert(count <= sizeof rows / sizeof *rows);
    for (unsigned i = 0; i < count; i++)
        rows[i] = i;
    rotated = text;
    qsort(rows, count, sizeof *rows, compare_rotations);
    for (unsigned i = 0; i < count; i++) {
        minizor_add(&column, &text[(rows[i] + count - 1) % count], 1);
        *first = rows[i] == 0 ? i : *first;
    }
    return column;
}

void minizor_compress(struct minizor *store, bool is_big)
{
    static const unsigned char zeros[1024];
    unsigned first = 0;
    struct minizor_bytes *wal = minizor_file(store, wal_name), *index = minizor_file(store, MINIZOR_INDEX);
    /* 03, records, one 00: the plain file without its first three bytes and three of its zeros. */
    unsigned count = (unsigned)wal->size - 6;
    struct minizor_bytes column = transform(wal->bytes + 3, count, &first);
    wal->size = 4;
    minizor_add(index, is_big ? "ZFM0" : "0MFZ", 4);
    const uint32_t head[] = {1, count, 9, is_big ? 0 : 1, is_big ? 1 : 0, 0, first};
    for (unsigned i = 0; i < sizeof head / sizeof *head; i++)
        add_number(index, head[i], is_big);
    minizor_add(index, zeros, sizeof zeros);
    /* One block that is not compressed, and has no ranks. */
    add_number(index, INDEX_HEADER + INDEX_BLOCK, is_big);
    add_number(index, 0, is_big);
    add_number(index, (uint32_t)crc32(0, column.bytes, count), is_big);
    minizor_add(index, "\0\1", 2);
    set_number(index->bytes + 24, (uint32_t)crc32(0, index->bytes, (uInt)index->size), is_big);
    minizor_add(index, column.bytes, count);
    free(column.bytes);
}

/* A record of 64 bytes. */
static void add_words(struct minizor_bytes *to, const uint32_t words[16])
{
    for (unsigned i = 0; i < 16; i++)
        minizor_u32(to, words[i]);
}

void minizor_qmeta(struct minizor *store, unsigned id, unsigned flags, size_t chunk, uint32_t offset)
{
    struct minizor_bytes *index = minizor_file(store, "qmeta.idx");
    if (index->size == 0)
        add_words(index, (const uint32_t[16]){0x4d514930});
    add_words(index, (const uint32_t[16]){[0] = offset, [3] = flags, [5] = (uint32_t)chunk, [15] = id});
    index->bytes[6] = (unsigned char)(index->size >> 8);
    index->bytes[7] = (unsigned char)index->size;
}

void minizor_meta(struct minizor *store, unsigned id, unsigned flags, size_t chunk, uint32_t offset)
{
    struct minizor_bytes *database = minizor_file(store, "meta.db.p");
    const size_t numbers[17] = {[1] = id, [5] = flags, [8] = chunk, [9] = offset};
    minizor_hex(database, "0000 d841");
    for (unsigned i = 0; i < 17; i++) {
        minizor_hex(database, "1a");
        minizor_u32(database, (uint32_t)numbers[i]);
    }
    minizor_hex(database, "a0a0");
}

void minizor_describe(struct minizor *store)
{
    /* The trace of a chunk, and its flags in 2018; those of 2019 are three bits higher. */
    static const unsigned ids[] = {1, 2, 2}, flags[] = {0x0d, 6, 10};
    const struct minizor_bytes *data = minizor_file(store, "traces.dat");
    unsigned count = 0;
    for (size_t i = 16; i + 4 <= data->size && count < 3; i++)
        if (memcmp(data->bytes + i, "ZCH0", 4) == 0) {
            minizor_qmeta(store, ids[count], flags[count], i, 0);
            minizor_meta(store, ids[count], flags[count] << 3, i, 0);
            count++;
        }
    static const char properties[] = "#comment\nstore.iflags=0\na\\u0042 : c\\\n  d\n";
    minizor_add(minizor_file(store, "store.props"), properties, sizeof properties - 1);
}
