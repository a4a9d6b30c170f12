/* SPDX-License-Identifier: BSD-3-Clause */
/* The draft with meta.db, made byte by byte: read, and broken once for each of its rules. */
#include "base/io/bytes.h"
#include "format/hpctoolkit_drafts/drafts.h"
#include "minimeta.h"
#include "rule_cases.h"
#include <lode/unstable.h>

struct victim {
    struct minidraft db;
    struct minimeta meta;
    lode_memory_file files[HPCT_FILES];
};

static void make(struct victim *victim, const struct minimeta_options *options)
{
    static const struct minidraft_options binaries = {.version_4 = true};
    minidraft_make(&victim->db, &binaries);
    minidraft_files(&victim->db, victim->files);
    minimeta_make(&victim->meta, options);
    victim->files[HPCT_META] = (lode_memory_file){"meta.db", victim->meta.bytes, victim->meta.size};
}

static void release(struct victim *victim)
{
    minidraft_free(&victim->db);
    minimeta_free(&victim->meta);
}

static unsigned char *at(struct victim *victim, uint64_t offset)
{
    assert_true(offset < victim->meta.size);
    return victim->meta.bytes + offset;
}

static unsigned char *section(struct victim *victim, enum minimeta_section id)
{
    return at(victim, victim->meta.sections[id]);
}

static unsigned char *node(struct victim *victim, uint32_t id)
{
    return at(victim, victim->meta.contexts[id]);
}

static unsigned char *section_size(struct victim *victim, enum minimeta_section id)
{
    return at(victim, minimeta_section_entry(id));
}

/* ---- ways to break it ---- */

static void break_size(struct victim *victim)
{
    put_u64be(section_size(victim, MINIMETA_METRICS), UINT64_MAX);
}

static void break_overlap(struct victim *victim)
{
    put_u64be(section_size(victim, MINIMETA_STRINGS), get_u64be(section_size(victim, MINIMETA_STRINGS)) + 1);
}

static void break_version(struct victim *victim)
{
    *at(victim, DRAFTS_MetaHeader_major) = 5;
}

static void break_footer(struct victim *victim)
{
    *at(victim, victim->meta.size - 1) = 'x';
}

static void break_short(struct victim *victim)
{
    victim->files[HPCT_META].size = 0x60;
}

static void break_metrics_end(struct victim *victim)
{
    put_u32be(section(victim, MINIMETA_METRICS), 3);
}

static void break_metric_count(struct victim *victim)
{
    put_u32be(section(victim, MINIMETA_METRICS), UINT32_MAX);
}

static void break_kind_names(struct victim *victim)
{
    put_u16be(section(victim, MINIMETA_GENERAL) + sizeof "mini <draft>", UINT16_MAX);
}

static void break_string(struct victim *victim)
{
    put_u64be(section(victim, MINIMETA_FILES) + 6 + DRAFTS_MetaPath_path_ptr, UINT64_MAX);
}

static void break_table(struct victim *victim)
{
    /* Functions that contexts name would be missing: only the one that none does. */
    put_u32be(section(victim, MINIMETA_BINARIES), UINT32_MAX);
    for (unsigned i = 0; i < 3; i++)
        put_u64be(section(victim, MINIMETA_FUNCTIONS) + 6 + i * 40 + DRAFTS_MetaFunction_binary_ptr, 0);
}

static void break_children(struct victim *victim)
{
    put_u64be(node(victim, 7) + DRAFTS_MetaNode_block_ptr, 8);
}

static void break_last_node(struct victim *victim)
{
    put_u64be(node(victim, 7) + DRAFTS_MetaNode_block_size,
              get_u64be(node(victim, 7) + DRAFTS_MetaNode_block_size) - 1);
}

static void break_record_size(struct victim *victim)
{
    put_u16be(section(victim, MINIMETA_BINARIES) + DRAFTS_MetaTable_size, 11);
    for (unsigned i = 0; i < 3; i++)
        put_u64be(section(victim, MINIMETA_FUNCTIONS) + 6 + i * 40 + DRAFTS_MetaFunction_binary_ptr, 0);
}

static void break_lexical_size(struct victim *victim)
{
    put_u16be(node(victim, 8) + DRAFTS_MetaNode_SIZE + DRAFTS_MetaLexical_lex_flags, 7);
}

