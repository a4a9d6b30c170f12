/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Truncated and mutated real databases: nothing crashes, hangs or exhausts memory, and detectable
 * damage is found. Also run under the address and undefined behaviour sanitizers.
 */
#include "corpus.h"
#include "hostile.h"
#include "share.h"
#include "walk.h"
#include <lode/check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_MILLISECONDS = 2000,
    MAX_MEGABYTES = 64,
    RANDOM_MUTATIONS = 10000
};

struct checked {
    lode_check_result result;
    double milliseconds;
};

/* Opens and walks the database, then checks it. */
static struct checked exercise_database(const struct loaded_database *db, lode_check_level level)
{
    struct checked outcome;
    lode_database *opened;
    lode_error error = {0};
    double start = now();
    if (lode_database_open_memory(&opened, db->files, db->count, &error) == LODE_OK)
        walk_database(opened, 1);
    lode_database_close(opened);
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    options.level = level;
    options.threads = 1;
    lode_status status = lode_check_memory(db->files, db->count, &options, &outcome.result, &error);
    assert_int_equal(status, LODE_OK);
    outcome.milliseconds = assert_little_time(start, MAX_MILLISECONDS);
    return outcome;
}

static unsigned char *writable(const struct loaded_database *db, size_t file)
{
    return (unsigned char *)(uintptr_t)db->files[file].data;
}

static void every_truncation_is_an_error(void **state)
{
    struct loaded_database db;
    struct share share = share_from_environment();
    unsigned long count = 0;
    (void)state;
    assert_true(load_database(&db, "hpctoolkit/final/made-small"));
    assert_int_equal(db.count, HPCT_FILES);
    assert_int_equal(exercise_database(&db, LODE_CHECK_STRUCTURE).result.errors, 0);
    for (size_t file = 0; file < db.count; file++) {
        lode_memory_file whole = db.files[file];
        for (size_t size = 0; size < whole.size; size++) {
            if (!share_has(share, size))
                continue;
            /* A copy, so that the sanitizer sees overruns. */
            unsigned char *copy = malloc(size ? size : 1);
            assert_non_null(copy);
            memcpy(copy, whole.data, size);
            db.files[file] = (lode_memory_file){whole.name, copy, size};
            if (exercise_database(&db, LODE_CHECK_STRUCTURE).result.errors == 0)
                fail_msg("%s cut to %zu bytes is not reported", whole.name, size);
            free(copy);
            count++;
        }
        db.files[file] = whole;
    }
    print_message("# %lu truncations, all reported\n", count);
    assert_little_memory(MAX_MEGABYTES);
    unload_database(&db);
}

static bool same_findings(const lode_check_result *a, const lode_check_result *b)
{
    return a->errors == b->errors && a->warnings == b->warnings && a->notes == b->notes;
}

static void no_bit_flip_does_harm(void **state)
{
    struct loaded_database db;
    struct share share = share_from_environment();
    unsigned long count = 0, errors = 0, noticed = 0;
    double slowest = 0;
    (void)state;
    assert_true(load_database(&db, "hpctoolkit/final/made-small"));
    lode_check_result sound = exercise_database(&db, LODE_CHECK_FULL).result;
    for (size_t file = 0; file < db.count; file++) {
        unsigned long flips = 0, file_errors = 0, file_noticed = 0;
        for (size_t bit = 0; bit < db.files[file].size * 8; bit++) {
            if (!share_has(share, bit))
                continue;
            writable(&db, file)[bit / 8] ^= (unsigned char)(1u << bit % 8);
            struct checked outcome = exercise_database(&db, LODE_CHECK_FULL);
            writable(&db, file)[bit / 8] ^= (unsigned char)(1u << bit % 8);
            flips++;
            file_errors += outcome.result.errors > 0;
            file_noticed += !same_findings(&outcome.result, &sound);
            slowest = outcome.milliseconds > slowest ? outcome.milliseconds : slowest;
        }
        print_message("# %s: %lu bit flips, %lu are errors, %lu change the findings\n", db.files[file].name,
                      flips, file_errors, file_noticed);
        count += flips;
        errors += file_errors;
        noticed += file_noticed;
    }
    print_message(
        "# %lu bit flips, %lu (%.1f %%) are errors, %lu (%.1f %%) change the findings; slowest %.1f ms\n",
        count, errors, 100.0 * (double)errors / (double)count, noticed,
        100.0 * (double)noticed / (double)count, slowest);
    assert_true(errors > count / 2);
    assert_little_memory(MAX_MEGABYTES);
    unload_database(&db);
}

/* Overwrites a few bytes somewhere with something that is likely to hurt. */
static void mutate(unsigned char *bytes, size_t size, uint64_t *random)
{
    static const uint64_t nasty[] = {0,          1,          0xff,       0xffff,    0x7fffffff,
                                     0xffffffff, 1ull << 32, 1ull << 40, UINT64_MAX};
    uint64_t kind = next_random(random) % 4;
    /* Headers and tables are at the front: half of the hits go there. */
    size_t reach = next_random(random) % 2 ? size : size < 1024 ? size : 1024;
    size_t at = next_random(random) % reach;
    uint64_t value =
        kind == 0 ? next_random(random) : nasty[next_random(random) % (sizeof nasty / sizeof *nasty)];
    if (kind == 3) {
        bytes[at] ^= (unsigned char)(1u << next_random(random) % 8);
        return;
    }
    size_t width = (size_t)1 << next_random(random) % 4;
    for (size_t i = 0; i < width && at + i < size; i++)
        bytes[at + i] = (unsigned char)(value >> 8 * i);
}

static void no_random_mutation_does_harm(void **state)
{
    struct loaded_database db, copy;
    struct share share = share_from_environment();
    uint64_t random = 0x5eed;
    unsigned long count = 0, errors = 0;
    double slowest = 0;
    (void)state;
    assert_true(load_database(&db, "hpctoolkit/final/viewer-issue-328"));
    copy = db;
    for (size_t file = 0; file < db.count; file++) {
        unsigned char *bytes = malloc(db.files[file].size);
        assert_non_null(bytes);
        copy.files[file].data = bytes;
    }
    for (unsigned i = 0; i < RANDOM_MUTATIONS; i++) {
        for (size_t file = 0; file < db.count; file++)
            memcpy(writable(&copy, file), db.files[file].data, db.files[file].size);
        uint64_t hits = 1 + next_random(&random) % 4;
        for (uint64_t k = 0; k < hits; k++) {
            size_t file = next_random(&random) % db.count;
            mutate(writable(&copy, file), db.files[file].size, &random);
        }
        if (!share_has(share, i))
            continue;
        count++;
        struct checked outcome = exercise_database(&copy, LODE_CHECK_FULL);
        errors += outcome.result.errors > 0;
        slowest = outcome.milliseconds > slowest ? outcome.milliseconds : slowest;
    }
    print_message("# %lu random mutations, %lu are errors; slowest %.1f ms\n", count, errors, slowest);
    assert_little_memory(MAX_MEGABYTES);
    unload_database(&copy);
    unload_database(&db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(no_bit_flip_does_harm),
        cmocka_unit_test(no_random_mutation_does_harm),
    };
    return run_with_corpus("mutations", tests, sizeof tests / sizeof *tests);
}
