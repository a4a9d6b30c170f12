/* SPDX-License-Identifier: BSD-3-Clause */
/* For each rule of the drafts, a database that breaks exactly it, and the level that finds it. */
#include "base/io/bytes.h"
#include "format/hpctoolkit_drafts/drafts.h"
#include "minidraft.h"
#include "rule_cases.h"

/* A database that is about to be broken. */
struct victim {
    struct minidraft db;
    lode_memory_file files[HPCT_FILES];
    size_t count;
};

static unsigned char *at(struct victim *victim, enum hpct_file_id file, uint64_t offset)
{
    assert_true(offset < victim->db.size[file]);
    return victim->db.bytes[file] + offset;
}

static unsigned char *profile_record(struct victim *victim, uint32_t profile)
{
    return at(victim, HPCT_PROFILE, victim->db.profiles + profile * DRAFTS_Profile_SIZE);
}

static unsigned char *context_record(struct victim *victim, uint32_t context)
{
    return at(victim, HPCT_CCT, victim->db.contexts + context * DRAFTS_Context_SIZE);
}

static unsigned char *trace_record(struct victim *victim, uint32_t line)
{
    return at(victim, HPCT_TRACE, victim->db.traces + line * DRAFTS_Trace_SIZE);
}

static unsigned char *sample(struct victim *victim, uint64_t index)
{
    uint64_t line = get_u64be(trace_record(victim, 0) + DRAFTS_Trace_line_ptr);
    return at(victim, HPCT_TRACE, line + index * WIRE_Sample_SIZE);
}

static unsigned char *profile_group(struct victim *victim, uint32_t profile, uint32_t index)
{
    struct drafts_Profile record;
    lode_drafts_read_Profile(&record, profile_record(victim, profile));
    return at(victim, HPCT_PROFILE,
              record.prof_off + record.num_vals * DRAFTS_PROFILE_VALUE_SIZE +
                  (uint64_t)index * DRAFTS_PROFILE_GROUP_SIZE);
}

/* The value of (profile, context, metric) in profile.db. */
static unsigned char *profile_value(struct victim *victim, uint32_t profile, uint32_t context,
                                    uint32_t metric)
{
    struct drafts_Profile record;
    lode_drafts_read_Profile(&record, profile_record(victim, profile));
    for (uint32_t g = 0; g < record.num_nzctxs; g++) {
        const unsigned char *group = profile_group(victim, profile, g);
        if (get_u32be(group) != context)
            continue;
        for (uint64_t i = get_u64be(group + 4);; i++) {
            unsigned char *value = at(victim, HPCT_PROFILE, record.prof_off + i * DRAFTS_PROFILE_VALUE_SIZE);
            if (get_u16be(value + 8) == metric)
                return value;
        }
    }
    fail_msg("context %u has no values in profile %u", context, profile);
    return NULL;
}

/* The value of (context, metric, profile) in cct.db; all combinations have values. */
static unsigned char *context_value(struct victim *victim, uint32_t context, uint32_t metric,
                                    uint32_t profile)
{
    uint64_t block = get_u64be(context_record(victim, context) + DRAFTS_Context_ctx_off);
    return at(victim, HPCT_CCT,
              block + ((metric - 1) * (MINIDRAFT_PROFILES - 1) + profile - 1) *
                          (uint64_t)DRAFTS_CONTEXT_VALUE_SIZE);
}

static void put_f64be(unsigned char *p, double value)
{
    put_u64be(p, bits_of_f64(value));
}

/* Changes a value of profile 1 wherever it counts, so that the files still agree. */
static void change_value(struct victim *victim, uint32_t context, uint32_t metric, double value)
{
    put_f64be(profile_value(victim, 1, context, metric), value);
    put_f64be(context_value(victim, context, metric, 1), value);
    put_f64be(profile_value(victim, 0, context, metric), value + 2 * minidraft_cost(context, metric));
}

static void replace(struct victim *victim, const char *old, const char *new)
{
    minidraft_replace(&victim->db, old, new);
    minidraft_files(&victim->db, victim->files);
}

static void remove_file(struct victim *victim, size_t index)
{
    victim->files[index] = victim->files[--victim->count];
}

