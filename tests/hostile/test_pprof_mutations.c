/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Truncated and mutated profiles of pprof: nothing crashes, hangs or exhausts memory. Also run
 * under sanitizers.
 */
#include "hostile.h"
#include "minipprof.h"
#include "share.h"
#include "walk.h"
#include <lode/check.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_MILLISECONDS = 4000,
    MOST_MEGABYTES = 160
};

/* Opens and walks a profile, then checks it. True if it opened; both agree. */
static bool exercise_bytes(const unsigned char *bytes, size_t size)
{
    /* A copy, so that the sanitizer sees overruns. */
    unsigned char *copy = malloc(size ? size : 1);
    lode_memory_file file = {"profile.pb.gz", copy, size};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    lode_database *db;
    double start = now();
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    bool opened = lode_database_open_memory(&db, &file, 1, NULL) == LODE_OK;
    if (opened)
        walk_database(db, 1);
    lode_database_close(db);
    options.level = LODE_CHECK_FULL;
    options.threads = 1;
    lode_status status = lode_check_memory(&file, 1, &options, &result, NULL);
    bool is_sound = status == LODE_OK && result.errors == 0;
    if (is_sound != opened)
        fail_msg("%s", "opening and checking disagree");
    assert_little_time(start, MOST_MILLISECONDS);
    free(copy);
    return opened;
}

static void make(struct lode_blob *bytes, bool packed)
{
    *bytes = (struct lode_blob){0};
    minipprof_make(bytes);
    minipprof_string(bytes, "f|(?:x.*)");
    minipprof_field(bytes, 7, MINI_STRINGS);
    minipprof_bytes(bytes, 2, "\x08\x03\x08\x01\x10\x03\x1a\x04\x08\x03\x10\x04", 12);
    if (packed)
        minipprof_gzip(bytes);
}

static void truncations_do_no_harm(void **state)
{
    unsigned long opened = 0;
    (void)state;
    for (unsigned packed = 0; packed < 2; packed++) {
        struct lode_blob bytes;
        make(&bytes, packed);
        for (size_t size = 0; size < bytes.size; size++) {
            bool opens = exercise_bytes(bytes.bytes, size);
            /* A profile that ends between two fields may be complete. */
            if (packed)
                assert_false(opens);
            opened += opens;
        }
        assert_true(exercise_bytes(bytes.bytes, bytes.size));
        lode_blob_free(&bytes);
    }
    print_message("# %lu truncations open\n", opened);
    assert_true(opened < 20);
    assert_little_memory(MOST_MEGABYTES);
}

static void no_bit_flip_does_harm(void **state)
{
    struct share share = share_from_environment();
    unsigned long count = 0, opened = 0;
    (void)state;
    for (unsigned packed = 0; packed < 2; packed++) {
        struct lode_blob bytes;
        make(&bytes, packed);
        for (size_t bit = 0; bit < bytes.size * 8; bit++) {
            if (!share_has(share, bit))
                continue;
            bytes.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            opened += exercise_bytes(bytes.bytes, bytes.size);
            bytes.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            count++;
        }
        lode_blob_free(&bytes);
    }
    print_message("# %lu bit flips, %lu open\n", count, opened);
    assert_true(opened < count / 2);
    assert_little_memory(MOST_MEGABYTES);
}

/* Several bytes at once. */
static void no_random_mutation_does_harm(void **state)
{
    static const unsigned char nasty[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x22, 0x2a, 0x32};
    struct share share = share_from_environment();
    uint64_t random = 0x5eed;
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        struct lode_blob bytes;
        make(&bytes, false);
        for (uint64_t hits = 1 + next_random(&random) % 6; hits > 0; hits--)
            bytes.bytes[next_random(&random) % bytes.size] = nasty[next_random(&random) % sizeof nasty];
        if (share_has(share, i))
            exercise_bytes(bytes.bytes, bytes.size);
        lode_blob_free(&bytes);
    }
    assert_little_memory(MOST_MEGABYTES);
}

/* Little gzip that unpacks to much: empty strings, which are refused; samples; one large string. */
static void bombs_do_not_go_off(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 3; kind++) {
        struct lode_blob bytes = {0};
        minipprof_make(&bytes);
        char *text = kind == 2 ? calloc(1, 7 << 20) : NULL;
        for (unsigned i = 0; i < 400000 && kind < 2; i++)
            minipprof_bytes(&bytes, kind == 0 ? 6 : 2, "\x12\x01\x01", kind == 0 ? 0 : 3);
        if (kind == 2)
            minipprof_bytes(&bytes, 6, text, 7 << 20);
        free(text);
        minipprof_gzip(&bytes);
        assert_true(bytes.size < 100000);
        assert_int_equal(exercise_bytes(bytes.bytes, bytes.size), kind > 0);
        lode_blob_free(&bytes);
    }
    assert_little_memory(MOST_MEGABYTES);
}

/* One location of many lines that a sample names many times. */
static void frames_that_multiply_are_limited(void **state)
{
    struct lode_blob bytes = {0}, location = {0}, ids = {0}, sample = {0};
    (void)state;
    minipprof_make(&bytes);
    minipprof_field(&location, 1, 9);
    for (unsigned i = 0; i < 20000; i++)
        minipprof_bytes(&location, 4, "\x08\x01\x10\x05", 4);
    for (unsigned i = 0; i < 20000; i++)
        minipprof_number(&ids, 9);
    minipprof_bytes(&bytes, 4, location.bytes, location.size);
    minipprof_bytes(&sample, 1, ids.bytes, ids.size);
    minipprof_field(&sample, 2, 1);
    minipprof_bytes(&bytes, 2, sample.bytes, sample.size);
    assert_true(exercise_bytes(bytes.bytes, bytes.size));
    lode_blob_free(&bytes);
    lode_blob_free(&location);
    lode_blob_free(&ids);
    lode_blob_free(&sample);
    assert_little_memory(MOST_MEGABYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncations_do_no_harm),           cmocka_unit_test(no_bit_flip_does_harm),
        cmocka_unit_test(no_random_mutation_does_harm),     cmocka_unit_test(bombs_do_not_go_off),
        cmocka_unit_test(frames_that_multiply_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
