/* SPDX-License-Identifier: BSD-3-Clause */
/* The content tree: properties of random trees. */
#include "failing_memory.h"
#include "model/database/tree.h"
#include "unit.h"
#include <lode/context.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES = 7,
    PATHS = 2000,
    DEPTH = 9,
    SEEDS = 20
};

struct payload_node {
    struct lode_tree_node base;
    uint32_t payload[14];
};

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Paths from the root: frames from 0 on, ended by LODE_NO_NUMBER. */
typedef uint32_t path[DEPTH + 1];

static path *make_paths(uint64_t seed)
{
    path *paths = calloc(PATHS, sizeof *paths);
    assert_non_null(paths);
    for (unsigned i = 0; i < PATHS; i++) {
        unsigned depth = 1 + next_random(&seed) % DEPTH;
        for (unsigned k = 0; k < depth; k++)
            paths[i][k] = next_random(&seed) % FRAMES;
        paths[i][depth] = LODE_NO_NUMBER;
    }
    return paths;
}

static void shuffle(path *paths, uint64_t seed)
{
    for (unsigned i = PATHS; i > 1; i--) {
        unsigned k = next_random(&seed) % i;
        path swap;
        memcpy(swap, paths[i - 1], sizeof swap);
        memcpy(paths[i - 1], paths[k], sizeof swap);
        memcpy(paths[k], swap, sizeof swap);
    }
}

/* The node at the end of a path; 0 if out of memory. */
static uint32_t add_path(struct lode_content_tree *tree, const uint32_t *frames, const uint32_t *renumber)
{
    uint32_t node = LODE_TREE_ROOT;
    for (; *frames != LODE_NO_NUMBER; frames++) {
        node = lode_content_tree_child(tree, node, renumber ? renumber[*frames] : *frames);
        if (node == 0)
            break;
    }
    return node;
}

static void make_tree(struct lode_content_tree *tree, path *paths, unsigned count, size_t node_size)
{
    assert_true(lode_content_tree_open(tree, node_size));
    for (unsigned i = 0; i < count; i++)
        assert_int_not_equal(add_path(tree, paths[i], NULL), 0);
}

static int compare_ranks(uint32_t a, uint32_t b, const void *argument)
{
    const uint32_t *ranks = argument;
    return (ranks[a] > ranks[b]) - (ranks[a] < ranks[b]);
}

/* Comparing frames gives the order that their ranks give. */
static void check_compared(const struct lode_content_tree *tree, const uint32_t *ranks,
                           const struct lode_tree_order *order)
{
    struct lode_tree_order compared;
    assert_true(lode_tree_order_compare(&compared, tree, compare_ranks, ranks));
    assert_memory_equal(compared.positions, order->positions, tree->count * sizeof *order->positions);
    assert_memory_equal(compared.sizes, order->sizes, tree->count * sizeof *order->sizes);
    lode_tree_order_free(&compared);
}

/* All nodes in their order: depth and rank of the frame. To be freed. */
static uint32_t *transcript(const struct lode_content_tree *tree, const uint32_t *ranks)
{
    static const uint32_t same[FRAMES] = {0, 1, 2, 3, 4, 5, 6};
    struct lode_tree_order order;
    uint32_t *depths = calloc(tree->count, sizeof *depths);
    uint32_t *lines = calloc(tree->count, sizeof *lines);
    assert_true(depths && lines);
    ranks = ranks ? ranks : same;
    assert_true(lode_tree_order_make(&order, tree, ranks, FRAMES));
    check_compared(tree, ranks, &order);
    assert_int_equal(order.positions[0], 0);
    assert_int_equal(order.sizes[0], tree->count);
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct lode_tree_node *node = lode_tree_node(tree, i);
        uint32_t at = order.positions[i], above = order.positions[node->parent];
        assert_in_range(at, above + 1, above + order.sizes[node->parent] - order.sizes[i]);
        assert_int_equal(lines[at], 0);
        depths[i] = depths[node->parent] + 1;
        lines[at] = depths[i] * FRAMES + ranks[node->frame];
    }
    lode_tree_order_free(&order);
    free(depths);
    return lines;
}

static void check_same(const struct lode_content_tree *a, const struct lode_content_tree *b)
{
    uint32_t *x = transcript(a, NULL), *y = transcript(b, NULL);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(x, y, a->count * sizeof *x);
    free(x);
    free(y);
}

