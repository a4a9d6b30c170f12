/* SPDX-License-Identifier: BSD-3-Clause */
/* Typed names and filters: which names match how well, and that hostile ones take bounded time. */
#include "base/text/pattern.h"
#include "model/database/context.h"
#include "unit.h"
#include <lode/unstable/match.h>
#include <stdlib.h>
#include <string.h>

static const lode_module module = {0, "/usr/lib/libapp.so.1"};
static const lode_file file = {1, false, "/src/app/vector.h", NULL, 0};

static lode_match match_as(const char *typed, const char *name, lode_name_form shown)
{
    lode_function function = {.name = name, .module = &module, .file = &file, .line = 12};
    lode_matcher *matcher;
    assert_int_equal(lode_matcher_open(&matcher, typed, shown, NULL), LODE_OK);
    lode_match found = lode_matcher_function(matcher, &function);
    assert_int_equal(lode_matcher_status(matcher, NULL), LODE_OK);
    lode_matcher_close(matcher);
    return found;
}

static lode_match match(const char *typed, const char *name)
{
    return match_as(typed, name, LODE_NAME_FULL);
}

static void every_form_of_a_name_can_be_typed(void **state)
{
    static const char mangled[] = "_ZNSt6vectorIiSaIiEE9push_backEOi";
    (void)state;
    assert_int_equal(match("std::vector<int, std::allocator<int> >::push_back(int&&)", mangled),
                     LODE_MATCH_SHOWN);
    assert_int_equal(match("std::vector::push_back", mangled), LODE_MATCH_WHOLE);
    assert_int_equal(match_as("std::vector::push_back", mangled, LODE_NAME_SIMPLE), LODE_MATCH_SHOWN);
    assert_int_equal(match(mangled, mangled), LODE_MATCH_WHOLE);
    assert_int_equal(match_as(mangled, mangled, LODE_NAME_RAW), LODE_MATCH_SHOWN);
    assert_int_equal(match("STD::vector::push_back", mangled), LODE_MATCH_WHOLE_ANY_CASE);
    assert_int_equal(match("push_back", mangled), LODE_MATCH_PART);
    assert_int_equal(match("PUSH_BACK", mangled), LODE_MATCH_PART_ANY_CASE);
    assert_int_equal(match("std::*::push_back", mangled), LODE_MATCH_PATTERN);
    assert_int_equal(match("std::vec...push_back(int&&)", mangled), LODE_MATCH_PATTERN);
    assert_int_equal(match("std::vec\xe2\x80\xa6push_back(int&&)", mangled), LODE_MATCH_PATTERN);
    assert_int_equal(match("/vector.*back$/", mangled), LODE_MATCH_PATTERN);
    assert_int_equal(match("pop_back", mangled), LODE_MATCH_NONE);
}

static void names_with_marks_of_patterns_are_names_first(void **state)
{
    (void)state;
    assert_int_equal(match("f(char*)", "f(char*)"), LODE_MATCH_SHOWN);
    assert_int_equal(match("f(char*)", "f(char const*)"), LODE_MATCH_PATTERN);
    assert_int_equal(match("f(char\\*)", "f(char const*)"), LODE_MATCH_NONE);
    assert_int_equal(match("operator[]", "std::map::operator[]"), LODE_MATCH_PART);
    assert_int_equal(match("print(char const*, ...)", "print(char const*, ...)"), LODE_MATCH_SHOWN);
}

static void brackets_say_where_a_function_is(void **state)
{
    (void)state;
    assert_int_equal(match("run [libapp.so.1]", "run"), LODE_MATCH_WHOLE);
    assert_int_equal(match("run [/usr/lib/libapp.so.1]", "run"), LODE_MATCH_WHOLE);
    assert_int_equal(match("run [vector.h:12]", "run"), LODE_MATCH_WHOLE);
    assert_int_equal(match("run [vector.h:13]", "run"), LODE_MATCH_NONE);
    assert_int_equal(match("run [libc.so]", "run"), LODE_MATCH_NONE);
    assert_int_equal(match("run [libapp.so.1]", "run [libapp.so.1]"), LODE_MATCH_SHOWN);
}

