/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What questions to a database cost on ranks, which are threads here: processor time of the busiest
 * rank, and what one rank sends at most. Prints a table for doc/scale.md.
 *
 * Usage: on_ranks DATABASE SCRATCH RANKS[,RANKS]... [RATIO] [QUESTION]
 *
 * With RATIO above 0, fails if the busiest of M ranks takes more than RATIO / M of the time of
 * one, in questions that read values.
 */
#include "base/comm/comm.h"
#include <inttypes.h>
#include <lode/check.h>
#include <lode/convert.h>
#include <lode/cost.h>
#include <lode/unstable/diagnose.h>
#include <lode/unstable/spread.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RANKS_MAX = 1024,
    RUNS = 3
};

/* What takes less is not judged: its answers are made from little. */
#define LEAST_SECONDS 0.05

/* What all ranks are given, and what each of them took. */
struct asking {
    const lode_database *db;
    const char *path, *scratch;
    double seconds[RANKS_MAX];
    struct lode_comm_traffic traffic[RANKS_MAX];
    const struct question *question;
};

struct question {
    const char *name;
    lode_status (*ask)(const struct asking *asking, struct lode_comm *comm, lode_error *error);
};

/* ---- questions ---- */

static lode_status check(const struct asking *asking, struct lode_comm *comm, lode_error *error)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    options.level = LODE_CHECK_FULL;
    options.threads = 1;
    options.comm = comm;
    return lode_check(asking->path, &options, NULL, error);
}

static lode_status convert(const struct asking *asking, struct lode_comm *comm, lode_error *error)
{
    lode_convert_options options = LODE_CONVERT_OPTIONS_INIT;
    options.force = 1;
    options.threads = 1;
    options.comm = comm;
    return lode_convert(asking->db, asking->scratch, &options, error);
}

static lode_status add_up(const struct asking *asking, struct lode_comm *comm, lode_error *error)
{
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    lode_selection *selection;
    lode_cost *cost;
    char text[64];
    snprintf(text, sizeof text, "profile=1-%u", lode_database_profile_count(asking->db) - 1);
    LODE_TRY(lode_selection_parse(&selection, asking->db, text, error));
    options.selection = selection;
    options.threads = 1;
    options.comm = comm;
    lode_status status = lode_cost_compute(&cost, asking->db, &options, error);
    lode_cost_free(cost);
    lode_selection_free(selection);
    return status;
}

static lode_status add_up_lines(const struct asking *asking, struct lode_comm *comm, lode_error *error)
{
    lode_window_cost_options options = LODE_WINDOW_COST_OPTIONS_INIT;
    lode_cost *cost;
    options.threads = 1;
    options.comm = comm;
    LODE_TRY(lode_cost_compute_window(&cost, asking->db, &options, error));
    lode_cost_free(cost);
    return LODE_OK;
}

/* Every second context. */
static lode_status spread(const struct asking *asking, struct lode_comm *comm, lode_error *error)
{
    uint32_t count = lode_database_context_count(asking->db);
    const lode_context **contexts = calloc(count, sizeof *contexts);
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    lode_spread *made;
    LODE_TRY_ALLOC(contexts, error);
    for (uint32_t i = 1; i < count; i += 2)
        contexts[options.context_count++] = lode_database_context_at(asking->db, i);
    options.contexts = contexts;
    options.path = LODE_VALUES_BY_PROFILES;
    options.threads = 1;
    options.comm = comm;
    lode_status status = lode_spread_compute(&made, asking->db, &options, error);
    lode_spread_free(made);
    free(contexts);
    return status;
}

static lode_status diagnose(const struct asking *asking, struct lode_comm *comm, lode_error *error)
{
    lode_diagnose_options options = LODE_DIAGNOSE_OPTIONS_INIT;
    lode_diagnosis *made;
    options.read_limit = UINT64_MAX;
    options.threads = 1;
    options.comm = comm;
    LODE_TRY(lode_diagnose(&made, asking->db, &options, error));
    lode_diagnosis_free(made);
    return LODE_OK;
}

