/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions on ranks: the numbers of one process, and messages that do not grow with values. */
#include "analysis/spread/spread.h"
#include "base/comm/comm.h"
#include "minidb.h"
#include "model/database/database.h"
#include "unit.h"
#include <inttypes.h>
#include <lode/cost.h>
#include <lode/unstable/spread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A question, and where its answer goes, without rounding; NULL: nowhere. */
typedef lode_status (*question)(FILE *out, const lode_database *db, struct lode_comm *comm, uint32_t ranks,
                                lode_error *error);

static void put_cost(FILE *out, const lode_cost *cost)
{
    const lode_database *db = lode_cost_database(cost);
    for (uint32_t i = 0; out && i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        fprintf(out, "%a %a\n", lode_cost_inclusive(cost, context), lode_cost_own(cost, context));
    }
    if (out)
        fprintf(out, "%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %a\n", lode_cost_profiles(cost),
                lode_cost_unlisted_contexts(cost), lode_cost_unlisted_values(cost), lode_cost_samples(cost),
                lode_cost_idle(cost));
}

static lode_status ask_profiles(FILE *out, const lode_database *db, struct lode_comm *comm, uint32_t ranks,
                                lode_error *error)
{
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    lode_selection *selection;
    lode_cost *cost;
    LODE_TRY(lode_selection_parse(&selection, db, "profile=1-7", error));
    options.selection = selection;
    options.comm = comm;
    options.local_ranks = ranks;
    lode_status status = lode_cost_compute(&cost, db, &options, error);
    if (status == LODE_OK)
        put_cost(out, cost);
    lode_cost_free(cost);
    lode_selection_free(selection);
    return status;
}

static lode_status ask_window(FILE *out, const lode_database *db, struct lode_comm *comm, uint32_t ranks,
                              lode_error *error)
{
    lode_window_cost_options options = LODE_WINDOW_COST_OPTIONS_INIT;
    lode_cost *cost;
    options.comm = comm;
    options.local_ranks = ranks;
    LODE_TRY(lode_cost_compute_window(&cost, db, &options, error));
    put_cost(out, cost);
    lode_cost_free(cost);
    return LODE_OK;
}

/* Of two contexts, so that values are looked up. */
static lode_status ask_spread(FILE *out, const lode_database *db, struct lode_comm *comm, uint32_t ranks,
                              lode_error *error)
{
    const lode_context *contexts[] = {lode_database_context(db, 2), lode_database_context(db, 4)};
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    lode_spread *spread;
    options.contexts = contexts;
    options.context_count = 2;
    options.path = LODE_VALUES_BY_PROFILES;
    options.comm = comm;
    options.local_ranks = ranks;
    LODE_TRY(lode_spread_compute(&spread, db, &options, error));
    for (size_t i = 0; out && i < lode_spread_count(spread); i++) {
        const lode_spread_row *row = lode_spread_at(spread, i);
        fprintf(out, "%u %a %a %a\n", row->profile, row->inclusive, row->exclusive, row->total);
    }
    if (out)
        fprintf(out, "%u %u\n", lode_spread_empty(spread), lode_spread_without(spread));
    lode_spread_free(spread);
    return LODE_OK;
}

/* Many rows, from values by context if these can be used. */
struct rows {
    const lode_database *db;
    char *text; /* of the first rank */
    size_t size;
};

