/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees of ranks as one: against a merge of all trees, also when hashes collide. */
#include "base/error.h"
#include "model/database/rank_trees.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 16,
    FRAMES = 23,
    STEPS = 3000,
    DEEP = 40,
    FIXED_MOST = 3
};

/* A case, and what rank 0 finds. */
struct trial {
    uint32_t fixed;
    unsigned weak_first;
    unsigned attempts;
    struct lode_content_tree all; /* by a merge */
    uint32_t *expected[MOST];     /* by rank and node: the node of `all` */
    struct lode_content_tree trees[MOST];
};

static uint64_t next_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Frames of a rank have numbers of their own; this is what they mean. */
static uint32_t meaning(uint32_t rank, uint32_t frame)
{
    return (frame * 7 + rank * 5) % FRAMES;
}

/* Some ranks have nothing but the fixed nodes, some all that others have. */
static void make_tree(struct lode_content_tree *tree, uint32_t rank, uint32_t fixed)
{
    uint64_t state = rank / 2 + 1;
    uint32_t depths[STEPS + FIXED_MOST + 1] = {0};
    assert_true(lode_content_tree_open(tree, sizeof(struct lode_tree_node)));
    for (uint32_t i = 1; i < fixed; i++)
        assert_int_equal(lode_content_tree_append(tree, LODE_TREE_ROOT, FRAMES + i), i);
    uint32_t steps = rank % 5 == 3 ? 0 : rank % 5 == 4 ? 1 : STEPS;
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t parent = (uint32_t)(next_number(&state) % tree->count),
                 wanted = (uint32_t)(next_number(&state) % FRAMES);
        uint32_t frame = 0;
        while (meaning(rank, frame) != wanted)
            frame++;
        if (depths[parent] > DEEP)
            continue;
        uint32_t node = lode_content_tree_child(tree, parent, frame);
        assert_true(node >= fixed || parent == LODE_TREE_ROOT);
        depths[node] = depths[parent] + 1;
    }
}

static size_t size_of_answer(const uint8_t *answer)
{
    return (size_t)answer[0] + 1;
}

/* An answer is the number of the node in `all`, after some zeros: answers differ in size. */
static void put_answer(struct lode_blob *blob, uint32_t node)
{
    size_t zeros = node % 10, at = lode_blob_reserve(blob, 1 + zeros + sizeof node, 1);
    assert_true(at != LODE_BLOB_FULL);
    blob->bytes[at] = (unsigned char)(zeros + sizeof node);
    memcpy(blob->bytes + at + 1 + zeros, &node, sizeof node);
}

/* Finds each node of a tree of all in that of the merge, which has as many. */
static void compare_trees(const struct trial *trial, const struct lode_content_tree *tree, uint32_t *found)
{
    struct lode_content_tree all = trial->all;
    assert_int_equal(tree->count, all.count);
    for (uint32_t i = 0; i < trial->fixed; i++)
        found[i] = i;
    uint32_t last = 0, last_frame = 0;
    for (uint32_t i = trial->fixed; i < tree->count; i++) {
        const struct lode_tree_node *node = lode_tree_node(tree, i);
        /* Parents rise, and so do the frames of one parent. */
        assert_true(node->parent < i);
        assert_true(node->parent > last ||
                    (node->parent == last && (i == trial->fixed || node->frame > last_frame)));
        last = node->parent;
        last_frame = node->frame;
        found[i] = lode_content_tree_child(&all, found[node->parent], node->frame);
        assert_int_equal(all.count, trial->all.count);
    }
}

/* What rank 0 does. */
static void build(const struct trial *trial, struct lode_rank_trees *trees, struct lode_blob *answers)
{
    struct lode_content_tree tree;
    lode_error error = {0};
    uint32_t *nodes, *found = calloc(trial->all.count, sizeof *found);
    assert_non_null(found);
    assert_int_equal(trees->total, trial->all.count);
    assert_true(lode_content_tree_open(&tree, sizeof(struct lode_tree_node)));
    for (uint32_t i = 1; i < trial->fixed; i++)
        lode_content_tree_append(&tree, LODE_TREE_ROOT, FRAMES + i);
    const uint32_t *frames = (const uint32_t *)(const void *)trees->contents;
    assert_int_equal(lode_rank_trees_build(trees, frames, FRAMES, &tree, &nodes, &error), LODE_OK);
    compare_trees(trial, &tree, found);
    for (uint32_t i = trial->fixed; i < trees->total; i++)
        put_answer(answers, found[nodes[i]]);
    lode_content_tree_close(&tree);
    free(nodes);
    free(found);
}

