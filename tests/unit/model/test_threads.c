/* SPDX-License-Identifier: BSD-3-Clause */
/* One database and many threads: run under the thread sanitizer too. */
#include "minidb.h"
#include "unit.h"
#include "walk.h"
#include <lode/check.h>
#include <lode/cost.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void eight_threads_walk_one_database(void **state)
{
    const struct minidb_options options = {
        .profiles = 20, .chains = 2000, .samples = 100, .statistics = true, .unlisted = true};
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    (void)state;
    minidb_make(&mini, &options);
    minidb_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    assert_true(walk_with_threads(db, 8));
    lode_database_close(db);
    minidb_free(&mini);
}

/* ---- checks ---- */

struct transcript {
    char *text;
    size_t size;
    FILE *stream;
};

static int write_down(void *user, const lode_finding *finding)
{
    struct transcript *transcript = user;
    fprintf(transcript->stream, "%s %s %llu %s\n", finding->rule, finding->file,
            (unsigned long long)finding->offset, finding->text);
    return 0;
}

static char *check_transcript(const lode_memory_file *files, unsigned threads)
{
    struct transcript transcript = {0};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    transcript.stream = open_memstream(&transcript.text, &transcript.size);
    assert_non_null(transcript.stream);
    options.level = LODE_CHECK_FULL;
    options.threads = threads;
    options.limit_per_rule = 50;
    options.on_finding = write_down;
    options.user = &transcript;
    assert_int_equal(lode_check_memory(files, HPCT_FILES, &options, &result, NULL), LODE_OK);
    fprintf(transcript.stream, "%llu %llu %llu %llu\n", (unsigned long long)result.errors,
            (unsigned long long)result.warnings, (unsigned long long)result.suppressed,
            (unsigned long long)result.values);
    fclose(transcript.stream);
    return transcript.text;
}

/* Damage in many places, so that workers have many findings to put in order. */
static void spoil(struct minidb *mini, enum hpct_file_id file, size_t first, size_t step)
{
    for (size_t at = first; at + 8 < mini->size[file]; at += step)
        mini->bytes[file][at] ^= 0x10;
}

static void findings_do_not_depend_on_the_number_of_threads(void **state)
{
    const struct minidb_options options = {
        .profiles = 20, .chains = 2000, .samples = 100, .statistics = true};
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    (void)state;
    minidb_make(&mini, &options);
    struct wire_Profile last;
    lode_wire_read_Profile(&last, mini.bytes[HPCT_PROFILE] + mini.profiles + 5 * WIRE_Profile_SIZE,
                           WIRE_Profile_SIZE);
    /* Values of one profile, which then differ from cct.db, from the summary, and do not add up. */
    for (uint64_t i = 0; i < last.nValues; i += 7)
        mini.bytes[HPCT_PROFILE][last.pValues + i * WIRE_ProfileValue_SIZE + 7] ^= 0x10;
    spoil(&mini, HPCT_TRACE, 4000, 512);
    minidb_files(&mini, files);
    char *alone = check_transcript(files, 1);
    assert_true(strlen(alone) > 5000);
    static const unsigned counts[] = {2, 7, 16};
    for (size_t i = 0; i < 3; i++) {
        char *together = check_transcript(files, counts[i]);
        assert_string_equal(alone, together);
        free(together);
    }
    free(alone);
    minidb_free(&mini);
}

/* ---- costs ---- */

/* All costs as text, without rounding. */
static char *cost_transcript(const lode_database *db, unsigned threads, uint32_t ranks)
{
    struct transcript transcript = {0};
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    lode_selection *selection;
    lode_cost *cost;
    assert_int_equal(lode_selection_parse(&selection, db, "profile=1-17", NULL), LODE_OK);
    transcript.stream = open_memstream(&transcript.text, &transcript.size);
    assert_non_null(transcript.stream);
    options.selection = selection;
    options.threads = threads;
    options.local_ranks = ranks;
    assert_int_equal(lode_cost_compute(&cost, db, &options, NULL), LODE_OK);
    for (uint32_t i = 0; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        fprintf(transcript.stream, "%u %a %a\n", i, lode_cost_inclusive(cost, context),
                lode_cost_own(cost, context));
    }
    fprintf(transcript.stream, "%u %llu %llu\n", lode_cost_profiles(cost),
            (unsigned long long)lode_cost_unlisted_contexts(cost),
            (unsigned long long)lode_cost_unlisted_values(cost));
    fclose(transcript.stream);
    lode_cost_free(cost);
    lode_selection_free(selection);
    return transcript.text;
}

static void costs_do_not_depend_on_threads_and_ranks(void **state)
{
    const struct minidb_options options = {
        .profiles = 20, .chains = 2000, .samples = 10, .statistics = true, .unlisted = true};
    static const struct {
        unsigned threads;
        uint32_t ranks;
    } ways[] = {{2, 1}, {7, 1}, {1, 2}, {1, 3}, {2, 5}, {3, 8}};
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    (void)state;
    minidb_make(&mini, &options);
    minidb_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    char *alone = cost_transcript(db, 1, 1);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *together = cost_transcript(db, ways[i].threads, ways[i].ranks);
        assert_string_equal(alone, together);
        free(together);
    }
    free(alone);
    lode_database_close(db);
    minidb_free(&mini);
}

static int stop_at_once(void *user, const lode_finding *finding)
{
    (void)finding;
    (*(int *)user)++;
    return 1;
}

static void a_callback_can_end_the_check(void **state)
{
    const struct minidb_options small = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    lode_error error = {0};
    int calls = 0;
    (void)state;
    minidb_make(&mini, &small);
    spoil(&mini, HPCT_PROFILE, 600, 20);
    minidb_files(&mini, files);
    options.on_finding = stop_at_once;
    options.user = &calls;
    options.threads = 4;
    assert_int_equal(lode_check_memory(files, HPCT_FILES, &options, &result, &error), LODE_ERR_CANCELLED);
    assert_int_equal(calls, 1);
    minidb_free(&mini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_walk_one_database),
        cmocka_unit_test(findings_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(a_callback_can_end_the_check),
        cmocka_unit_test(costs_do_not_depend_on_threads_and_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