/* ---- files ---- */

static void break_nothing(struct victim *victim)
{
    (void)victim;
}

static void break_part_missing(struct victim *victim)
{
    remove_file(victim, HPCT_PROFILE);
}

static void break_document_missing(struct victim *victim)
{
    remove_file(victim, HPCT_META);
}

static void break_part_absent(struct victim *victim)
{
    remove_file(victim, HPCT_TRACE);
}

static void break_file_short(struct victim *victim)
{
    victim->files[HPCT_TRACE].size = DRAFTS_Header_SIZE - 1;
}

static void break_file_magic(struct victim *victim)
{
    *at(victim, HPCT_TRACE, 9) = 'x';
}

static void break_file_version(struct victim *victim)
{
    *at(victim, HPCT_TRACE, DRAFTS_Header_major) = 2;
}

static void break_file_footer(struct victim *victim)
{
    *at(victim, HPCT_CCT, victim->db.size[HPCT_CCT] - 1) = 'x';
}

static void break_section_bounds(struct victim *victim)
{
    put_u64be(at(victim, HPCT_TRACE, DRAFTS_Header_ptr), UINT64_MAX - 8);
}

static void break_section_size(struct victim *victim)
{
    put_u32be(at(victim, HPCT_TRACE, DRAFTS_Header_count), 3);
}

static void break_section_overlap(struct victim *victim)
{
    unsigned char *header = at(victim, HPCT_PROFILE, 0);
    struct drafts_ProfileHeader tuples;
    lode_drafts_read_ProfileHeader(&tuples, header);
    tuples.idt_ptr -= 4;
    tuples.idt_size += 4;
    lode_drafts_write_ProfileHeader(&tuples, header);
}

/* ---- experiment.xml ---- */

static void break_xml_form(struct victim *victim)
{
    replace(victim, "</HPCToolkitExperiment>", "");
}

static void break_xml_declaration(struct victim *victim)
{
    replace(victim, "<HPCToolkitExperiment", "<!DOCTYPE x [<!ENTITY a \"b\">]>\n<HPCToolkitExperiment");
}

static void break_xml_limit(struct victim *victim)
{
    char element[2048] = "<Info";
    for (unsigned i = 0; i < 65; i++)
        snprintf(element + strlen(element), sizeof element - strlen(element), " a%u=\"\"", i);
    strcat(element, "/>\n</SecHeader>");
    replace(victim, "<Info/>\n</SecHeader>", element);
}

static void break_xml_version(struct victim *victim)
{
    replace(victim, "Experiment version=\"4.0\"", "Experiment version=\"2.2\"");
}

static void break_xml_element(struct victim *victim)
{
    replace(victim, "<Info/>\n</SecHeader>", "<More/>\n</SecHeader>");
}

static void break_xml_number(struct victim *victim)
{
    replace(victim, "l=\"11\"", "l=\"eleven\"");
}

static void break_xml_no_id(struct victim *victim)
{
    replace(victim, "<S i=\"4\"", "<S");
}

static void break_xml_large_number(struct victim *victim)
{
    replace(victim, "v=\"0x11a6\"", "v=\"0x10000000000000000\"");
}

static void break_xml_reference(struct victim *victim)
{
    replace(victim, "n=\"5\" v=\"0x118b\" f=\"0\"", "n=\"5\" v=\"0x118b\" f=\"7\"");
}

static void break_xml_context_twice(struct victim *victim)
{
    replace(victim, "<S i=\"8\"", "<S i=\"4\"");
}

static void break_xml_file_twice(struct victim *victim)
{
    replace(victim, "<File i=\"2147483640\"", "<File i=\"0\"");
}

static void break_xml_metric_twice(struct victim *victim)
{
    replace(victim, "</MetricDBTable>", "<MetricDB i=\"2\" n=\"c (I)\"/></MetricDBTable>");
}

static void break_xml_metric(struct victim *victim)
{
    replace(victim, "frm=\"sum(", "frm=\"avg(");
}

/* ---- values ---- */

static void break_profile_summary(struct victim *victim)
{
    put_u32be(at(victim, HPCT_PROFILE, DRAFTS_Header_count), 0);
}

