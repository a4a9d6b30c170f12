/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a Zorka trace store for benchmarks.
 *   make_zorka DIR TRACES RECORDS [PER_CHUNK [CHUNKS]]
 * Each trace has RECORDS calls. PER_CHUNK traces share a chunk, or a trace spreads over CHUNKS
 * chunks. A few variants of chunks are made once and then written repeatedly.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum {
    VARIANTS = 512,
    METHODS = 2000,
    NAMES = 3 * METHODS, /* of classes, methods and signatures; methods themselves follow */
    EXCEPTION = NAMES + METHODS + 1,
    KEYS = 8,
    DEPTH_MAX = 40
};

struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

static void add(struct bytes *to, const void *data, size_t size)
{
    if (to->size + size > to->capacity) {
        to->capacity = 2 * (to->size + size);
        to->data = realloc(to->data, to->capacity);
        if (to->data == NULL)
            abort();
    }
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

static void add_big_endian(struct bytes *to, uint64_t number, unsigned width)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < width; i++)
        bytes[i] = (uint8_t)(number >> 8 * (width - 1 - i));
    add(to, bytes, width);
}

static void add_number(struct bytes *to, uint64_t number)
{
    unsigned log = number < 256 ? 0 : number < 65536 ? 1 : number < INT32_MAX ? 2 : 3;
    uint8_t head = number < 24 ? (uint8_t)number : (uint8_t)(24 + log);
    add(to, &head, 1);
    if (number >= 24)
        add_big_endian(to, number, 1u << log);
}

static void add_info(struct bytes *to, uint8_t key, uint64_t value)
{
    const uint8_t head[] = {0xce, 0xa1, key};
    add(to, head, sizeof head);
    add_number(to, value);
}

static void add_attribute(struct bytes *to)
{
    static const uint8_t head[] = {0xc9, 0xa1, 0xc6}, reference[] = {0xc6};
    add(to, head, sizeof head);
    add_number(to, 1 + draw(KEYS));
    add(to, reference, sizeof reference);
    add_number(to, 1 + draw(NAMES));
}

/* ---- a trace ---- */

struct making {
    struct bytes *to;
    uint64_t now, left; /* ticks; calls that are to be made */
    unsigned depth;
};

static void begin_call(struct making *making, uint64_t stamp)
{
    static const uint8_t head[] = {0xc8, 0x9f};
    add(making->to, head, sizeof head);
    add_info(making->to, 0x0c, making->now);
    add_info(making->to, 0x0e, NAMES + 1 + draw(METHODS / 2) * draw(3));
    if (stamp > 0)
        add_info(making->to, 0x05, stamp);
    if (draw(20) == 0 || stamp > 0)
        add_attribute(making->to);
    making->depth++;
    making->left--;
}

static void end_call(struct making *making)
{
    static const uint8_t thrown[] = {0xd8, 0x23}, end[] = {0xff};
    if (draw(200) == 0) {
        add(making->to, thrown, sizeof thrown);
        add_number(making->to, EXCEPTION);
        add_info(making->to, 0x0b, 8);
    }
    making->now += draw(30);
    add_info(making->to, 0x0d, making->now);
    add_info(making->to, 0x09, 1 + draw(100));
    add(making->to, end, sizeof end);
    making->depth--;
}

/* Makes calls until `left` of them are to be made. */
static void make_calls(struct making *making, uint64_t left)
{
    while (making->left > left) {
        making->now += draw(3);
        if (making->depth > 1 && (making->depth == DEPTH_MAX || draw(2) == 0))
            end_call(making);
        else
            begin_call(making, 0);
    }
}

static void begin_trace(struct making *making, uint64_t records)
{
    making->now = 1000000 + draw(1000000000);
    making->left = records;
    begin_call(making, UINT64_C(1550000000000) + draw(100000000));
}

static void end_trace(struct making *making)
{
    while (making->depth > 0)
        end_call(making);
}

/* ---- files ---- */

