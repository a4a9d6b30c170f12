/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for names. */
#include "unit.h"
#include <lode/unstable.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

struct name_case {
    lode_name_subject subject;
    const char *name, *expected;
};

static const struct name_case name_cases[] = {
    {LODE_SUBJECT_NAME, "main", "main"},
    {LODE_SUBJECT_NAME, "read [libc-2.31.so]", "read"},
    {LODE_SUBJECT_NAME, "<unknown procedure> 0x4bc80 [libucs.so.0.0.0]", "<unknown procedures of M>"},
    {LODE_SUBJECT_NAME, "f.isra.0", "f"},
    {LODE_SUBJECT_NAME, "f.constprop.1.isra.0", "f"},
    {LODE_SUBJECT_NAME, "f.part.5.lto_priv.3", "f"},
    {LODE_SUBJECT_NAME, "f.cold", "f"},
    {LODE_SUBJECT_NAME, "f.llvm.1234567890", "f"},
    {LODE_SUBJECT_NAME, "f.__uniq.9876", "f"},
    {LODE_SUBJECT_NAME, "f.12", "f"},
    {LODE_SUBJECT_NAME, "f(int) [clone .isra.0] [clone .cold]", "f(int)"},
    {LODE_SUBJECT_NAME, "main._omp_fn.6", "main [region #]"},
    {LODE_SUBJECT_NAME, "main._omp_fn.6.cold", "main [region #]"},
    {LODE_SUBJECT_NAME, "f(int) [clone ._omp_fn.6]", "f(int) [region #]"},
    {LODE_SUBJECT_NAME, "main.omp_outlined", "main [region #]"},
    {LODE_SUBJECT_NAME, "main.omp_outlined.3", "main [region #]"},
    {LODE_SUBJECT_NAME, ".omp_outlined..3", " [region #]"},
    {LODE_SUBJECT_NAME, "f(int)::{lambda(int)#3}::operator()(int) const",
     "f(int)::{lambda #}::operator()(int) const"},
    {LODE_SUBJECT_NAME, "main::$_3::operator()(int) const", "main::{lambda #}::operator()(int) const"},
    {LODE_SUBJECT_NAME, "f()::'lambda2'(int)::operator()(int) const",
     "f()::{lambda #}::operator()(int) const"},
    {LODE_SUBJECT_NAME, "memcpy@@GLIBC_2.17", "memcpy"},
    {LODE_SUBJECT_NAME, "memcpy@plt", "memcpy"},
    {LODE_SUBJECT_NAME, "f[abi:cxx11]()", "f()"},
    {LODE_SUBJECT_NAME, "std::__cxx11::basic_string<char>::size()", "std::basic_string<char>::size()"},
    {LODE_SUBJECT_NAME, "std::__1::sort(int*)", "std::sort(int*)"},
    {LODE_SUBJECT_NAME, "app::run::h0123456789abcdef", "app::run"},
    {LODE_SUBJECT_NAME, "a.B$$Lambda$12/0x0000000800c03000.run", "a.B$$Lambda #.run"},
    {LODE_SUBJECT_NAME, "com.sun.proxy.$Proxy12.call", "com.sun.proxy.$Proxy.call"},
    {LODE_SUBJECT_NAME, "jdk.GeneratedMethodAccessor7.invoke", "jdk.GeneratedMethodAccessor.invoke"},
    {LODE_SUBJECT_NAME, "a.B$$EnhancerBySpringCGLIB$$5f3e.get", "a.B$$EnhancerBySpringCGLIB.get"},
    {LODE_SUBJECT_NAME, "__heat_MOD_step", "heat::step"},
    {LODE_SUBJECT_NAME, "heat_mp_step_", "heat::step"},
    {LODE_SUBJECT_NAME, "dgemm_", "dgemm"},
    {LODE_SUBJECT_NAME, "operator[]", "operator[]"},
    {LODE_SUBJECT_NAME, "a\001b\xff", "a?b?"},
    {LODE_SUBJECT_MODULE, "libfoo.so.1.2", "libfoo.so"},
    {LODE_SUBJECT_MODULE, "libc-2.31.so", "libc.so"},
    {LODE_SUBJECT_MODULE, "7efc21c89566f551ba9bac284645e9d6.vdso", "vdso"},
    {LODE_SUBJECT_MODULE, "vmlinux.a09b", "vmlinux"},
    {LODE_SUBJECT_MODULE, "my-app", "my-app"},
    {LODE_SUBJECT_FILE, "tmpxft_00000f61_00000000-6_x.cudafe1.stub.c", "x.cudafe1.stub.c"},
};