static void break_tuple_bounds(struct victim *victim)
{
    put_u64be(profile_record(victim, 1) + DRAFTS_Profile_idt_ptr, 8);
}

static void break_tuple_missing(struct victim *victim)
{
    put_u64be(profile_record(victim, 1) + DRAFTS_Profile_idt_ptr, 0);
}

static unsigned char *second_id(struct victim *victim)
{
    uint64_t tuple = get_u64be(profile_record(victim, 1) + DRAFTS_Profile_idt_ptr);
    return at(victim, HPCT_PROFILE, tuple + DRAFTS_IdTuple_SIZE + DRAFTS_Id_SIZE);
}

static void break_tuple_kind(struct victim *victim)
{
    put_u16be(second_id(victim), 0xc009);
}

static void break_tuple_number(struct victim *victim)
{
    put_u64be(second_id(victim) + DRAFTS_Id_logical, UINT64_C(1) << 32);
}

static void break_block_bounds(struct victim *victim)
{
    put_u64be(profile_record(victim, 1) + DRAFTS_Profile_prof_off, UINT64_MAX - 4);
}

static void break_block_overlap(struct victim *victim)
{
    put_u64be(profile_record(victim, 1) + DRAFTS_Profile_prof_off,
              get_u64be(profile_record(victim, 2) + DRAFTS_Profile_prof_off));
}

static void break_block_end(struct victim *victim)
{
    uint32_t groups = get_u32be(profile_record(victim, 1) + DRAFTS_Profile_num_nzctxs);
    *profile_group(victim, 1, groups) = 'x';
}

static void break_block_end_index(struct victim *victim)
{
    uint32_t groups = get_u32be(profile_record(victim, 1) + DRAFTS_Profile_num_nzctxs);
    put_u64be(profile_group(victim, 1, groups) + 4, 1);
}

static void break_block_start(struct victim *victim)
{
    put_u64be(profile_group(victim, 1, 0) + 4, 1);
}

static void break_block_order(struct victim *victim)
{
    put_u32be(profile_group(victim, 1, 1), 0);
}

static void break_value_order(struct victim *victim)
{
    put_u16be(profile_value(victim, 1, 3, MINIDRAFT_INCLUSIVE) + 8, MINIDRAFT_EXCLUSIVE);
}

static void break_value_metric(struct victim *victim)
{
    put_u16be(profile_value(victim, 1, 3, MINIDRAFT_INCLUSIVE) + 8, 9);
}

static void break_value_profile(struct victim *victim)
{
    put_u32be(context_value(victim, 3, MINIDRAFT_INCLUSIVE, 2) + 8, 9);
}

static void break_value_number(struct victim *victim)
{
    change_value(victim, 10, MINIDRAFT_EXCLUSIVE, 0.0);
}

static void break_context_number(struct victim *victim)
{
    put_u32be(context_record(victim, 3), 4);
}

/* ---- samples ---- */

static void break_trace_bounds(struct victim *victim)
{
    unsigned char *end = trace_record(victim, 0) + DRAFTS_Trace_line_end;
    put_u64be(end, get_u64be(end) - 1);
}

static void break_trace_overlap(struct victim *victim)
{
    memcpy(trace_record(victim, 1) + DRAFTS_Trace_line_ptr, trace_record(victim, 0) + DRAFTS_Trace_line_ptr,
           16);
}

static void break_trace_profile(struct victim *victim)
{
    put_u32be(trace_record(victim, 1), MINIDRAFT_PROFILES);
}

static void break_trace_type(struct victim *victim)
{
    put_u16be(trace_record(victim, 1) + DRAFTS_Trace_trace_type, 1);
}

static void break_trace_order(struct victim *victim)
{
    put_u64be(sample(victim, 2), 105);
}

static void break_trace_range(struct victim *victim)
{
    put_u64be(sample(victim, 2), 121);
}

static void break_trace_context(struct victim *victim)
{
    put_u32be(sample(victim, 2) + 8, 99);
}

/* ---- meaning ---- */

static void break_cct_differs(struct victim *victim)
{
    put_f64be(context_value(victim, 3, MINIDRAFT_INCLUSIVE, 1), 11.0);
}

