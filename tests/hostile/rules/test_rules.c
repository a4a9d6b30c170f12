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

/* ---- sums of values, by which profile.db and cct.db are compared ---- */

static unsigned char *profile_bits(struct victim *v, uint32_t profile, uint32_t context, uint32_t metric)
{
    uint64_t offset = minidb_profile_value(&v->db, profile, context, metric);
    assert_int_not_equal(offset, 0);
    return (unsigned char *)(uintptr_t)v->files[HPCT_PROFILE].data + offset + WIRE_ProfileValue_value;
}

static unsigned char *context_bits(struct victim *v, uint32_t profile, uint32_t context, uint32_t metric)
{
    uint64_t offset = minidb_context_value(&v->db, context, metric, profile);
    assert_int_not_equal(offset, 0);
    return (unsigned char *)(uintptr_t)v->files[HPCT_CCT].data + offset + WIRE_ContextValue_value;
}

static unsigned count_differences(const struct victim *victim)
{
    struct hpct_case differs = *find_case("cct-differs");
    return check_at(victim, &differs, LODE_CHECK_FULL).of_rule;
}

/* These bits of a NaN, and those of a tiny number, are the same number modulo 2^64 - 59. */
static void bits_that_are_equal_modulo_the_prime_differ(void **state)
{
    const struct minidb_options options = MINIDB_OPTIONS_INIT;
    (void)state;
    for (unsigned side = 0; side < 2; side++) {
        struct victim victim = {.count = HPCT_FILES};
        minidb_make(&victim.db, &options);
        minidb_files(&victim.db, victim.files);
        put_u64le(profile_bits(&victim, 2, 6, EXECUTION), side ? UINT64_MAX - 57 : 1);
        put_u64le(context_bits(&victim, 2, 6, EXECUTION), side ? 1 : UINT64_MAX - 57);
        assert_int_equal(count_differences(&victim), 1);
        minidb_free(&victim.db);
    }
}

/* Two values of cct.db that are exchanged: of two contexts, two metrics, two profiles. */
static void exchanged_values_are_found(void **state)
{
    const struct minidb_options options = MINIDB_OPTIONS_INIT;
    const uint32_t pairs[][2][3] = {{{2, 6, EXECUTION}, {2, 0, EXECUTION}},
                                    {{1, 0, EXECUTION}, {1, 0, EXECUTION + MINIDB_SCOPES}},
                                    {{2, 6, EXECUTION}, {1, 6, EXECUTION}}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct victim victim = {.count = HPCT_FILES};
        minidb_make(&victim.db, &options);
        minidb_files(&victim.db, victim.files);
        unsigned char *at[2];
        for (size_t k = 0; k < 2; k++)
            at[k] = context_bits(&victim, pairs[i][k][0], pairs[i][k][1], pairs[i][k][2]);
        uint64_t first = get_u64le(at[0]), second = get_u64le(at[1]);
        put_u64le(at[0], second);
        put_u64le(at[1], first);
        assert_int_not_equal(first, second);
        assert_int_equal(count_differences(&victim), 2);
        minidb_free(&victim.db);
    }
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
        cmocka_unit_test(bits_that_are_equal_modulo_the_prime_differ),
        cmocka_unit_test(exchanged_values_are_found),
        cmocka_unit_test(every_rule_has_a_case),
    };
    return run_rule_cases(&cases, breaks_exactly_one_rule, others, sizeof others / sizeof *others);
}
