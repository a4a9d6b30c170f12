/* SPDX-License-Identifier: BSD-3-Clause */
/* What is kept in memory grows with contexts, profiles and tracks, not with values and calls. */
#include "made_recording.h"
#include "minidb.h"
#include "unit.h"
#include <lode/unstable.h>
#include <malloc.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifndef SANITIZED
enum {
    FEW_PROFILES = 40,
    MANY_PROFILES = 400,
    THREADS = 2,
    /* Blocks, cursors and counts of the transpose, and some room for the allocator. */
    BYTES_PER_PROFILE = 256,
    FEW_TRACKS = 96,
    MANY_TRACKS = 4096,
    BYTES_PER_TRACK = sizeof(lode_track_row) + 8 /* its place in the order, and a mark */
};

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static int note_peak(void *user, const char *phase, uint64_t done, uint64_t total)
{
    size_t *peak = user, now = allocated();
    (void)phase;
    (void)done;
    (void)total;
    *peak = now > *peak ? now : *peak;
    return 0;
}

struct cost {
    size_t check, open;
    uint64_t values;
};

static struct cost measure(uint32_t profiles)
{
    const struct minidb_options options = {
        .profiles = profiles, .chains = 500, .samples = 10, .statistics = true};
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_check_options check = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    lode_database *db;
    struct cost cost = {0};
    minidb_make(&mini, &options);
    minidb_files(&mini, files);
    size_t before = allocated(), peak = 0;
    check.level = LODE_CHECK_FULL;
    check.threads = THREADS;
    check.on_progress = note_peak;
    check.user = &peak;
    assert_int_equal(lode_check_memory(files, HPCT_FILES, &check, &result, NULL), LODE_OK);
    assert_int_equal(result.errors, 0);
    cost.check = peak - before;
    cost.values = result.values;
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    cost.open = allocated() - before;
    lode_database_close(db);
    minidb_free(&mini);
    return cost;
}

static void memory_does_not_grow_with_values(void **state)
{
    (void)state;
    struct cost few = measure(FEW_PROFILES), many = measure(MANY_PROFILES);
    print_message(
        "# %llu values: %zu bytes to check, %zu to open; %llu values: %zu bytes to check, %zu to open\n",
        (unsigned long long)few.values, few.check, few.open, (unsigned long long)many.values, many.check,
        many.open);
    assert_true(many.values > 9 * few.values);
    assert_true(many.check <
                few.check + (size_t)(MANY_PROFILES - FEW_PROFILES) * BYTES_PER_PROFILE + (128 << 10));
    assert_true(many.open < few.open + 4096);
}

static int refuse(void *user, const lode_finding *finding)
{
    (void)user;
    (void)finding;
    return 1;
}

/* The largest number of bytes while tracks of a few calls are read. */
static size_t peak_of_calls(uint32_t tracks)
{
    lode_recording *recording = made_recording(tracks);
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_calls *calls;
    for (uint32_t i = 0; i < tracks; i++)
        made_track(recording, i, 0, "f( 1 g( 1 ) )");
    size_t before = allocated(), peak = 0;
    options.threads = 1;
    options.on_finding = refuse;
    options.on_progress = note_peak;
    options.user = &peak;
    assert_int_equal(lode_calls_compute(&calls, recording, NULL, &options, NULL), LODE_OK);
    lode_calls_free(calls);
    lode_recording_close(recording);
    return peak - before;
}

static void calls_take_the_rows_of_tracks(void **state)
{
    (void)state;
    size_t few = peak_of_calls(FEW_TRACKS), many = peak_of_calls(MANY_TRACKS);
    print_message("# %d tracks: %zu bytes; %d tracks: %zu bytes\n", FEW_TRACKS, few, MANY_TRACKS, many);
    assert_true(many < few + (size_t)(MANY_TRACKS - FEW_TRACKS) * BYTES_PER_TRACK + 4096);
}
#endif

int main(void)
{
#ifdef SANITIZED
    puts("1..2\nok 1 - memory_does_not_grow_with_values # SKIP a sanitizer keeps freed memory\n"
         "ok 2 - calls_take_the_rows_of_tracks # SKIP a sanitizer keeps freed memory");
    return 0;
#else
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_does_not_grow_with_values),
        cmocka_unit_test(calls_take_the_rows_of_tracks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
