/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folded stacks: for each rule, a file that breaks exactly it, and whether it opens; how lines are
 * read that readers disagree about; truncated and mutated files.
 */
#include "format/folded/folded.h"
#include "format/folded/line.h"
#include "hostile.h"
#include "minipprof.h"
#include "rule_cases.h"
#include "share.h"
#include "walk.h"
#include <lode/block.h>
#include <lode/metric.h>
#include <math.h>

enum {
    MOST_MILLISECONDS = 4000,
    MOST_MEGABYTES = 300,
    DEPTH = (1 << 18) + 1
};

static const char sound[] = "# made by hand\nmain;f;g 7\nmain;f 5\nmain;h 0\n";

static void append(struct lode_blob *out, const char *text)
{
    size_t at = lode_blob_reserve(out, strlen(text), 1);
    assert_true(at != LODE_BLOB_FULL);
    memcpy(out->bytes + at, text, strlen(text));
}

/* ---- rules ---- */

static void break_gzip(struct lode_blob *out)
{
    minipprof_gzip(out);
    out->size -= 2;
}

static void break_gzip_checksum(struct lode_blob *out)
{
    minipprof_gzip(out);
    out->bytes[out->size - 8] ^= 1;
}

static void break_trailing(struct lode_blob *out)
{
    minipprof_gzip(out);
    append(out, "more");
}

static void break_none(struct lode_blob *out)
{
    out->size = 0;
    append(out, "nothing here\n");
}

static void break_line(struct lode_blob *out)
{
    append(out, "a;b\n");
}

static void break_line_without_stack(struct lode_blob *out)
{
    append(out, " 123\n");
}

static void break_line_negative(struct lode_blob *out)
{
    append(out, "a;b -3\n");
}

static void break_count(struct lode_blob *out)
{
    append(out, "a;b 9007199254740993\n");
}

static void break_depth(struct lode_blob *out)
{
    for (unsigned i = 0; i < DEPTH; i++)
        append(out, i % 2 ? "f;" : "g;");
    append(out, "h 1\n");
}

static void break_blank(struct lode_blob *out)
{
    append(out, "a;[T; _] 3\n");
}

static void break_utf8(struct lode_blob *out)
{
    append(out, "a;b\xff 3\n");
}

static void break_control(struct lode_blob *out)
{
    append(out, "a;b\x01 3\n");
}

static void break_name_length(struct lode_blob *out)
{
    size_t at = lode_blob_reserve(out, LODE_IMPORT_NAME + 1, 1);
    assert_true(at != LODE_BLOB_FULL);
    memset(out->bytes + at, 'x', LODE_IMPORT_NAME + 1);
    append(out, " 1\n");
}

/* Each count is exact, the sum is not. */
static void break_precision(struct lode_blob *out)
{
    append(out, "a 9007199254740991\na 9007199254740991\na 3\n");
}

/* 4,100 stacks of 4,100 new frames each: more contexts than are allowed. */
static void break_limit(struct lode_blob *out)
{
    char frame[16];
    for (unsigned i = 0; i < 4100; i++) {
        snprintf(frame, sizeof frame, "%u;", i);
        append(out, frame);
        for (unsigned k = 0; k < 4100; k++)
            append(out, "func;");
        append(out, "g 1\n");
    }
}

static void break_ratio(struct lode_blob *out)
{
    size_t size = 10000000, at = lode_blob_reserve(out, size, 1);
    assert_true(at != LODE_BLOB_FULL);
    memset(out->bytes + at, '\n', size);
    minipprof_gzip(out);
}

/* 600 stacks of 600 frames, which are new contexts, in 5 KB. */
static void break_expansion(struct lode_blob *out)
{
    char frame[16];
    for (unsigned i = 0; i < 600; i++) {
        snprintf(frame, sizeof frame, "%u;", i);
        append(out, frame);
        for (unsigned k = 0; k < 600; k++)
            append(out, "f;");
        append(out, "g 1\n");
    }
    minipprof_gzip(out);
}

struct folded_case {
    const char *rule;
    void (*apply)(struct lode_blob *out);
    const char *also;
};

