/* SPDX-License-Identifier: BSD-3-Clause */
/* A database of the draft with experiment.xml, in every variant, is what it should be. */
#include "minidraft.h"
#include "unit.h"
#include "walk.h"
#include <lode/unstable.h>
#include <string.h>

static void open_mini(lode_database **db, struct minidraft *mini, const struct minidraft_options *options)
{
    lode_memory_file files[HPCT_FILES];
    lode_error error = {0};
    minidraft_make(mini, options);
    minidraft_files(mini, files);
    if (lode_database_open_memory(db, files, HPCT_FILES, &error) != LODE_OK)
        fail_msg("%s: %s", error.file, error.text);
}

static void expect_metrics(const lode_database *db, const struct minidraft_options *options)
{
    const lode_metric *metric = lode_database_metric(db, 0);
    uint16_t id;
    lode_metric_statistic statistic;
    assert_int_equal(lode_database_metric_count(db), 1);
    assert_string_equal(lode_metric_name(metric), "a:b (sec)");
    assert_int_equal(lode_metric_scope_count(metric), 2);
    assert_int_equal(lode_metric_id(metric, LODE_SCOPE_EXECUTION, &id), LODE_OK);
    assert_int_equal(id, MINIDRAFT_INCLUSIVE);
    assert_int_equal(lode_metric_id(metric, LODE_SCOPE_TRANSITIVE, &id), LODE_OK);
    assert_int_equal(id, MINIDRAFT_EXCLUSIVE);
    assert_int_equal(lode_metric_statistic_count(metric), 2);
    assert_int_equal(lode_metric_sum_id(metric, LODE_SCOPE_EXECUTION, &id), LODE_OK);
    assert_int_equal(id, options->old_ids ? 512 : 2);
    assert_int_equal(lode_metric_statistic_at(metric, 0, &statistic), LODE_OK);
    assert_string_equal(statistic.formula, "$$");
}

static const lode_context *expect_context(const lode_database *db, uint32_t id, int lexical, int relation,
                                          uint32_t parent)
{
    const lode_context *context = lode_database_context(db, id);
    assert_non_null(context);
    assert_int_equal(lode_context_lexical(context), lexical);
    assert_int_equal(lode_context_relation(context), relation);
    assert_int_equal(lode_context_id(lode_context_parent(context)), parent);
    return context;
}

static void expect_tree(const lode_database *db)
{
    const lode_context *context = expect_context(db, 2, LODE_LEXICAL_ENTRY, LODE_RELATION_CALL, 0);
    assert_int_equal(lode_context_entry(context), LODE_ENTRY_MAIN_THREAD);
    context = expect_context(db, 3, LODE_LEXICAL_FUNCTION, LODE_RELATION_CALL, 2);
    const lode_function *function = lode_context_function(context);
    assert_string_equal(lode_function_name(function), "main");
    assert_int_equal(lode_function_offset(function), 0x118b);
    assert_int_equal(lode_function_line(function), 10);
    assert_string_equal(lode_file_path(lode_function_file(function)), "src/app.c");
    assert_true(lode_file_is_copied(lode_function_file(function)));
    assert_string_equal(lode_module_path(lode_function_module(function)), "/bin/app");
    context = expect_context(db, 4, LODE_LEXICAL_LINE, LODE_RELATION_LEXICAL, 3);
    assert_int_equal(lode_context_line(context), 11);
    context = expect_context(db, 5, LODE_LEXICAL_LINE, LODE_RELATION_LEXICAL, 3);
    assert_int_equal(lode_context_line(context), 12);
    assert_int_equal(lode_context_offset(context), 0x11a6);
    assert_int_equal(lode_context_propagation(context), 1);
    context = expect_context(db, 6, LODE_LEXICAL_FUNCTION, LODE_RELATION_CALL, 5);
    assert_int_equal(lode_context_propagation(context), 0);
    context = expect_context(db, 7, LODE_LEXICAL_LOOP, LODE_RELATION_LEXICAL, 6);
    assert_int_equal(lode_context_line(context), 3);
    context = expect_context(db, 9, LODE_LEXICAL_FUNCTION, LODE_RELATION_INLINED, 6);
    assert_string_equal(lode_function_name(lode_context_function(context)), "small");
    assert_int_equal(lode_context_line(context), 5);
    assert_int_equal(lode_database_context_count(db), 9);
    assert_null(lode_database_context(db, MINIDRAFT_IDLE));
}

