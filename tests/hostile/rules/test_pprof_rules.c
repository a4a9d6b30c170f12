/* SPDX-License-Identifier: BSD-3-Clause */
/* For each rule of profiles of pprof, one that breaks exactly it, and whether it opens. */
#include "format/pprof/pprof.h"
#include "format/pprof/read.h"
#include "minipprof.h"
#include "rule_cases.h"

static const uint64_t stack[] = {3, 2, 1};

static void break_empty(struct lode_blob *out)
{
    out->size = 0;
    minipprof_gzip(out);
}

static void break_empty_file(struct lode_blob *out)
{
    out->size = 0;
}

static void break_gzip_checksum(struct lode_blob *out)
{
    minipprof_gzip(out);
    out->bytes[out->size - 8] ^= 1;
}

static void break_gzip_end(struct lode_blob *out)
{
    minipprof_gzip(out);
    out->size -= 3;
}

static void break_gzip_twice(struct lode_blob *out)
{
    minipprof_gzip(out);
    minipprof_gzip(out);
}

static void break_trailing(struct lode_blob *out)
{
    minipprof_gzip(out);
    lode_blob_text(out, "more");
}

static void break_limit(struct lode_blob *out)
{
    for (unsigned i = 0; i < LODE_IMPORT_METRICS; i++)
        minipprof_type(out, MINI_CPU, MINI_NANOSECONDS);
}

/* Ten megabytes in ten kilobytes: a name that nothing uses. */
static void break_ratio(struct lode_blob *out)
{
    size_t size = 10000000;
    char *name = calloc(1, size);
    assert_non_null(name);
    minipprof_bytes(out, PROFILE_STRING_TABLE, name, size);
    free(name);
    minipprof_gzip(out);
}

/* A location of `lines` inlined calls, below each of many roots. */
static void multiply(struct lode_blob *out, uint64_t lines, uint64_t roots)
{
    struct lode_blob message = {0};
    minipprof_field(&message, LOCATION_ID, 4);
    for (uint64_t i = 0; i < lines; i++) {
        static const uint8_t line[] = {LINE_FUNCTION_ID << 3, 1};
        minipprof_bytes(&message, LOCATION_LINE, line, sizeof line);
    }
    minipprof_bytes(out, PROFILE_LOCATION, message.bytes, message.size);
    lode_blob_free(&message);
    for (uint64_t i = 0; i < roots; i++) {
        minipprof_location(out, 5 + i, 0, 0x1000 + i, 0);
        minipprof_sample(out, (const uint64_t[]){4, 5 + i}, 2, 1);
    }
}

/* 400,000 contexts from 80 KB, where 302,000 are allowed; from 400 bytes of gzip, a few less. */
static void break_contexts(struct lode_blob *out)
{
    multiply(out, 20000, 20);
}

static void break_contexts_packed(struct lode_blob *out)
{
    multiply(out, 20000, 20);
    minipprof_gzip(out);
}

static void break_strings(struct lode_blob *out)
{
    for (unsigned i = 0; i < 250000; i++)
        minipprof_string(out, "");
}

static void break_wire_type(struct lode_blob *out)
{
    minipprof_number(out, 2 << 3 | 6);
}

static void break_wire_length(struct lode_blob *out)
{
    minipprof_number(out, 6 << 3 | 2);
    minipprof_number(out, UINT64_MAX);
}

static void break_wire_inside(struct lode_blob *out)
{
    minipprof_bytes(out, 2, "\x12\x7f", 2);
}

static void break_wire_line(struct lode_blob *out)
{
    minipprof_bytes(out, 4, "\x08\x09\x22\x01\x08", 5);
}

static void break_wire_known(struct lode_blob *out)
{
    minipprof_bytes(out, 9, "12345678", 8);
}

static void break_unknown_field(struct lode_blob *out)
{
    minipprof_field(out, 99, 1);
}

static void break_concatenated(struct lode_blob *out)
{
    minipprof_field(out, 9, 1);
    minipprof_field(out, 9, 2);
}

static void break_string_table(struct lode_blob *out)
{
    out->size = 0;
    minipprof_string(out, "x");
    minipprof_make(out);
}

