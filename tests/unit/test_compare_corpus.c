/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparisons of real databases of different builds. */
#include "corpus.h"
#include "unit.h"
#include <lode/lode.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct run {
    lode_database *db;
    lode_cost *cost;
};

static void open_run(struct run *run, const char *name, const char *metric)
{
    char path[2048], folder[512];
    lode_error error = {0};
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    snprintf(folder, sizeof folder, "hpctoolkit/final/%s", name);
    assert_true(corpus_path(path, sizeof path, folder));
    if (lode_database_open(&run->db, path, &error) != LODE_OK)
        fail_msg("%s: %s", name, error.text);
    if (metric)
        assert_int_equal(lode_database_find_metric(run->db, metric, &options.metric, &error), LODE_OK);
    if (lode_cost_compute(&run->cost, run->db, &options, &error) != LODE_OK)
        fail_msg("%s: %s", name, error.text);
}

static void close_run(struct run *run)
{
    lode_cost_free(run->cost);
    lode_database_close(run->db);
}

static lode_comparison *compare(const struct run *base, const struct run *new_run, lode_group_by by)
{
    lode_comparison *comparison;
    lode_compare_options options = LODE_COMPARE_OPTIONS_INIT;
    const lode_cost *costs[] = {base->cost, new_run->cost};
    options.by = by;
    assert_int_equal(lode_compare(&comparison, &costs[0], 1, &costs[1], 1, 1, &options, NULL), LODE_OK);
    return comparison;
}

struct flat_pair {
    const char *base, *new_run;
    double base_share, new_share; /* percent of cost that is matched by function, at least */
};

/* The facts have 99.6 to 100 % for most, and less where there are few samples. */
static const struct flat_pair flat_pairs[] = {
    {"toolkit-loops-cputime-t-v0", "toolkit-loops-cputime-t-v5", 99.6, 99.6},
    {"toolkit-loops-perf-v0", "toolkit-loops-perf-v5", 100.0, 94.4},
    {"toolkit-recursion-cuda-nvidiapc-t-v0", "toolkit-recursion-cuda-nvidiapc-t-v4", 99.6, 99.6},
    {"viewer-loop-fork-cycles-v0", "viewer-loop-fork-cycles-v1", 99.6, 99.6},
    {"hatchet-hatchet-cpi-v4-database-v0", "hatchet-hatchet-cpi-v4-database-v1", 86.8, 94.6},
};

static void functions_of_real_pairs_are_matched(void **state)
{
    (void)state;
    bool failed = false;
    for (size_t i = 0; i < sizeof flat_pairs / sizeof *flat_pairs; i++) {
        const struct flat_pair *pair = &flat_pairs[i];
        struct run base, new_run;
        open_run(&base, pair->base, NULL);
        open_run(&new_run, pair->new_run, NULL);
        lode_comparison *comparison = compare(&base, &new_run, LODE_BY_FUNCTION);
        double a = 100.0 * lode_comparison_matched(comparison, LODE_BASE, 0),
               b = 100.0 * lode_comparison_matched(comparison, LODE_NEW, 0);
        print_message("# %s, %s: %.1f / %.1f %%\n", pair->base, pair->new_run, a, b);
        failed = failed || a < pair->base_share - 0.05 || b < pair->new_share - 0.05;
        for (size_t k = 0; getenv("LODE_SHOW") && k < lode_comparison_count(comparison); k++) {
            const lode_compare_row *row = lode_comparison_at(comparison, k);
            print_message("#   %u %g %g %s\n", row->marks,
                          lode_comparison_exclusive(comparison, k, LODE_BASE, 0, 0),
                          lode_comparison_exclusive(comparison, k, LODE_NEW, 0, 0), row->key.name);
        }
        lode_comparison_free(comparison);
        close_run(&base);
        close_run(&new_run);
    }
    assert_false(failed);
}

static const lode_group_by groups[] = {LODE_BY_FUNCTION, LODE_BY_LINE,        LODE_BY_LOOP,  LODE_BY_MODULE,
                                       LODE_BY_FILE,     LODE_BY_SOURCE_LINE, LODE_BY_SYMBOL};

/* Differences of rows, by key. */
static double difference(const lode_comparison *comparison, size_t row)
{
    return lode_comparison_exclusive(comparison, row, LODE_NEW, 0, 0) -
           lode_comparison_exclusive(comparison, row, LODE_BASE, 0, 0);
}

static void check_mirrored(const lode_comparison *forth, const lode_comparison *back)
{
    assert_int_equal(lode_comparison_count(forth), lode_comparison_count(back));
    for (size_t i = 0; i < lode_comparison_count(forth); i++) {
        const lode_compare_row *a = lode_comparison_at(forth, i), *b = lode_comparison_at(back, i);
        assert_string_equal(a->key.name, b->key.name);
        assert_true(difference(forth, i) == -difference(back, i));
        assert_int_equal(a->base_hotspot == NULL, b->new_hotspot == NULL);
        assert_int_equal(a->new_hotspot == NULL, b->base_hotspot == NULL);
        assert_int_equal(a->marks & LODE_ONLY_IN_BASE ? 1 : 0, b->marks & LODE_ONLY_IN_NEW ? 1 : 0);
        assert_int_equal(a->marks & ~3u, b->marks & ~3u);
    }
    assert_true(lode_comparison_matched(forth, LODE_BASE, 0) == lode_comparison_matched(back, LODE_NEW, 0));
    assert_true(lode_comparison_matched(forth, LODE_NEW, 0) == lode_comparison_matched(back, LODE_BASE, 0));
}

static void check_sum(const lode_comparison *comparison)
{
    double sum = 0.0, a = lode_comparison_total(comparison, LODE_BASE, 0, 0),
           b = lode_comparison_total(comparison, LODE_NEW, 0, 0);
    for (size_t i = 0; i < lode_comparison_count(comparison); i++)
        sum += difference(comparison, i);
    assert_true(fabs(sum - (b - a)) <= 1e-9 * (fabs(a) + fabs(b)));
}

static void real_pairs_obey_the_algebra(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof flat_pairs / sizeof *flat_pairs; i++) {
        struct run base, new_run;
        open_run(&base, flat_pairs[i].base, NULL);
        open_run(&new_run, flat_pairs[i].new_run, NULL);
        for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
            lode_comparison *forth = compare(&base, &new_run, groups[k]);
            lode_comparison *back = compare(&new_run, &base, groups[k]);
            lode_comparison *same = compare(&base, &base, groups[k]);
            check_mirrored(forth, back);
            if (groups[k] != LODE_BY_LOOP)
                check_sum(forth);
            for (size_t row = 0; row < lode_comparison_count(same); row++) {
                assert_true(difference(same, row) == 0.0);
                assert_int_equal(lode_comparison_at(same, row)->marks, 0);
            }
            assert_true(lode_comparison_matched(same, LODE_BASE, 0) == 1.0);
            lode_comparison_free(forth);
            lode_comparison_free(back);
            lode_comparison_free(same);
        }
        close_run(&base);
        close_run(&new_run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_real_pairs_are_matched),
        cmocka_unit_test(real_pairs_obey_the_algebra),
    };
    return run_with_corpus("comparisons of real databases", tests, sizeof tests / sizeof *tests);
}
