/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace stores that are made to be costly: time and memory grow with what is stored, whatever it says. */
#include "hostile.h"
#include "minizor.h"
#include <lode/recording.h>
#include <stdlib.h>
#include <string.h>

enum {
#ifdef SANITIZED
    MAX_MILLISECONDS = 60000,
#else
    MAX_MILLISECONDS = 6000,
#endif
    MAX_MEGABYTES = 400,
    MANY = 1 << 20
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

static void many_tiny_traces_take_little(void **state)
{
    (void)state;
    struct minizor store = repeat("", "c880", MANY / 2, "", MINIZOR_PLAIN);
    struct outcome outcome = cost(&store);
    print_message("# %.0f ms\n", outcome.milliseconds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_items_cost_no_more_than_others),
        cmocka_unit_test(values_as_deep_as_may_be_are_read),
        cmocka_unit_test(many_tiny_traces_take_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
