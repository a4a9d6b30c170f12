/* SPDX-License-Identifier: BSD-3-Clause */
/* Call trees, their views and neighbours, against numbers derived by hand and calls by function. */
#include "analysis/calls/calltree.h"
#include "made_recording.h"
#include "unit.h"
#include <lode/calltree.h>
#include <lode/hotspot.h>
#include <lode/name.h>
#include <lode/view.h>
#include <stdlib.h>
#include <string.h>

static lode_calltree *compute(const lode_recording *recording, const lode_slice *slice, unsigned threads)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_calltree *tree;
    lode_error error = {0};
    options.threads = threads;
    if (lode_calltree_compute(&tree, recording, slice, &options, &error) != LODE_OK)
        fail_msg("%s", error.text);
    return tree;
}

/* One line for each context: indented by depth, name, calls, total, self. */
static char *transcript(const lode_calltree *tree)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    for (uint32_t i = 1; i < tree->contexts.count; i++) {
        const lode_context *context = &tree->contexts.nodes[i];
        char label[64];
        lode_context_label(context, label, sizeof label);
        fprintf(stream, "%*s%s %llu %llu %llu\n", (int)context->depth - 1, "", label,
                (unsigned long long)tree->calls[i], (unsigned long long)tree->total[i],
                (unsigned long long)tree->self[i]);
    }
    fclose(stream);
    return text;
}

static void check_tree(const lode_calltree *tree, const char *expected)
{
    char *text = transcript(tree);
    assert_string_equal(text, expected);
    free(text);
}

/* main calls f twice and g once; f calls g, and itself. */
#define TRACK "main( 10 g( 1 ) f( 5 g( 20 ) 5 ) 10 f( 4 f( 6 ) ) 9 )"

static void contexts_have_calls_total_and_self(void **state)
{
    lode_recording *recording = made_recording(2);
    (void)state;
    made_track(recording, 0, 0, TRACK);
    made_track(recording, 1, 0, "f( 7 ) main( g( 2 ) [ 3 ] )");
    lode_calltree *tree = compute(recording, NULL, 2);
    check_tree(tree, "f 1 7 7\n"
                     "main 2 75 29\n"
                     " f 2 40 14\n"
                     "  f 1 6 6\n"
                     "  g 1 20 20\n"
                     " g 2 3 3\n"
                     " off 1 3 3\n");
    assert_int_equal(lode_calltree_context_count(tree), 8);
    const lode_cost *cost = lode_calltree_cost(tree);
    const lode_context *root = &tree->contexts.nodes[0];
    assert_null(lode_cost_database(cost));
    assert_null(lode_cost_metric(cost));
    assert_true(lode_cost_total(cost) == 82.0 && lode_cost_own(cost, root) == 0.0);
    assert_int_equal(lode_context_lexical(root), LODE_LEXICAL_GLOBAL);
    assert_int_equal(lode_context_subtree_size(root), 8);
    lode_calltree_free(tree);
    lode_recording_close(recording);
}

/* One track for each worker, so that trees are merged. */
static void calls_are_a_cost_without_off_cpu_time(void **state)
{
    static const double own[] = {0, 1, 2, 2, 1, 1, 2, 0}, inclusive[] = {9, 1, 8, 4, 1, 1, 2, 0};
    lode_recording *recording = made_recording(3);
    lode_cost *cost;
    lode_error error = {0};
    (void)state;
    made_track(recording, 0, 0, TRACK);
    made_track(recording, 1, 0, "f( 7 ) main( g( 2 ) [ 3 ] )");
    for (unsigned threads = 1; threads < 4; threads++) {
        lode_calltree *tree = compute(recording, NULL, threads);
        assert_int_equal(lode_calltree_calls(&cost, tree, &error), LODE_OK);
        assert_int_equal(lode_calltree_context_count(tree), 8);
        for (uint32_t i = 0; i < 8; i++) {
            assert_true(lode_cost_own(cost, &tree->contexts.nodes[i]) == own[i]);
            assert_true(lode_cost_inclusive(cost, &tree->contexts.nodes[i]) == inclusive[i]);
        }
        assert_null(lode_cost_database(cost));
        lode_cost_free(cost);
        lode_calltree_free(tree);
    }
    lode_recording_close(recording);
}

