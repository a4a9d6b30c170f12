/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks and trace lines read the same from either layout. */
#include "model/database/block.h"
#include "model/database/trace.h"
#include "unit.h"

static const uint8_t little_groups[] = {7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                        9, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0};
static const uint8_t little_values[] = {1, 0, 0, 0, 0,    0, 0, 0, 0xf8, 0x3f, 2, 1, 0, 0,    0,
                                        0, 0, 0, 0, 0x40, 5, 0, 0, 0,    0,    0, 0, 0, 0xf0, 0x3f};
static const uint8_t big_groups[] = {0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0, 2};
static const uint8_t big_values[] = {0x3f, 0xf8, 0, 0, 0, 0,    0,    0, 0, 1, 0x40, 0, 0, 0, 0,
                                     0,    0,    0, 1, 2, 0x3f, 0xf0, 0, 0, 0, 0,    0, 0, 0, 5};

static void expect_block(const uint8_t *groups, const uint8_t *values, uint8_t layout)
{
    lode_block block = {.value_count = 3,
                        .group_count = 2,
                        .group_key_size = 4,
                        .value_key_size = 2,
                        .layout = layout,
                        .groups = groups,
                        .values = values};
    lode_group group;
    lode_value read[3];
    double value;
    assert_int_equal(lode_block_group(&block, 0, &group, NULL), LODE_OK);
    assert_true(group.key == 7 && group.first == 0 && group.count == 2);
    assert_int_equal(lode_block_find(&block, 0x109, &group, NULL), LODE_OK);
    assert_true(group.first == 2 && group.count == 1);
    assert_int_equal(lode_block_read(&block, 0, 3, read), LODE_OK);
    assert_true(read[0].key == 1 && read[0].value == 1.5);
    assert_true(read[1].key == 0x102 && read[1].value == 2.0);
    assert_true(read[2].key == 5 && read[2].value == 1.0);
    assert_int_equal(lode_block_lookup(&block, 7, 0x102, &value, NULL), LODE_OK);
    assert_true(value == 2.0);
    assert_int_equal(lode_block_lookup(&block, 7, 2, &value, NULL), LODE_NOT_FOUND);
}

static void blocks_read_the_same_from_either_layout(void **state)
{
    (void)state;
    expect_block(little_groups, little_values, LODE_LAYOUT_LITTLE);
    expect_block(big_groups, big_values, LODE_LAYOUT_BIG);
}

/* Keys of cct.db: metrics of 2 bytes are groups, profiles of 4 bytes are values. */
static void keys_of_contexts_read_the_same_from_either_layout(void **state)
{
    static const uint8_t group[2][10] = {{3, 1}, {1, 3}};
    static const uint8_t pair[2][12] = {{4, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f},
                                        {0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 1, 0, 0, 4}};
    (void)state;
    for (unsigned layout = LODE_LAYOUT_LITTLE; layout <= LODE_LAYOUT_BIG; layout++) {
        lode_block block = {.value_count = 1,
                            .group_count = 1,
                            .group_key_size = 2,
                            .value_key_size = 4,
                            .layout = (uint8_t)layout,
                            .groups = group[layout],
                            .values = pair[layout]};
        double value;
        assert_int_equal(lode_block_lookup(&block, 0x103, 0x1000004, &value, NULL), LODE_OK);
        assert_true(value == 1.5);
    }
}

static void samples_read_the_same_from_either_layout(void **state)
{
    static const uint8_t samples[2][24] = {
        {1, 2, 0, 0, 0, 0, 0, 0, 5, 1, 0, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
        {0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 1, 5, 0, 0, 0, 0, 0, 0, 3, 1, 1, 0, 0, 0}};
    (void)state;
    for (unsigned layout = LODE_LAYOUT_LITTLE; layout <= LODE_LAYOUT_BIG; layout++) {
        lode_trace_line line = {.layout = (uint8_t)layout, .sample_count = 2, .samples = samples[layout]};
        lode_sample sample;
        assert_int_equal(lode_trace_line_sample(&line, 0, &sample), LODE_OK);
        assert_true(sample.time == 0x201 && sample.context_id == 0x105);
        assert_int_equal(lode_trace_line_sample(&line, 1, &sample), LODE_OK);
        assert_true(sample.time == 0x301 && sample.context_id == 0x1000000);
        assert_int_equal(lode_trace_line_seek(&line, 0x202), 1);
        assert_int_equal(lode_trace_line_seek(&line, 0x302), 2);
    }
}

/* Views point at the very bytes, and are absent where these need converting. */
static void views_are_in_place_or_absent(void **state)
{
    const int little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? LODE_OK : LODE_ABSENT;
    lode_block block = {.value_count = 3, .group_count = 2, .group_key_size = 4, .value_key_size = 2};
    lode_trace_line line = {.sample_count = 2, .samples = little_groups};
    const void *bytes = NULL;
    size_t stride = 0, key_size = 0;
    lode_error error = {0};
    (void)state;
    block.groups = little_groups;
    block.values = little_values;
    assert_int_equal(lode_block_view(&block, &bytes, &stride, &key_size, NULL), little);
    assert_true(little != LODE_OK || (bytes == little_values && stride == 10 && key_size == 2));
    assert_int_equal(lode_block_groups_view(&block, &bytes, &stride, &key_size, NULL), little);
    assert_true(little != LODE_OK || (bytes == little_groups && stride == 12 && key_size == 4));
    assert_int_equal(lode_trace_line_view(&line, &bytes, &stride, NULL), little);
    assert_true(little != LODE_OK || (bytes == little_groups && stride == 12));
    line.idle_id = 9;
    assert_int_equal(lode_trace_line_view(&line, &bytes, &stride, &error), LODE_ABSENT);
    assert_int_equal(error.status, LODE_ABSENT);
    line.idle_id = 0;
    line.layout = block.layout = LODE_LAYOUT_BIG;
    assert_int_equal(lode_trace_line_view(&line, &bytes, &stride, &error), LODE_ABSENT);
    assert_int_equal(lode_block_view(&block, &bytes, &stride, &key_size, &error), LODE_ABSENT);
    assert_int_equal(lode_block_groups_view(&block, &bytes, &stride, &key_size, &error), LODE_ABSENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_read_the_same_from_either_layout),
        cmocka_unit_test(keys_of_contexts_read_the_same_from_either_layout),
        cmocka_unit_test(samples_read_the_same_from_either_layout),
        cmocka_unit_test(views_are_in_place_or_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