static void expect_values(const lode_database *db, const struct minidraft_options *options)
{
    for (uint32_t p = 1; p < MINIDRAFT_PROFILES; p++) {
        lode_block block, contexts;
        assert_int_equal(lode_profile_block(db, p, &block, NULL), LODE_OK);
        for (uint32_t c = 0; c < (options->unlisted ? 11u : 10u); c++) {
            for (uint32_t m = MINIDRAFT_EXCLUSIVE; m <= MINIDRAFT_INCLUSIVE; m++) {
                double value, expected = minidraft_cost(c, m) * p;
                lode_status status = lode_block_lookup(&block, c, m, &value, NULL);
                assert_int_equal(status, expected == 0 ? LODE_NOT_FOUND : LODE_OK);
                assert_true(value == expected);
                assert_int_equal(lode_context_block(db, c, &contexts, NULL), LODE_OK);
                assert_int_equal(lode_block_lookup(&contexts, m, p, &value, NULL), status);
                assert_true(value == expected);
            }
        }
    }
}

static void expect_ids(const lode_database *db)
{
    lode_id ids[4];
    uint32_t count;
    assert_int_equal(lode_profile_ids(db, 0, ids, 4, &count, NULL), LODE_OK);
    assert_int_equal(count, 0);
    assert_true(lode_profile_is_summary(db, 0) && !lode_profile_is_summary(db, 1));
    assert_int_equal(lode_profile_ids(db, 2, ids, 4, &count, NULL), LODE_OK);
    assert_int_equal(count, 2);
    assert_true(ids[0].kind == 1 && ids[0].flags == LODE_ID_PHYSICAL && ids[0].physical == 77);
    assert_true(ids[1].kind == 3 && ids[1].flags == 0 && ids[1].logical == 1 && ids[1].physical == 1);
    assert_string_equal(lode_database_id_kind_name(db, 3), "THREAD");
}

static void expect_samples(const lode_database *db)
{
    static const uint32_t contexts[MINIDRAFT_SAMPLES] = {0, 8, 3};
    lode_trace_line line;
    lode_sample sample;
    uint64_t min, max;
    assert_int_equal(lode_database_trace_line(db, 0, &line, NULL), LODE_OK);
    assert_int_equal(line.sample_count, MINIDRAFT_SAMPLES);
    for (uint32_t i = 0; i < MINIDRAFT_SAMPLES; i++) {
        assert_int_equal(lode_trace_line_sample(&line, i, &sample), LODE_OK);
        assert_int_equal(sample.time, 100 + 10 * i);
        assert_int_equal(sample.context_id, contexts[i]);
    }
    assert_int_equal(lode_database_trace_line(db, 1, &line, NULL), LODE_OK);
    assert_int_equal(line.sample_count, 0);
    assert_int_equal(lode_database_trace_bounds(db, &min, &max), LODE_OK);
    assert_true(min == 100 && max == 120);
}

static void every_variant_reads_the_same(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 128; bits++) {
        struct minidraft_options options = {.old_magic = bits & 1,
                                            .version_4 = bits & 2,
                                            .unpadded = bits & 4,
                                            .big_footer = bits & 8,
                                            .trace_footer = bits & 16,
                                            .old_ids = bits & 32,
                                            .unlisted = bits & 64};
        struct minidraft mini;
        lode_database *db;
        open_mini(&db, &mini, &options);
        assert_string_equal(lode_database_title(db), "mini <draft>");
        expect_metrics(db, &options);
        expect_tree(db);
        expect_values(db, &options);
        expect_ids(db);
        expect_samples(db);
        lode_database_close(db);
        minidraft_free(&mini);
    }
}

static void a_cct_db_that_was_never_written_is_as_good_as_none(void **state)
{
    struct minidraft mini;
    lode_database *db;
    lode_block block;
    (void)state;
    open_mini(&db, &mini, &(struct minidraft_options){.zero_cct = true});
    assert_false(lode_database_has(db, LODE_PART_CONTEXT));
    assert_int_equal(lode_context_block(db, 3, &block, NULL), LODE_ABSENT);
    expect_tree(db);
    walk_database(db, 1);
    lode_database_close(db);
    minidraft_free(&mini);
}

