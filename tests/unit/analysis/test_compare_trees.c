/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comparisons of generated trees: a program, and the same after changes. Costs are whole numbers,
 * so that sums are exact and equal means equal.
 */
#include "analysis/cost/cost.h"
#include "model/database/context.h"
#include "unit.h"
#include <lode/unstable.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODES_MAX = 400,
    NAMES = 24,
    SEEDS = 1600,
    TEXT = 512
};

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* ---- trees ---- */

static lode_file files[2] = {{.index = 0, .path = "/src/a.c"}, {.index = 1, .path = "/src/b.c"}};
static lode_module module = {.index = 0, .path = "/bin/app-1.2.so"};
static char names[2 * NAMES][64];
static lode_function functions[2 * NAMES];

/* Functions, and the same under names that only another build has. */
static void make_functions(void)
{
    for (uint32_t i = 0; i < 2 * NAMES; i++) {
        uint32_t which = i % NAMES;
        bool other = i >= NAMES;
        if (which % 6 == 0)
            snprintf(names[i], sizeof names[i], "f%u<%s>(int)", which, other ? "long" : "int");
        else if (which % 6 == 1)
            snprintf(names[i], sizeof names[i], "f%u%s", which, other ? ".isra.0" : "");
        else if (which % 6 == 2)
            snprintf(names[i], sizeof names[i], "%c%u", other ? 'r' : 'f', which);
        else if (which % 6 == 3)
            snprintf(names[i], sizeof names[i], "f%u._omp_fn.%u", which % 12, which + other);
        else
            snprintf(names[i], sizeof names[i], "f%u", which);
        functions[i] = (lode_function){.index = i,
                                       .identity = i,
                                       .name = names[i],
                                       .module = &module,
                                       .offset = i,
                                       .file = &files[which % 2],
                                       .line = 100 * which + (other ? 7 : 0)};
    }
}

/* A tree as parents, and what its nodes are: a function, or a loop. */
struct plan {
    uint32_t count;
    uint32_t parent[NODES_MAX];
    uint32_t function[NODES_MAX]; /* UINT32_MAX: a loop */
    uint32_t line[NODES_MAX];
    double own[NODES_MAX];
};

struct tree {
    lode_context nodes[NODES_MAX];
    double own[NODES_MAX], inclusive[NODES_MAX];
    struct lode_context_tree tree;
    lode_cost cost;
};

static void make_plan(struct plan *plan, uint64_t *random)
{
    plan->count = 2 + next_random(random) % (NODES_MAX / 4);
    plan->own[0] = 0.0;
    for (uint32_t i = 1; i < plan->count; i++) {
        bool is_loop = i > 2 && next_random(random) % 4 == 0;
        plan->parent[i] = i == 1 ? 0 : 1 + next_random(random) % (i - 1);
        plan->function[i] = is_loop ? UINT32_MAX : next_random(random) % NAMES;
        plan->line[i] = next_random(random) % 90;
        plan->own[i] = next_random(random) % 3 ? next_random(random) % 1000 : 0.0;
    }
}

/* Changes costs; renames functions; leaves out nodes, but not their children; adds nodes. */
static void change_plan(struct plan *to, const struct plan *from, uint64_t *random)
{
    uint32_t place[NODES_MAX] = {0};
    to->count = 1;
    to->own[0] = 0.0;
    for (uint32_t i = 1; i < from->count; i++) {
        uint32_t dice = next_random(random) % 16, parent = place[from->parent[i]];
        if (dice == 0 && i > 1) {
            place[i] = parent;
            continue;
        }
        if (dice == 1 && to->count + 2 < NODES_MAX) {
            to->parent[to->count] = parent;
            to->function[to->count] = next_random(random) % (2 * NAMES);
            to->line[to->count] = 1;
            to->own[to->count] = next_random(random) % 50;
            parent = to->count++;
        }
        uint32_t function = from->function[i];
        to->parent[to->count] = parent;
        to->function[to->count] =
            function == UINT32_MAX || dice > 3 ? function : (function + NAMES) % (2 * NAMES);
        to->line[to->count] = from->line[i] + (dice == 4);
        to->own[to->count] = from->own[i] + (dice > 10 ? next_random(random) % 100 : 0);
        place[i] = to->count++;
    }
}

