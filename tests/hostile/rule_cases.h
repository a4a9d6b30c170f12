/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of rules: a list of cases, structs that begin with the id of the rule that they break. */
#ifndef LODE_TESTS_RULE_CASES_H
#define LODE_TESTS_RULE_CASES_H

#include "unit.h"
#include <lode/check.h>
#include <stdlib.h>
#include <string.h>

struct rule_cases {
    const void *items;
    size_t size, count; /* of one; of them */
};

static inline const void *case_at(const struct rule_cases *cases, size_t index)
{
    return (const char *)cases->items + index * cases->size;
}

static inline const char *case_rule(const struct rule_cases *cases, size_t index)
{
    return *(const char *const *)case_at(cases, index);
}

/* Any rule of any format; fails if there is none. */
static inline const lode_rule *find_rule(const char *id)
{
    static const lode_rule none;
    for (size_t i = 0; i < lode_rule_count(); i++)
        if (strcmp(lode_rule_at(i)->id, id) == 0)
            return lode_rule_at(i);
    fail_msg("there is no rule %s", id);
    return &none;
}

/* The rules whose ids begin with `prefix`; or, unless `wanted`, those whose ids do not. */
static inline void expect_case_for_each_rule(const struct rule_cases *cases, const lode_rule *rules,
                                             size_t rule_count, const char *prefix, bool wanted)
{
    for (size_t i = 0; i < rule_count; i++) {
        bool begins = strncmp(rules[i].id, prefix, strlen(prefix)) == 0;
        unsigned count = 0;
        for (size_t k = 0; k < cases->count; k++)
            count += strcmp(case_rule(cases, k), rules[i].id) == 0;
        if (begins == wanted && count == 0)
            fail_msg("no case for %s", rules[i].id);
    }
}

/* Counts findings of a rule, and others except those in `also`; NULL: none is excepted. */
struct rule_findings {
    const char *rule, *also;
    unsigned of_rule, others;
};

/* Whether a word is in a list of words. */
static inline bool is_listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static inline int count_finding(void *user, const lode_finding *finding)
{
    struct rule_findings *found = user;
    bool is_expected = found->rule && strcmp(finding->rule, found->rule) == 0;
    found->of_rule += is_expected;
    if (is_expected || (found->also && is_listed(found->also, finding->rule)))
        return 0;
    found->others++;
    print_message("# unexpected: %s %s at 0x%llx: %s\n", finding->rule, finding->file,
                  (unsigned long long)finding->offset, finding->text);
    return 0;
}

static inline struct rule_findings check_files(const lode_memory_file *files, size_t count, const char *rule,
                                               const char *also, lode_check_level level)
{
    struct rule_findings found = {.rule = rule, .also = also};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    lode_error error = {0};
    options.level = level;
    options.threads = 2;
    options.on_finding = count_finding;
    options.user = &found;
    if (lode_check_memory(files, count, &options, &result, &error) != LODE_OK)
        fail_msg("could not check: %s", error.text);
    return found;
}

/* The rule is found broken from its level on, and no other. */
static inline void expect_only(const lode_memory_file *files, size_t count, const char *rule,
                               const char *also)
{
    const lode_rule *described = find_rule(rule);
    for (unsigned level = LODE_CHECK_QUICK; level <= LODE_CHECK_FULL; level++) {
        struct rule_findings found = check_files(files, count, rule, also, (lode_check_level)level);
        assert_int_equal(found.others, 0);
        if (level < described->level)
            assert_int_equal(found.of_rule, 0);
        else
            assert_true(found.of_rule > 0);
    }
}

/* How many cases before this one break the same rule. */
static inline size_t cases_before(const struct rule_cases *cases, size_t index)
{
    size_t count = 0;
    for (size_t i = 0; i < index; i++)
        count += strcmp(case_rule(cases, i), case_rule(cases, index)) == 0;
    return count;
}

/* Runs other tests, then one for each case, which is its state. */
static inline int run_rule_cases(const struct rule_cases *cases, CMUnitTestFunction test,
                                 const struct CMUnitTest *others, size_t other_count)
{
    enum {
        NAME = 64
    };
    size_t count = other_count + cases->count;
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    char *names = calloc(cases->count, NAME);
    int failed = tests == NULL || names == NULL;
    for (size_t i = 0; i < count && !failed; i++) {
        if (i < other_count) {
            tests[i] = others[i];
            continue;
        }
        size_t index = i - other_count, again = cases_before(cases, index);
        char *name = names + index * NAME;
        int length = snprintf(name, NAME, "breaks exactly %s", case_rule(cases, index));
        if (again > 0)
            snprintf(name + length, NAME - (size_t)length, ", way %zu", again + 1);
        tests[i] = (struct CMUnitTest){
            .name = name, .test_func = test, .initial_state = (void *)(uintptr_t)case_at(cases, index)};
    }
    if (!failed)
        failed = _cmocka_run_group_tests("rules", tests, count, NULL, NULL);
    free(tests);
    free(names);
    return failed;
}

#endif