static void rules_leave_out_what_changes_between_builds(void **state)
{
    (void)state;
    lode_name_rules *rules;
    assert_int_equal(lode_name_rules_open(&rules, NULL, 0, NULL), LODE_OK);
    for (size_t i = 0; i < sizeof name_cases / sizeof *name_cases; i++) {
        char result[256];
        size_t length, changed;
        assert_int_equal(lode_name_rules_apply(rules, name_cases[i].subject, name_cases[i].name, "M", result,
                                               sizeof result, &length, NULL, 0, &changed, NULL),
                         LODE_OK);
        assert_string_equal(result, name_cases[i].expected);
        assert_int_equal(length, strlen(result));
        if (name_cases[i].name[1] != '\001')
            assert_int_equal(changed > 0, strcmp(result, name_cases[i].name) != 0);
    }
    lode_name_rules_close(rules);
}

static void every_builtin_rule_changes_one_of_the_names(void **state)
{
    (void)state;
    lode_name_rules *rules;
    assert_int_equal(lode_name_rules_open(&rules, NULL, 0, NULL), LODE_OK);
    for (size_t rule = 0; rule < lode_name_rules_count(rules); rule++) {
        bool used = false;
        for (size_t i = 0; i < sizeof name_cases / sizeof *name_cases; i++) {
            uint32_t changed[8];
            size_t count;
            assert_int_equal(lode_name_rules_apply(rules, name_cases[i].subject, name_cases[i].name, "M",
                                                   NULL, 0, NULL, changed, 8, &count, NULL),
                             LODE_OK);
            for (size_t k = 0; k < count; k++)
                used = used || changed[k] == rule;
        }
        if (!used && strcmp(lode_name_rules_at(rules, rule)->id, "task") != 0)
            fail_msg("%s changed nothing", lode_name_rules_at(rules, rule)->id);
    }
    lode_name_rules_close(rules);
}

static lode_status apply_given(const char *text, const char *name, char *result, size_t size,
                               lode_error *error)
{
    lode_name_rules *rules;
    lode_status status = lode_name_rules_open(&rules, text, strlen(text), error);
    if (status == LODE_OK)
        status = lode_name_rules_apply(rules, LODE_SUBJECT_NAME, name, NULL, result, size, NULL, NULL, 0,
                                       NULL, error);
    lode_name_rules_close(rules);
    return status;
}

static void rules_can_be_added_and_left_out(void **state)
{
    (void)state;
    char result[64];
    lode_error error;
    assert_int_equal(apply_given("# mine\n\nname /^v(\\d)_(.*)/$2 \\$1/ versions\n", "v2_f.isra.0", result,
                                 sizeof result, &error),
                     LODE_OK);
    assert_string_equal(result, "f $1");
    assert_int_equal(apply_given("off fortran\nname ,a\\,b,x,", "a,b_", result, sizeof result, &error),
                     LODE_OK);
    assert_string_equal(result, "x_");
    static const char *const wrong[] = {"name /(/x/", "name /a/b", "nome /a/b/", "off nothing", "name ",
                                        "name //x/",  "name",      "off",        "name xaxbx"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        error.text[0] = '\0';
        assert_int_equal(apply_given(wrong[i], "f", result, sizeof result, &error), LODE_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "line 1"));
    }
}

static void rules_that_take_too_long_are_errors(void **state)
{
    (void)state;
    char name[4001], result[64];
    lode_error error;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(apply_given("name /^(a|aa)+[^a]$/x/", name, result, sizeof result, &error),
                     LODE_ERR_LIMIT);
    assert_non_null(strstr(error.text, "line 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_leave_out_what_changes_between_builds),
        cmocka_unit_test(every_builtin_rule_changes_one_of_the_names),
        cmocka_unit_test(rules_can_be_added_and_left_out),
        cmocka_unit_test(rules_that_take_too_long_are_errors),
    };
    return cmocka_run_group_tests_name("rules for names", tests, NULL, NULL);
}
