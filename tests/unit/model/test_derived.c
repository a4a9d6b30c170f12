/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas over metrics: what they mean, what is refused, and what a taxonomy defines. */
#include "minidb.h"
#include "model/database/derived.h"
#include "unit.h"
#include <lode/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct minidb mini;
static lode_database *db;

static int open_database(void **state)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    lode_memory_file files[HPCT_FILES];
    (void)state;
    minidb_make(&mini, &options);
    minidb_files(&mini, files);
    return lode_database_open_memory(&db, files, HPCT_FILES, NULL) != LODE_OK;
}

static int close_database(void **state)
{
    (void)state;
    lode_database_close(db);
    minidb_free(&mini);
    return 0;
}

/* The value of a formula for 6 of metric 0 and 4 of metric 1. */
static int value_of(const char *text, double *value)
{
    lode_derived *derived;
    lode_error error = {0};
    double values[2];
    if (lode_derived_parse(&derived, db, NULL, text, &error) != LODE_OK)
        fail_msg("%s: %s", text, error.text);
    for (size_t i = 0; i < lode_derived_metric_count(derived); i++)
        values[i] = lode_metric_index(lode_derived_metric(derived, i)) == 0 ? 6 : 4;
    int has_value = lode_derived_value(derived, values, value);
    lode_derived_free(derived);
    return has_value;
}

static void formulas_have_their_usual_meaning(void **state)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"$0 + $1", 10},
        {"$0-$1-1", 1},
        {"$0 / $1 / 2", 0.75},
        {"2 + 3 * $0", 20},
        {"(2 + 3) * $0", 30},
        {"-$0 + 1", -5},
        {"--$0", 6},
        {"2 * -$1", -8},
        {"min($0, $1)", 4},
        {"max($0, $1, 100)", 100},
        {"MIN(3)", 3},
        {"min($0, max(1, 2)) * 2", 4},
        {"1e2 * $1", 400},
        {".5*$1", 2},
        {"  $0  ", 6},
        {"$0", 6},
        {"min($0 - 10, 0)", -4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value;
        assert_true(value_of(cases[i].text, &value));
        assert_float_equal(value, cases[i].value, 1e-12);
    }
}

static void metrics_have_names(void **state)
{
    char text[600];
    const char *first = lode_metric_name(lode_database_metric(db, 0));
    const char *second = lode_metric_name(lode_database_metric(db, 1));
    static const char *const forms[] = {"%s/%s", "'%s' / \"%s\"", "( %s )/( %s )", "%s*1/(%s)"};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        double value;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, forms[i], first, second);
#pragma GCC diagnostic pop
        assert_true(value_of(text, &value));
        assert_float_equal(value, 1.5, 1e-12);
    }
}

static void a_division_by_zero_has_no_value(void **state)
{
    static const char *const texts[] = {"$0/0",        "1/($0-6)",    "0/0",         "1+1/0",
                                        "min(1, 1/0)", "max(1/0, 2)", "1e308*10*$0", "0*(1/0)"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value = 7;
        assert_false(value_of(texts[i], &value));
        assert_true(value == 0.0);
    }
}

static void what_is_no_formula_is_refused(void **state)
{
    static const char *const texts[] = {
        "",     "+",     "$0 +",    "($0", "$0)",      "min(",     "min()",  "min($0",     "$",
        "$999", "$0 $1", "'x",      "''",  "$0 // $1", "1e999*$0", "no/way", "$-1",        "max($0,)",
        "2^$0", "($0))", "nothing", "((",  "\"",       "-",        "*",      "min($0 $1)", "$0;$1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lode_derived *derived;
        lode_error error = {0};
        assert_true(lode_derived_parse(&derived, db, NULL, texts[i], &error) != LODE_OK);
        assert_null(derived);
        assert_true(error.text[0] != '\0');
    }
    lode_derived_free(NULL);
}

/* Repeats a text, between a beginning and an end. */
static char *repeat(const char *begin, const char *part, size_t times, const char *end)
{
    char *text = calloc(strlen(begin) + times * strlen(part) + strlen(end) + 1, 1), *at = text;
    assert_non_null(text);
    at = stpcpy(at, begin);
    for (size_t i = 0; i < times; i++)
        at = stpcpy(at, part);
    stpcpy(at, end);
    return text;
}

static void formulas_have_limits(void **state)
{
    static const struct {
        const char *begin, *part, *end;
    } cases[] = {{"$0", "+1", ""}, {"", "(", "$0"},     {"", "-", "$0"}, {"min(1", ",1", ")"},
                 {"", "1+(", "1"}, {"", "min(1,", "1"}, {"'", "x", "'"}, {"", "x", "/1"}};
    static const size_t times[] = {10, 100, 1000, 4000, 100000};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            char *text = repeat(cases[i].begin, cases[i].part, times[k], cases[i].end);
            lode_derived *derived;
            double value, values[32] = {0};
            lode_status status = lode_derived_parse(&derived, db, NULL, text, NULL);
            assert_true(status == LODE_OK || derived == NULL);
            if (status == LODE_OK)
                lode_derived_value(derived, values, &value);
            if (strlen(text) > 4096)
                assert_true(status != LODE_OK);
            lode_derived_free(derived);
            free(text);
        }
    }
}

