/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a database on ranks: the findings of one process, in its order. */
#include "base/comm/comm.h"
#include "format/hpctoolkit/hpctoolkit.h"
#include "hostile.h"
#include "hpct_cases.h"
#include "share.h"
#include "unit.h"
#include <inttypes.h>
#include <lode/check.h>
#include <stdio.h>
#include <string.h>

enum {
    DAMAGED = 150
};

static const uint32_t sizes[] = {2, 3, 5, 8};
#define SIZES (sizeof sizes / sizeof *sizes)

struct transcript {
    char *text;
    size_t size;
    FILE *stream;
};

static int write_down(void *user, const lode_finding *finding)
{
    const struct transcript *transcript = user;
    fprintf(transcript->stream, "%s %d %s %" PRIu64 " %s\n", finding->rule, (int)finding->severity,
            finding->file, finding->offset, finding->text);
    return 0;
}

static char *check_on(const lode_memory_file *files, size_t count, const lode_check_options *given,
                      uint32_t ranks)
{
    struct transcript transcript = {0};
    lode_check_options options = *given;
    lode_check_result result;
    lode_error error = {0};
    transcript.stream = open_memstream(&transcript.text, &transcript.size);
    assert_non_null(transcript.stream);
    options.on_finding = write_down;
    options.user = &transcript;
    options.local_ranks = ranks;
    lode_status status = lode_check_memory(files, count, &options, &result, &error);
    const uint64_t numbers[] = {result.errors,     result.warnings, result.notes,
                                result.suppressed, result.contexts, result.profiles,
                                result.values,     result.samples,  result.level};
    fprintf(transcript.stream, "%d %s\n", (int)status, error.text);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        fprintf(transcript.stream, "%" PRIu64 " ", numbers[i]);
    fclose(transcript.stream);
    return transcript.text;
}

static void expect_same(const lode_memory_file *files, size_t count, const lode_check_options *options,
                        const char *title)
{
    char *alone = check_on(files, count, options, 1);
    for (size_t i = 0; i < SIZES; i++) {
        char *together = check_on(files, count, options, sizes[i]);
        if (strcmp(alone, together) != 0)
            fail_msg("%s, limit %" PRIu64 ": one rank\n%s\n%" PRIu32 " ranks\n%s", title,
                     options->limit_per_rule, alone, sizes[i], together);
        free(together);
    }
    free(alone);
}

static void broken_rules_are_found_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < hpct_case_count; i++) {
        struct victim victim = {.count = HPCT_FILES};
        minidb_make(&victim.db, &hpct_cases[i].options);
        minidb_files(&victim.db, victim.files);
        hpct_cases[i].apply(&victim);
        for (unsigned level = LODE_CHECK_QUICK; level <= LODE_CHECK_FULL; level++) {
            lode_check_options options = LODE_CHECK_OPTIONS_INIT;
            options.level = (lode_check_level)level;
            options.threads = 1 + i % 2;
            expect_same(victim.files, victim.count, &options, hpct_cases[i].rule);
        }
        minidb_free(&victim.db);
    }
}

/* Most hits are among values, where a database stays whole enough for all phases. */
static void damage_bytes(struct minidb *db, uint64_t *random)
{
    uint64_t hits = 1 + next_random(random) % 40;
    for (uint64_t i = 0; i < hits; i++) {
        size_t file = HPCT_META + next_random(random) % HPCT_FILES;
        size_t first = next_random(random) % 8 ? db->size[file] / 4 : 0;
        size_t at = first + next_random(random) % (db->size[file] - first);
        db->bytes[file][at] ^= (unsigned char)(1u << next_random(random) % 8);
    }
}

