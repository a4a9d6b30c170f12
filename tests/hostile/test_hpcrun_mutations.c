/* SPDX-License-Identifier: BSD-3-Clause */
/* Truncated and mutated measurements: nothing crashes, hangs or exhausts memory. */
#include "base/io/bytes.h"
#include "format/hpcrun/read/wire.h"
#include "hostile.h"
#include "minihpcrun.h"
#include "share.h"
#include <lode/check.h>
#include <lode/unstable/measurements.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_MILLISECONDS = 2000,
    MOST_MEGABYTES = 100,
    RANDOM = 20000
};

/* Opens a file and checks it. True if it opened; both agree. */
static bool exercise_bytes(const char *name, const unsigned char *bytes, size_t size)
{
    /* A copy, so that the sanitizer sees overruns. */
    unsigned char *copy = malloc(size ? size : 1);
    lode_memory_file file = {name, copy, size};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    lode_measurements *measurements;
    double start = now();
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    bool opened = lode_measurements_open_memory(&measurements, &file, 1, NULL) == LODE_OK;
    lode_measurements_close(measurements);
    options.level = LODE_CHECK_FULL;
    assert_int_equal(lode_check_memory(&file, 1, &options, &result, NULL), LODE_OK);
    if ((result.errors == 0) != opened)
        fail_msg("%s", "opening and checking disagree");
    assert_little_time(start, MOST_MILLISECONDS);
    free(copy);
    return opened;
}

static const char *const names[] = {"x.hpcrun", "x.hpctrace"};
static void (*const makers[])(struct lode_blob *) = {minihpcrun_profile, minihpcrun_trace};

static void truncations_do_no_harm(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 2; kind++) {
        struct lode_blob bytes;
        makers[kind](&bytes);
        for (size_t size = 0; size < bytes.size; size++) {
            bool opens = exercise_bytes(names[kind], bytes.bytes, size);
            bool is_whole = kind == 1 && size >= HPCRUN_TraceHeader_SIZE &&
                            (size - HPCRUN_TraceHeader_SIZE) % HPCRUN_TraceRecord_SIZE == 0;
            assert_int_equal(opens, is_whole);
        }
        assert_true(exercise_bytes(names[kind], bytes.bytes, bytes.size));
        lode_blob_free(&bytes);
    }
    assert_little_memory(MOST_MEGABYTES);
}

/* Gaps are zero and only noted: their bits are left out. */
static bool is_gap(const struct lode_blob *bytes, size_t offset)
{
    for (unsigned i = 0; i < 6; i++) {
        const uint8_t *at = bytes->bytes + MINI_FOOTER + (size_t)i * 16;
        if (offset >= get_u64be(at) && offset < get_u64be(at + 8))
            return false;
    }
    return offset < MINI_FOOTER;
}

static void no_bit_flip_does_harm(void **state)
{
    struct share share = share_from_environment();
    unsigned long count = 0, opened = 0;
    (void)state;
    for (unsigned kind = 0; kind < 2; kind++) {
        struct lode_blob bytes;
        makers[kind](&bytes);
        for (size_t bit = 0; bit < bytes.size * 8; bit++) {
            if (!share_has(share, bit) || (kind == 0 && is_gap(&bytes, bit / 8)))
                continue;
            bytes.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            opened += exercise_bytes(names[kind], bytes.bytes, bytes.size);
            bytes.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            count++;
        }
        lode_blob_free(&bytes);
    }
    print_message("# %lu bit flips, %lu open\n", count, opened);
    assert_little_memory(MOST_MEGABYTES);
}

/* Several bytes at once. */
static void no_random_mutation_does_harm(void **state)
{
    static const unsigned char nasty[] = {0, 1, 2, 4, 0x7f, 0x80, 0xfe, 0xff};
    struct share share = share_from_environment();
    uint64_t random = 0x5eed;
    struct lode_blob bytes, mutant;
    (void)state;
    minihpcrun_profile(&bytes);
    minihpcrun_profile(&mutant);
    for (unsigned i = 0; i < RANDOM; i++) {
        memcpy(mutant.bytes, bytes.bytes, bytes.size);
        for (uint64_t hits = 1 + next_random(&random) % 6; hits > 0;) {
            size_t offset = next_random(&random) % bytes.size;
            unsigned char byte = nasty[next_random(&random) % sizeof nasty];
            if (is_gap(&bytes, offset))
                continue;
            mutant.bytes[offset] = byte;
            hits--;
        }
        if (share_has(share, i))
            exercise_bytes(names[0], mutant.bytes, mutant.size);
    }
    lode_blob_free(&bytes);
    lode_blob_free(&mutant);
    assert_little_memory(MOST_MEGABYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncations_do_no_harm),
        cmocka_unit_test(no_bit_flip_does_harm),
        cmocka_unit_test(no_random_mutation_does_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
