/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of rules: a list of cases, structs of any kind that begin with the id of the rule that they break. */
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

/* Of the rules, those whose ids begin with `prefix`, or, if it is not `wanted`, those whose ids do not. */
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

/* How many cases before this one break the same rule. */
static inline size_t cases_before(const struct rule_cases *cases, size_t index)
{
    size_t count = 0;
    for (size_t i = 0; i < index; i++)
        count += strcmp(case_rule(cases, i), case_rule(cases, index)) == 0;
    return count;
}

/* Runs other tests, and behind them one for each case, which is its state. */
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
