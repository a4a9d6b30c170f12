/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Truncated and mutated recordings of perf (tests/fuzz/corpus/fuzz_perf): nothing crashes, hangs or
 * exhausts memory, and what does not open has errors. Also run under sanitizers.
 */
#include "hostile.h"
#include "share.h"
#include "walk.h"
#include <lode/check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_MILLISECONDS = 4000,
    MOST_MEGABYTES = 160,
    MOST_BYTES = 1 << 16
};

static const char *const names[] = {"file", "big", "stream", "group", "switch", "zstd", "branches", "calls"};

struct seed {
    unsigned char bytes[MOST_BYTES];
    size_t size;
};

static void load(struct seed *seed, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", SEEDS, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    seed->size = fread(seed->bytes, 1, sizeof seed->bytes, file);
    fclose(file);
    assert_true(seed->size > 0 && seed->size < sizeof seed->bytes);
}

/* Opens and walks a recording, then checks it. True if it opened. */
static bool exercise_bytes(const unsigned char *bytes, size_t size)
{
    /* A copy, so that the sanitizer sees overruns. */
    unsigned char *copy = malloc(size ? size : 1);
    lode_memory_file file = {"perf.data", copy, size};
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
    if (!opened && status == LODE_OK && result.errors == 0)
        fail_msg("%s", "a sound recording does not open");
    assert_little_time(start, MOST_MILLISECONDS);
    free(copy);
    return opened;
}

static void truncations_do_no_harm(void **state)
{
    static struct seed seed;
    struct share share = share_from_environment();
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        load(&seed, names[i]);
        assert_true(exercise_bytes(seed.bytes, seed.size));
        for (size_t size = i; size < seed.size; size += 37)
            if (share_has(share, size))
                exercise_bytes(seed.bytes, size);
    }
    assert_little_memory(MOST_MEGABYTES);
}

static void no_bit_flip_does_harm(void **state)
{
    static struct seed seed;
    struct share share = share_from_environment();
    unsigned long count = 0, opened = 0;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        load(&seed, names[i]);
        for (size_t bit = i; bit < seed.size * 8; bit += 131) {
            if (!share_has(share, bit))
                continue;
            seed.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            opened += exercise_bytes(seed.bytes, seed.size);
            seed.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            count++;
        }
    }
    print_message("# %lu bit flips, %lu open\n", count, opened);
    assert_little_memory(MOST_MEGABYTES);
}

/* Several numbers at once. */
static void no_random_mutation_does_harm(void **state)
{
    static const uint64_t nasty[] = {0,
                                     1,
                                     7,
                                     8,
                                     9,
                                     64,
                                     0xff,
                                     0x7fff,
                                     0xffff,
                                     UINT32_MAX,
                                     INT64_MAX,
                                     UINT64_MAX,
                                     UINT64_MAX - 7,
                                     UINT64_MAX - 511,
                                     UINT64_C(1) << 63};
    static struct seed seed;
    struct share share = share_from_environment();
    const char *wanted = getenv("LODE_PERF_MUTANTS"); // NOLINT(concurrency-mt-unsafe): only read
    unsigned long count = wanted ? strtoul(wanted, NULL, 10) : 600;
    uint64_t random = 0x5eed;
    (void)state;
    for (unsigned long i = 0; i < count; i++) {
        load(&seed, names[next_random(&random) % (sizeof names / sizeof *names)]);
        for (uint64_t hits = 1 + next_random(&random) % 4; hits > 0; hits--) {
            size_t width = (size_t)1 << next_random(&random) % 4;
            size_t at = (size_t)(next_random(&random) % (seed.size / width)) * width;
            memcpy(seed.bytes + at, &nasty[next_random(&random) % (sizeof nasty / sizeof *nasty)], width);
        }
        if (share_has(share, i))
            exercise_bytes(seed.bytes, seed.size);
    }
    assert_little_memory(MOST_MEGABYTES);
}

static int on_finding(void *user, const lode_finding *finding)
{
    unsigned *found = user;
    *found += strcmp(finding->rule, "perf-binary") == 0 && strcmp(finding->file, "/bin/work") == 0;
    return 0;
}

/* What opening found is still there when it is asked for. */
static void a_binary_that_is_not_there_is_named(void **state)
{
    static struct seed seed;
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    lode_database *db;
    unsigned found = 0;
    (void)state;
    load(&seed, "file");
    lode_memory_file file = {"perf.data", seed.bytes, seed.size};
    assert_int_equal(lode_database_open_memory(&db, &file, 1, NULL), LODE_OK);
    options.on_finding = on_finding;
    options.user = &found;
    assert_int_equal(lode_database_check(db, "perf.data", &options, &result, NULL), LODE_OK);
    assert_int_equal(found, 1);
    lode_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncations_do_no_harm),
        cmocka_unit_test(no_bit_flip_does_harm),
        cmocka_unit_test(no_random_mutation_does_harm),
        cmocka_unit_test(a_binary_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
