/* SPDX-License-Identifier: BSD-3-Clause */
/* Variants of trace stores: arrays with and without length, agent messages, split stores. */
#include "zor_expect.h"
#include <string.h>

/* ---- records ---- */

static void records_may_have_a_length(void **state)
{
    (void)state;
    expect("c885 cea10c10 cea10e04 " STAMP "cea10d14 cea10902", ENTER LEAVE);
    /* One with a length in one without, the other way round, and two that end at once. */
    expect(BEGIN "c883 cea10c11 cea10e04 cea10d12" END, ENTER "  a.B.run()V 65536\n  end 131072\n" LEAVE);
    expect("c886 cea10c10 cea10e04 " STAMP "c89f cea10c11 cea10e04 cea10d12 ff cea10d14 cea10902",
           ENTER "  a.B.run()V 65536\n  end 131072\n" LEAVE);
    expect("c884 cea20c100e04 " STAMP "c9a2c605c606c60501 c882 cea20c110e04 cea10d12",
           ENTER "  key \"a value\"\n  key 1\n  a.B.run()V 65536\n  end 131072\nend 131072\n");
}

static void lengths_of_records_are_bounded(void **state)
{
    struct minizor store;
    char deep[1024] = "";
    (void)state;
    minizor_make(&store, 0, false);
    /* More items than bytes; deeper than may be; a break that is not there. */
    minizor_payload(&store, BEGIN END "c89b00000000ffffffff 00");
    assert_int_equal(found(&store, "chunk-events"), 1);
    for (unsigned i = 0; i < 65; i++)
        strcat(deep, "c881");
    minizor_payload(&store, strcat(deep, "00"));
    assert_int_equal(found(&store, "chunk-events"), 1);
    minizor_payload(&store, "c884 cea20c100e04 " STAMP "ff");
    assert_int_equal(found(&store, "chunk-events"), 1);
    minizor_free(&store);
}

static void what_agents_send_is_understood(void **state)
{
    static const char prologs[2][32] = {"ca480000040000000010", "cb481000000000040000"};
    static const char epilogs[4][64] = {"cc480000020000000014", "cd481400000000020000",
                                        "cc5000000000000000140000000000000002",
                                        "cd5014000000000000000200000000000000"};
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        char digits[256];
        snprintf(digits, sizeof digits, "c89f %s d82183 1b0000016311155db8 01 02 %s ff", prologs[i % 2],
                 epilogs[i / 2]);
        expect(digits, ENTER LEAVE);
    }
    expect(BEGIN "cf08" END, ENTER "end 262144 flags=8 calls=2 failed\n");
    expect(BEGIN "d82285 09 c601 c606 00 80" END, ENTER
           "  exception class=\"a.B\" message=\"a value\" at=\"a.B\" method=\"run\" file=\"key\" line=10\n"
           "end 262144 calls=2 failed\n");
}

/* ---- chunks that belong together ---- */

/* Two interleaved traces. The second part of the first one comes first. */
static void make_two(struct minizor *store, const char *first, const char *second, size_t chunks[4])
{
    char digits[256];
    minizor_make(store, 0, false);
    minizor_payload(store, "");
    minizor_file(store, "traces.dat")->size = 16;
    snprintf(digits, sizeof digits, BEGIN "%s", first);
    chunks[0] = minizor_more(store, digits);
    snprintf(digits, sizeof digits, BEGIN "%s", second);
    chunks[1] = minizor_more(store, digits);
    snprintf(digits, sizeof digits, "%s c9a1c60501 " END, first);
    chunks[2] = minizor_more(store, digits);
    snprintf(digits, sizeof digits, "%s c9a1c60502 " END, second);
    chunks[3] = minizor_more(store, digits);
}

static void expect_two(const struct minizor *store, const char *const stories[2])
{
    lode_recording *recording = open_store(store);
    assert_int_equal(lode_recording_track_count(recording), 2);
    for (uint32_t i = 0; i < 2; i++) {
        char id[40];
        snprintf(id, sizeof id, "%032x", i + 1);
        expect_story(recording, i, stories[i]);
        assert_string_equal(lode_recording_track(recording, i)->id, id);
    }
    assert_int_equal(found(store, "trace-ambiguous"), 0);
    lode_recording_close(recording);
}

