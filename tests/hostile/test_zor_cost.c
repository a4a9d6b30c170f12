/* SPDX-License-Identifier: BSD-3-Clause */
/* Costly trace stores: time and memory stay linear in the stored size, whatever they contain. */
#include "hostile.h"
#include "minizor.h"
#include <lode/recording.h>
#include <stdlib.h>
#include <string.h>

enum {
#ifdef SANITIZED
    MANY = 1 << 17,
#else
    MANY = 1 << 20,
#endif
    MAX_MILLISECONDS = 6000,
    MAX_MEGABYTES = 400
};

#define BEGIN "c89f cea10c10 cea10e04 cea1051b0000016311155db8"
#define END   "cea10d14 cea10902 ff"

/* A store of one chunk: `head`, `count` times `unit`, `tail`. */
static struct minizor repeat(const char *head, const char *unit, size_t count, const char *tail,
                             enum minizor_codec codec)
{
    struct minizor store;
    struct minizor_bytes payload = {0}, one = {0};
    minizor_make(&store, codec == MINIZOR_PLAIN ? 0x10 : 0x11, false);
    struct minizor_bytes *data = minizor_file(&store, "traces.dat");
    data->size = 16;
    minizor_hex(&payload, head);
    minizor_hex(&one, unit);
    for (size_t i = 0; i < count; i++)
        minizor_add(&payload, one.bytes, one.size);
    minizor_hex(&payload, tail);
    minizor_chunk(data, &payload, codec);
    free(payload.bytes);
    free(one.bytes);
    return store;
}

static struct outcome cost(struct minizor *store)
{
    lode_memory_file files[MINIZOR_FILES];
    struct outcome outcome = exercise(files, minizor_list(store, files), MAX_MILLISECONDS);
    minizor_free(store);
    assert_little_memory(MAX_MEGABYTES);
    return outcome;
}

static void nested_items_cost_no_more_than_others(void **state)
{
    static const char *const units[] = {"81", "9f", "bf", "a1", "c6", "5f", "d8ff", "9b0000000000ffffff"};
    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct minizor store = repeat(BEGIN "c9a1c605", units[i], MANY / 4, END, MINIZOR_PLAIN);
        assert_true(cost(&store).walk.open.errors > 0);
    }
}

static void values_as_deep_as_may_be_are_read(void **state)
{
    /* 62 levels in each of many items of a map without an end of its own. */
    char unit[256] = "c605";
    (void)state;
    for (unsigned i = 0; i < 62; i++)
        strcat(unit, "81");
    strcat(unit, "00");
    struct minizor store = repeat(BEGIN "c9bf", unit, 4000, "ff" END, MINIZOR_PLAIN);
    struct outcome outcome = cost(&store);
    assert_int_equal(outcome.walk.full.errors, 0);
    assert_int_equal(outcome.walk.events, 4002);
}

static uint32_t count_traces(const struct minizor *store)
{
    lode_memory_file files[MINIZOR_FILES];
    lode_recording *recording;
    assert_int_equal(lode_recording_open_memory(&recording, files, minizor_list(store, files), NULL, NULL),
                     LODE_OK);
    uint32_t count = lode_recording_track_count(recording);
    lode_recording_close(recording);
    return count;
}

/* As small as can be: two bytes each, in a chunk of 256 KiB, and of 1 MiB that is opened only. */
static void many_tiny_traces_take_little(void **state)
{
    (void)state;
    struct minizor store = repeat("", "c880", MANY / 8, "", MINIZOR_PLAIN);
    assert_int_equal(count_traces(&store), MANY / 8);
    cost(&store);
    store = repeat("", "c880", MANY / 2, "", MINIZOR_PLAIN);
    double start = now();
    assert_int_equal(count_traces(&store), MANY / 2);
    assert_little_time(start, MAX_MILLISECONDS);
    minizor_free(&store);
    assert_little_memory(MAX_MEGABYTES);
}

/* 32 MiB of such, packed a thousand times as small: what is stored says how many there may be. */
static void traces_of_a_bomb_are_bounded_by_what_is_stored(void **state)
{
    (void)state;
    struct minizor store = repeat("", "c880", 16 * MANY, "", MINIZOR_DEFLATE);
    size_t size = minizor_file(&store, "traces.dat")->size;
    assert_in_range(size, 1000, 100000);
    double start = now();
    assert_in_range(count_traces(&store), size / 4, size);
    assert_little_time(start, MAX_MILLISECONDS);
    minizor_free(&store);
    assert_little_memory(MAX_MEGABYTES);
}

/* Items that are not known, all in one call: none of them is kept. */
static void a_long_trace_takes_no_memory(void **state)
{
    lode_memory_file files[MINIZOR_FILES];
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    (void)state;
    struct minizor store = repeat(BEGIN, "00", 16 * MANY, END, MINIZOR_DEFLATE);
    double start = now();
    assert_int_equal(lode_check_memory(files, minizor_list(&store, files), &options, &result, NULL), LODE_OK);
    assert_little_time(start, 2.0 * MAX_MILLISECONDS);
    assert_int_equal(result.notes, 16 * MANY);
    minizor_free(&store);
    assert_little_memory(MAX_MEGABYTES);
}

/* The declared size of a chunk is not trusted: less, more, and more than a stream can expand to. */
static void sizes_that_are_not_true_take_nothing(void **state)
{
    static const unsigned char sizes[][4] = {
        {0, 0, 0, 1}, {0, 1, 0, 0}, {1, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct minizor store = repeat(BEGIN, "f6", 1000, END, MINIZOR_DEFLATE);
        memcpy(minizor_file(&store, "traces.dat")->bytes + 16 + 8, sizes[i], 4);
        assert_true(cost(&store).walk.open.errors == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_items_cost_no_more_than_others),
        cmocka_unit_test(values_as_deep_as_may_be_are_read),
        cmocka_unit_test(many_tiny_traces_take_little),
        cmocka_unit_test(traces_of_a_bomb_are_bounded_by_what_is_stored),
        cmocka_unit_test(a_long_trace_takes_no_memory),
        cmocka_unit_test(sizes_that_are_not_true_take_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