static void random_damage_is_found_alike(void **state)
{
    static const uint64_t limits[] = {20, 1, 3, 0};
    const struct minidb_options made = {.profiles = 12, .chains = 60, .samples = 20, .statistics = true};
    struct share share = share_from_environment();
    uint64_t random = 0x5eed;
    (void)state;
    for (unsigned i = 0; i < DAMAGED; i++) {
        struct victim victim = {.count = HPCT_FILES};
        char title[32];
        minidb_make(&victim.db, &made);
        minidb_files(&victim.db, victim.files);
        damage_bytes(&victim.db, &random);
        lode_check_options options = LODE_CHECK_OPTIONS_INIT;
        options.level = LODE_CHECK_FULL;
        options.threads = 1 + i % 3;
        options.limit_per_rule = limits[i % 4];
        snprintf(title, sizeof title, "damage %u", i);
        if (share_has(share, i))
            expect_same(victim.files, victim.count, &options, title);
        minidb_free(&victim.db);
    }
}

static int stop_at_once(void *user, const lode_finding *finding)
{
    (void)finding;
    (*(int *)user)++;
    return 1;
}

static void a_callback_ends_the_check_of_all_ranks(void **state)
{
    const struct hpct_case *broken = &hpct_cases[0];
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    int calls = 0;
    (void)state;
    for (size_t i = 0; i < hpct_case_count; i++)
        if (strcmp(hpct_cases[i].rule, "value-order") == 0)
            broken = &hpct_cases[i];
    struct victim victim = {.count = HPCT_FILES};
    minidb_make(&victim.db, &broken->options);
    minidb_files(&victim.db, victim.files);
    broken->apply(&victim);
    options.on_finding = stop_at_once;
    options.user = &calls;
    options.local_ranks = 5;
    assert_int_equal(lode_check_memory(victim.files, victim.count, &options, &result, NULL),
                     LODE_ERR_CANCELLED);
    assert_int_equal(calls, 1);
    minidb_free(&victim.db);
}

/* ---- messages ---- */

/* What the ranks of a check have sent. */
struct sending {
    const lode_memory_file *files;
    struct lode_comm_traffic traffic[8];
};

static lode_status check_and_count(void *context, struct lode_comm *comm, lode_error *error)
{
    struct sending *sending = context;
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    options.level = LODE_CHECK_FULL;
    options.comm = comm;
    lode_status status = lode_check_memory(sending->files, HPCT_FILES, &options, &result, error);
    sending->traffic[comm->place.rank] = comm->traffic;
    return status;
}

/* As doc/scale.md says for sound databases: nothing grows with values, contexts or profiles. */
static void messages_do_not_grow_with_values(void **state)
{
    const struct minidb_options small = {.profiles = 9, .chains = 20, .samples = 10, .statistics = true};
    const struct minidb_options large = {.profiles = 90, .chains = 400, .samples = 500, .statistics = true};
    struct sending sent[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct minidb db;
        lode_memory_file files[HPCT_FILES];
        minidb_make(&db, i ? &large : &small);
        minidb_files(&db, files);
        sent[i] = (struct sending){.files = files};
        assert_int_equal(lode_comm_run(8, check_and_count, &sent[i], NULL), LODE_OK);
        minidb_free(&db);
    }
    /* 8 ranks are 3 levels; a phase sends what a rank has found, and gets what all have found. */
    const uint64_t phases = 6, levels = 3, result = sizeof(lode_check_result),
                   rules = 8 * lode_format_hpctoolkit.rule_count, given = 8 + 8 + 6 * 8 + rules;
    for (size_t i = 0; i < 8; i++) {
        uint64_t giving = i > 0 ? phases : 0;
        print_message("# rank %zu of 8: %" PRIu64 " messages, %" PRIu64 " bytes\n", i,
                      sent[0].traffic[i].messages, sent[0].traffic[i].bytes);
        assert_int_equal(sent[0].traffic[i].bytes, sent[1].traffic[i].bytes);
        assert_int_equal(sent[0].traffic[i].messages, sent[1].traffic[i].messages);
        assert_int_equal(sent[0].traffic[i].messages, (8 + 3 * phases) * levels + 2 * giving);
        assert_int_equal(sent[0].traffic[i].bytes, (232 + 64 * phases) * levels + 16 + result +
                                                       phases * (rules + result) + giving * given);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_rules_are_found_alike),
        cmocka_unit_test(random_damage_is_found_alike),
        cmocka_unit_test(a_callback_ends_the_check_of_all_ranks),
        cmocka_unit_test(messages_do_not_grow_with_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
