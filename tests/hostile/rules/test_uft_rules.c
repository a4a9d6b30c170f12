/* SPDX-License-Identifier: BSD-3-Clause */
/* For each rule of uftrace recordings, one that breaks exactly it, and the level that finds it. */
#include "format/uftrace/uftrace.h"
#include "rule_cases.h"
#include "uft_cases.h"

static struct rule_findings check_full(const struct minirec *rec, const struct uft_case *expected)
{
    lode_memory_file files[MINIREC_FILES];
    return check_files(files, minirec_list(rec, files), expected ? expected->rule : NULL,
                       expected ? expected->also : NULL, LODE_CHECK_FULL);
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
    lode_memory_file files[MINIREC_FILES];
    struct minirec rec;
    minirec_make(&rec, &this->options);
    this->apply(&rec);
    expect_only(files, minirec_list(&rec, files), this->rule, this->also);
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
    struct rule_findings found = check_full(&rec, second);
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
        assert_int_equal(check_full(&rec, NULL).others, 0);
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
        struct rule_findings found = check_full(&rec, &uft_cases[i]);
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