static void same_content_is_the_same_node(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct lode_content_tree tree;
        path *paths = make_paths(seed);
        make_tree(&tree, paths, PATHS, sizeof(struct payload_node));
        uint32_t count = tree.count;
        for (unsigned i = 0; i + 1 < PATHS; i++) {
            uint32_t a = add_path(&tree, paths[i], NULL), b = add_path(&tree, paths[i + 1], NULL);
            unsigned k = 0;
            while (paths[i][k] == paths[i + 1][k] && paths[i][k] != LODE_NO_NUMBER)
                k++;
            assert_int_equal(a == b, paths[i][k] == paths[i + 1][k]);
            for (unsigned n = 0; paths[i][n] != LODE_NO_NUMBER; n++)
                a = lode_tree_node(&tree, a)->parent;
            assert_int_equal(a, LODE_TREE_ROOT);
        }
        assert_int_equal(tree.count, count);
        lode_content_tree_close(&tree);
        free(paths);
    }
}

static void order_does_not_depend_on_when_a_context_was_met(void **state)
{
    /* The frames that are 0, 1, 2... in one tree have these numbers in the other. */
    static const uint32_t renumber[FRAMES] = {3, 0, 6, 5, 1, 2, 4}, ranks[FRAMES] = {1, 4, 5, 0, 6, 3, 2};
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct lode_content_tree a, b;
        path *paths = make_paths(seed);
        make_tree(&a, paths, PATHS, sizeof(struct lode_tree_node));
        shuffle(paths, seed);
        assert_true(lode_content_tree_open(&b, sizeof(struct payload_node)));
        for (unsigned i = 0; i < PATHS; i++)
            assert_int_not_equal(add_path(&b, paths[i], renumber), 0);
        uint32_t *x = transcript(&a, NULL), *y = transcript(&b, ranks);
        assert_int_equal(a.count, b.count);
        assert_memory_equal(x, y, a.count * sizeof *x);
        free(x);
        free(y);
        free(paths);
        lode_content_tree_close(&a);
        lode_content_tree_close(&b);
    }
}

static void merge(struct lode_content_tree *tree, const struct lode_content_tree *from)
{
    uint32_t *map = calloc(from->count, sizeof *map);
    assert_non_null(map);
    assert_true(lode_content_tree_merge(tree, from, NULL, map));
    for (uint32_t i = 1; i < from->count; i++) {
        const struct lode_tree_node *old = lode_tree_node(from, i), *new = lode_tree_node(tree, map[i]);
        assert_int_equal(new->frame, old->frame);
        assert_int_equal(new->parent, map[old->parent]);
    }
    free(map);
}

static void merging_is_associative_and_commutative(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct lode_content_tree left[3], right[3];
        for (unsigned i = 0; i < 3; i++) {
            path *paths = make_paths(3 * seed + i);
            make_tree(&left[i], paths, PATHS / (i + 1), sizeof(struct lode_tree_node));
            make_tree(&right[i], paths, PATHS / (i + 1), sizeof(struct payload_node));
            free(paths);
        }
        merge(&left[0], &left[1]);
        merge(&left[0], &left[2]);
        merge(&right[2], &right[1]);
        merge(&right[2], &right[0]);
        check_same(&left[0], &right[2]);
        for (unsigned i = 0; i < 3; i++) {
            lode_content_tree_close(&left[i]);
            lode_content_tree_close(&right[i]);
        }
    }
}

/* More than fit into what is not mapped, so that pages are given back as well. */
static void compact_nodes_are_found_again(void **state)
{
    struct lode_content_tree tree;
    (void)state;
    assert_true(lode_content_tree_open(&tree, sizeof(struct payload_node)));
    for (uint32_t i = 1; i < 100000; i++) {
        assert_int_equal(lode_content_tree_child(&tree, (i - 1) / 2, i), i);
        const struct payload_node *node = (const void *)lode_tree_node(&tree, i);
        assert_int_equal(node->payload[0] | node->payload[13], 0);
        assert_int_equal((uintptr_t)node % sizeof *node, 0);
    }
    size_t size = tree.nodes.size;
    lode_content_tree_compact(&tree, sizeof(struct lode_tree_node));
    assert_true(tree.nodes.size <= size / 4);
    for (uint32_t i = 1; i < 100000; i++)
        assert_int_equal(lode_content_tree_child(&tree, (i - 1) / 2, i), i);
    assert_int_equal(lode_content_tree_child(&tree, 5, 5), 100000);
    lode_content_tree_close(&tree);
}

static void appended_siblings_stay_apart_and_in_order(void **state)
{
    static const uint32_t ranks[] = {1, 0};
    struct lode_content_tree tree;
    struct lode_tree_order order;
    (void)state;
    assert_true(lode_content_tree_open(&tree, sizeof(struct lode_tree_node)));
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(lode_content_tree_append(&tree, 0, i & 1), i + 1);
    assert_true(lode_tree_order_make(&order, &tree, ranks, 2));
    static const uint32_t expected[] = {0, 4, 1, 5, 2, 6, 3};
    assert_memory_equal(order.positions, expected, sizeof expected);
    check_compared(&tree, ranks, &order);
    lode_tree_order_free(&order);
    lode_content_tree_close(&tree);
}