static const struct folded_case cases[] = {
    {"folded-gzip", break_gzip, NULL},
    {"folded-gzip", break_gzip_checksum, NULL},
    {"folded-trailing", break_trailing, NULL},
    {"folded-limit", break_limit, NULL},
    {"folded-ratio", break_ratio, NULL},
    {"folded-expansion", break_expansion, NULL},
    {"folded-none", break_none, NULL},
    {"folded-line", break_line, NULL},
    {"folded-line", break_line_without_stack, NULL},
    {"folded-line", break_line_negative, NULL},
    {"folded-count", break_count, "folded-precision"},
    {"folded-depth", break_depth, NULL},
    {"folded-blank", break_blank, NULL},
    {"folded-utf8", break_utf8, NULL},
    {"folded-control", break_control, NULL},
    {"folded-name-length", break_name_length, NULL},
    {"folded-precision", break_precision, NULL},
};
static const struct rule_cases all = {cases, sizeof *cases, sizeof cases / sizeof *cases};

static void breaks_exactly_one_rule(void **state)
{
    const struct folded_case *this = *state;
    struct lode_blob bytes = {0};
    lode_database *db;
    lode_error error = {0};
    append(&bytes, sound);
    this->apply(&bytes);
    lode_memory_file file = {"x.folded", bytes.bytes, bytes.size};
    const lode_rule *rule = find_rule(this->rule);
    /* Read once, at the level that finds most. */
    bool is_huge = this->apply == break_limit;
    for (unsigned level = is_huge ? LODE_CHECK_FULL : LODE_CHECK_QUICK; level <= LODE_CHECK_FULL; level++) {
        struct rule_findings found = check_files(&file, 1, this->rule, this->also, (lode_check_level)level);
        assert_int_equal(found.others, 0);
        assert_int_equal(found.of_rule > 0, level >= rule->level);
    }
    if (!is_huge) {
        lode_status status = lode_database_open_memory(&db, &file, 1, &error);
        assert_int_equal(status, rule->severity == LODE_ERROR ? LODE_ERR_CORRUPT : LODE_OK);
        assert_true(status == LODE_OK || strstr(error.text, this->rule));
        lode_database_close(db);
    }
    lode_blob_free(&bytes);
}

static void every_rule_has_a_case(void **state)
{
    (void)state;
    expect_case_for_each_rule(&all, lode_format_folded.rules, lode_format_folded.rule_count, "folded-", true);
}

/* ---- what opening found ---- */

static int end_at_seven(void *user, const lode_finding *finding)
{
    assert_string_equal(finding->rule, "folded-line");
    return ++*(int *)user == 7;
}

/* Opening reads everything, so a check does not read it again: limits and counts are the same. */
static void a_check_of_an_open_database_limits_findings(void **state)
{
    struct lode_blob bytes = {0};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    lode_database *db;
    int calls = 0;
    (void)state;
    append(&bytes, sound);
    for (int i = 0; i < 150; i++)
        append(&bytes, "no count\n");
    lode_memory_file file = {"x.folded", bytes.bytes, bytes.size};
    assert_int_equal(lode_database_open_memory(&db, &file, 1, NULL), LODE_OK);
    options.limit_per_rule = 5;
    options.on_finding = end_at_seven;
    options.user = &calls;
    assert_int_equal(lode_database_check(db, "", &options, &result, NULL), LODE_OK);
    assert_int_equal(calls, 5);
    assert_int_equal(result.warnings, 150);
    assert_int_equal(result.suppressed, 145);
    assert_int_equal(result.level, LODE_CHECK_FULL);
    calls = 0;
    options.limit_per_rule = 0;
    assert_int_equal(lode_database_check(db, "", &options, &result, NULL), LODE_ERR_CANCELLED);
    assert_int_equal(calls, 7);
    assert_int_equal(result.warnings, 150);
    lode_database_close(db);
    lode_blob_free(&bytes);
}

/* ---- lines ---- */

/* The total of a metric, and how many contexts there are. */
static double total_of(const char *text, size_t metric, uint32_t *contexts)
{
    lode_memory_file file = {"x.folded", text, strlen(text)};
    lode_database *db;
    lode_block summary;
    uint16_t id;
    double total;
    assert_int_equal(lode_database_open_memory(&db, &file, 1, NULL), LODE_OK);
    *contexts = lode_database_context_count(db);
    assert_int_equal(lode_profile_block(db, 0, &summary, NULL), LODE_OK);
    const lode_metric *found = lode_database_metric(db, (uint32_t)metric);
    assert_int_equal(lode_metric_sum_id(found, LODE_SCOPE_EXECUTION, &id), LODE_OK);
    if (lode_block_lookup(&summary, 0, id, &total, NULL) != LODE_OK)
        total = 0;
    lode_database_close(db);
    return total;
}

