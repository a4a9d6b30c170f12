/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast paths for trace stores match the simple ones: events, inflating, shared chunks. */
#include "format/zorka/chunks/events.h"
#include "format/zorka/chunks/inflate.h"
#include "format/zorka/chunks/payloads.h"
#include "minizor.h"
#include "unit.h"
#include <lode/calls.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

/* ---- events ---- */

static void assert_same_span(struct lode_range a, struct lode_range b)
{
    assert_int_equal(a.size, b.size);
    assert_true(a.size == 0 || a.data == b.data);
}

static void assert_same_event(const struct zor_event *a, const struct zor_event *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->at, b->at);
    if (a->kind != ZOR_INFO)
        return;
    assert_int_equal(a->key, b->key);
    assert_int_equal(a->value.major, b->value.major);
    assert_int_equal(a->value.value, b->value.value);
    assert_int_equal(a->value.width, b->value.width);
    assert_int_equal(a->value.is_open, b->value.is_open);
    assert_same_span(a->key_bytes, b->key_bytes);
    assert_same_span(a->value_bytes, b->value_bytes);
}

/* If the next event is taken as a number of its key, it is the one that the plain way reads. */
static bool takes_number(struct zor_events events, const struct zor_event *plain, uint64_t end)
{
    uint64_t value;
    if (plain->kind != ZOR_INFO || plain->key >= ZOR_KEY_COUNT ||
        !zor_take_number(&events, (enum zor_key)plain->key, &value))
        return false;
    assert_int_equal(plain->value.major, ZOR_UNSIGNED);
    assert_int_equal(value, plain->value.value);
    assert_int_equal(events.in.at, end);
    return true;
}

/* Reads bytes in both ways; returns the number of events, and adds the fast ones to `common`. */
static unsigned compare_events(const struct minizor_bytes *bytes, unsigned *common, unsigned *numbers)
{
    struct lode_range payload = {bytes->bytes, bytes->size};
    struct zor_events plain, fast;
    struct zor_event plain_event, fast_event;
    unsigned count = 0;
    zor_events_begin(&plain, payload);
    zor_events_begin(&fast, payload);
    for (;;) {
        struct zor_events before = fast;
        bool is_there = lode_zor_event(&plain, &plain_event),
             is_common = zor_common_event(&fast, &fast_event);
        assert_int_equal(is_common || lode_zor_event(&fast, &fast_event), is_there);
        assert_int_equal(plain.in.at, fast.in.at);
        assert_int_equal(plain.is_malformed, fast.is_malformed);
        assert_int_equal(plain.is_page, fast.is_page);
        if (!is_there)
            return count;
        assert_same_event(&plain_event, &fast_event);
        *numbers += takes_number(before, &plain_event, plain.in.at);
        *common += is_common;
        count++;
    }
}

static void add_some(struct minizor_bytes *to, uint64_t *random)
{
    static const char *const pieces[] = {
        "c89f",
        "ff",
        "cea10c",
        "cea10e",
        "cea10d",
        "c2a109",
        "cea117",
        "cea11818",
        "05",
        "1805",
        "190102",
        "1a01020304",
        "20",
        "1b0000000000000007",
        "c9a1c605c606",
        "d82305",
        "c3a10506",
        "cea20c010e02",
        "cebf0c010d02ff",
        "c881",
        "c880",
        "9f",
        "cb480000000000000001",
        "cf08",
        "c8",
        "ce",
        "cea1",
        "1f",
        "1c",
        "f6",
        "c89fcea10c1a00112233cea10e05",
    };
    uint64_t number = next_random(random);
    unsigned char byte = (unsigned char)(number >> 8);
    if (number % 64 == 0)
        minizor_add(to, &byte, 1);
    else
        minizor_hex(to, pieces[number / 64 % (sizeof pieces / sizeof *pieces)]);
}