/* Partial columns of hpcprof's statistics: their meaning follows from how they are used. */
static void formulas_of_statistics_follow_from_their_use(void **state)
{
    static const char more[] =
        "<Metric i=\"10\" n=\"x:PARTIAL:0 (I)\"><MetricFormula t=\"combine\" frm=\"sum($10, $10)\"/></Metric>"
        "<Metric i=\"11\" n=\"x:PARTIAL:1 (I)\"><MetricFormula t=\"combine\" frm=\"sum($11, $11)\"/></Metric>"
        "<Metric i=\"12\" n=\"x:PARTIAL:2 (I)\"><MetricFormula t=\"combine\" frm=\"sum($12, $12)\"/></Metric>"
        "<Metric i=\"13\" n=\"x:PARTIAL:3 (I)\"><MetricFormula t=\"combine\" frm=\"min($13, $13)\"/></Metric>"
        "<Metric i=\"14\" n=\"x:PARTIAL:4 (I)\"><MetricFormula t=\"combine\" frm=\"max($14, $14)\"/></Metric>"
        "<Metric i=\"-3\" n=\"x:Sum (I)\"><MetricFormula t=\"view\" frm=\"$11\"/></Metric>"
        "<Metric i=\"-4\" n=\"x:Mean (I)\"><MetricFormula t=\"view\" frm=\"$11 / $10\"/></Metric>"
        "<Metric i=\"-5\" n=\"x:StdDev (I)\"><MetricFormula t=\"view\" frm=\"sqrt(($12 / $10) - (($11 / "
        "$10)^2))\"/>"
        "</Metric><Metric i=\"-6\" n=\"x:Min (I)\"><MetricFormula t=\"view\" "
        "frm=\"$13\"/></Metric></MetricTable>";
    static const struct {
        const char *formula;
        int combine;
    } expected[] = {{"1", LODE_COMBINE_SUM},
                    {"$$", LODE_COMBINE_SUM},
                    {"($$^2)", LODE_COMBINE_SUM},
                    {"$$", LODE_COMBINE_MIN},
                    {"$$", LODE_COMBINE_MAX}};
    struct minidraft mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    const lode_metric *metric;
    (void)state;
    minidraft_make(&mini, &(struct minidraft_options){0});
    minidraft_replace(&mini, "</MetricTable>", more);
    minidraft_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    assert_int_equal(lode_database_find_metric(db, "x", &metric, NULL), LODE_OK);
    assert_int_equal(lode_metric_statistic_count(metric), 5);
    for (uint32_t i = 0; i < 5; i++) {
        lode_metric_statistic statistic;
        assert_int_equal(lode_metric_statistic_at(metric, i, &statistic), LODE_OK);
        assert_int_equal(statistic.id, 10 + i);
        assert_string_equal(statistic.formula, expected[i].formula);
        assert_int_equal(statistic.combine, expected[i].combine);
    }
    lode_database_close(db);
    minidraft_free(&mini);
}

/* Before 2022-01 elements have no file, and calls of unknown procedures have no address. */
static void what_elements_do_not_say_is_what_is_around_them(void **state)
{
    struct minidraft mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    (void)state;
    minidraft_make(&mini, &(struct minidraft_options){0});
    minidraft_replace(&mini, "<S i=\"4\" it=\"4\" f=\"0\" l=\"11\"", "<S i=\"4\" it=\"4\" l=\"11-13\"");
    minidraft_replace(&mini, "n=\"work\" v=\"0x1129\"",
                      "n=\"&lt;unknown procedure&gt; 0x1129 [app]\" v=\"0x1129\" f=\"1\"");
    minidraft_replace(&mini, "<PF i=\"6\" s=\"8\" n=\"8\" v=\"0x1129\" f=\"0\" l=\"1\" lm=\"2\">",
                      "<PF i=\"6\" s=\"8\" n=\"8\" f=\"2147483640\" l=\"0\" lm=\"2\"><C i=\"-6\" l=\"0\" "
                      "v=\"0x1129\" it=\"6\">");
    minidraft_replace(&mini, "</PF>\n</C>\n</PF>\n</C>\n</PF>\n</C>",
                      "</PF>\n</C>\n</C></PF>\n</C>\n</PF>\n</C>");
    minidraft_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    const lode_context *context = expect_context(db, 4, LODE_LEXICAL_LINE, LODE_RELATION_LEXICAL, 3);
    assert_string_equal(lode_file_path(lode_context_file(context)), "src/app.c");
    assert_int_equal(lode_context_line(context), 11);
    context = expect_context(db, 6, LODE_LEXICAL_INSTRUCTION, LODE_RELATION_CALL, 5);
    assert_int_equal(lode_context_offset(context), 0x1129);
    assert_null(lode_context_function(context));
    expect_context(db, 7, LODE_LEXICAL_LOOP, LODE_RELATION_LEXICAL, 6);
    expect_context(db, 9, LODE_LEXICAL_FUNCTION, LODE_RELATION_INLINED, 6);
    lode_database_close(db);
    minidraft_free(&mini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_reads_the_same),
        cmocka_unit_test(a_cct_db_that_was_never_written_is_as_good_as_none),
        cmocka_unit_test(formulas_of_statistics_follow_from_their_use),
        cmocka_unit_test(what_elements_do_not_say_is_what_is_around_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
