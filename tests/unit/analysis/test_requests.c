/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements without their values, Fisher's exact test and ranks, as diagnose uses them. */
#include "analysis/diagnose/requests/facts.h"
#include "analysis/diagnose/requests/statement.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct sample {
    const char *text, *normalised;
    bool has_parameters;
} samples[] = {
    {"SELECT a FROM b WHERE id = 17", "SELECT a FROM b WHERE id = ?", false},
    {"SELECT a FROM b WHERE id=17 AND n = 'it''s'", "SELECT a FROM b WHERE id=? AND n = ?", false},
    {"SELECT a FROM b WHERE n = 'a\\'b' LIMIT 3", "SELECT a FROM b WHERE n = ? LIMIT ?", false},
    {"SELECT  a\n\tFROM b ", "SELECT a FROM b", false},
    {"SELECT a FROM t1 JOIN t_2", "SELECT a FROM t1 JOIN t_2", false},
    {"IN (1, 2,3 , 'x')", "IN (?)", false},
    {"IN (1)", "IN (?)", false},
    {"VALUES (1, a, 2)", "VALUES (?, a, ?)", false},
    {"WHERE x = ? AND y IN (?, ?)", "WHERE x = ? AND y IN (?)", true},
    {"WHERE x = $1 AND y = $23", "WHERE x = ? AND y = ?", true},
    {"WHERE x = :name AND t::date = 1", "WHERE x = ? AND t::date = ?", true},
    {"WHERE x = %s", "WHERE x = ?", true},
    {"/* trace 9f */ SELECT 1.5e3 -- why\nFROM x", "SELECT ? FROM x", false},
    {"SELECT 1 /* open", "SELECT ?", false},
    {"SELECT 'open", "SELECT ?", false},
    {"http://a/item/123/price", "http://a/item/?/price", false},
    {"http://a/550e8400-e29b-41d4-a716-446655440000/x", "http://a/?/x", false},
    {"http://a/deadbeef01/face/deadbeef", "http://a/?/face/deadbeef", false},
    {"http://a/x?id=7&q=ab", "http://a/x?id=?&q=ab", false},
    {"0xff and 12abc", "? and ?", false},
    {"caf\xc3\xa9 9", "caf\xc3\xa9 ?", false},
    {"", "", false},
    {"?", "?", true},
    {"/*", "", false},
    {"/*/", "", false},
    {"'", "?", false},
};

static void statements_lose_their_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char out[256];
        bool has_parameters = false;
        lode_diagnose_normalise_statement(samples[i].text, strlen(samples[i].text), out, sizeof out,
                                          &has_parameters);
        if (strcmp(out, samples[i].normalised) != 0 || has_parameters != samples[i].has_parameters)
            fail_msg("'%s' is '%s' (%d), not '%s'", samples[i].text, out, has_parameters,
                     samples[i].normalised);
    }
}

/* Whatever the capacity, it ends with a zero byte and has the same beginning. */
static void long_statements_are_cut(void **state)
{
    char whole[256], part[256];
    bool ignored;
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        size_t length = strlen(samples[i].text);
        lode_diagnose_normalise_statement(samples[i].text, length, whole, sizeof whole, &ignored);
        for (size_t capacity = 1; capacity < 40; capacity++) {
            memset(part, 'x', sizeof part);
            lode_diagnose_normalise_statement(samples[i].text, length, part, capacity, &ignored);
            assert_true(strlen(part) < capacity);
        }
    }
}

static double choose(unsigned n, unsigned k)
{
    double result = 1;
    for (unsigned i = 0; i < k; i++)
        result = result * (n - i) / (i + 1);
    return k > n ? 0 : result;
}

static void fishers_test_counts_all_ways(void **state)
{
    (void)state;
    for (unsigned total = 1; total <= 14; total++)
        for (unsigned marked = 0; marked <= total; marked++)
            for (unsigned size = 0; size <= total; size++)
                for (unsigned hits = 0; hits <= size + 1; hits++) {
                    double sum = 0;
                    for (unsigned k = hits; k <= size && k <= marked; k++)
                        sum += choose(marked, k) * choose(total - marked, size - k);
                    double wanted = sum / choose(total, size);
                    double got = lode_diagnose_hypergeometric_tail(hits, size, marked, total);
                    if (fabs(got - wanted) > 1e-10)
                        fail_msg("%u of %u, %u of %u: %g, not %g", hits, size, marked, total, got, wanted);
                }
    /* Far tails neither vanish nor become certain. */
    double far_away = lode_diagnose_hypergeometric_tail(100, 200, 1000, 1000000);
    assert_true(far_away > 0 && far_away < 1e-100);
    assert_true(lode_diagnose_hypergeometric_tail(1, 100000, 100000, 1000000) > 0.999999);
}

static void ranks_of_equal_values_are_means(void **state)
{
    static const double x[] = {1, 2, 2, 3, 5}, y[] = {1, 3, 2, 2, 9}, same[] = {4, 4, 4, 4, 4};
    lode_error error = {0};
    double r = 0;
    (void)state;
    assert_int_equal(lode_diagnose_rank_correlation(&r, x, y, 5, &error), LODE_OK);
    /* Ranks 1 2.5 2.5 4 5 and 1 4 2.5 2.5 5, by hand. */
    assert_true(fabs(r - 7.25 / 9.5) < 1e-12);
    assert_int_equal(lode_diagnose_rank_correlation(&r, x, same, 5, &error), LODE_OK);
    assert_true(r == 0);
    assert_int_equal(lode_diagnose_rank_correlation(&r, x, x, 5, &error), LODE_OK);
    assert_true(fabs(r - 1) < 1e-12);
}

static void quantiles_lie_between_neighbours(void **state)
{
    static const uint64_t values[] = {10, 20, 40, 80};
    (void)state;
    assert_true(lode_diagnose_quantile_of_sorted(values, 4, 0.25) == 17.5);
    assert_true(lode_diagnose_quantile_of_sorted(values, 4, 0.5) == 30);
    assert_true(lode_diagnose_quantile_of_sorted(values, 4, 1) == 80);
    assert_true(lode_diagnose_quantile_of_sorted(values, 1, 0.75) == 10);
    assert_true(lode_diagnose_quantile_of_sorted(values, 0, 0.5) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_lose_their_values),     cmocka_unit_test(long_statements_are_cut),
        cmocka_unit_test(fishers_test_counts_all_ways),     cmocka_unit_test(ranks_of_equal_values_are_means),
        cmocka_unit_test(quantiles_lie_between_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