static void the_tree_is_consistent(void **state)
{
    lode_recording *recording = made_recording(5);
    uint64_t seed = 99;
    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        made_random_track(recording, i, &seed, 1000);
    lode_calltree *tree = compute(recording, NULL, 3);
    const lode_context *nodes = tree->contexts.nodes;
    assert_true(tree->contexts.count > 1000);
    for (uint32_t i = 0; i < tree->contexts.count; i++) {
        uint64_t inside = 0;
        uint32_t size = 1;
        const lode_context *before = NULL;
        for (const lode_context *child = lode_context_first_child(&nodes[i]); child;
             child = lode_context_next_sibling(child)) {
            assert_int_equal(child->parent, i);
            assert_int_equal(child->depth, nodes[i].depth + 1);
            assert_true(before == NULL || strcmp(before->function->name, child->function->name) < 0);
            inside += tree->total[child->index];
            size += child->subtree_size;
            before = child;
        }
        assert_int_equal(nodes[i].index, i);
        assert_int_equal(nodes[i].subtree_size, size);
        assert_int_equal(tree->total[i], tree->self[i] + inside);
    }
    lode_calltree_free(tree);
    lode_recording_close(recording);
}

static void threads_do_not_change_the_tree(void **state)
{
    lode_recording *recording = made_recording(17);
    lode_slice slices[] = {LODE_SLICE_INIT, LODE_SLICE_INIT};
    uint64_t seed = 5;
    (void)state;
    for (uint32_t i = 0; i < 17; i++)
        made_random_track(recording, i, &seed, 60 * (i % 7));
    slices[1].from = 3000;
    slices[1].depth = 5;
    slices[1].min_time = 10;
    for (size_t k = 0; k < 2; k++) {
        lode_calltree *tree = compute(recording, &slices[k], 1);
        char *expected = transcript(tree);
        lode_calltree_free(tree);
        for (unsigned threads = 2; threads < 8; threads += 5) {
            tree = compute(recording, &slices[k], threads);
            check_tree(tree, expected);
            lode_calltree_free(tree);
        }
        free(expected);
    }
    lode_recording_close(recording);
}

/* Functions are in the order of lode_calls_compute, whichever came first. */
static void the_tree_agrees_with_the_calls(void **state)
{
    lode_recording *recording = made_recording(4);
    uint64_t seed = 11;
    lode_calls *calls;
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        made_random_track(recording, i, &seed, 800);
    lode_calltree *tree = compute(recording, NULL, 2);
    assert_int_equal(lode_calls_compute(&calls, recording, NULL, NULL, NULL), LODE_OK);
    for (size_t i = 0; i < lode_calls_count(calls); i++) {
        const lode_call_row *row = lode_calls_at(calls, i);
        uint64_t count = 0, total = 0, self = 0;
        uint32_t outermost_end = 0;
        for (uint32_t k = 1; k < tree->contexts.count; k++) {
            const lode_context *context = &tree->contexts.nodes[k];
            if (context->function != row->function)
                continue;
            count += tree->calls[k];
            self += tree->self[k];
            if (k < outermost_end)
                continue;
            total += tree->total[k];
            outermost_end = k + context->subtree_size;
        }
        assert_int_equal(count, row->calls);
        assert_int_equal(total, row->total);
        assert_int_equal(self, row->self);
    }
    lode_calls_free(calls);
    lode_calltree_free(tree);
    lode_recording_close(recording);
}

static void slices_make_smaller_trees(void **state)
{
    lode_recording *recording = made_recording(1);
    lode_slice slice = LODE_SLICE_INIT;
    (void)state;
    made_track(recording, 0, 0, TRACK);
    slice.depth = 2;
    lode_calltree *tree = compute(recording, &slice, 1);
    check_tree(tree, "main 1 70 29\n f 2 40 40\n g 1 1 1\n");
    lode_calltree_free(tree);
    slice.depth = 0;
    slice.from = 54;
    slice.to = 56;
    tree = compute(recording, &slice, 1);
    check_tree(tree, "main 1 2 0\n f 1 2 1\n  f 1 1 1\n");
    lode_calltree_free(tree);
    slice.from = 100;
    slice.to = 0;
    tree = compute(recording, &slice, 1);
    assert_int_equal(lode_calltree_context_count(tree), 1);
    lode_calltree_free(tree);
    lode_recording_close(recording);
}