static lode_status add_rows(void *context, struct lode_comm *comm, lode_error *error)
{
    struct rows *rows = context;
    const lode_database *db = rows->db;
    enum {
        ROWS = 3
    };
    lode_spread_rows_options options = LODE_SPREAD_ROWS_OPTIONS_INIT;
    size_t count = (size_t)2 * ROWS * db->profile_count;
    uint32_t *row_of = calloc((size_t)db->tree.count + 1, sizeof *row_of);
    double *values = calloc(count + 1, sizeof *values);
    for (uint32_t i = 0; i < db->tree.count; i++)
        row_of[i] = i < 9 ? i % 4 < ROWS ? i % 4 : LODE_NO_ROW : 0;
    options.rows = row_of;
    options.row_count = ROWS;
    lode_status status =
        lode_spread_rows_values(values, db, &options, comm->place.size > 1 ? comm : NULL, error);
    FILE *out = comm->place.rank == 0 ? open_memstream(&rows->text, &rows->size) : NULL;
    for (size_t i = 0; out && status == LODE_OK && i < count; i++)
        fprintf(out, "%a\n", values[i]);
    if (out)
        fclose(out);
    free(row_of);
    free(values);
    return status;
}

static lode_status ask_rows(FILE *out, const lode_database *db, struct lode_comm *comm, uint32_t ranks,
                            lode_error *error)
{
    struct rows rows = {.db = db};
    lode_status status = comm ? add_rows(&rows, comm, error) : lode_comm_run(ranks, add_rows, &rows, error);
    if (out)
        fprintf(out, "%s", rows.text);
    free(rows.text);
    return status;
}

static const question questions[] = {ask_profiles, ask_window, ask_spread, ask_rows};
#define QUESTIONS (sizeof questions / sizeof *questions)

enum {
    DAMAGED = 60
};

/* ---- numbers ---- */

static char *answer(question ask, const lode_database *db, uint32_t ranks)
{
    char *text;
    size_t size;
    lode_error error = {0};
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    int status = ask(out, db, NULL, ranks, &error);
    fprintf(out, "%d %s\n", status, error.text);
    fclose(out);
    return text;
}

static void expect_same_answers(const lode_database *db)
{
    static const uint32_t sizes[] = {2, 3, 5, 8, 100};
    for (size_t q = 0; q < QUESTIONS; q++) {
        char *alone = answer(questions[q], db, 1);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char *together = answer(questions[q], db, sizes[i]);
            assert_string_equal(alone, together);
            free(together);
        }
        free(alone);
    }
}

static void answers_are_those_of_one_process(void **state)
{
    static const struct minidb_options made[] = {{.profiles = 70,
                                                  .chains = 40,
                                                  .samples = 30,
                                                  .statistics = true,
                                                  .unlisted = true,
                                                  .empty_profile = true},
                                                 {.profiles = 2, .chains = 3, .samples = 1}};
    (void)state;
    for (size_t m = 0; m < 2; m++) {
        struct minidb mini;
        lode_memory_file files[HPCT_FILES];
        lode_database *db;
        minidb_make(&mini, &made[m]);
        minidb_files(&mini, files);
        assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
        expect_same_answers(db);
        lode_database_close(db);
        minidb_free(&mini);
    }
}

static size_t next_random(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (size_t)(*random >> 33);
}

/* Whatever is wrong with values and their order. */
static void answers_from_damaged_values_are_those_of_one_process(void **state)
{
    static const struct minidb_options made = {
        .profiles = 20, .chains = 40, .samples = 10, .statistics = true, .unlisted = true};
    uint64_t random = 0x5eed;
    (void)state;
    for (unsigned i = 0; i < DAMAGED; i++) {
        struct minidb mini;
        lode_memory_file files[HPCT_FILES];
        lode_database *db;
        minidb_make(&mini, &made);
        minidb_files(&mini, files);
        /* One file as it is: what the other one has is used then. */
        int file = i % 2 ? HPCT_PROFILE : HPCT_CCT;
        size_t size = mini.size[file];
        for (size_t hits = 1 + next_random(&random) % 30; hits > 0; hits--)
            mini.bytes[file][size / 8 + next_random(&random) % (size - size / 8)] ^=
                (unsigned char)(1u << next_random(&random) % 8);
        if (lode_database_open_memory(&db, files, HPCT_FILES, NULL) == LODE_OK)
            expect_same_answers(db);
        lode_database_close(db);
        minidb_free(&mini);
    }
}