static lode_derived_list *list_of(const char *text)
{
    lode_derived_list *list;
    assert_int_equal(lode_derived_list_open(&list, db, NULL, NULL), LODE_OK);
    assert_int_equal(lode_derived_list_count(list), 0);
    assert_int_equal(lode_taxonomy_read(list, db, text, strlen(text), NULL), LODE_OK);
    return list;
}

/* As hpcprof lays it out; the names of metrics are those of the database. */
static char *taxonomy(const char *formula)
{
    static char text[8192];
    snprintf(
        text, sizeof text,
        "version: 0\ninputs:\n"
        "  - &a-execution\n    metric: %s\n    scope: execution\n    formula: $$\n    combine: sum\n"
        "  - &b-execution\n    metric: %s\n    scope: execution\n    formula: $$\n    combine: sum\n"
        "  - &b-function\n    metric: %s\n    scope: function\n    formula: $$\n    combine: sum\n"
        "  - &b-max\n    metric: %s\n    scope: execution\n    formula: $$\n    combine: max\n"
        "roots:\n  - name: Outer\n    description: \"what it is\"\n    variants:\n      Sum:\n"
        "        render: [number]\n        formula:\n          inclusive:\n            standard: *a-execution\n"
        "    children:\n      - name: Inner\n        description: the quotient\n        variants:\n"
        "          \"\":\n            formula:\n              inclusive:\n                standard: %s\n",
        lode_metric_name(lode_database_metric(db, 0)), lode_metric_name(lode_database_metric(db, 1)),
        lode_metric_name(lode_database_metric(db, 1)), lode_metric_name(lode_database_metric(db, 1)),
        formula);
    return text;
}

static void formulas_of_a_taxonomy_are_read(void **state)
{
    static const struct {
        const char *flow;
        double value;
    } cases[] = {
        {"{/: [*a-execution, *b-execution]}", 1.5},
        {"{\"*\": [100, {\"/\": [*a-execution, *b-execution]}]}", 150},
        {"{+: [*a-execution, *b-execution, 1]}", 11},
        {"{min: [100, {max: [0, *b-execution]}]}", 4},
        {"[*a-execution, /, *b-execution]", 1.5},
        {"{-: [{/: [*a-execution, 2]}, 1]}", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lode_derived_list *list = list_of(taxonomy(cases[i].flow));
        assert_int_equal(lode_derived_list_count(list), 1);
        const lode_derived *found = lode_derived_list_at(list, 0);
        assert_string_equal(lode_derived_name(found), "Inner");
        assert_string_equal(lode_derived_description(found), "the quotient");
        double value;
        assert_true(value_of(lode_derived_formula(found), &value));
        assert_float_equal(value, cases[i].value, 1e-12);
        lode_derived *named;
        assert_int_equal(lode_derived_parse(&named, db, list, "inner", NULL), LODE_OK);
        assert_string_equal(lode_derived_name(named), "Inner");
        lode_derived_free(named);
        lode_derived_list_close(list);
    }
}

static void what_a_taxonomy_has_otherwise_is_skipped(void **state)
{
    static const char *const flows[] = {
        "*a-execution",
        "{/: [*a-execution, *nothing]}",
        "{/: [*a-execution, *b-max]}",
        "{/: [*a-execution, *b-function]}",
        "{^: [*a-execution, 2]}",
        "{/: [*a-execution, *b-execution]",
        "{/: *a-execution}",
        "{/: [name, 2]}",
        "[*a-execution, *b-execution]",
        "{}",
        "[",
        "{/: [}]",
        "{/: []}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
        lode_derived_list *list = list_of(taxonomy(flows[i]));
        assert_int_equal(lode_derived_list_count(list), 0);
        lode_derived_list_close(list);
    }
    char *deep = repeat("{+: [", "[", 2000, "");
    lode_derived_list *list = list_of(taxonomy(deep));
    assert_int_equal(lode_derived_list_count(list), 0);
    lode_derived_list_close(list);
    free(deep);
}

/* Accumulators of the corpus have means; a database without a directory has no taxonomy. */
static void a_database_without_a_taxonomy_has_none(void **state)
{
    lode_derived_list *list;
    (void)state;
    assert_int_equal(lode_derived_list_open(&list, db, "/nonexistent", NULL), LODE_OK);
    assert_int_equal(lode_derived_list_count(list), 0);
    assert_null(lode_derived_list_at(list, 0));
    assert_null(lode_metric_counted_by(db, lode_database_metric(db, 0)));
    lode_derived_list_close(list);
    lode_derived_list_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_have_their_usual_meaning),
        cmocka_unit_test(metrics_have_names),
        cmocka_unit_test(a_division_by_zero_has_no_value),
        cmocka_unit_test(what_is_no_formula_is_refused),
        cmocka_unit_test(formulas_have_limits),
        cmocka_unit_test(formulas_of_a_taxonomy_are_read),
        cmocka_unit_test(what_a_taxonomy_has_otherwise_is_skipped),
        cmocka_unit_test(a_database_without_a_taxonomy_has_none),
    };
    return cmocka_run_group_tests(tests, open_database, close_database);
}