static void a_deep_chain_needs_no_stack(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        made_enter(recording, 0, i, i % 2 ? "odd" : "even");
    for (uint64_t i = 1000; i-- > 0;)
        made_leave(recording, 0, 2000 - i, i % 2 ? "odd" : "even");
    lode_calltree *tree = compute(recording, NULL, 1);
    assert_int_equal(lode_calltree_context_count(tree), 1001);
    assert_int_equal(tree->contexts.nodes[1000].depth, 1000);
    assert_int_equal(tree->total[1], 2000);
    lode_calltree_free(tree);
    lode_recording_close(recording);
}

/* ---- views ---- */

static void check_view(const lode_calltree *tree, const lode_view_options *options, const char *expected)
{
    lode_view *view;
    char text[1024] = "";
    assert_int_equal(lode_view_build(&view, lode_calltree_cost(tree), options, NULL), LODE_OK);
    for (size_t i = 0; i < lode_view_count(view); i++) {
        const lode_view_row *row = lode_view_at(view, i);
        char label[64], line[128];
        lode_context_label(row->context, label, sizeof label);
        snprintf(line, sizeof line, "%*s%s %llu %g %g\n", (int)row->depth, "", label,
                 (unsigned long long)row->calls, row->inclusive, row->exclusive);
        strcat(text, line);
    }
    assert_string_equal(text, expected);
    lode_view_free(view);
}

static void views_show_calls(void **state)
{
    lode_recording *recording = made_recording(2);
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    (void)state;
    made_track(recording, 0, 0, TRACK);
    made_track(recording, 1, 0, "f( 7 zero( ) )");
    lode_calltree *tree = compute(recording, NULL, 1);
    options.min_fraction = 0.0;
    check_view(tree, &options,
               "main 1 70 29\n"
               " f 2 40 14\n"
               "  g 1 20 20\n"
               "  f 1 6 6\n"
               " g 1 1 1\n"
               "f 1 7 7\n"
               " zero 1 0 0\n");
    options.focus = "f";
    /* Outermost contexts of f, wherever they are. */
    check_view(tree, &options,
               "f 3 47 21\n"
               " g 1 20 20\n"
               " f 1 6 6\n"
               " zero 1 0 0\n");
    options.focus = "g";
    options.mode = LODE_VIEW_CALLERS;
    check_view(tree, &options,
               "g 0 21 21\n"
               " f 0 20 0\n"
               "  main 0 20 0\n"
               " main 0 1 0\n");
    lode_calltree_free(tree);
    lode_recording_close(recording);
}

/* ---- neighbours ---- */

static void check_neighbours(const lode_calltree *tree, const char *name, lode_neighbour which,
                             const char *expected)
{
    lode_neighbours *neighbours;
    char text[1024] = "";
    assert_int_equal(lode_neighbours_compute(&neighbours, tree, name, which, NULL), LODE_OK);
    for (size_t i = 0; i < lode_neighbours_count(neighbours); i++) {
        const lode_neighbour_row *row = lode_neighbours_at(neighbours, i);
        char line[128];
        snprintf(line, sizeof line, "%s %llu %llu %llu\n",
                 row->function ? lode_function_name(row->function) : "-", (unsigned long long)row->calls,
                 (unsigned long long)row->total, (unsigned long long)row->self);
        strcat(text, line);
    }
    assert_null(lode_neighbours_at(neighbours, lode_neighbours_count(neighbours)));
    assert_string_equal(text, expected);
    lode_neighbours_free(neighbours);
}