static void fill_context(struct tree *tree, const struct plan *plan, uint32_t index, uint32_t node,
                         uint32_t parent)
{
    lode_context *context = &tree->nodes[index];
    bool is_loop = node > 0 && plan->function[node] == UINT32_MAX;
    *context = (lode_context){.id = node,
                              .index = index,
                              .parent = parent,
                              .subtree_size = 1,
                              .depth = index ? tree->nodes[parent].depth + 1 : 0,
                              .lexical = node == 0 ? LODE_LEXICAL_GLOBAL
                                         : is_loop ? LODE_LEXICAL_LOOP
                                                   : LODE_LEXICAL_FUNCTION,
                              .relation = node == 0 || is_loop ? LODE_RELATION_LEXICAL : LODE_RELATION_CALL};
    if (is_loop) {
        const lode_context *above = &tree->nodes[parent];
        while (above->index > 0 && above->lexical == LODE_LEXICAL_LOOP)
            above = &tree->nodes[above->parent];
        context->file = above->function ? above->function->file : &files[0];
        context->line = plan->line[node] + (above->function ? above->function->line : 0);
    } else if (node > 0) {
        context->function = &functions[plan->function[node]];
    }
    tree->own[index] = tree->inclusive[index] = plan->own[node];
}

/* Depth-first, siblings in the order of their numbers or, with a seed, in any order. */
static void make_tree(struct tree *tree, const struct plan *plan, uint64_t shuffle)
{
    uint32_t stack[NODES_MAX], above[NODES_MAX], depth = 1, count = 0;
    stack[0] = above[0] = 0;
    while (depth > 0) {
        uint32_t node = stack[--depth], index = count++, first = depth;
        fill_context(tree, plan, index, node, above[depth]);
        for (uint32_t i = plan->count; i-- > 1;)
            if (plan->parent[i] == node) {
                stack[depth] = i;
                above[depth++] = index;
            }
        for (uint32_t i = depth; shuffle && i > first + 1; i--) {
            uint32_t other = first + next_random(&shuffle) % (i - first), kept = stack[i - 1];
            stack[i - 1] = stack[other];
            stack[other] = kept;
        }
    }
    for (uint32_t i = count; i-- > 1;) {
        tree->nodes[tree->nodes[i].parent].subtree_size += tree->nodes[i].subtree_size;
        tree->inclusive[tree->nodes[i].parent] += tree->inclusive[i];
    }
    tree->tree = (struct lode_context_tree){.nodes = tree->nodes, .count = count};
    tree->cost =
        (lode_cost){.tree = &tree->tree, .own = tree->own, .inclusive = tree->inclusive, .profiles = 1};
}

/* ---- what a comparison says, whatever the order of nodes ---- */

struct said {
    char name[TEXT];
    double own[2];
    unsigned marks;
};

static int compare_said(const void *left, const void *right)
{
    const struct said *a = left, *b = right;
    int result = strcmp(a->name, b->name);
    if (result != 0)
        return result;
    for (unsigned side = 0; side < 2; side++)
        if (a->own[side] != b->own[side])
            return a->own[side] < b->own[side] ? -1 : 1;
    return a->marks < b->marks ? -1 : a->marks > b->marks;
}

static unsigned swapped(unsigned marks)
{
    unsigned others = marks & ~(unsigned)(LODE_ONLY_IN_BASE | LODE_ONLY_IN_NEW);
    return others | (marks & LODE_ONLY_IN_BASE ? LODE_ONLY_IN_NEW : 0) |
           (marks & LODE_ONLY_IN_NEW ? LODE_ONLY_IN_BASE : 0);
}

/* Nodes with costs; with `swap`, as if the sides were exchanged. */
static size_t listen(const lode_compared_tree *tree, bool swap, struct said *said)
{
    size_t count = 0;
    for (uint32_t i = 0; i < lode_compared_tree_count(tree); i++) {
        lode_compare_node node;
        assert_int_equal(lode_compared_tree_node(tree, i, &node, sizeof node), LODE_OK);
        struct said *one = &said[count++];
        memset(one, 0, sizeof *one);
        snprintf(one->name, sizeof one->name, "%u ", node.depth);
        size_t length = strlen(one->name);
        lode_compared_tree_name(tree, i, one->name + length, sizeof one->name - length);
        /* A pair with two names has that of the base. */
        if (node.marks & LODE_MATCHED_SIMPLE || strstr(one->name, "loop at "))
            one->name[length] = '\0';
        one->own[0] = node.own[swap];
        one->own[1] = node.own[!swap];
        one->marks = swap ? swapped(node.marks) : node.marks;
    }
    qsort(said, count, sizeof *said, compare_said);
    return count;
}

