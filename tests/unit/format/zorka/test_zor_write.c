/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of written trace stores: function names in parts, and strings with ids. */
#include "format/zorka/write/origin.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static void assert_parts(const char *name, const char *class_name, const char *method, const char *signature)
{
    struct lode_range parts[3] = {zor_range("module"), zor_range(""), zor_range("()")};
    const char *wanted[3] = {class_name, method, signature};
    lode_zor_split_name(name, parts);
    for (unsigned i = 0; i < 3; i++)
        if (parts[i].size != strlen(wanted[i]) || memcmp(parts[i].data, wanted[i], strlen(wanted[i])) != 0)
            fail_msg("part %u of %s is %.*s, not %s", i, name, (int)parts[i].size,
                     (const char *)parts[i].data, wanted[i]);
}

static void functions_have_a_class_a_method_and_a_signature(void **state)
{
    (void)state;
    assert_parts("app::Guard::run(int, char)", "app::Guard", "run", "(int, char)");
    assert_parts("app::Guard::~Guard()", "app::Guard", "~Guard", "()");
    assert_parts("app::run", "app", "run", "()");
    assert_parts("run(int)", "module", "run", "(int)");
    assert_parts("app::Box<int>::get() const", "app::Box<int>", "get", "() const");
    assert_parts("app::Box<a::b(c)>::get<d::e>(f::g)", "app::Box<a::b(c)>", "get<d::e>", "(f::g)");
}

static void what_looks_like_parameters_may_be_none(void **state)
{
    (void)state;
    assert_parts("(anonymous namespace)::run(int)", "(anonymous namespace)", "run", "(int)");
    assert_parts("app::(anonymous namespace)::run()", "app::(anonymous namespace)", "run", "()");
    assert_parts("app::F::operator()(int) const", "app::F", "operator()", "(int) const");
    assert_parts("app::operator<<(std::ostream&, int)", "app", "operator<<", "(std::ostream&, int)");
    assert_parts("app::F::operator->() const", "app::F", "operator->", "() const");
    assert_parts("app::F::operator bool() const", "app::F", "operator bool", "() const");
    assert_parts("app::run(int)::{lambda(char)#1}::operator()(char) const", "app::run(int)::{lambda(char)#1}",
                 "operator()", "(char) const");
    assert_parts("app::A::f() const::Local::g()", "app::A::f() const::Local", "g", "()");
}

static void types_of_results_are_no_part(void **state)
{
    (void)state;
    assert_parts("void app::run<int>(int)", "app", "run<int>", "(int)");
    assert_parts("std::vector<int, a::b> app::make<int>()", "app", "make<int>", "()");
    assert_parts("non-virtual thunk to app::A::f()", "non-virtual thunk to app::A", "f", "()");
}

static void any_bytes_are_a_name(void **state)
{
    static const char *const names[] = {"",    "(",     "::",       "a::",   "((((", ")>>]", "operator",
                                        "a b", "a b::", "operator", "::(::", "<",    " ",    "operator <"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct lode_range parts[3] = {zor_range("module"), zor_range(""), zor_range("()")};
        lode_zor_split_name(names[i], parts);
        assert_true(parts[1].size <= strlen(names[i]));
    }
}

/* ---- strings ---- */

static void strings_are_there_once(void **state)
{
    struct zor_dictionary strings;
    (void)state;
    lode_zor_dictionary_init(&strings);
    struct zor_entry *method = lode_zor_method(&strings, zor_range("a.B"), zor_range("c"), zor_range("()"));
    assert_ptr_equal(method, lode_zor_method(&strings, zor_range("a.B"), zor_range("c"), zor_range("()")));
    assert_ptr_not_equal(method,
                         lode_zor_method(&strings, zor_range("a"), zor_range("B.c"), zor_range("()")));
    assert_ptr_not_equal(lode_zor_string(&strings, ZOR_MARK_NONE, zor_range("c")),
                         lode_zor_string(&strings, ZOR_MARK_METHOD_NAME, zor_range("c")));
    lode_zor_dictionary_free(&strings);
}

static void ids_are_in_the_order_of_use_and_parts_come_first(void **state)
{
    struct zor_dictionary strings;
    (void)state;
    lode_zor_dictionary_init(&strings);
    struct zor_entry *unused = lode_zor_string(&strings, ZOR_MARK_NONE, zor_range("unused"));
    struct zor_entry *method = lode_zor_method(&strings, zor_range("a"), zor_range("b"), zor_range("()"));
    struct zor_entry *first = lode_zor_string(&strings, ZOR_MARK_NONE, zor_range("first"));
    struct zor_entry *nothing = lode_zor_string(&strings, ZOR_MARK_NONE, zor_range(""));
    atomic_store(&method->first, 7);
    atomic_store(&first->first, 3);
    atomic_store(&nothing->first, 1);
    assert_int_equal(lode_zor_dictionary_number(&strings, NULL), LODE_OK);
    assert_int_equal(strings.count, 5);
    assert_int_equal(nothing->id, 0);
    assert_int_equal(unused->id, 0);
    assert_int_equal(first->id, 1);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(method->parts[i]->id, 2 + i);
    assert_int_equal(method->id, 5);
    lode_zor_dictionary_free(&strings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_a_class_a_method_and_a_signature),
        cmocka_unit_test(what_looks_like_parameters_may_be_none),
        cmocka_unit_test(types_of_results_are_no_part),
        cmocka_unit_test(any_bytes_are_a_name),
        cmocka_unit_test(strings_are_there_once),
        cmocka_unit_test(ids_are_in_the_order_of_use_and_parts_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