static void callers_and_callees(void **state)
{
    lode_recording *recording = made_recording(2);
    (void)state;
    made_track(recording, 0, 0, TRACK);
    made_track(recording, 1, 0, "f( 7 )");
    lode_calltree *tree = compute(recording, NULL, 1);
    check_neighbours(tree, "f", LODE_CALLERS, "main 2 40 14\n- 1 7 7\nf 1 6 6\n");
    check_neighbours(tree, "f", LODE_CALLEES, "g 1 20 20\nf 1 6 6\n");
    check_neighbours(tree, "g", LODE_CALLERS, "f 1 20 20\nmain 1 1 1\n");
    check_neighbours(tree, "g", LODE_CALLEES, "");
    check_neighbours(tree, "main", LODE_CALLERS, "- 1 70 29\n");
    check_neighbours(tree, "main", LODE_CALLEES, "f 2 40 14\ng 1 1 1\n");
    lode_calltree_free(tree);
    lode_recording_close(recording);
}

static void recursion_counts_once_in_a_row(void **state)
{
    lode_recording *recording = made_recording(1);
    (void)state;
    /* f, f, f one inside the other; then f, g, f, g. */
    made_track(recording, 0, 0, "f( 1 f( 2 f( 4 ) ) ) f( 1 g( 2 f( 4 g( 8 ) ) ) )");
    lode_calltree *tree = compute(recording, NULL, 1);
    check_neighbours(tree, "f", LODE_CALLERS, "- 2 22 2\ng 1 12 4\nf 2 6 6\n");
    check_neighbours(tree, "f", LODE_CALLEES, "g 2 14 10\nf 2 6 6\n");
    check_neighbours(tree, "g", LODE_CALLERS, "f 2 14 10\n");
    lode_calltree_free(tree);
    lode_recording_close(recording);
}

static void names_match_whole_before_in_part(void **state)
{
    lode_recording *recording = made_recording(1);
    lode_neighbours *neighbours;
    lode_error error;
    (void)state;
    made_track(recording, 0, 0, "a( read( 1 ) ) b( reader( 2 ) ) c( _ZN4disk4readEi( 4 ) )");
    lode_calltree *tree = compute(recording, NULL, 1);
    check_neighbours(tree, "read", LODE_CALLERS, "a 1 1 1\n");
    check_neighbours(tree, "rea", LODE_CALLERS, "c 1 4 4\nb 1 2 2\na 1 1 1\n");
    check_neighbours(tree, "READER", LODE_CALLERS, "b 1 2 2\n");
    check_neighbours(tree, "disk::read", LODE_CALLERS, "c 1 4 4\n");
    check_neighbours(tree, "_ZN4disk4readEi", LODE_CALLERS, "c 1 4 4\n");
    assert_int_equal(lode_neighbours_compute(&neighbours, tree, "write", LODE_CALLERS, &error),
                     LODE_NOT_FOUND);
    assert_null(neighbours);
    lode_calltree_free(tree);
    lode_recording_close(recording);
}

static void an_empty_recording_has_a_root(void **state)
{
    lode_recording *recording = made_recording(2);
    lode_neighbours *neighbours;
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    (void)state;
    lode_calltree *tree = compute(recording, NULL, 0);
    assert_int_equal(lode_calltree_context_count(tree), 1);
    check_view(tree, &options, "");
    assert_int_equal(lode_neighbours_compute(&neighbours, tree, "f", LODE_CALLEES, NULL), LODE_NOT_FOUND);
    lode_calltree_free(tree);
    lode_recording_close(recording);
    lode_calltree_free(NULL);
    lode_neighbours_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_have_calls_total_and_self),
        cmocka_unit_test(calls_are_a_cost_without_off_cpu_time),
        cmocka_unit_test(the_tree_is_consistent),
        cmocka_unit_test(threads_do_not_change_the_tree),
        cmocka_unit_test(the_tree_agrees_with_the_calls),
        cmocka_unit_test(slices_make_smaller_trees),
        cmocka_unit_test(a_deep_chain_needs_no_stack),
        cmocka_unit_test(views_show_calls),
        cmocka_unit_test(callers_and_callees),
        cmocka_unit_test(recursion_counts_once_in_a_row),
        cmocka_unit_test(names_match_whole_before_in_part),
        cmocka_unit_test(an_empty_recording_has_a_root),
    };
    return cmocka_run_group_tests_name("calltree", tests, NULL, NULL);
}