static void break_string_table_missing(struct lode_blob *out)
{
    out->size = 0;
    minipprof_records(out);
    minipprof_type(out, 0, 0);
}

static void break_string_index(struct lode_blob *out)
{
    minipprof_function(out, 9, MINI_STRINGS);
}

static void break_string_index_sign(struct lode_blob *out)
{
    minipprof_field(out, 7, UINT64_MAX);
}

static void break_id_zero(struct lode_blob *out)
{
    minipprof_function(out, 0, MINI_F);
}

static void break_id_zero_location(struct lode_blob *out)
{
    minipprof_location(out, 0, 0, 0, 1);
}

static void break_id_zero_mapping(struct lode_blob *out)
{
    minipprof_mapping(out, 0, 0, 0, MINI_PROGRAM);
}

static void break_id_twice(struct lode_blob *out)
{
    minipprof_location(out, 3, 1, 0x1003, 2);
}

static void break_location(struct lode_blob *out)
{
    minipprof_sample(out, (const uint64_t[]){1, 9}, 2, 1);
}

static void break_location_zero(struct lode_blob *out)
{
    minipprof_sample(out, (const uint64_t[]){0}, 1, 1);
}

static void break_function(struct lode_blob *out)
{
    minipprof_location(out, 9, 1, 0x1003, 9);
}

static void break_types(struct lode_blob *out)
{
    out->size = 0;
    minipprof_strings(out);
    minipprof_records(out);
}

static void break_values(struct lode_blob *out)
{
    minipprof_bytes(out, 2, "\x08\x01", 2);
}

static void break_values_many(struct lode_blob *out)
{
    minipprof_bytes(out, 2, "\x08\x01\x12\x02\x01\x01", 6);
}

static void break_mapping(struct lode_blob *out)
{
    minipprof_location(out, 9, 9, 0, 1);
}

static void break_mapping_range(struct lode_blob *out)
{
    minipprof_mapping(out, 9, 2, 1, MINI_PROGRAM);
}

static void break_address(struct lode_blob *out)
{
    minipprof_location(out, 9, 1, 0x9000, 1);
}

static void break_default_type(struct lode_blob *out)
{
    minipprof_field(out, 14, MINI_MAIN);
}

static void break_stack(struct lode_blob *out)
{
    minipprof_sample(out, NULL, 0, 1);
}

static void break_depth(struct lode_blob *out)
{
    uint64_t *deep = malloc(PPROF_DEPTH_MOST * sizeof *deep);
    assert_non_null(deep);
    for (size_t i = 0; i < PPROF_DEPTH_MOST; i++)
        deep[i] = 1 + i % 3;
    minipprof_sample(out, deep, PPROF_DEPTH_MOST, 1);
    free(deep);
}

static void break_utf8(struct lode_blob *out)
{
    minipprof_string(out, "a\xff");
    minipprof_function(out, 9, MINI_STRINGS);
}

static void break_control(struct lode_blob *out)
{
    minipprof_string(out, "a\nb");
    minipprof_function(out, 9, MINI_STRINGS);
}

static void break_name_length(struct lode_blob *out)
{
    char *name = malloc(LODE_IMPORT_NAME + 1);
    assert_non_null(name);
    memset(name, 'x', LODE_IMPORT_NAME + 1);
    minipprof_bytes(out, 6, name, LODE_IMPORT_NAME + 1);
    minipprof_function(out, 9, MINI_STRINGS);
    free(name);
}

static void break_pattern(struct lode_blob *out)
{
    minipprof_string(out, "(");
    minipprof_field(out, 7, MINI_STRINGS);
}

static void break_pattern_reference(struct lode_blob *out)
{
    minipprof_string(out, "(a)\\1");
    minipprof_field(out, 7, MINI_STRINGS);
}

