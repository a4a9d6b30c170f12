/* SPDX-License-Identifier: BSD-3-Clause */
/* For each rule, a database that breaks exactly it, and the level from which on it is found. */
#include "format/hpctoolkit/hpctoolkit.h"
#include "hpct_cases.h"
#include "rule_cases.h"

struct found {
    const struct hpct_case *expected;
    unsigned of_rule, others;
};

static int on_finding(void *user, const lode_finding *finding)
{
    struct found *found = user;
    if (found->expected && strcmp(finding->rule, found->expected->rule) == 0) {
        found->of_rule++;
        return 0;
    }
    /* Databases with unlisted contexts are noted as such. */
    if (found->expected && found->expected->options.unlisted &&
        strcmp(finding->rule, "context-unlisted") == 0)
        return 0;
    /* Only writers whose profiles have no flags lost point values. */
    if (found->expected && strcmp(found->expected->rule, "scope-lost") == 0 &&
        strcmp(finding->rule, "profile-flagless") == 0)
        return 0;
    found->others++;
    print_message("# unexpected: %s %s at 0x%llx: %s\n", finding->rule, finding->file,
                  (unsigned long long)finding->offset, finding->text);
    return 0;
}

static struct found check_at(const struct victim *victim, const struct hpct_case *expected,
                             lode_check_level level)
{
    struct found found = {.expected = expected};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    lode_error error = {0};
    options.level = level;
    options.threads = 2;
    options.on_finding = on_finding;
    options.user = &found;
    lode_status status = lode_check_memory(victim->files, victim->count, &options, &result, &error);
    if (status != LODE_OK)
        fail_msg("could not check: %s", error.text);
    return found;
}

static const struct hpct_case *find_case(const char *rule)
{
    for (size_t i = 0; i < hpct_case_count; i++)
        if (strcmp(hpct_cases[i].rule, rule) == 0)
            return &hpct_cases[i];
    fail_msg("there is no case for %s", rule);
    return &hpct_cases[0];
}

static void breaks_exactly_one_rule(void **state)
{
    const struct hpct_case *this = *state;
    const lode_rule *rule = find_rule(this->rule);
    struct victim victim = {.count = HPCT_FILES};
    minidb_make(&victim.db, &this->options);
    minidb_files(&victim.db, victim.files);
    this->apply(&victim);
    for (unsigned level = LODE_CHECK_QUICK; level <= LODE_CHECK_FULL; level++) {
        struct found found = check_at(&victim, this, (lode_check_level)level);
        assert_int_equal(found.others, 0);
        if (level < rule->level)
            assert_int_equal(found.of_rule, 0);
        else
            assert_true(found.of_rule > 0);
    }
    minidb_free(&victim.db);
}

/* A database that was damaged twice: the one must not hide the other. */
static void damage_in_one_file_does_not_hide_damage_in_another(void **state)
{
    const struct hpct_case *first = find_case("file-footer"), *second = find_case("summary-differs");
    struct victim victim = {.count = HPCT_FILES};
    (void)state;
    minidb_make(&victim.db, &second->options);
    minidb_files(&victim.db, victim.files);
    first->apply(&victim);
    second->apply(&victim);
    struct found found = check_at(&victim, second, LODE_CHECK_FULL);
    assert_int_equal(found.of_rule, 1);
    assert_int_equal(found.others, 1);
    minidb_free(&victim.db);
}

static void sound_databases_have_no_findings(void **state)
{
    (void)state;
    const struct minidb_options variants[] = {
        MINIDB_OPTIONS_INIT,
        {.profiles = 1, .samples = 1},
        {.profiles = 4, .samples = 0, .statistics = true, .empty_profile = true},
        {.profiles = 70, .chains = 300, .samples = 50, .statistics = true, .empty_profile = true},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        struct victim victim = {.count = HPCT_FILES};
        minidb_make(&victim.db, &variants[i]);
        minidb_files(&victim.db, victim.files);
        assert_int_equal(check_at(&victim, NULL, LODE_CHECK_FULL).others, 0);
        minidb_free(&victim.db);
    }
}

static void every_rule_has_a_case(void **state)
{
    const struct rule_cases cases = {hpct_cases, sizeof *hpct_cases, hpct_case_count};
    (void)state;
    expect_case_for_each_rule(&cases, lode_format_hpctoolkit.rules, lode_format_hpctoolkit.rule_count, "",
                              true);
}

int main(void)
{
    const struct rule_cases cases = {hpct_cases, sizeof *hpct_cases, hpct_case_count};
    const struct CMUnitTest others[] = {
        cmocka_unit_test(sound_databases_have_no_findings),
        cmocka_unit_test(damage_in_one_file_does_not_hide_damage_in_another),
        cmocka_unit_test(every_rule_has_a_case),
    };
    return run_rule_cases(&cases, breaks_exactly_one_rule, others, sizeof others / sizeof *others);
}