static void common_events_are_what_the_parser_reads(void **state)
{
    uint64_t random = 3;
    unsigned events = 0, common = 0, numbers = 0;
    (void)state;
    for (unsigned i = 0; i < 60000; i++) {
        struct minizor_bytes bytes = {0};
        for (uint64_t k = 1 + next_random(&random) % 24; k > 0; k--)
            add_some(&bytes, &random);
        events += compare_events(&bytes, &common, &numbers);
        free(bytes.bytes);
    }
    assert_in_range(common, events / 10, events - events / 10);
    assert_in_range(numbers, 1000, common);
}

/* ---- inflating ---- */

static size_t pack(const uint8_t *bytes, size_t size, uint8_t *out, size_t capacity, int level, int strategy,
                   int flush)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 8, strategy), Z_OK);
    stream.next_in = (z_const Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)capacity;
    deflate(&stream, flush);
    deflateEnd(&stream);
    return capacity - stream.avail_out;
}

/*
 * Both ways give the same bytes and, except for deliberate damage, the same verdict. Returns
 * whether zlib accepts the input.
 */
static bool inflates_alike(struct zor_inflater *inflater, const uint8_t *packed, size_t packed_size,
                           uint32_t size)
{
    uint8_t fast[512] = {0}, slow[512] = {0};
    struct lode_range span = {packed, packed_size};
    bool is_sound = lode_zor_inflate(inflater, span, slow, size) == ZOR_INFLATED;
    const char *message = inflater->stream->msg;
    bool is_repeat = message && strcmp(message, "invalid bit length repeat") == 0;
    if (!is_repeat)
        assert_int_equal(lode_zor_inflate_fast(inflater, span, fast, size) == ZOR_INFLATED, is_sound);
    if (is_sound)
        assert_memory_equal(fast, slow, size);
    return is_sound;
}

/* Every bit of a stream the other way round, every cut, and sizes that are not true. */
static unsigned damage(struct zor_inflater *inflater, uint8_t *packed, size_t packed_size, uint32_t size)
{
    unsigned sound = 0;
    assert_true(inflates_alike(inflater, packed, packed_size, size));
    for (size_t bit = 0; bit < 8 * packed_size; bit++) {
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        sound += inflates_alike(inflater, packed, packed_size, size);
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t cut = 0; cut < packed_size; cut++)
        sound += inflates_alike(inflater, packed, cut, size);
    assert_false(inflates_alike(inflater, packed, packed_size, size - 1));
    assert_false(inflates_alike(inflater, packed, packed_size, size + 1));
    return sound;
}

static void damaged_streams_are_what_zlib_says(void **state)
{
    static const int flushes[] = {Z_FULL_FLUSH, Z_FINISH, Z_SYNC_FLUSH};
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY};
    struct zor_inflater inflater = {0};
    uint64_t random = 11;
    unsigned sound = 0;
    (void)state;
    for (unsigned i = 0; i < 3 * 3 * 3 * 4; i++) {
        uint8_t bytes[400], packed[1024];
        size_t size = 40 + next_random(&random) % (sizeof bytes - 40);
        for (size_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)(next_random(&random) % (i % 4 == 0 ? 256 : 8));
        size_t packed_size = pack(bytes, size, packed, sizeof packed, (int)(i / 9 % 3) * 3,
                                  strategies[i / 3 % 3], flushes[i % 3]);
        sound += damage(&inflater, packed, packed_size, (uint32_t)size);
    }
    assert_true(sound > 0);
    lode_zor_inflater_free(&inflater);
}

static void checksums_are_those_of_zlib(void **state)
{
    uint8_t bytes[300];
    uint64_t random = 5;
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)next_random(&random);
        assert_int_equal(lode_zor_crc32((struct lode_range){bytes, i}), crc32(0, bytes, (uInt)i));
    }
}

/* ---- chunks ---- */

enum {
    CHUNKS = 4,
    TRACES = 50000 /* in a chunk */
};

