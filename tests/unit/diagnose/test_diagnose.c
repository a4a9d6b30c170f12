/* SPDX-License-Identifier: BSD-3-Clause */
/* Diagnoses that read totals and the summary only: what they still say, and what they admit. */
#include "minidb.h"
#include "unit.h"
#include <lode/unstable.h>
#include <math.h>
#include <string.h>

static void open_mini(struct minidb *mini, lode_database **db)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    lode_memory_file files[HPCT_FILES];
    lode_error error = {0};
    options.profiles = 40;
    options.samples = 50;
    minidb_make(mini, &options);
    minidb_files(mini, files);
    if (lode_database_open_memory(db, files, HPCT_FILES, &error) != LODE_OK)
        fail_msg("%s", error.text);
}

static lode_diagnosis *diagnose(const lode_database *db, uint64_t limit, unsigned threads)
{
    lode_diagnose_options options = LODE_DIAGNOSE_OPTIONS_INIT;
    lode_diagnosis *diagnosis = NULL;
    lode_error error = {0};
    options.read_limit = limit;
    options.threads = threads;
    if (lode_diagnose(&diagnosis, db, &options, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return diagnosis;
}

static const lode_quality_note *find_note(const lode_diagnosis *d, const char *id)
{
    const lode_quality_note *note;
    for (size_t i = 0; (note = lode_diagnosis_note(d, i)) != NULL; i++)
        if (strcmp(note->id, id) == 0)
            return note;
    return NULL;
}

static const lode_rule_state *find_rule(const lode_diagnosis *d, const char *id)
{
    const lode_rule_state *rule;
    for (size_t i = 0; (rule = lode_diagnosis_rule(d, i)) != NULL; i++)
        if (strcmp(rule->id, id) == 0)
            return rule;
    fail_msg("no rule %s", id);
    return NULL;
}

static void assert_near(double a, double b, double most)
{
    assert_true(fabs(a - b) <= most);
}

static void totals_and_summary_give_the_same_run_and_activities(void **state)
{
    struct minidb mini;
    lode_database *db;
    (void)state;
    open_mini(&mini, &db);
    lode_diagnosis *all = diagnose(db, UINT64_MAX, 1), *some = diagnose(db, 1, 1);
    const lode_run *a = lode_diagnosis_run(all), *b = lode_diagnosis_run(some);
    assert_ptr_equal(a->metric, b->metric);
    assert_true(a->threads > 1);
    assert_int_equal(a->threads, b->threads);
    assert_int_equal(a->empty, b->empty);
    assert_int_equal(a->ranks, b->ranks);
    assert_true(a->total > 0);
    assert_near(a->total, b->total, 1e-9 * a->total);
    assert_near(a->run_time, b->run_time, 1e-9 * a->run_time);
    for (int i = 0; i <= LODE_ACTIVITY_COUNT; i++)
        assert_near(lode_diagnosis_activity(all, i), lode_diagnosis_activity(some, i), 1e-9 * a->total);
    lode_diagnosis_free(all);
    lode_diagnosis_free(some);
    lode_database_close(db);
    minidb_free(&mini);
}

static void what_was_not_read_is_said_and_not_judged(void **state)
{
    static const char *const silent[] = {"efficiency", "imbalance"};
    struct minidb mini;
    lode_database *db;
    (void)state;
    open_mini(&mini, &db);
    lode_diagnosis *all = diagnose(db, 0, 1), *some = diagnose(db, 1, 1);
    assert_null(find_note(all, "not-read"));
    assert_non_null(find_note(some, "not-read"));
    assert_non_null(lode_diagnosis_efficiency(all));
    assert_null(lode_diagnosis_efficiency(some));
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        assert_true(find_rule(all, silent[i])->ran);
        assert_false(find_rule(some, silent[i])->ran);
        assert_non_null(strstr(find_rule(some, silent[i])->reason, "--deep"));
    }
    assert_true(find_rule(some, "hot-spot")->ran);
    lode_diagnosis_free(all);
    lode_diagnosis_free(some);
    lode_database_close(db);
    minidb_free(&mini);
}

static void figures_do_not_depend_on_threads(void **state)
{
    struct minidb mini;
    lode_database *db;
    (void)state;
    open_mini(&mini, &db);
    for (uint64_t limit = 0; limit < 2; limit++) {
        lode_diagnosis *one = diagnose(db, limit, 1), *seven = diagnose(db, limit, 7);
        assert_memory_equal(&lode_diagnosis_run(one)->total, &lode_diagnosis_run(seven)->total,
                            sizeof(double));
        for (int i = 0; i <= LODE_ACTIVITY_COUNT; i++)
            assert_true(lode_diagnosis_activity(one, i) == lode_diagnosis_activity(seven, i));
        lode_diagnosis_free(one);
        lode_diagnosis_free(seven);
    }
    lode_database_close(db);
    minidb_free(&mini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_and_summary_give_the_same_run_and_activities),
        cmocka_unit_test(what_was_not_read_is_said_and_not_judged),
        cmocka_unit_test(figures_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