/* ---- frames ---- */

static uint32_t add_frame(struct lode_frames *frames, const char *name, unsigned line)
{
    struct lode_frame_function function = {.offset = line, .file = LODE_NO_NUMBER, .line = line};
    struct lode_frame frame = {
        .file = LODE_NO_NUMBER, .module = LODE_NO_NUMBER, .kind = LODE_LEXICAL_FUNCTION};
    if (!lode_strings_put(&frames->strings, name, &function.name) ||
        !lode_strings_put(&frames->strings, "/bin/app", &function.module))
        return LODE_NO_NUMBER;
    frame.function = lode_interner_add(&frames->functions, &function, NULL);
    return frame.function == LODE_NO_NUMBER ? LODE_NO_NUMBER
                                            : lode_interner_add(&frames->frames, &frame, NULL);
}

static uint32_t add_entry(struct lode_frames *frames, const char *name)
{
    struct lode_frame frame = {.file = LODE_NO_NUMBER, .module = LODE_NO_NUMBER, .kind = LODE_LEXICAL_ENTRY};
    if (!lode_strings_put(&frames->strings, name, &frame.function))
        return LODE_NO_NUMBER;
    return lode_interner_add(&frames->frames, &frame, NULL);
}

static void frames_merge_by_content(void **state)
{
    struct lode_frames a, b, c;
    struct lode_blob blob = {0};
    uint32_t map[4] = {0};
    (void)state;
    lode_frames_init(&a);
    lode_frames_init(&b);
    lode_frames_init(&c);
    uint32_t f = add_frame(&a, "f", 1), g = add_frame(&a, "g", 2), main_thread = add_entry(&a, "main thread");
    /* In another order, as from another process. */
    uint32_t other_main = add_entry(&b, "main thread"), h = add_frame(&b, "f", 3);
    uint32_t other_g = add_frame(&b, "g", 2), other_f = add_frame(&b, "f", 1);
    assert_true(lode_frames_pack(&b, &blob));
    const unsigned char *at = blob.bytes;
    assert_true(lode_frames_unpack(&c, &at));
    assert_ptr_equal(at, blob.bytes + blob.size);
    assert_true(lode_frames_merge(&a, &c, map));
    assert_int_equal(map[other_f], f);
    assert_int_equal(map[other_g], g);
    assert_int_equal(map[other_main], main_thread);
    assert_int_equal(map[h], 3);
    assert_string_equal(lode_strings_at(&a.strings, lode_frames_at(&a, map[other_main])->function),
                        "main thread");
    lode_blob_free(&blob);
    lode_frames_free(&a);
    lode_frames_free(&b);
    lode_frames_free(&c);
}

/* ---- failures ---- */

/* Merges a tree of 3000 nodes with frames, and orders it. False if out of memory. */
static bool try_all(void)
{
    static uint32_t map[3001], ranks[64];
    struct lode_content_tree tree = {0}, other = {0};
    struct lode_frames frames, merged;
    struct lode_tree_order order = {0};
    lode_frames_init(&frames);
    lode_frames_init(&merged);
    bool done = lode_content_tree_open(&tree, sizeof(struct payload_node)) &&
                lode_content_tree_open(&other, sizeof(struct lode_tree_node));
    for (uint32_t i = 0; i < 3000 && done; i++) {
        uint32_t frame = add_frame(&frames, i % 2 ? "f" : "g", i % 20);
        done = frame != LODE_NO_NUMBER && lode_content_tree_child(&tree, i, frame) != 0;
    }
    done = done && lode_frames_merge(&merged, &frames, ranks) &&
           lode_content_tree_merge(&other, &tree, ranks, map) &&
           lode_tree_order_make(&order, &other, ranks, (uint32_t)merged.frames.items.count);
    lode_tree_order_free(&order);
    lode_content_tree_close(&tree);
    lode_content_tree_close(&other);
    lode_frames_free(&frames);
    lode_frames_free(&merged);
    return done;
}

static void each_allocation_may_fail(void **state)
{
    long failed = 0;
    (void)state;
    for (bool done = false; !done; failed += !done) {
        memory_left = failed;
        done = try_all();
        memory_left = -1;
    }
    assert_in_range(failed, 20, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_content_is_the_same_node),
        cmocka_unit_test(order_does_not_depend_on_when_a_context_was_met),
        cmocka_unit_test(merging_is_associative_and_commutative),
        cmocka_unit_test(compact_nodes_are_found_again),
        cmocka_unit_test(appended_siblings_stay_apart_and_in_order),
        cmocka_unit_test(frames_merge_by_content),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