static lode_status unite(void *context, struct lode_comm *comm, lode_error *error)
{
    struct trial *trial = context;
    uint32_t rank = comm->place.rank, contents[FRAMES];
    struct lode_rank_trees trees = {.weak_first = trial->weak_first};
    struct lode_rank_tree own = {&trial->trees[rank], trial->fixed, contents, sizeof *contents, FRAMES};
    struct lode_blob answers = {0};
    uint8_t *got = NULL;
    for (uint32_t i = 0; i < FRAMES; i++)
        contents[i] = meaning(rank, i);
    LODE_TRY(lode_rank_trees_unite(&trees, comm, &own, error));
    if (rank == 0) {
        build(trial, &trees, &answers);
        trial->attempts = trees.attempts;
    }
    LODE_TRY(lode_rank_trees_answer(&trees, &answers, size_of_answer, &got, error));
    const uint8_t *at = got;
    uint32_t wrong = trees.count != own.tree->count - trial->fixed;
    for (uint32_t i = 0; i < trees.count; i++) {
        uint32_t node;
        memcpy(&node, at + at[0] + 1 - sizeof node, sizeof node);
        wrong += node != trial->expected[rank][trees.order[i]];
        at += size_of_answer(at);
    }
    free(got);
    lode_blob_free(&answers);
    lode_rank_trees_free(&trees);
    /* Assertions are for the first thread. */
    return wrong ? lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET, "rank %u: %u wrong answers", rank,
                             wrong)
                 : LODE_OK;
}

static void run(uint32_t ranks, struct trial *trial)
{
    lode_error error = {0};
    assert_true(lode_content_tree_open(&trial->all, sizeof(struct lode_tree_node)));
    for (uint32_t i = 1; i < trial->fixed; i++)
        lode_content_tree_append(&trial->all, LODE_TREE_ROOT, FRAMES + i);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint32_t frames[FRAMES], *map = calloc(STEPS + FIXED_MOST + 1, sizeof *map);
        assert_non_null(map);
        make_tree(&trial->trees[rank], rank, trial->fixed);
        for (uint32_t i = 0; i < FRAMES; i++)
            frames[i] = meaning(rank, i);
        for (uint32_t i = 0; i < trial->fixed; i++)
            map[i] = i;
        for (uint32_t i = trial->fixed; i < trial->trees[rank].count; i++) {
            const struct lode_tree_node *node = lode_tree_node(&trial->trees[rank], i);
            map[i] = lode_content_tree_child(&trial->all, map[node->parent], frames[node->frame]);
        }
        trial->expected[rank] = map;
    }
    if (lode_comm_run(ranks, unite, trial, &error) != LODE_OK)
        fail_msg("%s", error.text);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        lode_content_tree_close(&trial->trees[rank]);
        free(trial->expected[rank]);
    }
    lode_content_tree_close(&trial->all);
}

static const uint32_t rank_counts[] = {1, 2, 3, 5, 8, MOST};

static void trees_become_what_a_merge_gives(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rank_counts / sizeof rank_counts[0]; i++)
        for (uint32_t fixed = 1; fixed <= FIXED_MOST; fixed += 2) {
            struct trial trial = {.fixed = fixed};
            run(rank_counts[i], &trial);
            assert_int_equal(trial.attempts, 1);
        }
}

/* Sums of frames as hashes: paths with the same frames in another order have one hash. */
static void paths_that_collide_are_detected_and_hashed_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rank_counts / sizeof rank_counts[0]; i++) {
        struct trial trial = {.fixed = 1, .weak_first = 4};
        run(rank_counts[i], &trial);
        assert_int_equal(trial.attempts, 5);
    }
}

static lode_status collide(void *context, struct lode_comm *comm, lode_error *error)
{
    struct trial *trial = context;
    uint32_t contents[FRAMES] = {0};
    for (uint32_t i = 0; i < FRAMES; i++)
        contents[i] = i;
    struct lode_rank_trees trees = {.weak_first = UINT32_MAX};
    struct lode_rank_tree own = {&trial->trees[comm->place.rank], 1, contents, sizeof *contents, FRAMES};
    lode_status status = lode_rank_trees_unite(&trees, comm, &own, error);
    if (comm->place.rank == 0)
        trial->attempts = trees.attempts;
    lode_rank_trees_free(&trees);
    return status;
}

static void hashes_that_always_collide_are_an_error(void **state)
{
    struct trial trial = {.fixed = 1};
    lode_error error = {0};
    (void)state;
    for (uint32_t rank = 0; rank < 3; rank++)
        make_tree(&trial.trees[rank], 0, 1);
    assert_int_equal(lode_comm_run(3, collide, &trial, &error), LODE_ERR_LIMIT);
    assert_int_equal(trial.attempts, 64);
    for (uint32_t rank = 0; rank < 3; rank++)
        lode_content_tree_close(&trial.trees[rank]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_become_what_a_merge_gives),
        cmocka_unit_test(paths_that_collide_are_detected_and_hashed_again),
        cmocka_unit_test(hashes_that_always_collide_are_an_error),
    };
    return cmocka_run_group_tests_name("rank trees", tests, NULL, NULL);
}
