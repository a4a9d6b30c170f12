/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparisons of real databases of different builds. */
#include "corpus.h"
#include "unit.h"
#include <lode/unstable.h>
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
    double base_share, new_share; /* percent of cost that is matched, at least */
    int fold_loops;
};

/* The facts have 99.6 to 100 % for most, and less where there are few samples. */
static const struct flat_pair flat_pairs[] = {
    {"toolkit-loops-cputime-t-v0", "toolkit-loops-cputime-t-v5", 99.6, 99.6, 0},
    {"toolkit-loops-perf-v0", "toolkit-loops-perf-v5", 100.0, 94.4, 0},
    {"toolkit-recursion-cuda-nvidiapc-t-v0", "toolkit-recursion-cuda-nvidiapc-t-v4", 99.6, 99.6, 0},
    {"viewer-loop-fork-cycles-v0", "viewer-loop-fork-cycles-v1", 99.6, 99.6, 0},
    {"hatchet-hatchet-cpi-v4-database-v0", "hatchet-hatchet-cpi-v4-database-v1", 86.8, 94.6, 0},
};

/* In tests/data: each of the two versions has one function that the other does not have. */
static const struct flat_pair own_flat_pairs[] = {{"made-old", "made-new", 92.6, 95.7, 0}},
                              own_tree_pairs[] = {{"made-old", "made-new", 91.5, 95.7, 0},
                                                  {"made-old", "made-new", 91.5, 95.7, 1}};

