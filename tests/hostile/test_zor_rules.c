/* SPDX-License-Identifier: BSD-3-Clause */
/* For each rule for Zorka trace stores, a store that breaks exactly it, and the level from which on it is found. */
#include "format/zorka/zorka.h"
#include "unit.h"
#include "zor_cases.h"
#include <string.h>

struct found {
    const struct zor_case *expected;
    unsigned of_rule, others;
};

/* Whether a word is in a list of words. */
static bool is_listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static int on_finding(void *user, const lode_finding *finding)
{
    struct found *found = user;
    bool is_expected = found->expected && strcmp(finding->rule, found->expected->rule) == 0;
    found->of_rule += is_expected;
    if (is_expected || (found->expected && is_listed(found->expected->also, finding->rule)))
        return 0;
    found->others++;
    print_message("# unexpected: %s %s at 0x%llx: %s\n", finding->rule, finding->file,
                  (unsigned long long)finding->offset, finding->text);
    return 0;
}

static struct found check_at(const struct minizor *rec, const struct zor_case *expected,
                             lode_check_level level)
{
    struct found found = {.expected = expected};
    lode_memory_file files[MINIZOR_FILES];
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    lode_error error = {0};
    options.level = level;
    options.threads = 2;
    options.on_finding = on_finding;
    options.user = &found;
    lode_status status = lode_check_memory(files, minizor_list(rec, files), &options, &result, &error);
    if (status != LODE_OK)
        fail_msg("could not check: %s", error.text);
    return found;
}

static const lode_rule *find_rule(const char *id)
{
    for (size_t i = 0; i < ZOR_RULE_COUNT; i++)
        if (strcmp(lode_zor_rules[i].id, id) == 0)
            return &lode_zor_rules[i];
    fail_msg("there is no rule %s", id);
    return &lode_zor_rules[0];
}

static const struct zor_case *find_case(const char *rule)
{
    for (size_t i = 0; i < zor_case_count; i++)
        if (strcmp(zor_cases[i].rule, rule) == 0)
            return &zor_cases[i];
    fail_msg("there is no case for %s", rule);
    return &zor_cases[0];
}

static void breaks_exactly_one_rule(void **state)
{
    const struct zor_case *this = *state;
    const lode_rule *rule = find_rule(this->rule);
    struct minizor rec;
    minizor_make(&rec, 0x11, false);
    this->apply(&rec);
    for (unsigned level = LODE_CHECK_QUICK; level <= LODE_CHECK_FULL; level++) {
        struct found found = check_at(&rec, this, (lode_check_level)level);
        assert_int_equal(found.others, 0);
        if (level < rule->level)
            assert_int_equal(found.of_rule, 0);
        else
            assert_true(found.of_rule > 0);
    }
    minizor_free(&rec);
}

static void sound_stores_have_no_findings(void **state)
{
    static const unsigned flags[] = {0x00, 0x01, 0x02, 0x10, 0x11, 0x12};
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        struct minizor rec;
        minizor_make(&rec, flags[i / 2], i % 2 != 0);
        assert_int_equal(check_at(&rec, NULL, LODE_CHECK_FULL).others, 0);
        minizor_free(&rec);
    }
}

static void every_rule_has_a_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZOR_RULE_COUNT; i++)
        find_case(lode_zor_rules[i].id);
}

int main(void)
{
    enum {
        OTHERS = 2,
        CASES_MAX = 128
    };
    struct CMUnitTest tests[CASES_MAX + OTHERS] = {
        cmocka_unit_test(sound_stores_have_no_findings),
        cmocka_unit_test(every_rule_has_a_case),
    };
    static char names[CASES_MAX][64];
    if (zor_case_count > CASES_MAX)
        return 1;
    for (size_t i = 0; i < zor_case_count; i++) {
        const struct zor_case *this = &zor_cases[i];
        bool is_again = i > 0 && strcmp(zor_cases[i - 1].rule, this->rule) == 0;
        snprintf(names[i], sizeof names[i], "breaks exactly %s%s", this->rule,
                 is_again ? ", another way" : "");
        tests[i + OTHERS] = (struct CMUnitTest){
            .name = names[i], .test_func = breaks_exactly_one_rule, .initial_state = (void *)(uintptr_t)this};
    }
    return _cmocka_run_group_tests("tests", tests, OTHERS + zor_case_count, NULL, NULL);
}