static const struct question questions[] = {
    {"check --level full", check},   {"convert", convert},
    {"top --profiles", add_up},      {"top --from", add_up_lines},
    {"profiles --function", spread}, {"diagnose --deep", diagnose},
};

/* ---- measuring ---- */

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static lode_status ask_on_rank(void *context, struct lode_comm *comm, lode_error *error)
{
    struct asking *asking = context;
    double before = thread_seconds(), taken;
    LODE_TRY(asking->question->ask(asking, comm, error));
    taken = thread_seconds() - before;
    asking->seconds[comm->place.rank] = fmin(asking->seconds[comm->place.rank], taken);
    asking->traffic[comm->place.rank] = comm->traffic;
    return LODE_OK;
}

/* The best of some runs of each rank; the time of the busiest. */
static double measure(struct asking *asking, uint32_t ranks, struct lode_comm_traffic *most)
{
    double busiest = 0;
    *most = (struct lode_comm_traffic){0, 0};
    for (uint32_t i = 0; i < ranks; i++)
        asking->seconds[i] = HUGE_VAL;
    for (int run = 0; run < RUNS; run++) {
        lode_error error = {0};
        if (lode_comm_run(ranks, ask_on_rank, asking, &error) != LODE_OK) {
            fprintf(stderr, "%s: %s\n", asking->question->name, error.text);
            exit(2);
        }
    }
    for (uint32_t i = 0; i < ranks; i++) {
        busiest = fmax(busiest, asking->seconds[i]);
        most->messages =
            asking->traffic[i].messages > most->messages ? asking->traffic[i].messages : most->messages;
        most->bytes = asking->traffic[i].bytes > most->bytes ? asking->traffic[i].bytes : most->bytes;
    }
    return busiest;
}

/* Whether a question is within its limit for all numbers of ranks. */
static int look_at(struct asking *asking, const char *list, double ratio)
{
    struct lode_comm_traffic most;
    double alone = measure(asking, 1, &most);
    int is_within = 1;
    printf("| `%s` | 1 | %.3f | 1 | 0 | 0 |\n", asking->question->name, alone);
    for (char *end, *at = (char *)(uintptr_t)list; *at; at = *end ? end + 1 : end) {
        unsigned long ranks = strtoul(at, &end, 10);
        if (ranks < 1 || ranks > RANKS_MAX || end == at)
            exit(2);
        double busiest = measure(asking, (uint32_t)ranks, &most);
        printf("| | %lu | %.3f | %.2f | %" PRIu64 " | %.3f |\n", ranks, busiest, alone / busiest,
               most.messages, (double)most.bytes / 0x1p20);
        is_within &= ratio == 0 || alone < LEAST_SECONDS || busiest <= alone * ratio / (double)ranks;
        fflush(stdout);
    }
    if (!is_within)
        fprintf(stderr, "%s: the busiest rank takes more than %g times its part\n", asking->question->name,
                ratio);
    return is_within;
}

int main(int argc, char **argv)
{
    static struct asking asking;
    lode_database *db;
    lode_error error = {0};
    int is_within = 1;
    if (argc < 4 || lode_database_open(&db, argv[1], &error) != LODE_OK) {
        fprintf(stderr, "usage: on_ranks DATABASE SCRATCH RANKS[,RANKS]... [RATIO] [QUESTION]\n%s\n",
                error.text);
        return 2;
    }
    asking = (struct asking){.db = db, .path = argv[1], .scratch = argv[2]};
    puts(
        "| question | ranks | processor time of the busiest, s | faster | messages | MiB sent |\n|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        asking.question = &questions[i];
        if (argc > 5 && strncmp(questions[i].name, argv[5], strlen(argv[5])) != 0)
            continue;
        is_within &= look_at(&asking, argv[3], argc > 4 ? strtod(argv[4], NULL) : 0);
    }
    lode_database_close(db);
    return is_within ? 0 : 1;
}