static void break_callee_size(struct victim *victim)
{
    /* One byte moves from the callee to the unused bytes after it. */
    unsigned char *callee = node(victim, 9) + DRAFTS_MetaNode_SIZE;
    memmove(callee + 1, callee + 2, DRAFTS_MetaLexical_SIZE + 8);
    *(node(victim, 9) + DRAFTS_MetaNode_callee_size) = 1;
    *(node(victim, 9) + DRAFTS_MetaNode_lexical_size) += 1;
}

static void break_pointer(struct victim *victim)
{
    put_u64be(section(victim, MINIMETA_FUNCTIONS) + 6 + DRAFTS_MetaFunction_def_fileptr, 1);
}

static void break_context_pointer(struct victim *victim)
{
    put_u64be(node(victim, 8) + DRAFTS_MetaNode_SIZE + DRAFTS_MetaLexical_SIZE, 1);
}

static void break_shared(struct victim *victim)
{
    put_u64be(node(victim, 8) + DRAFTS_MetaNode_block_ptr, victim->meta.contexts[8]);
    put_u64be(node(victim, 8) + DRAFTS_MetaNode_block_size, 37);
}

static void break_context_id(struct victim *victim)
{
    /* The id of a context without values, whose samples there are none of. */
    put_u32be(node(victim, 4), 8);
}

static void break_zero_id(struct victim *victim)
{
    put_u32be(node(victim, 4), 0);
}

static void break_metric_id(struct victim *victim)
{
    /* The statistic of the second scope gets the id of the first one's. */
    unsigned char *name = memmem(section(victim, MINIMETA_METRICS), 60, "execution", 9);
    assert_non_null(name);
    put_u16be(name + sizeof "execution", MINIDRAFT_EXCLUSIVE);
}

static void break_enum(struct victim *victim)
{
    *(node(victim, 4) + DRAFTS_MetaNode_SIZE) = 9;
}

static void break_call_type(struct victim *victim)
{
    *(node(victim, 9) + DRAFTS_MetaNode_SIZE) = 9;
}

static void break_combine(struct victim *victim)
{
    unsigned char *name = memmem(section(victim, MINIMETA_METRICS), 60, "function", 8);
    assert_non_null(name);
    name[sizeof "function" + 2] = 9;
}

static void break_caller(struct victim *victim)
{
    *(node(victim, 9) + DRAFTS_MetaNode_SIZE + 1) = 1;
}

static const struct rule_case {
    const char *rule;
    void (*apply)(struct victim *);
    bool opens;       /* what is wrong does not end opening */
    const char *also; /* a consequence: values of what is left out */
} cases[] = {
    {"draft-section-bounds", break_size, false, "draft-value-metric"},
    {"draft-section-overlap", break_overlap, false, NULL},
    {"draft-file-version", break_version, false, "draft-value-metric"},
    {"draft-file-footer", break_footer, false, NULL},
    {"draft-file-short", break_short, false, NULL},
    {"draft-meta-bounds", break_metrics_end, false, NULL},
    {"draft-meta-bounds", break_metric_count, false, "draft-value-metric"},
    {"draft-meta-bounds", break_kind_names, false, NULL},
    {"draft-meta-bounds", break_string, false, NULL},
    {"draft-meta-bounds", break_table, false, NULL},
    {"draft-meta-bounds", break_children, false, NULL},
    {"draft-meta-bounds", break_last_node, false, NULL},
    {"draft-meta-size", break_record_size, false, NULL},
    {"draft-meta-size", break_lexical_size, false, NULL},
    {"draft-meta-size", break_callee_size, false, NULL},
    {"draft-meta-pointer", break_pointer, false, NULL},
    {"draft-meta-pointer", break_context_pointer, false, NULL},
    {"draft-meta-shared", break_shared, false, NULL},
    {"draft-meta-id", break_context_id, false, NULL},
    {"draft-meta-id", break_zero_id, false, NULL},
    {"draft-meta-id", break_metric_id, false, NULL},
    {"draft-meta-enum", break_enum, true, NULL},
    {"draft-meta-enum", break_call_type, true, NULL},
    {"draft-meta-enum", break_combine, true, NULL},
    {"draft-meta-caller", break_caller, true, NULL},
};
static const struct rule_cases all = {cases, sizeof *cases, sizeof cases / sizeof *cases};

/* ---- running them ---- */

struct found {
    const struct rule_case *expected;
    unsigned of_rule, others;
};