static void break_cct_lacks(struct victim *victim)
{
    put_u64be(context_record(victim, 4) + DRAFTS_Context_num_vals, 0);
    put_u16be(context_record(victim, 4) + DRAFTS_Context_num_nzmids, 0);
}

static void break_scope_execution(struct victim *victim)
{
    change_value(victim, 6, MINIDRAFT_INCLUSIVE, 8.0);
}

static void break_summary_differs(struct victim *victim)
{
    put_f64be(profile_value(victim, 0, 4, MINIDRAFT_INCLUSIVE), 4.0);
}

/* ---- cases ---- */

struct rule_case {
    const char *rule;
    void (*apply)(struct victim *victim);
    struct minidraft_options options;
};

#define PLAIN(id, function)                                                                                  \
    {                                                                                                        \
        id, break_##function,                                                                                \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }
#define WITH(id, function, ...)                                                                              \
    {                                                                                                        \
        id, break_##function,                                                                                \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

static const struct rule_case cases[] = {
    PLAIN("draft-part-missing", part_missing),
    PLAIN("draft-part-missing", document_missing),
    PLAIN("draft-part-absent", part_absent),
    PLAIN("draft-file-short", file_short),
    PLAIN("draft-file-magic", file_magic),
    PLAIN("draft-file-version", file_version),
    PLAIN("draft-file-footer", file_footer),
    PLAIN("draft-variant", nothing),
    PLAIN("draft-section-bounds", section_bounds),
    PLAIN("draft-section-bounds", section_size),
    PLAIN("draft-section-overlap", section_overlap),
    PLAIN("draft-xml-form", xml_form),
    PLAIN("draft-xml-declaration", xml_declaration),
    PLAIN("draft-xml-limit", xml_limit),
    PLAIN("draft-xml-version", xml_version),
    PLAIN("draft-xml-element", xml_element),
    PLAIN("draft-xml-number", xml_number),
    PLAIN("draft-xml-number", xml_no_id),
    PLAIN("draft-xml-number", xml_large_number),
    PLAIN("draft-xml-reference", xml_reference),
    PLAIN("draft-xml-duplicate", xml_context_twice),
    PLAIN("draft-xml-duplicate", xml_file_twice),
    PLAIN("draft-xml-duplicate", xml_metric_twice),
    PLAIN("draft-xml-metric", xml_metric),
    PLAIN("draft-profile-summary", profile_summary),
    PLAIN("draft-tuple-bounds", tuple_bounds),
    PLAIN("draft-tuple-missing", tuple_missing),
    PLAIN("draft-tuple-kind", tuple_kind),
    PLAIN("draft-tuple-number", tuple_number),
    PLAIN("draft-block-bounds", block_bounds),
    PLAIN("draft-block-overlap", block_overlap),
    PLAIN("draft-block-end", block_end),
    PLAIN("draft-block-end", block_end_index),
    PLAIN("draft-block-start", block_start),
    PLAIN("draft-block-order", block_order),
    PLAIN("draft-value-order", value_order),
    PLAIN("draft-value-metric", value_metric),
    PLAIN("draft-value-profile", value_profile),
    WITH("draft-value-number", value_number, .unlisted = true),
    PLAIN("draft-context-number", context_number),
    WITH("draft-context-unlisted", nothing, .unlisted = true),
    WITH("draft-cct-zero", nothing, .zero_cct = true),
    PLAIN("draft-trace-bounds", trace_bounds),
    PLAIN("draft-trace-overlap", trace_overlap),
    PLAIN("draft-trace-profile", trace_profile),
    PLAIN("draft-trace-type", trace_type),
    PLAIN("draft-trace-order", trace_order),
    PLAIN("draft-trace-range", trace_range),
    PLAIN("draft-trace-context", trace_context),
    PLAIN("draft-cct-differs", cct_differs),
    PLAIN("draft-cct-lacks", cct_lacks),
    PLAIN("draft-scope-execution", scope_execution),
    PLAIN("draft-summary-differs", summary_differs),
};
static const struct rule_cases all = {cases, sizeof *cases, sizeof cases / sizeof *cases};

/* ---- running them ---- */

struct found {
    const struct rule_case *expected;
    unsigned of_rule, others;
};

static int on_finding(void *user, const lode_finding *finding)
{
    struct found *found = user;
    if (strcmp(finding->rule, found->expected->rule) == 0) {
        found->of_rule++;
        return 0;
    }
    /* Every file is a variant, and databases with unlisted contexts are noted as such. */
    if (strcmp(finding->rule, "draft-variant") == 0 ||
        (found->expected->options.unlisted && strcmp(finding->rule, "draft-context-unlisted") == 0))
        return 0;
    found->others++;
    print_message("# unexpected: %s %s at 0x%llx: %s\n", finding->rule, finding->file,
                  (unsigned long long)finding->offset, finding->text);
    return 0;
}

static struct found check_at(const struct victim *victim, const struct rule_case *expected,
                             lode_check_level level, lode_check_result *result)
{
    struct found found = {.expected = expected};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_error error = {0};
    options.level = level;
    options.on_finding = on_finding;
    options.user = &found;
    if (lode_check_memory(victim->files, victim->count, &options, result, &error) != LODE_OK)
        fail_msg("could not check: %s", error.text);
    return found;
}

/* Errors that opening finds make it fail, except in cct.db, which is optional. */
static void expect_opening(const struct victim *victim, const lode_rule *rule,
                           const lode_check_result *result)
{
    lode_database *db;
    lode_error error = {0};
    bool of_metadata = rule->level == LODE_CHECK_QUICK || strncmp(rule->id, "draft-xml-", 10) == 0;
    bool fails = of_metadata && result->errors > 0 && strcmp(rule->id, "draft-file-footer") != 0;
    lode_status status = lode_database_open_memory(&db, victim->files, victim->count, &error);
    assert_int_equal(status != LODE_OK, fails);
    assert_true(!fails || error.text[0] != '\0');
    lode_database_close(db);
}

static void breaks_exactly_one_rule(void **state)
{
    const struct rule_case *this = *state;
    const lode_rule *rule = find_rule(this->rule);
    struct victim victim = {.count = HPCT_FILES};
    lode_check_result result;
    minidraft_make(&victim.db, &this->options);
    minidraft_files(&victim.db, victim.files);
    this->apply(&victim);
    for (unsigned level = LODE_CHECK_QUICK; level <= LODE_CHECK_FULL; level++) {
        struct found found = check_at(&victim, this, (lode_check_level)level, &result);
        assert_int_equal(found.others, 0);
        if (level < rule->level)
            assert_int_equal(found.of_rule, 0);
        else
            assert_true(found.of_rule > 0);
    }
    expect_opening(&victim, rule, &result);
    minidraft_free(&victim.db);
}

static void sound_databases_have_nothing_but_notes_on_their_variant(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 64; bits++) {
        static const struct rule_case variant = {.rule = "draft-variant"};
        struct minidraft_options options = {.old_magic = bits & 1,
                                            .version_4 = bits & 2,
                                            .unpadded = bits & 4,
                                            .big_footer = bits & 8,
                                            .trace_footer = bits & 16,
                                            .old_ids = bits & 32};
        struct victim victim = {.count = HPCT_FILES};
        lode_check_result result;
        minidraft_make(&victim.db, &options);
        minidraft_files(&victim.db, victim.files);
        struct found found = check_at(&victim, &variant, LODE_CHECK_FULL, &result);
        assert_int_equal(found.others, 0);
        assert_int_equal(found.of_rule, 3);
        minidraft_free(&victim.db);
    }
}

static void every_rule_has_a_case(void **state)
{
    (void)state;
    /* Those of the other draft are in test_metadb_rules.c. */
    expect_case_for_each_rule(&all, lode_format_hpctoolkit_drafts.rules,
                              lode_format_hpctoolkit_drafts.rule_count, "draft-meta-", false);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(sound_databases_have_nothing_but_notes_on_their_variant),
        cmocka_unit_test(every_rule_has_a_case),
    };
    return run_rule_cases(&all, breaks_exactly_one_rule, others, sizeof others / sizeof *others);
}