/* Traces of one to four calls, in chunks of more than a megabyte. Returns the number of calls. */
static uint64_t make_many(struct minizor *store)
{
    uint64_t random = 1, calls = 0;
    minizor_make(store, 0x11, false);
    struct minizor_bytes *data = minizor_file(store, "traces.dat");
    data->size = 16;
    for (unsigned i = 0; i < CHUNKS; i++) {
        struct minizor_bytes payload = {0};
        for (unsigned k = 0; k < TRACES; k++) {
            uint64_t count = 1 + next_random(&random) % 4;
            minizor_hex(&payload, "c89f cea10c01 cea10e04 cea1051b00000163");
            minizor_u32(&payload, (uint32_t)next_random(&random));
            for (uint64_t n = 1; n < count; n++)
                minizor_hex(&payload, "c89f cea10c02 cea10e04 cea10d02 ff");
            minizor_hex(&payload, "cea10d14 ff");
            calls += count;
        }
        assert_true(payload.size > 1 << 20);
        minizor_chunk(data, &payload, MINIZOR_DEFLATE);
        free(payload.bytes);
    }
    return calls;
}

/* Were each to unpack its chunk, that would take more than a thousand seconds. */
static void traces_in_one_chunk_unpack_it_together(void **state)
{
    lode_memory_file files[MINIZOR_FILES];
    lode_recording *recording;
    lode_calls *calls;
    struct minizor store;
    uint64_t expected = make_many(&store), sum = 0;
    clock_t begin = clock();
    (void)state;
    assert_int_equal(lode_recording_open_memory(&recording, files, minizor_list(&store, files), NULL, NULL),
                     LODE_OK);
    assert_int_equal(lode_recording_track_count(recording), CHUNKS * TRACES);
    assert_int_equal(lode_calls_compute(&calls, recording, NULL, NULL, NULL), LODE_OK);
    for (size_t i = 0; i < lode_calls_count(calls); i++)
        sum += lode_calls_at(calls, i)->calls;
    assert_int_equal(sum, expected);
    assert_in_range((clock() - begin) / CLOCKS_PER_SEC, 0, 60);
    lode_calls_free(calls);
    lode_recording_close(recording);
    minizor_free(&store);
}

/* Few unused chunks are cached: the last ones. */
static void few_chunks_are_kept(void **state)
{
    uint8_t bytes[16 + 16] = "0123456789abcdef";
    struct zor_data data = {.bytes = {bytes, sizeof bytes}, .codec = ZOR_CODEC_NONE};
    const struct zor_chunk chunk = {.csize = 16, .lsize = 16};
    struct zor_payloads *payloads = lode_zor_payloads_new();
    struct zor_payload *taken[2 * ZOR_IDLE_MAX], *last;
    (void)state;
    for (uint32_t i = 0; i < 2 * ZOR_IDLE_MAX; i++)
        assert_non_null(taken[i] = lode_zor_payload_take(payloads, &data, &chunk, i));
    last = taken[2 * ZOR_IDLE_MAX - 1];
    for (uint32_t i = 0; i < 2 * ZOR_IDLE_MAX; i++)
        lode_zor_payload_give(payloads, taken[i]);
    assert_int_equal(payloads->count, ZOR_IDLE_MAX);
    taken[0] = lode_zor_payload_take(payloads, &data, &chunk, 2 * ZOR_IDLE_MAX - 1);
    assert_ptr_equal(taken[0], last);
    /* A chunk that is being read is not shared. */
    taken[1] = lode_zor_payload_take(payloads, &data, &chunk, 2 * ZOR_IDLE_MAX - 1);
    assert_ptr_not_equal(taken[1], last);
    lode_zor_payload_give(payloads, taken[0]);
    lode_zor_payload_give(payloads, taken[1]);
    lode_zor_payloads_free(payloads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_events_are_what_the_parser_reads),
        cmocka_unit_test(damaged_streams_are_what_zlib_says),
        cmocka_unit_test(checksums_are_those_of_zlib),
        cmocka_unit_test(traces_in_one_chunk_unpack_it_together),
        cmocka_unit_test(few_chunks_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