static void add_chunk(struct bytes *to, const struct bytes *payload)
{
    z_stream stream = {0};
    uLong most = compressBound((uLong)payload->size) + 64;
    uint8_t *packed = malloc(most);
    if (packed == NULL || deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    stream.next_in = payload->data;
    stream.avail_in = (uInt)payload->size;
    stream.next_out = packed;
    stream.avail_out = (uInt)most;
    deflate(&stream, Z_FULL_FLUSH);
    size_t size = most - stream.avail_out;
    deflateEnd(&stream);
    add(to, "ZCH0", 4);
    add_big_endian(to, size, 4);
    add_big_endian(to, payload->size, 4);
    add_big_endian(to, crc32(0, packed, (uInt)size), 4);
    add(to, packed, size);
    free(packed);
}

/* The chunks of a trace, or one of several traces. Returns the bytes of their payload. */
static uint64_t make_variant(struct bytes *to, uint64_t records, uint64_t per_chunk, uint64_t chunks)
{
    struct bytes payload = {0};
    struct making making = {.to = &payload};
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < per_chunk; i++) {
        begin_trace(&making, records);
        for (uint64_t k = 1; k < chunks; k++) {
            make_calls(&making, records - records / chunks * k);
            add_chunk(to, &payload);
            bytes += payload.size;
            payload.size = 0;
        }
        make_calls(&making, 0);
        end_trace(&making);
    }
    add_chunk(to, &payload);
    bytes += payload.size;
    free(payload.data);
    return bytes;
}

static int write_data(const char *path, const uint64_t *numbers)
{
    static const uint8_t header[16] = {'Z', 'T', 'S', '0', 0, 0, 0, 0x11};
    uint64_t traces = numbers[0], per_chunk = numbers[2], total = 0;
    uint64_t runs = (traces + per_chunk - 1) / per_chunk, variants = runs < VARIANTS ? runs : VARIANTS;
    struct bytes made[VARIANTS] = {0};
    uint64_t sizes[VARIANTS];
    for (uint64_t i = 0; i < variants; i++)
        sizes[i] = make_variant(&made[i], numbers[1], per_chunk, numbers[3]);
    FILE *file = fopen(path, "wb");
    int failed = file == NULL || fwrite(header, sizeof header, 1, file) != 1;
    for (uint64_t i = 0; i < runs && !failed; i++) {
        failed = fwrite(made[i % variants].data, made[i % variants].size, 1, file) != 1;
        total += sizes[i % variants];
    }
    printf("%" PRIu64 "\n", total);
    for (uint64_t i = 0; i < variants; i++)
        free(made[i].data);
    return (file && fclose(file) != 0) || failed;
}

static void write_id(FILE *file, uint64_t id)
{
    char digits[8];
    unsigned at = sizeof digits;
    do
        digits[--at] = (char)('0' + id % 64);
    while ((id /= 64) > 0);
    fwrite(digits + at, 1, sizeof digits - at, file);
}

static void begin_text(FILE *file, uint64_t id)
{
    write_id(file, id);
    fputc(1, file);
}

static void end_text(FILE *file, uint64_t id)
{
    fputc(2, file);
    write_id(file, id);
    fputc(3, file);
}

/* Ids between marks. */
static void write_tuple(FILE *file, uint64_t id, int mark, const uint64_t *ids, size_t count)
{
    begin_text(file, id);
    fputc(mark, file);
    for (size_t i = 0; i < count; i++) {
        write_id(file, ids[i]);
        fputc(mark, file);
    }
    end_text(file, id);
}

static int write_texts(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return 1;
    fwrite("WAL\3", 1, 4, file);
    for (uint64_t id = 1; id <= NAMES; id++) {
        begin_text(file, id);
        fprintf(file,
                id <= METHODS       ? "org.example.Class%" PRIu64
                : id <= 2 * METHODS ? "call%" PRIu64
                                    : "(I%" PRIu64 ")V",
                id);
        end_text(file, id);
    }
    for (uint64_t i = 1; i <= METHODS; i++) {
        const uint64_t ids[] = {i, METHODS + i, 2 * METHODS + i};
        write_tuple(file, NAMES + i, 0x0b, ids, 3);
    }
    const uint64_t thrown[] = {1, METHODS + 1, 0, 0};
    write_tuple(file, EXCEPTION, 0x0c, thrown, 4);
    return fclose(file) != 0;
}

int main(int count, char **arguments)
{
    char path[4096];
    uint64_t numbers[4] = {0, 0, 1, 1};
    for (int i = 2; i < count && i < 6; i++)
        numbers[i - 2] = strtoull(arguments[i], NULL, 10);
    if (count < 4 || count > 6 || numbers[0] == 0 || numbers[1] == 0 || numbers[2] == 0 || numbers[3] == 0) {
        fprintf(stderr, "usage: make_zorka DIR TRACES RECORDS [PER_CHUNK [CHUNKS]]\n");
        return 2;
    }
    mkdir(arguments[1], 0777);
    snprintf(path, sizeof path, "%s/traces.dat", arguments[1]);
    int failed = write_data(path, numbers);
    snprintf(path, sizeof path, "%s/text-00000001.wal", arguments[1]);
    failed = failed || write_texts(path);
    if (failed)
        fprintf(stderr, "make_zorka: %s cannot be written\n", path);
    return failed;
}
