/* SPDX-License-Identifier: BSD-3-Clause */
/* For each rule of measurements, some that break exactly it, and whether they open. */
#include "format/hpcrun/hpcrun.h"
#include "hpcrun_cases.h"
#include "rule_cases.h"
#include <lode/unstable/measurements.h>

static struct rule_cases all_cases(void)
{
    return (struct rule_cases){hpcrun_cases, sizeof *hpcrun_cases, hpcrun_case_count};
}

static void make(struct hpcrun_files *files)
{
    files->trace_name = "x.hpctrace";
    minihpcrun_profile(&files->profile);
    minihpcrun_trace(&files->trace);
}

static void list_files(const struct hpcrun_files *files, lode_memory_file list[2])
{
    list[0] = (lode_memory_file){"x.hpcrun", files->profile.bytes, files->profile.size};
    list[1] = (lode_memory_file){files->trace_name, files->trace.bytes, files->trace.size};
}

static void free_files(struct hpcrun_files *files)
{
    lode_blob_free(&files->profile);
    lode_blob_free(&files->trace);
}

/* A damaged profile is all there is, so nothing opens; a damaged trace is skipped. */
static void breaks_exactly_one_rule(void **state)
{
    const struct hpcrun_case *this = *state;
    struct hpcrun_files files;
    lode_memory_file list[2];
    lode_measurements *measurements;
    lode_error error = {0};
    make(&files);
    this->apply(&files);
    list_files(&files, list);
    expect_only(list, 2, this->rule, NULL);
    bool is_error = find_rule(this->rule)->severity == LODE_ERROR;
    bool is_lost = is_error && strncmp(this->rule, "hpcrun-", 7) == 0;
    bool is_skipped = is_error || strcmp(this->rule, "hpctrace-alone") == 0;
    lode_status status = lode_measurements_open_memory(&measurements, list, 2, &error);
    assert_int_equal(status, is_lost ? LODE_ERR_CORRUPT : LODE_OK);
    assert_true(!is_lost || strstr(error.text, this->rule));
    if (!is_lost) {
        assert_int_equal(lode_measurements_profile_count(measurements), 1);
        assert_int_equal(lode_measurements_skip_count(measurements), is_skipped);
        assert_true(!is_skipped || strstr(lode_measurements_skip(measurements, 0)->text, this->rule));
    }
    lode_measurements_close(measurements);
    free_files(&files);
}

static void sound_measurements_have_no_findings(void **state)
{
    struct hpcrun_files files;
    lode_memory_file list[2];
    (void)state;
    make(&files);
    list_files(&files, list);
    assert_int_equal(check_files(list, 2, NULL, NULL, LODE_CHECK_FULL).others, 0);
    /* Each file alone, by its content, whatever its name. */
    for (unsigned i = 0; i < 2; i++) {
        list[i].name = "anything";
        assert_int_equal(check_files(&list[i], 1, NULL, NULL, LODE_CHECK_FULL).others, 0);
    }
    free_files(&files);
}

static void a_damaged_profile_leaves_the_others(void **state)
{
    struct hpcrun_files files;
    lode_memory_file list[2], three[3];
    lode_measurements *measurements;
    (void)state;
    make(&files);
    list_files(&files, list);
    three[0] = list[0];
    three[1] = list[1];
    three[2] = (lode_memory_file){"a.hpcrun", files.profile.bytes, MINI_METRICS};
    assert_int_equal(lode_measurements_open_memory(&measurements, three, 3, NULL), LODE_OK);
    assert_int_equal(lode_measurements_profile_count(measurements), 1);
    assert_int_equal(lode_measurements_skip_count(measurements), 1);
    assert_string_equal(lode_measurements_skip(measurements, 0)->file, "a.hpcrun");
    lode_measurements_close(measurements);
    free_files(&files);
}

static void every_number_is_there(void **state)
{
    struct hpcrun_files files;
    lode_memory_file list[2];
    lode_measurements *m;
    (void)state;
    make(&files);
    list_files(&files, list);
    assert_int_equal(lode_measurements_open_memory(&m, list, 2, NULL), LODE_OK);
    const lode_measured_profile *profile = lode_measurements_profile(m, 0);
    const lode_measured_metric *time = lode_measurements_metric(m, 0),
                               *cycles = lode_measurements_metric(m, 1);
    assert_string_equal(profile->program, "mini");
    assert_string_equal(profile->host, "abc");
    assert_int_equal(profile->nodes, MINI_NODES);
    assert_int_equal(profile->placeholders, 2);
    assert_int_equal(profile->inferred, 1);
    assert_int_equal(profile->valued, 2);
    assert_int_equal(profile->values, MINI_VALUE_COUNT);
    assert_int_equal(profile->samples, MINI_RECORDS);
    assert_int_equal(profile->begin, 100);
    assert_int_equal(profile->end, 300);
    assert_int_equal(profile->id_count, 2);
    assert_int_equal(profile->ids[0].physical, 0xabc);
    assert_int_equal(profile->ids[1].logical, 5);
    assert_string_equal(lode_measurements_id_kind_name(m, 3), "THREAD");
    assert_null(lode_measurements_id_kind_name(m, 9));
    assert_true(time->total == 2.0 && cycles->total == 300.0 && cycles->values == 1);
    assert_string_equal(lode_measurements_metric(m, 2)->formula, "#0/#1");
    assert_int_equal(lode_measurements_module_count(m), 2);
    assert_int_equal(lode_measurements_module(m, 1)->nodes, 1);
    assert_null(lode_measurements_module(m, 2));
    lode_measurements_close(m);
    free_files(&files);
}

static void other_stores_are_refused(void **state)
{
    lode_memory_file folded = {"x.folded", (const unsigned char *)"a;b 1\n", 6};
    struct hpcrun_files files;
    lode_memory_file list[2];
    lode_measurements *measurements;
    lode_database *db;
    (void)state;
    assert_int_equal(lode_measurements_open_memory(&measurements, &folded, 1, NULL), LODE_ERR_ARGUMENT);
    assert_null(measurements);
    make(&files);
    list_files(&files, list);
    assert_int_equal(lode_database_open_memory(&db, list, 2, NULL), LODE_ERR_ARGUMENT);
    assert_null(db);
    free_files(&files);
}

static void every_rule_has_a_case(void **state)
{
    (void)state;
    struct rule_cases all = all_cases();
    /* Others: test_hpcstruct.c, test_symbol_files.c. */
    expect_case_for_each_rule(&all, lode_format_hpcrun.rules, lode_format_hpcrun.rule_count, "hpcrun-", true);
    expect_case_for_each_rule(&all, lode_format_hpcrun.rules, lode_format_hpcrun.rule_count, "hpctrace-",
                              true);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(sound_measurements_have_no_findings),
        cmocka_unit_test(a_damaged_profile_leaves_the_others),
        cmocka_unit_test(every_number_is_there),
        cmocka_unit_test(other_stores_are_refused),
        cmocka_unit_test(every_rule_has_a_case),
    };
    struct rule_cases all = all_cases();
    return run_rule_cases(&all, breaks_exactly_one_rule, others, sizeof others / sizeof *others);
}
