/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted over a whole call is shared out among it and the calls inside. */
#include "analysis/calls/calltree_builder.h"
#include "model/recording/recording.h"
#include "transform/changes.h"
#include "unit.h"
#include <string.h>

/* Events are (number of the name, value). */
static const char *name_of(const lode_recording *recording, uint64_t id)
{
    static const char *const names[] = {"read:faults", "diff:faults", "read:other", "diff:other", "else"};
    (void)recording;
    return names[id];
}

static lode_status values_of(const lode_recording *recording, uint32_t track, const lode_event *event,
                             lode_argument *arguments, size_t capacity, size_t *count, lode_error *error)
{
    (void)recording, (void)track, (void)error;
    *count = 1;
    if (capacity > 0)
        arguments[0] = (lode_argument){.name = "minor", .kind = LODE_VALUE_CHANGE};
    memcpy(&arguments[0].signed_value, event->data, sizeof arguments[0].signed_value);
    return LODE_OK;
}

struct bench {
    struct lode_recording_ops ops;
    lode_recording recording;
    struct lode_build_changes changes;
};

static int set_up(void **state)
{
    static struct bench bench;
    bench = (struct bench){.ops = {.event_name = name_of, .arguments = values_of}};
    bench.recording.ops = &bench.ops;
    lode_build_changes_init(&bench.changes);
    *state = &bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;
    lode_build_changes_free(&bench->changes);
    return 0;
}

/* Nodes are numbered so that their depth can be told. */
static void point(struct bench *bench, uint32_t node, uint64_t name, int64_t value)
{
    lode_event event = {.kind = LODE_EVENT_INSTANT, .id = name, .data = &value, .data_size = sizeof value};
    assert_int_equal(
        lode_build_changes_take(&bench->changes, node, node / 10, &bench->recording, 0, &event, NULL),
        LODE_OK);
}

static int64_t sum(const struct bench *bench, uint32_t node, const char *metric)
{
    int64_t total = 0;
    for (size_t i = 0; i < bench->changes.items.count; i++) {
        const struct lode_build_change *change =
            LODE_ARRAY_AT(&bench->changes.items, struct lode_build_change, i);
        bool is_it = strcmp(lode_strings_at(&bench->changes.metrics, change->metric), metric) == 0;
        total += is_it && change->node == node ? change->value : 0;
    }
    return total;
}

static void test_calls_inside_are_taken_off(void **state)
{
    struct bench *bench = *state;
    const uint32_t outer = 10, middle = 20, inner = 30;
    point(bench, outer, 0, 0);
    point(bench, outer, 2, 0);
    for (int i = 0; i < 2; i++) {
        /* Nothing is read in the middle. */
        point(bench, inner, 0, 0);
        point(bench, inner, 1, 5);
    }
    point(bench, outer, 1, 30);
    point(bench, outer, 3, -7);
    assert_int_equal(sum(bench, inner, "faults minor"), 10);
    assert_int_equal(sum(bench, middle, "faults minor"), 0);
    assert_int_equal(sum(bench, outer, "faults minor"), 20);
    assert_int_equal(sum(bench, outer, "other minor"), -7);
}

static void test_a_call_that_never_ended_takes_nothing_off(void **state)
{
    struct bench *bench = *state;
    const uint32_t a = 10, b = 20, c = 21;
    point(bench, b, 0, 0);
    point(bench, c, 1, 4); /* read before its beginning was recorded */
    point(bench, a, 0, 0);
    point(bench, a, 1, 9);
    assert_int_equal(sum(bench, b, "faults minor"), 0);
    assert_int_equal(sum(bench, c, "faults minor"), 4);
    assert_int_equal(sum(bench, a, "faults minor"), 9);
}

static void test_errors_add_up_by_context(void **state)
{
    struct bench *bench = *state;
    const uint32_t a = 10, b = 20;
    for (int i = 0; i < 3; i++)
        assert_int_equal(lode_build_changes_fail(&bench->changes, b, NULL), LODE_OK);
    assert_int_equal(lode_build_changes_fail(&bench->changes, a, NULL), LODE_OK);
    assert_int_equal(sum(bench, a, "errors"), 1);
    assert_int_equal(sum(bench, b, "errors"), 3);
    assert_int_equal(bench->changes.items.count, 2);
}

static void test_what_is_no_change_is_passed_over(void **state)
{
    struct bench *bench = *state;
    point(bench, 10, 4, 1);
    point(bench, 1, 1, 1); /* outside of all calls */
    assert_int_equal(bench->changes.items.count, 0);
}

static void test_a_node_recalls_its_children(void **state)
{
    struct lode_content_tree tree;
    uint32_t found = 0;
    (void)state;
    assert_true(lode_content_tree_open(&tree, sizeof(struct lode_calltree_node)));
    for (uint32_t frame = 0; frame < 100; frame++) {
        uint32_t child = lode_content_tree_child(&tree, LODE_TREE_ROOT, frame);
        lode_calltree_remember(&tree, LODE_TREE_ROOT, child);
        assert_int_equal(calltree_recall(calltree_nodes(&tree), frame), child);
    }
    for (uint32_t frame = 0; frame < 100; frame++) {
        uint32_t child = calltree_recall(calltree_nodes(&tree), frame);
        found += child != 0 && lode_tree_node(&tree, child)->frame == frame;
    }
    assert_in_range(found, 1, LODE_CALLTREE_RECENT);
    lode_content_tree_close(&tree);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_calls_inside_are_taken_off),  TEST(test_a_call_that_never_ended_takes_nothing_off),
        TEST(test_errors_add_up_by_context),    TEST(test_what_is_no_change_is_passed_over),
        TEST(test_a_node_recalls_its_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