static int on_finding(void *user, const lode_finding *finding)
{
    /* Every file is a variant; contexts that are left out are unlisted. */
    static const char *const notes[] = {"draft-variant", "draft-context-unlisted"};
    struct found *found = user;
    if (found->expected && strcmp(finding->rule, found->expected->rule) == 0) {
        found->of_rule++;
        return 0;
    }
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (strcmp(finding->rule, notes[i]) == 0)
            return 0;
    if (found->expected && found->expected->also && strcmp(finding->rule, found->expected->also) == 0)
        return 0;
    found->others++;
    print_message("# unexpected: %s %s at 0x%llx: %s\n", finding->rule, finding->file,
                  (unsigned long long)finding->offset, finding->text);
    return 0;
}

static struct found check_at(const struct victim *victim, const struct rule_case *expected,
                             lode_check_level level)
{
    struct found found = {.expected = expected};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    lode_error error = {0};
    options.level = level;
    options.on_finding = on_finding;
    options.user = &found;
    if (lode_check_memory(victim->files, HPCT_FILES, &options, &result, &error) != LODE_OK)
        fail_msg("could not check: %s", error.text);
    return found;
}

static void breaks_exactly_one_rule(void **state)
{
    const struct rule_case *this = *state;
    static const struct minimeta_options options;
    struct victim victim;
    lode_database *db;
    lode_error error = {0};
    make(&victim, &options);
    this->apply(&victim);
    struct found found = check_at(&victim, this, LODE_CHECK_FULL);
    assert_int_equal(found.others, 0);
    assert_true(found.of_rule > 0);
    lode_status status = lode_database_open_memory(&db, victim.files, HPCT_FILES, &error);
    assert_int_equal(status == LODE_OK, this->opens);
    assert_true(this->opens || error.text[0] != '\0');
    lode_database_close(db);
    release(&victim);
}

static void every_rule_of_the_draft_has_a_case(void **state)
{
    (void)state;
    expect_case_for_each_rule(&all, lode_format_hpctoolkit_drafts.rules,
                              lode_format_hpctoolkit_drafts.rule_count, "draft-meta-", true);
}

/* ---- what is read ---- */

static void expect_function(const lode_database *db, uint32_t id, const char *name, unsigned line,
                            int relation)
{
    const lode_context *context = lode_database_context(db, id);
    const lode_function *function = lode_context_function(context);
    assert_int_equal(lode_context_lexical(context), LODE_LEXICAL_FUNCTION);
    assert_int_equal(lode_context_relation(context), relation);
    assert_int_equal(lode_context_propagation(context), 0);
    assert_string_equal(lode_function_name(function), name);
    assert_int_equal(lode_function_line(function), line);
    assert_string_equal(lode_module_path(lode_function_module(function)), "/bin/app");
    assert_string_equal(lode_file_path(lode_function_file(function)), "src/app.c");
    assert_true(lode_file_is_copied(lode_function_file(function)));
}

static void expect_place(const lode_database *db, uint32_t id, int lexical, unsigned line)
{
    const lode_context *context = lode_database_context(db, id);
    assert_int_equal(lode_context_lexical(context), lexical);
    assert_int_equal(lode_context_relation(context), LODE_RELATION_LEXICAL);
    assert_int_equal(lode_context_propagation(context), 1);
    assert_int_equal(lode_context_line(context), line);
    assert_string_equal(lode_file_path(lode_context_file(context)), "src/app.c");
}

static void expect_metrics(const lode_database *db)
{
    lode_metric_scope scope;
    lode_metric_statistic statistic;
    const lode_metric *metric = lode_database_metric(db, 0);
    assert_int_equal(lode_database_metric_count(db), 1);
    assert_string_equal(lode_metric_name(metric), "a:b (sec)");
    assert_int_equal(lode_metric_scope_count(metric), 2);
    assert_int_equal(lode_metric_scope_at(metric, 1, &scope), LODE_OK);
    assert_int_equal(scope.id, MINIDRAFT_INCLUSIVE);
    assert_int_equal(lode_scope_kind(scope.scope), LODE_SCOPE_EXECUTION);
    assert_int_equal(lode_metric_statistic_at(metric, 0, &statistic), LODE_OK);
    assert_int_equal(statistic.id, MINIDRAFT_EXCLUSIVE);
    assert_int_equal(lode_scope_kind(statistic.scope), LODE_SCOPE_TRANSITIVE);
    assert_string_equal(statistic.formula, "$$");
    assert_int_equal(statistic.combine, LODE_COMBINE_SUM);
}