static void functions_of_real_pairs_are_matched(void **state)
{
    (void)state;
    bool failed = false;
    size_t count = corpus_is_own() ? sizeof own_flat_pairs / sizeof *own_flat_pairs
                                   : sizeof flat_pairs / sizeof *flat_pairs;
    for (size_t i = 0; i < count; i++) {
        const struct flat_pair *pair = corpus_is_own() ? &own_flat_pairs[i] : &flat_pairs[i];
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

/* Shares of own cost in nodes that are matched in the tree, at least. */
static const struct flat_pair tree_pairs[] = {
    {"toolkit-loops-cputime-t-v0", "toolkit-loops-cputime-t-v5", 99.7, 100.0, 0},
    {"toolkit-loops-perf-v0", "toolkit-loops-perf-v5", 100.0, 88.9, 1},
    {"toolkit-recursion-cuda-nvidiapc-t-v0", "toolkit-recursion-cuda-nvidiapc-t-v4", 100.0, 100.0, 0},
    {"viewer-loop-fork-cycles-v0", "viewer-loop-fork-cycles-v1", 100.0, 100.0, 0},
    {"hatchet-hatchet-cpi-v4-database-v0", "hatchet-hatchet-cpi-v4-database-v1", 86.8, 92.1, 1},
};

static lode_compared_tree *compare_trees(const struct run *base, const struct run *new_run, int fold_loops)
{
    lode_compared_tree *tree;
    lode_compare_tree_options options = LODE_COMPARE_TREE_OPTIONS_INIT;
    options.fold_loops = fold_loops;
    const lode_cost *costs[] = {base->cost, new_run->cost};
    assert_int_equal(lode_compare_trees(&tree, &costs[0], 1, &costs[1], 1, &options, NULL), LODE_OK);
    return tree;
}

static void show_tree(const lode_compared_tree *tree)
{
    for (uint32_t i = 0; i < lode_compared_tree_count(tree); i++) {
        lode_compare_node node;
        char name[80];
        assert_int_equal(lode_compared_tree_node(tree, i, &node, sizeof node), LODE_OK);
        lode_compared_tree_name(tree, i, name, sizeof name);
        if (node.own[0] != 0.0 || node.own[1] != 0.0)
            print_message("#  %u %*s%s (%u) %g %g, marks %u\n", i, (int)node.depth, "", name, node.parent,
                          node.own[0], node.own[1], node.marks);
    }
}

static void trees_of_real_pairs_are_matched(void **state)
{
    (void)state;
    bool failed = false;
    size_t count = corpus_is_own() ? sizeof own_tree_pairs / sizeof *own_tree_pairs
                                   : sizeof tree_pairs / sizeof *tree_pairs;
    for (size_t i = 0; i < count; i++) {
        const struct flat_pair *pair = corpus_is_own() ? &own_tree_pairs[i] : &tree_pairs[i];
        struct run base, new_run;
        open_run(&base, pair->base, NULL);
        open_run(&new_run, pair->new_run, NULL);
        lode_compared_tree *tree = compare_trees(&base, &new_run, pair->fold_loops);
        double a = 100.0 * lode_compared_tree_matched(tree, LODE_BASE),
               b = 100.0 * lode_compared_tree_matched(tree, LODE_NEW);
        print_message("# %s, %s: %.1f / %.1f %%\n", pair->base, pair->new_run, a, b);
        failed = failed || a < pair->base_share - 0.05 || b < pair->new_share - 0.05;
        if (getenv("LODE_SHOW"))
            show_tree(tree);
        lode_compared_tree_free(tree);
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

/* Own costs of the contexts of a row are its exclusive cost. */
static void check_contexts(const lode_comparison *comparison, const struct run *run, lode_compare_side side)
{
    uint32_t most = lode_database_context_count(run->db);
    const lode_context **contexts = calloc(most, sizeof *contexts);
    assert_non_null(contexts);
    for (size_t i = 0; i < lode_comparison_count(comparison); i++) {
        size_t count;
        double sum = 0.0, expected = lode_comparison_exclusive(comparison, i, side, 0, 0);
        assert_int_equal(lode_comparison_contexts(comparison, i, side, 0, contexts, most, &count, NULL),
                         LODE_OK);
        assert_true(count <= most);
        for (size_t k = 0; k < count; k++)
            sum += lode_cost_own(run->cost, contexts[k]);
        if (fabs(sum - expected) > 1e-9 * (fabs(expected) + 1e-9))
            fail_msg("%s: %g, not %g", lode_comparison_at(comparison, i)->key.name, sum, expected);
    }
    free(contexts);
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
            if (groups[k] == LODE_BY_FUNCTION)
                check_contexts(forth, &new_run, LODE_NEW);
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

/* ---- algebra of trees ---- */

/* Sums over nodes that do not depend on the order of siblings. */
struct tree_sums {
    double own[2], gross, only[2];
    uint32_t count, moved, renamed, simple;
};

static struct tree_sums sum_tree(const lode_compared_tree *tree)
{
    struct tree_sums sums = {.count = lode_compared_tree_count(tree)};
    for (uint32_t i = 0; i < sums.count; i++) {
        lode_compare_node node;
        uint32_t count;
        assert_int_equal(lode_compared_tree_node(tree, i, &node, sizeof node), LODE_OK);
        assert_true(i == 0 || node.parent < i);
        const uint32_t *children = lode_compared_tree_children(tree, i, &count);
        double inclusive[2] = {node.own[0], node.own[1]}, gross = fabs(node.own[1] - node.own[0]);
        assert_int_equal(count, node.child_count);
        for (uint32_t k = 0; k < count; k++) {
            lode_compare_node child;
            assert_int_equal(lode_compared_tree_node(tree, children[k], &child, sizeof child), LODE_OK);
            assert_int_equal(child.parent, i);
            assert_int_equal(child.depth, node.depth + 1);
            inclusive[0] += child.inclusive[0];
            inclusive[1] += child.inclusive[1];
            gross += child.gross;
        }
        assert_true(fabs(gross - node.gross) <= 1e-9 * (fabs(gross) + 1.0));
        for (unsigned side = 0; side < 2; side++) {
            assert_true(fabs(inclusive[side] - node.inclusive[side]) <= 1e-9 * (fabs(inclusive[side]) + 1.0));
            sums.own[side] += node.own[side];
        }
        assert_int_equal(node.base_context == NULL,
                         (node.marks & LODE_ONLY_IN_BASE) == 0 && (node.marks & LODE_ONLY_IN_NEW) != 0);
        sums.only[0] += node.marks & LODE_ONLY_IN_BASE ? node.own[0] : 0.0;
        sums.only[1] += node.marks & LODE_ONLY_IN_NEW ? node.own[1] : 0.0;
        sums.gross += fabs(node.own[1] - node.own[0]);
        sums.moved += (node.marks & LODE_MOVED) != 0;
        sums.renamed += (node.marks & LODE_PERHAPS_RENAMED) != 0;
        sums.simple += (node.marks & LODE_MATCHED_SIMPLE) != 0;
    }
    return sums;
}

static bool is_near(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-9 * (fabs(scale) + 1e-300);
}

static void check_trees(const struct run *base, const struct run *new_run, int fold_loops)
{
    lode_compared_tree *forth = compare_trees(base, new_run, fold_loops);
    lode_compared_tree *back = compare_trees(new_run, base, fold_loops);
    lode_compared_tree *same = compare_trees(base, base, fold_loops);
    struct tree_sums f = sum_tree(forth), b = sum_tree(back), s = sum_tree(same);
    double total[2] = {lode_cost_total(base->cost), lode_cost_total(new_run->cost)};
    for (unsigned side = 0; side < 2; side++) {
        assert_true(is_near(f.own[side], total[side], total[side]));
        assert_true(is_near(f.own[side], b.own[1 - side], total[side]));
        assert_true(is_near(f.only[side], b.only[1 - side], total[side]));
        assert_true(is_near(lode_compared_tree_matched(forth, (lode_compare_side)side),
                            lode_compared_tree_matched(back, (lode_compare_side)(1 - side)), 1.0));
    }
    assert_true(is_near(f.gross, b.gross, total[0] + total[1]));
    assert_int_equal(f.count, b.count);
    assert_int_equal(f.moved, b.moved);
    assert_int_equal(f.renamed, b.renamed);
    assert_int_equal(f.simple, b.simple);
    assert_true(s.gross == 0.0 && s.only[0] == 0.0 && s.only[1] == 0.0 && s.moved == 0);
    assert_true(lode_compared_tree_matched(same, LODE_NEW) == 1.0);
    lode_compared_tree_free(forth);
    lode_compared_tree_free(back);
    lode_compared_tree_free(same);
}

static void trees_of_real_pairs_obey_the_algebra(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tree_pairs / sizeof *tree_pairs; i++) {
        struct run base, new_run;
        open_run(&base, tree_pairs[i].base, NULL);
        open_run(&new_run, tree_pairs[i].new_run, NULL);
        check_trees(&base, &new_run, 0);
        check_trees(&base, &new_run, 1);
        close_run(&base);
        close_run(&new_run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_real_pairs_are_matched),
        cmocka_unit_test(trees_of_real_pairs_are_matched),
        cmocka_unit_test(real_pairs_obey_the_algebra),
        cmocka_unit_test(trees_of_real_pairs_obey_the_algebra),
    };
    return run_with_corpus("comparisons of real databases", tests, sizeof tests / sizeof *tests);
}