/* As the page has it: each chunk says which trace it is of. */
static void ids_in_the_data_link_chunks(void **state)
{
    struct minizor store;
    size_t chunks[4];
    (void)state;
    make_two(&store, "c2a2 0101 0200", "c2a2 0102 0200", chunks);
    expect_two(&store,
               (const char *const[]){"a.B.run()V 0 time stamp=1525000003000 trace id=1 chunk number=0\n"
                                     "  info trace id=1 chunk number=0\n  key 1\n" LEAVE,
                                     "a.B.run()V 0 time stamp=1525000003000 trace id=2 chunk number=0\n"
                                     "  info trace id=2 chunk number=0\n  key 2\n" LEAVE});
    minizor_free(&store);
}

static void ids_in_metadata_link_chunks(void **state)
{
    static const char *const stories[] = {ENTER "  key 1\n" LEAVE, ENTER "  key 2\n" LEAVE};
    size_t chunks[4];
    (void)state;
    for (unsigned year = 2018; year <= 2019; year++) {
        struct minizor store;
        make_two(&store, "", "", chunks);
        assert_int_equal(found(&store, "trace-ambiguous"), 1);
        for (unsigned i = 0; i < 4; i++) {
            if (year == 2018)
                minizor_qmeta(&store, 1 + i % 2, i < 2 ? 6 : 2, chunks[i], 0);
            else
                minizor_meta(&store, 1 + i % 2, i < 2 ? 0x30 : 0x10, chunks[i], 0);
        }
        expect_two(&store, stories);
        minizor_free(&store);
    }
}

/* Without either: the last trace whose calls and ticks fit; here, the second goes on first. */
static void without_ids_the_last_that_fits_goes_on(void **state)
{
    struct minizor store;
    size_t chunks[4];
    (void)state;
    make_two(&store, "", "", chunks);
    lode_recording *recording = open_store(&store);
    expect_story(recording, 0, ENTER "  key 2\n" LEAVE);
    expect_story(recording, 1, ENTER "  key 1\n" LEAVE);
    lode_recording_close(recording);
    minizor_free(&store);
}

/* ---- directories ---- */

static const char *fact(const lode_recording *recording, const char *key)
{
    for (size_t i = 0; i < lode_recording_fact_count(recording); i++)
        if (strcmp(lode_recording_fact(recording, i)->key, key) == 0)
            return lode_recording_fact(recording, i)->value;
    return "(none)";
}

static void stores_of_a_base_are_one_recording(void **state)
{
    struct minizor stores[2], base = {0};
    static const char *const names[2][3] = {
        {"000000/traces.dat", "000000/text-00000001.wal", "000000/store.props"},
        {"0000ff/traces.dat", "0000ff/text-00000001.wal", "0000ff/config.props"}};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        minizor_make(&stores[i], 0x11, i == 1);
        if (i == 1)
            minizor_payload(&stores[i], BEGIN END);
        for (unsigned k = 0; k < 2; k++) {
            const struct minizor_bytes *content = &stores[i].files[k].content;
            minizor_add(minizor_file(&base, names[i][k]), content->bytes, content->size);
        }
        minizor_add(minizor_file(&base, names[i][2]), "a=1\n", 4);
        minizor_free(&stores[i]);
    }
    lode_recording *recording = open_store(&base);
    assert_int_equal(lode_recording_track_count(recording), 3);
    assert_int_equal(lode_recording_track(recording, 1)->pid, 0);
    assert_int_equal(lode_recording_track(recording, 2)->pid, 0xff);
    assert_string_equal(lode_recording_track(recording, 2)->program, "0000ff");
    expect_story(recording, 2, ENTER LEAVE);
    assert_string_equal(fact(recording, "stores"), "2");
    assert_string_equal(fact(recording, "chunks"), "4");
    assert_string_equal(fact(recording, "traces"), "3");
    assert_string_equal(fact(recording, "000000 a"), "1");
    assert_string_equal(fact(recording, "0000ff a"), "1");
    lode_recording_close(recording);
    minizor_free(&base);
}