static void everything_the_page_says_is_read(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 4; bits++) {
        struct minimeta_options options = {.own_id_table = bits & 1, .little_footer = bits & 2};
        struct victim victim;
        lode_database *db;
        lode_error error = {0};
        make(&victim, &options);
        if (lode_database_open_memory(&db, victim.files, HPCT_FILES, &error) != LODE_OK)
            fail_msg("%s: %s", error.file, error.text);
        assert_string_equal(lode_database_title(db), "mini <draft>");
        assert_string_equal(lode_database_description(db), options.own_id_table ? "about it" : "");
        assert_string_equal(lode_database_id_kind_name(db, 3), "THREAD");
        expect_metrics(db);
        const lode_context *entry = lode_context_first_child(lode_database_root(db));
        assert_int_equal(lode_context_entry(entry), LODE_ENTRY_MAIN_THREAD);
        assert_null(lode_context_next_sibling(entry));
        expect_function(db, 3, "main", 10, LODE_RELATION_CALL);
        expect_function(db, 6, "work", 1, LODE_RELATION_CALL);
        expect_function(db, 9, "small", 30, LODE_RELATION_INLINED);
        expect_place(db, 4, LODE_LEXICAL_LINE, 11);
        expect_place(db, 7, LODE_LEXICAL_LOOP, 3);
        expect_place(db, 8, LODE_LEXICAL_LINE, 4);
        /* The functions of entry points are gone. */
        assert_int_equal(lode_database_function_count(db), 3);
        assert_int_equal(check_at(&victim, NULL, LODE_CHECK_FULL).others, 0);
        lode_database_close(db);
        release(&victim);
    }
}

static void samples_at_no_activity_are_samples_of_nothing(void **state)
{
    static const struct minimeta_options options;
    struct victim victim;
    lode_database *db;
    lode_trace_line line;
    lode_sample sample;
    (void)state;
    make(&victim, &options);
    assert_int_equal(lode_database_open_memory(&db, victim.files, HPCT_FILES, NULL), LODE_OK);
    assert_int_equal(lode_database_trace_line(db, 0, &line, NULL), LODE_OK);
    unsigned idle = 0;
    for (uint64_t i = 0; lode_trace_line_sample(&line, i, &sample) == LODE_OK; i++) {
        assert_int_not_equal(sample.context_id, MINIDRAFT_IDLE);
        idle += sample.context_id == 0;
    }
    assert_true(idle > 0);
    assert_null(lode_database_context(db, MINIDRAFT_IDLE));
    lode_database_close(db);
    release(&victim);
}

static void any_cut_of_the_file_is_survived(void **state)
{
    static const struct minimeta_options options;
    struct victim victim;
    (void)state;
    make(&victim, &options);
    for (size_t size = 0; size < victim.meta.size; size++) {
        lode_database *db;
        victim.files[HPCT_META].size = size;
        assert_int_not_equal(lode_database_open_memory(&db, victim.files, HPCT_FILES, NULL), LODE_OK);
    }
    release(&victim);
}

/* Sets every byte to confusing values: reads everything if it opens, and checks it anyway. */
static void any_changed_byte_is_survived(void **state)
{
    static const struct minimeta_options options;
    static const unsigned char bytes[] = {0, 1, 0x7f, 0x80, 0xff};
    struct victim victim;
    (void)state;
    make(&victim, &options);
    for (size_t i = 0; i < victim.meta.size; i++)
        for (size_t k = 0; k < sizeof bytes; k++) {
            unsigned char before = victim.meta.bytes[i];
            lode_check_options full = LODE_CHECK_OPTIONS_INIT;
            lode_check_result result;
            lode_database *db;
            victim.meta.bytes[i] = bytes[k];
            full.level = LODE_CHECK_FULL;
            full.threads = 1;
            lode_status status = lode_check_memory(victim.files, HPCT_FILES, &full, &result, NULL);
            assert_true(status == LODE_OK || i < DRAFTS_MAGIC_SIZE);
            if (lode_database_open_memory(&db, victim.files, HPCT_FILES, NULL) == LODE_OK)
                lode_database_close(db);
            victim.meta.bytes[i] = before;
        }
    release(&victim);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(everything_the_page_says_is_read),
        cmocka_unit_test(samples_at_no_activity_are_samples_of_nothing),
        cmocka_unit_test(any_cut_of_the_file_is_survived),
        cmocka_unit_test(any_changed_byte_is_survived),
        cmocka_unit_test(every_rule_of_the_draft_has_a_case),
    };
    return run_rule_cases(&all, breaks_exactly_one_rule, others, sizeof others / sizeof *others);
}
