/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks from values in any order, against a table of all contexts and metrics. */
#include "model/database/block_builder.h"
#include "unit.h"
#include <lode/unstable.h>
#include <string.h>

enum {
    CONTEXTS = 3000, /* more than one digit of the sort */
    IDS = 80,        /* more than are sorted by insertion */
    ADDED = 4000,
    SEEDS = 12
};

static double table[CONTEXTS][IDS];

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static void check_block(const lode_block *block)
{
    uint64_t value = 0;
    uint32_t g = 0;
    for (uint32_t context = 0; context < CONTEXTS; context++) {
        uint64_t first = value;
        for (uint32_t id = 0; id < IDS; id++) {
            if (table[context][id] == 0.0)
                continue;
            assert_true(value < block->value_count);
            assert_int_equal(block_value_key(block, value), id);
            assert_true(block_value(block, value) == table[context][id]);
            value++;
        }
        if (value == first)
            continue;
        assert_true(g < block->group_count);
        assert_int_equal(block_group_key(block, g), context);
        assert_int_equal(block_group_start(block, g), first);
        g++;
    }
    assert_int_equal(value, block->value_count);
    assert_int_equal(g, block->group_count);
}

/* Few contexts have many values each; few of them come in order. */
static void values_in_any_order_make_the_same_block(void **state)
{
    (void)state;
    struct lode_block_builder builder;
    lode_block block;
    lode_block_builder_init(&builder);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t random = seed;
        uint32_t spread = seed % 3 == 0 ? 40 : CONTEXTS;
        memset(table, 0, sizeof table);
        lode_block_builder_clear(&builder);
        for (unsigned i = 0; i < ADDED; i++) {
            uint32_t context = next_random(&random) % spread, id = next_random(&random) % IDS;
            double value = next_random(&random) % 4;
            if (table[context][id] != 0.0)
                continue;
            table[context][id] = value;
            assert_int_equal(lode_block_builder_add(&builder, context, (uint16_t)id, value, NULL), LODE_OK);
        }
        assert_int_equal(lode_block_builder_end(&builder, CONTEXTS, &block, NULL), LODE_OK);
        check_block(&block);
        lode_block_builder_trim(&builder);
        check_block(&block);
    }
    lode_block_builder_free(&builder);
}

/* The groups of a block, the last one first, with other contexts, ids and a divisor. */
static void groups_get_new_numbers(void **state)
{
    (void)state;
    struct lode_block_builder from, to;
    lode_block block, changed;
    uint16_t ids[UINT16_MAX + 1];
    uint32_t unknown = 0;
    memset(ids, 0xff, sizeof ids);
    memset(table, 0, sizeof table);
    lode_block_builder_init(&from);
    lode_block_builder_init(&to);
    for (uint32_t context = 0; context < CONTEXTS; context += 7)
        for (uint32_t id = context % 3; id < 10; id += 2) {
            assert_int_equal(lode_block_builder_add(&from, context, (uint16_t)id, context + 2.0, NULL),
                             LODE_OK);
            table[CONTEXTS - 1 - context][IDS - 1 - id] = (context + 2.0) / 2.0;
        }
    for (uint16_t id = 0; id < 10; id++)
        ids[id] = (uint16_t)(IDS - 1 - id);
    assert_int_equal(lode_block_builder_end(&from, CONTEXTS, &block, NULL), LODE_OK);
    struct lode_block_change change = {ids, 2.0};
    for (uint32_t g = 0; g < block.group_count; g++) {
        lode_group group;
        assert_int_equal(lode_block_group(&block, g, &group, NULL), LODE_OK);
        assert_int_equal(lode_block_builder_add_group(&to, CONTEXTS - 1 - group.key, &block, &group, &change,
                                                      &unknown, NULL),
                         LODE_OK);
    }
    assert_int_equal(lode_block_builder_end(&to, CONTEXTS, &changed, NULL), LODE_OK);
    check_block(&changed);
    lode_group group;
    ids[2] = LODE_BLOCK_NO_ID;
    assert_int_equal(lode_block_group(&block, 0, &group, NULL), LODE_OK);
    assert_int_equal(lode_block_builder_add_group(&to, 0, &block, &group, &change, &unknown, NULL),
                     LODE_NOT_FOUND);
    assert_int_equal(unknown, 2);
    lode_block_builder_free(&from);
    lode_block_builder_free(&to);
}

static void two_values_of_one_metric_are_refused(void **state)
{
    (void)state;
    struct lode_block_builder builder;
    lode_block block;
    lode_error error;
    lode_block_builder_init(&builder);
    for (unsigned apart = 0; apart < 2; apart++) {
        lode_block_builder_clear(&builder);
        assert_int_equal(lode_block_builder_add(&builder, 5, 3, 1.0, NULL), LODE_OK);
        if (apart)
            assert_int_equal(lode_block_builder_add(&builder, 6, 3, 1.0, NULL), LODE_OK);
        assert_int_equal(lode_block_builder_add(&builder, 5, 3, 2.0, NULL), LODE_OK);
        assert_int_equal(lode_block_builder_end(&builder, 10, &block, &error), LODE_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "two values of metric id 3"));
    }
    lode_block_builder_free(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_in_any_order_make_the_same_block),
        cmocka_unit_test(groups_get_new_numbers),
        cmocka_unit_test(two_values_of_one_metric_are_refused),
    };
    return cmocka_run_group_tests_name("block builder", tests, NULL, NULL);
}
