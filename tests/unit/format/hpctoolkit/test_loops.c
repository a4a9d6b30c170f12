/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of loops without the loops inside them. */
#include "format/hpctoolkit/loops.h"
#include "unit.h"

static void a_loop_may_be_inside_one_without_values(void **state)
{
    struct lode_array values;
    (void)state;
    lode_array_init(&values, sizeof(struct loop_value), SIZE_MAX);
    assert_null(lode_loops_find(&values, 3, 0));
    assert_int_equal(lode_loops_add(&values, 5, 3, 0, 2.0, NULL), LODE_OK);
    assert_null(lode_loops_find(&values, 3, 0));
    assert_true(lode_loops_find(&values, 5, 0)->value == 2.0);
    assert_null(lode_loops_find(&values, 5, 1));
    lode_array_free(&values);
}

static void a_loop_loses_what_the_loops_inside_it_have(void **state)
{
    struct lode_array values;
    (void)state;
    lode_array_init(&values, sizeof(struct loop_value), SIZE_MAX);
    assert_int_equal(lode_loops_add(&values, 3, 0, 0, 5.0, NULL), LODE_OK);
    assert_int_equal(lode_loops_add(&values, 5, 3, 0, 2.0, NULL), LODE_OK);
    lode_loops_round(&values);
    assert_true(lode_loops_find(&values, 3, 0)->value == 3.0);
    lode_array_free(&values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_may_be_inside_one_without_values),
        cmocka_unit_test(a_loop_loses_what_the_loops_inside_it_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
