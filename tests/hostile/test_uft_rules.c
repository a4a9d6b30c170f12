/* SPDX-License-Identifier: BSD-3-Clause */
/* For each rule for uftrace recordings, a recording that breaks exactly it, and the level from which on it is found. */
#include "format/uftrace/uftrace.h"
#include "rule_cases.h"
#include "uft_cases.h"

struct found {
    const struct uft_case *expected;
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

static struct found check_at(const struct minirec *rec, const struct uft_case *expected,
                             lode_check_level level)
{
    struct found found = {.expected = expected};
    lode_memory_file files[MINIREC_FILES];
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    lode_error error = {0};
    options.level = level;
    options.threads = 2;
    options.on_finding = on_finding;
    options.user = &found;
    lode_status status = lode_check_memory(files, minirec_list(rec, files), &options, &result, &error);
    if (status != LODE_OK)
        fail_msg("could not check: %s", error.text);
    return found;
}

static const struct uft_case *find_case(const char *rule)
{
    for (size_t i = 0; i < uft_case_count; i++)
        if (strcmp(uft_cases[i].rule, rule) == 0)
            return &uft_cases[i];
    fail_msg("there is no case for %s", rule);
    return &uft_cases[0];
}

static void breaks_exactly_one_rule(void **state)
{
    const struct uft_case *this = *state;
    const lode_rule *rule = find_rule(this->rule);
    struct minirec rec;
    minirec_make(&rec, &this->options);
    this->apply(&rec);
    for (unsigned level = LODE_CHECK_QUICK; level <= LODE_CHECK_FULL; level++) {
        struct found found = check_at(&rec, this, (lode_check_level)level);
        assert_int_equal(found.others, 0);
        if (level < rule->level)
            assert_int_equal(found.of_rule, 0);
        else
            assert_true(found.of_rule > 0);
    }
    minirec_free(&rec);
}

/* A recording that was damaged twice: the one must not hide the other. */
static void damage_in_one_file_does_not_hide_damage_in_another(void **state)
{
    const struct uft_case *first = find_case("map-line"), *second = find_case("exit-missing");
    struct minirec rec;
    (void)state;
    minirec_make(&rec, &second->options);
    first->apply(&rec);
    second->apply(&rec);
    struct found found = check_at(&rec, second, LODE_CHECK_FULL);
    assert_int_equal(found.of_rule, 1);
    assert_int_equal(found.others, 1);
    minirec_free(&rec);
}

static void sound_recordings_have_no_findings(void **state)
{
    const struct minirec_options variants[] = {
        MINIREC_OPTIONS_INIT,
        {.calls = 0},
        {.calls = 20000},
        {.calls = 3, .big_endian = true},
        {.calls = 3, .is_32_bit = true},
        {.calls = 3, .has_old_symbols = true},
        {.calls = 700, .big_endian = true, .is_32_bit = true, .has_old_symbols = true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        struct minirec rec;
        minirec_make(&rec, &variants[i]);
        assert_int_equal(check_at(&rec, NULL, LODE_CHECK_FULL).others, 0);
        minirec_free(&rec);
    }
}

/* The same things break in the other byte order. */
static void byte_order_makes_no_difference(void **state)
{
    (void)state;
    for (size_t i = 0; i < uft_case_count; i++) {
        struct minirec_options options = uft_cases[i].options;
        struct minirec rec;
        options.big_endian = true;
        /* Byte 14 itself is not turned round. */
        if (strcmp(uft_cases[i].rule, "info-byte-order") == 0)
            continue;
        minirec_make(&rec, &options);
        uft_cases[i].apply(&rec);
        struct found found = check_at(&rec, &uft_cases[i], LODE_CHECK_FULL);
        if (found.of_rule == 0 || found.others > 0)
            fail_msg("%s: %u findings, and %u others", uft_cases[i].rule, found.of_rule, found.others);
        minirec_free(&rec);
    }
}

static void every_rule_has_a_case(void **state)
{
    const struct rule_cases all = {uft_cases, sizeof *uft_cases, uft_case_count};
    (void)state;
    expect_case_for_each_rule(&all, lode_uft_rules, UFT_RULE_COUNT, "", true);
}

static void no_two_rules_of_any_format_have_one_id(void **state)
{
    (void)state;
    for (size_t i = 0; i < lode_rule_count(); i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(lode_rule_at(i)->id, lode_rule_at(k)->id);
}

int main(void)
{
    const struct rule_cases all = {uft_cases, sizeof *uft_cases, uft_case_count};
    const struct CMUnitTest others[] = {
        cmocka_unit_test(sound_recordings_have_no_findings),
        cmocka_unit_test(damage_in_one_file_does_not_hide_damage_in_another),
        cmocka_unit_test(byte_order_makes_no_difference),
        cmocka_unit_test(every_rule_has_a_case),
        cmocka_unit_test(no_two_rules_of_any_format_have_one_id),
    };
    return run_rule_cases(&all, breaks_exactly_one_rule, others, sizeof others / sizeof *others);
}