static void what_is_no_name_is_refused(void **state)
{
    static const char *const bad[] = {"", "/(/", "/a**/"};
    lode_error error = {0};
    lode_matcher *matcher;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(lode_matcher_open(&matcher, bad[i], LODE_NAME_FULL, &error), LODE_ERR_ARGUMENT);
        assert_null(matcher);
    }
    char *large = malloc(LODE_PATTERN_MAX + 2);
    assert_non_null(large);
    memset(large, '*', LODE_PATTERN_MAX + 1);
    large[LODE_PATTERN_MAX + 1] = '\0';
    assert_int_equal(lode_matcher_open(&matcher, large, LODE_NAME_FULL, &error), LODE_ERR_LIMIT);
    free(large);
}

static void expressions_that_take_long_are_given_up(void **state)
{
    lode_function function = {.name = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"};
    lode_matcher *matcher;
    lode_error error = {0};
    (void)state;
    assert_int_equal(lode_matcher_open(&matcher, "/^(a+)+$/", LODE_NAME_FULL, NULL), LODE_OK);
    assert_int_equal(lode_matcher_function(matcher, &function), LODE_MATCH_NONE);
    assert_int_equal(lode_matcher_status(matcher, &error), LODE_ERR_LIMIT);
    lode_matcher_close(matcher);
}

static void long_names_are_compared_as_they_are(void **state)
{
    size_t length = 1 << 20;
    char *name = malloc(length + 1), *typed = malloc(40001);
    assert_true(name && typed);
    (void)state;
    memset(name, 'x', length);
    name[length] = '\0';
    memset(typed, 'x', 40000);
    typed[40000] = '\0';
    lode_function function = {.name = name};
    lode_matcher *matcher;
    assert_int_equal(lode_matcher_open(&matcher, typed, LODE_NAME_FULL, NULL), LODE_OK);
    assert_int_equal(lode_matcher_function(matcher, &function), LODE_MATCH_NONE);
    name[40000] = '\0';
    assert_int_equal(lode_matcher_function(matcher, &function), LODE_MATCH_WHOLE);
    lode_matcher_close(matcher);
    free(name);
    free(typed);
}

static int shows(const char *include, const char *exclude, const char *name)
{
    lode_function function = {.name = name, .module = &module, .file = &file, .line = 12};
    lode_filter *filter;
    assert_int_equal(lode_filter_open(&filter, &include, include != NULL, &exclude, exclude != NULL, NULL),
                     LODE_OK);
    int shown = lode_filter_shows_function(filter, &function);
    lode_filter_close(filter);
    return shown;
}

static void filters_compare_whole_names_and_patterns(void **state)
{
    (void)state;
    assert_true(shows(NULL, NULL, "main"));
    assert_true(shows("main", NULL, "main"));
    assert_false(shows("main", NULL, "main_loop"));
    assert_true(shows("main*", NULL, "main_loop"));
    assert_false(shows("main*", "*loop", "main_loop"));
    assert_false(shows(NULL, "app::run", "_ZN3app3runEv"));
    assert_false(shows(NULL, "app::run()", "_ZN3app3runEv"));
    assert_true(shows("module:libapp*", NULL, "f"));
    assert_false(shows("module:libm*", NULL, "f"));
    assert_false(shows(NULL, "file:vector.h", "f"));
    assert_true(shows(NULL, "/^g/", "f"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_a_name_can_be_typed),
        cmocka_unit_test(names_with_marks_of_patterns_are_names_first),
        cmocka_unit_test(brackets_say_where_a_function_is),
        cmocka_unit_test(what_is_no_name_is_refused),
        cmocka_unit_test(expressions_that_take_long_are_given_up),
        cmocka_unit_test(long_names_are_compared_as_they_are),
        cmocka_unit_test(filters_compare_whole_names_and_patterns),
    };
    return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