static void break_pattern_time(struct lode_blob *out)
{
    minipprof_string(out, "(a|aa)+[bd]");
    minipprof_string(out, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac");
    minipprof_field(out, 7, MINI_STRINGS);
    minipprof_function(out, 9, MINI_STRINGS + 1);
}

static void break_precision(struct lode_blob *out)
{
    minipprof_sample(out, stack, 3, INT64_MAX);
}

struct pprof_case {
    const char *rule;
    void (*apply)(struct lode_blob *out);
};

static const struct pprof_case cases[] = {
    {"pprof-empty", break_empty},
    {"pprof-empty", break_empty_file},
    {"pprof-gzip", break_gzip_checksum},
    {"pprof-gzip", break_gzip_end},
    {"pprof-gzip", break_gzip_twice},
    {"pprof-trailing", break_trailing},
    {"pprof-limit", break_limit},
    {"pprof-ratio", break_ratio},
    {"pprof-expansion", break_contexts},
    {"pprof-expansion", break_contexts_packed},
    {"pprof-expansion", break_strings},
    {"pprof-wire", break_wire_type},
    {"pprof-wire", break_wire_length},
    {"pprof-wire", break_wire_inside},
    {"pprof-wire", break_wire_line},
    {"pprof-wire", break_wire_known},
    {"pprof-unknown-field", break_unknown_field},
    {"pprof-concatenated", break_concatenated},
    {"pprof-string-table", break_string_table},
    {"pprof-string-table", break_string_table_missing},
    {"pprof-string-index", break_string_index},
    {"pprof-string-index", break_string_index_sign},
    {"pprof-id-zero", break_id_zero},
    {"pprof-id-zero", break_id_zero_location},
    {"pprof-id-zero", break_id_zero_mapping},
    {"pprof-id-twice", break_id_twice},
    {"pprof-location", break_location},
    {"pprof-location", break_location_zero},
    {"pprof-function", break_function},
    {"pprof-types", break_types},
    {"pprof-values", break_values},
    {"pprof-values", break_values_many},
    {"pprof-mapping", break_mapping},
    {"pprof-mapping-range", break_mapping_range},
    {"pprof-address", break_address},
    {"pprof-default-type", break_default_type},
    {"pprof-stack", break_stack},
    {"pprof-depth", break_depth},
    {"pprof-utf8", break_utf8},
    {"pprof-control", break_control},
    {"pprof-name-length", break_name_length},
    {"pprof-pattern", break_pattern},
    {"pprof-pattern", break_pattern_reference},
    {"pprof-pattern", break_pattern_time},
    {"pprof-precision", break_precision},
};
static const struct rule_cases all = {cases, sizeof *cases, sizeof cases / sizeof *cases};

static void breaks_exactly_one_rule(void **state)
{
    const struct pprof_case *this = *state;
    struct lode_blob bytes = {0};
    lode_database *db;
    lode_error error = {0};
    minipprof_make(&bytes);
    this->apply(&bytes);
    lode_memory_file file = {"profile.pb.gz", bytes.bytes, bytes.size};
    expect_only(&file, 1, this->rule, NULL);
    bool is_error = find_rule(this->rule)->severity == LODE_ERROR;
    lode_status status = lode_database_open_memory(&db, &file, 1, &error);
    assert_int_equal(status, is_error ? LODE_ERR_CORRUPT : LODE_OK);
    assert_true(!is_error || strstr(error.text, this->rule));
    lode_database_close(db);
    lode_blob_free(&bytes);
}

static void sound_profiles_have_no_findings(void **state)
{
    (void)state;
    for (unsigned packed = 0; packed < 2; packed++) {
        struct lode_blob bytes = {0};
        minipprof_make(&bytes);
        if (packed)
            minipprof_gzip(&bytes);
        lode_memory_file file = {"anything", bytes.bytes, bytes.size};
        assert_int_equal(check_files(&file, 1, NULL, NULL, LODE_CHECK_FULL).others, 0);
        lode_blob_free(&bytes);
    }
}

static void every_rule_has_a_case(void **state)
{
    /* The last one needs a binary: tests/symbols/profiles.py. */
    size_t count = lode_format_pprof.rule_count - 1;
    (void)state;
    assert_string_equal(lode_format_pprof.rules[count].id, "pprof-binary");
    expect_case_for_each_rule(&all, lode_format_pprof.rules, count, "pprof-", true);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(sound_profiles_have_no_findings),
        cmocka_unit_test(every_rule_has_a_case),
    };
    return run_rule_cases(&all, breaks_exactly_one_rule, others, sizeof others / sizeof *others);
}