static lode_compared_tree *compare(const struct tree *base, const struct tree *new_tree)
{
    lode_compared_tree *result;
    const lode_cost *costs[] = {&base->cost, &new_tree->cost};
    assert_int_equal(lode_compare_trees(&result, &costs[0], 1, &costs[1], 1, NULL, NULL), LODE_OK);
    return result;
}

static void check_same(const lode_compared_tree *a, const lode_compared_tree *b, bool swap, unsigned seed,
                       const char *what)
{
    static struct said said[2][2 * NODES_MAX];
    size_t count = listen(a, false, said[0]), other = listen(b, swap, said[1]);
    if (count != other)
        fail_msg("seed %u, %s: %zu nodes, then %zu", seed, what, count, other);
    for (size_t i = 0; i < count; i++)
        if (compare_said(&said[0][i], &said[1][i]) != 0)
            fail_msg("seed %u, %s: %s %g %g %u, then %s %g %g %u", seed, what, said[0][i].name,
                     said[0][i].own[0], said[0][i].own[1], said[0][i].marks, said[1][i].name,
                     said[1][i].own[0], said[1][i].own[1], said[1][i].marks);
}

static void check_sums(const lode_compared_tree *tree, const struct tree *base, const struct tree *new_tree)
{
    double own[2] = {0.0, 0.0}, gross = 0.0;
    lode_compare_node node, root;
    for (uint32_t i = 0; i < lode_compared_tree_count(tree); i++) {
        assert_int_equal(lode_compared_tree_node(tree, i, &node, sizeof node), LODE_OK);
        own[0] += node.own[0];
        own[1] += node.own[1];
        gross += fabs(node.own[1] - node.own[0]);
    }
    assert_int_equal(lode_compared_tree_node(tree, 0, &root, sizeof root), LODE_OK);
    assert_true(own[0] == base->inclusive[0] && own[1] == new_tree->inclusive[0]);
    assert_true(root.inclusive[0] == own[0] && root.inclusive[1] == own[1] && root.gross == gross);
}

/* ---- tests ---- */

static struct plan plans[2];
static struct tree trees[4];

static void make_pair(unsigned seed)
{
    uint64_t random = seed * UINT64_C(7919) + 1;
    make_plan(&plans[0], &random);
    change_plan(&plans[1], &plans[0], &random);
    make_tree(&trees[0], &plans[0], 0);
    make_tree(&trees[1], &plans[1], 0);
    make_tree(&trees[2], &plans[0], seed + 1);
    make_tree(&trees[3], &plans[1], seed + 2);
}

static void trees_add_up_and_exchange(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        make_pair(seed);
        lode_compared_tree *forth = compare(&trees[0], &trees[1]), *back = compare(&trees[1], &trees[0]);
        check_sums(forth, &trees[0], &trees[1]);
        check_sums(back, &trees[1], &trees[0]);
        check_same(forth, back, true, seed, "exchanged");
        lode_compared_tree_free(forth);
        lode_compared_tree_free(back);
    }
}

static void a_tree_equals_itself_in_any_order(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        make_pair(seed);
        lode_compared_tree *same = compare(&trees[1], &trees[3]);
        lode_compare_node root;
        assert_int_equal(lode_compared_tree_node(same, 0, &root, sizeof root), LODE_OK);
        assert_true(root.gross == 0.0);
        assert_true(lode_compared_tree_matched(same, LODE_BASE) == 1.0);
        assert_true(lode_compared_tree_matched(same, LODE_NEW) == 1.0);
        lode_compared_tree_free(same);
    }
}

static void the_order_of_siblings_does_not_matter(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        make_pair(seed);
        lode_compared_tree *one = compare(&trees[0], &trees[1]), *other = compare(&trees[2], &trees[3]);
        check_same(one, other, false, seed, "shuffled");
        lode_compared_tree_free(one);
        lode_compared_tree_free(other);
    }
}