static void facts_say_what_a_store_has(void **state)
{
    struct minizor store;
    (void)state;
    for (unsigned is_page = 0; is_page < 2; is_page++) {
        minizor_make(&store, 0, is_page);
        lode_recording *recording = open_store(&store);
        assert_string_equal(fact(recording, "layout"), is_page ? "page" : "zico");
        assert_string_equal(fact(recording, "request ids"), "0");
        /* 1525000003000 ms and 1525000003008 ms since the epoch; the second trace has 3 ticks. */
        assert_string_equal(fact(recording, "first time"), "2018-04-29 11:06:43.000 UTC");
        assert_string_equal(fact(recording, "last time"), "2018-04-29 11:06:43.008 UTC");
        lode_recording_close(recording);
        minizor_free(&store);
    }
    minizor_make(&store, 0, false);
    minizor_qmeta(&store, 1, 0, 16, 0);
    lode_recording *recording = open_store(&store);
    assert_string_equal(fact(recording, "request ids"), "1, from metadata");
    lode_recording_close(recording);
    minizor_free(&store);
}

static void properties_are_as_java_writes_them(void **state)
{
    static const char text[] =
        "#comment\n! another\n\n  store.iflags = 1\r\nkey\\ with\\:signs : a\\u017cb\\\n    c\n"
        "empty\nlatin\\u00e9=\xe9\\tx\\\\\nbad=\\uzz11\n!\nlast=\\";
    struct minizor store;
    (void)state;
    minizor_make(&store, 0, false);
    minizor_add(minizor_file(&store, "store.props"), text, sizeof text - 1);
    lode_recording *recording = open_store(&store);
    assert_string_equal(fact(recording, "store.iflags"), "1");
    assert_string_equal(fact(recording, "key with:signs"), "a\xc5\xbc"
                                                           "bc");
    assert_string_equal(fact(recording, "empty"), "");
    assert_string_equal(fact(recording, "latin\xc3\xa9"), "\xc3\xa9 x\\");
    assert_string_equal(fact(recording, "bad"), "uzz11");
    assert_string_equal(fact(recording, "last"), "\\");
    lode_recording_close(recording);
    /* No more than 256 of them, and none that is too long. */
    struct minizor_bytes *props = minizor_file(&store, "store.props");
    props->size = 0;
    for (unsigned i = 0; i < 1000; i++)
        minizor_add(props, "k\n", 2);
    recording = open_store(&store);
    assert_in_range(lode_recording_fact_count(recording), 256, 270);
    lode_recording_close(recording);
    props->size = 0;
    for (unsigned i = 0; i < 1000; i++)
        minizor_add(props, "v", 1);
    recording = open_store(&store);
    const lode_fact *last = lode_recording_fact(recording, lode_recording_fact_count(recording) - 1);
    assert_in_range(strlen(last->key), 200, 256);
    lode_recording_close(recording);
    minizor_free(&store);
}

/* ---- compressed text index ---- */

static void both_byte_orders_of_the_index_are_read(void **state)
{
    (void)state;
    for (unsigned is_big = 0; is_big < 2; is_big++) {
        struct minizor store;
        minizor_make(&store, 0, false);
        minizor_compress(&store, is_big);
        minizor_payload(&store, BEGIN "c9a1c605c606" END);
        lode_recording *recording = open_store(&store);
        expect_story(recording, 0, ENTER "  key \"a value\"\n" LEAVE);
        assert_int_equal(found(&store, "text-checksum") + found(&store, "text-blocks"), 0);
        lode_recording_close(recording);
        minizor_free(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_may_have_a_length),
        cmocka_unit_test(lengths_of_records_are_bounded),
        cmocka_unit_test(what_agents_send_is_understood),
        cmocka_unit_test(ids_in_the_data_link_chunks),
        cmocka_unit_test(ids_in_metadata_link_chunks),
        cmocka_unit_test(without_ids_the_last_that_fits_goes_on),
        cmocka_unit_test(stores_of_a_base_are_one_recording),
        cmocka_unit_test(facts_say_what_a_store_has),
        cmocka_unit_test(properties_are_as_java_writes_them),
        cmocka_unit_test(both_byte_orders_of_the_index_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
