/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of options: none is lost, however many a command has. */
#include "options/option.h"
#include "unit.h"
#include <stdio.h>
#include <string.h>

enum {
    MANY = 50 /* more than there were bits for once */
};

typedef struct many_options {
    shared_options shared;
    int flags[MANY];
} many_options;

static char names[MANY][16];
static option_spec table[MANY + 1];

static option_set make_set(void)
{
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "option-%zu", i);
        table[i] = (option_spec){names[i], 0,    OPTION_FLAG,
                                 NULL,     NULL, offsetof(many_options, flags) + i * sizeof(int)};
    }
    return (option_set){.of_databases = table};
}

static void every_one_of_many_options_is_used(void **state)
{
    option_set set = make_set();
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        many_options values = {0};
        char argument[32];
        char *arguments[] = {argument};
        const char *operands[1];
        option_result result = {.values = &values, .operands = operands};
        snprintf(argument, sizeof argument, "--option-%zu", i);
        assert_int_equal(option_parse(&set, "test", 1, arguments, &result), 0);
        for (size_t k = 0; k < MANY; k++)
            assert_int_equal(values.flags[k], k == i);
        const option_spec *misplaced = option_misplaced(&set, result.given, FOR_RECORDINGS);
        assert_ptr_equal(misplaced, &table[i]);
        assert_null(option_misplaced(&set, result.given, FOR_DATABASES));
    }
}

static void all_options_are_listed(void **state)
{
    option_set set = make_set();
    option_entry list[OPTION_LIST_MAX];
    (void)state;
    size_t count = option_list(&set, list);
    assert_true(count > MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_string_equal(list[i].option->name, names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_one_of_many_options_is_used),
        cmocka_unit_test(all_options_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