static void flat_rows_add_up_and_exchange(void **state)
{
    (void)state;
    static const lode_group_by groups[] = {LODE_BY_FUNCTION, LODE_BY_MODULE, LODE_BY_FILE};
    for (unsigned seed = 0; seed < SEEDS; seed++)
        for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
            make_pair(seed);
            lode_compare_options options = LODE_COMPARE_OPTIONS_INIT;
            lode_comparison *forth, *back;
            const lode_cost *costs[] = {&trees[0].cost, &trees[1].cost, &trees[2].cost};
            double sum[2] = {0.0, 0.0};
            options.by = groups[k];
            assert_int_equal(lode_compare(&forth, &costs[0], 1, &costs[1], 1, 1, &options, NULL), LODE_OK);
            assert_int_equal(lode_compare(&back, &costs[1], 1, &costs[2], 1, 1, &options, NULL), LODE_OK);
            assert_int_equal(lode_comparison_count(forth), lode_comparison_count(back));
            for (size_t i = 0; i < lode_comparison_count(forth); i++) {
                assert_string_equal(lode_comparison_at(forth, i)->key.name,
                                    lode_comparison_at(back, i)->key.name);
                for (unsigned side = 0; side < 2; side++) {
                    double value = lode_comparison_exclusive(forth, i, (lode_compare_side)side, 0, 0);
                    sum[side] += value;
                    assert_true(value ==
                                lode_comparison_exclusive(back, i, (lode_compare_side)(1 - side), 0, 0));
                    assert_true(lode_comparison_inclusive(forth, i, (lode_compare_side)side, 0, 0) ==
                                lode_comparison_inclusive(back, i, (lode_compare_side)(1 - side), 0, 0));
                }
            }
            assert_true(sum[0] == trees[0].inclusive[0] && sum[1] == trees[1].inclusive[0]);
            lode_comparison_free(forth);
            lode_comparison_free(back);
        }
}

/* Every caller calls every callee twice; own costs say which one it is. */
static void plan_many_callees(struct plan *plan, uint32_t callers, uint32_t callees)
{
    *plan = (struct plan){.count = 2, .function = {0, NAMES - 1}};
    for (uint32_t i = 0; i < callers; i++) {
        uint32_t caller = plan->count++;
        plan->parent[caller] = 1;
        plan->function[caller] = i % 3 + i / 3 * 6; /* without regions, whose numbers change */
        plan->own[caller] = i + 1;
        for (uint32_t k = 0; k < 2 * callees; k++) {
            uint32_t callee = plan->count++, which = k % callees;
            plan->parent[callee] = caller;
            plan->function[callee] = which % 3 + which / 3 * 6;
            plan->own[callee] = 100 * (i + 1) + which + 1;
        }
    }
}

static void many_callees_stay_with_their_caller(void **state)
{
    (void)state;
    const uint32_t callers = 12, callees = 12;
    plan_many_callees(&plans[0], callers, callees);
    make_tree(&trees[0], &plans[0], 0);
    make_tree(&trees[1], &plans[0], 1);
    lode_compared_tree *tree = compare(&trees[0], &trees[1]);
    assert_int_equal(lode_compared_tree_count(tree), 2 + callers + callers * callees);
    for (uint32_t i = 1; i < lode_compared_tree_count(tree); i++) {
        lode_compare_node node, caller;
        assert_int_equal(lode_compared_tree_node(tree, i, &node, sizeof node), LODE_OK);
        assert_int_equal(lode_compared_tree_node(tree, node.parent, &caller, sizeof caller), LODE_OK);
        assert_true(node.own[0] == node.own[1]);
        if (node.depth < 3)
            continue;
        double which = node.own[0] / 2.0 - 100.0 * caller.own[0];
        assert_true(which >= 1.0 && which <= callees);
        assert_ptr_equal(lode_context_function(node.base_context),
                         &functions[plans[0].function[2 + (uint32_t)which]]);
    }
    lode_compared_tree_free(tree);
}

static int prepare(void **state)
{
    (void)state;
    make_functions();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_add_up_and_exchange),
        cmocka_unit_test(a_tree_equals_itself_in_any_order),
        cmocka_unit_test(the_order_of_siblings_does_not_matter),
        cmocka_unit_test(flat_rows_add_up_and_exchange),
        cmocka_unit_test(many_callees_stay_with_their_caller),
    };
    return cmocka_run_group_tests_name("comparisons of generated trees", tests, prepare, NULL);
}