/* Two contexts are the root and the entry point. */
static void lines_are_read_as_most_readers_do(void **state)
{
    static const struct {
        const char *text;
        double total;
        uint32_t contexts;
    } lines[] = {
        {"a;b 12\n", 12, 4},
        {"a;b 12.5\n", 12.5, 4},
        {"a;b 6.\n", 6, 4},
        {"a;b 0.1\na;b 0.2\n", 0.3, 4},
        {"a;b 3 10\na;c 2\n", 12, 5},
        {"# interval: 100\na;b 1\n", 1, 4},
        {"\n\na;b 1\n\n", 1, 4},
        {"a;b 3\r\na;c 4\r\n", 7, 5},
        {"a;b 0\n", 0, 4},
        {"a;b 1", 1, 4},
        {"a 5\n", 5, 3},
        {"a;;b 1\na; 3\n; 2\n", 6, 4},
        {"a b; c d 4\n", 4, 4},
        {"memcpy@GLIBC_2.2.5 3\n", 3, 3},
        {"a;b 1\na;b 2\n", 3, 4},
        {"b;a 1\na;b 2\n", 3, 6},
        {"a;b\t7\n", 7, 4},
        {"a;b  7\na;b 1\n", 8, 4},
        {"\xef\xbb\xbf"
         "a;b 7\na;b 1\n",
         8, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        uint32_t contexts;
        double total = total_of(lines[i].text, 0, &contexts);
        if (fabs(total - lines[i].total) > 1e-15 || contexts != lines[i].contexts)
            fail_msg("%s: %g in %u contexts", lines[i].text, total, contexts);
    }
}

static void two_counts_are_two_metrics_if_every_line_has_them(void **state)
{
    uint32_t contexts;
    (void)state;
    assert_float_equal(total_of("a;b 3 10\na;c 2 0\n", 0, &contexts), 5, 0);
    assert_float_equal(total_of("a;b 3 10\na;c 2 0\n", 1, &contexts), 10, 0);
    assert_int_equal(contexts, 5);
}

static void text_of_other_kinds_is_not_recognised(void **state)
{
    static const char *const texts[] = {"", "a 1\nb 2\n", "int main(void)\n{\n    return f(1, 2);\n}\n",
                                        "a;b;c\n1;2;3\n", "name,count\na;b,3\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lode_memory_file file = {"x.txt", texts[i], strlen(texts[i])};
        lode_database *db;
        assert_int_equal(lode_database_open_memory(&db, &file, 1, NULL), LODE_ERR_UNSUPPORTED);
    }
    lode_memory_file file = {"x.txt", sound, strlen(sound)};
    lode_database *db;
    assert_int_equal(lode_database_open_memory(&db, &file, 1, NULL), LODE_OK);
    lode_database_close(db);
}

/* ---- mutations ---- */

static void exercise_bytes(const unsigned char *bytes, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    lode_memory_file file = {"x.folded", copy, size};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    lode_database *db;
    double start = now();
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    bool opened = lode_database_open_memory(&db, &file, 1, NULL) == LODE_OK;
    if (opened)
        walk_database(db, 1);
    lode_database_close(db);
    options.level = LODE_CHECK_FULL;
    options.threads = 1;
    lode_status status = lode_check_memory(&file, 1, &options, &result, NULL);
    if (opened != (status == LODE_OK && result.errors == 0))
        fail_msg("%s", "opening and checking disagree");
    assert_little_time(start, MOST_MILLISECONDS);
    free(copy);
}

static void truncations_and_bit_flips_do_no_harm(void **state)
{
    struct share share = share_from_environment();
    (void)state;
    for (unsigned packed = 0; packed < 2; packed++) {
        struct lode_blob bytes = {0};
        append(&bytes, sound);
        if (packed)
            minipprof_gzip(&bytes);
        for (size_t size = 0; size <= bytes.size; size++)
            exercise_bytes(bytes.bytes, size);
        for (size_t bit = 0; bit < bytes.size * 8; bit++) {
            if (!share_has(share, bit))
                continue;
            bytes.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            exercise_bytes(bytes.bytes, bytes.size);
            bytes.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        lode_blob_free(&bytes);
    }
    assert_little_memory(MOST_MEGABYTES);
}

int main(void)
{
    const struct CMUnitTest others[] = {
        cmocka_unit_test(truncations_and_bit_flips_do_no_harm),
        cmocka_unit_test(every_rule_has_a_case),
        cmocka_unit_test(a_check_of_an_open_database_limits_findings),
        cmocka_unit_test(lines_are_read_as_most_readers_do),
        cmocka_unit_test(two_counts_are_two_metrics_if_every_line_has_them),
        cmocka_unit_test(text_of_other_kinds_is_not_recognised),
    };
    return run_rule_cases(&all, breaks_exactly_one_rule, others, sizeof others / sizeof *others);
}
