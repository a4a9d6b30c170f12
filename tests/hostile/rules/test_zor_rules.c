/* SPDX-License-Identifier: BSD-3-Clause */
/* For each rule of Zorka trace stores, one that breaks exactly it, and the level that finds it. */
#include "format/zorka/zorka.h"
#include "rule_cases.h"
#include "zor_cases.h"

static void breaks_exactly_one_rule(void **state)
{
    const struct zor_case *this = *state;
    lode_memory_file files[MINIZOR_FILES];
    struct minizor store;
    minizor_make(&store, 0x11, false);
    this->apply(&store);
    expect_only(files, minizor_list(&store, files), this->rule, this->also);
    minizor_free(&store);
}

static void sound_stores_have_no_findings(void **state)
{
    static const unsigned flags[] = {0x00, 0x01, 0x02, 0x10, 0x11, 0x12};
    lode_memory_file files[MINIZOR_FILES];
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        struct minizor store;
        minizor_make(&store, flags[i / 2], i % 2 != 0);
        size_t count = minizor_list(&store, files);
        assert_int_equal(check_files(files, count, NULL, NULL, LODE_CHECK_FULL).others, 0);
        minizor_describe(&store);
        count = minizor_list(&store, files);
        assert_int_equal(check_files(files, count, NULL, NULL, LODE_CHECK_FULL).others, 0);
        minizor_free(&store);
    }
}

static void every_rule_has_a_case(void **state)
{
    const struct rule_cases all = {zor_cases, sizeof *zor_cases, zor_case_count};
    (void)state;
    expect_case_for_each_rule(&all, lode_zor_rules, ZOR_RULE_COUNT, "", true);
}

int main(void)
{
    const struct rule_cases all = {zor_cases, sizeof *zor_cases, zor_case_count};
    const struct CMUnitTest others[] = {
        cmocka_unit_test(sound_stores_have_no_findings),
        cmocka_unit_test(every_rule_has_a_case),
    };
    return run_rule_cases(&all, breaks_exactly_one_rule, others, sizeof others / sizeof *others);
}