/* ---- messages ---- */

enum {
    RANKS = 8,
    LEVELS = 3
};

struct sending {
    const lode_database *db;
    question ask;
    struct lode_comm_traffic traffic[RANKS];
};

static lode_status ask_and_count(void *context, struct lode_comm *comm, lode_error *error)
{
    struct sending *sending = context;
    LODE_TRY(sending->ask(NULL, sending->db, comm, 0, error));
    sending->traffic[comm->place.rank] = comm->traffic;
    return LODE_OK;
}

static struct sending send(const struct minidb_options *made, question ask)
{
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    minidb_make(&mini, made);
    minidb_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    struct sending sending = {.db = db, .ask = ask};
    assert_int_equal(lode_comm_run(RANKS, ask_and_count, &sending, NULL), LODE_OK);
    lode_database_close(db);
    minidb_free(&mini);
    return sending;
}

/* As doc/scale.md says. */
static void messages_do_not_grow_with_values(void **state)
{
    static const struct minidb_options small = {.profiles = 9, .chains = 30, .samples = 10},
                                       profiles = {.profiles = 90, .chains = 30, .samples = 10},
                                       samples = {.profiles = 9, .chains = 30, .samples = 500},
                                       chains = {.profiles = 9, .chains = 300, .samples = 10};
    /*
     * What the messages of a question grow with: more profiles, samples, contexts. -1: perhaps,
     * since values come from another file then.
     */
    static const struct {
        question ask;
        int grows[3];
    } cases[] = {
        {ask_profiles, {0, 0, 1}}, {ask_window, {0, 0, 1}}, {ask_spread, {1, 0, 0}}, {ask_rows, {1, 0, -1}}};
    const struct minidb_options *const larger[] = {&profiles, &samples, &chains};
    (void)state;
    for (size_t c = 0; c < QUESTIONS; c++) {
        struct sending few = send(&small, cases[c].ask);
        for (size_t i = 0; i < 3; i++) {
            struct sending many = send(larger[i], cases[c].ask);
            for (size_t rank = 0; rank < RANKS; rank++) {
                int64_t more = (int64_t)(many.traffic[rank].bytes - few.traffic[rank].bytes);
                /* 270 chains are 1,080 contexts; a profile has 40 bytes, or 3 rows of 16 and 9. */
                int64_t most = i == 2 ? INT64_C(1080) * 8 * LEVELS : INT64_C(82) * 57 * LEVELS;
                assert_true(cases[c].grows[i] < 0 || (more != 0) == cases[c].grows[i]);
                assert_true(more <= most);
            }
        }
        print_message("# question %zu: %" PRIu64 " messages, %" PRIu64 " bytes\n", c, few.traffic[0].messages,
                      few.traffic[0].bytes);
    }
}

/* ---- cancellation ---- */

static int stop(void *user, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase;
    (void)done;
    (void)total;
    (*(int *)user)++;
    return 1;
}

static void a_callback_ends_all_ranks(void **state)
{
    static const struct minidb_options made = {.profiles = 70, .chains = 40, .samples = 30};
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    lode_window_cost_options options = LODE_WINDOW_COST_OPTIONS_INIT;
    lode_cost *cost;
    int calls = 0;
    (void)state;
    minidb_make(&mini, &made);
    minidb_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    options.local_ranks = 5;
    options.on_progress = stop;
    options.user = &calls;
    assert_int_equal(lode_cost_compute_window(&cost, db, &options, NULL), LODE_ERR_CANCELLED);
    assert_int_equal(calls, 1);
    assert_null(cost);
    lode_database_close(db);
    minidb_free(&mini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_one_process),
        cmocka_unit_test(answers_from_damaged_values_are_those_of_one_process),
        cmocka_unit_test(messages_do_not_grow_with_values),
        cmocka_unit_test(a_callback_ends_all_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
