/* SPDX-License-Identifier: BSD-3-Clause */
/* imbalance: one rank, or one of threads that do the same, has more useful work than others. */
#include "analysis/diagnose/profiles/facts.h"

#include <lode/name.h>
#include <math.h>
#include <stdlib.h>

#define GAIN_MIN     0.02
#define RANKS_MIN    0.10
#define THREADS_MIN  0.15
#define EXPLAINS_MIN 0.80 /* of the time in MPI */
#define SAME_START   0.95 /* of the time of threads that the program starts */
#define ERRORS_MIN   4    /* standard errors: the largest of many noisy values is never the mean */

struct balance {
    double most, mean;
    size_t longest; /* index of a thread */
    size_t count;
    unsigned places; /* that count */
};

static void note(struct balance *b, double work, size_t thread)
{
    if (work > b->most) {
        b->most = work;
        b->longest = thread;
    }
    b->mean = (b->mean * (double)b->count + work) / (double)(b->count + 1);
    b->count++;
}

/* The time that a thread neither works nor waits for a processor. */
static double idle_of(const struct lode_diagnosis *d, const struct thread *thread)
{
    return fmax(0, d->run.run_time - lode_diagnose_time_of_thread(thread, USEFUL, EVERYWHERE) -
                       lode_diagnose_time_of_thread(thread, ALL, READY));
}

/*
 * What could be saved. Threads that take work from a common store have unequal work if some do not
 * get a processor, and nothing is lost then: only what others are idle counts.
 */
static double gain_of(const struct lode_diagnosis *d, const struct balance *b)
{
    double gain = (b->most - b->mean) / d->run.run_time, idle = 0;
    if (!d->profiles->is_counted)
        return gain;
    for (size_t i = 0; i < d->profiles->thread_count; i++)
        idle += idle_of(d, &d->profiles->threads[i]);
    return fmin(gain, idle / ((double)d->profiles->thread_count * d->run.run_time));
}

static void balance_ranks(const struct lode_diagnosis *d, struct balance *b)
{
    for (size_t i = 0; i < d->profiles->rank_count; i++) {
        double work = 0;
        for (size_t t = 0; t < d->profiles->ranks[i].count; t++)
            work += lode_diagnose_time_of_thread(&d->profiles->threads[d->profiles->ranks[i].first + t],
                                                 USEFUL, EVERYWHERE);
        note(b, work / (double)d->profiles->ranks[i].count, d->profiles->ranks[i].first);
    }
}

/* Work inside regions: like with like. */
static void balance_threads(const struct lode_diagnosis *d, struct balance *b)
{
    for (size_t i = 0; i < d->profiles->thread_count; i++)
        note(b, lode_diagnose_time_of_thread(&d->profiles->threads[i], USEFUL, INSIDE), i);
}

/* Whether a context begins what a thread is for: the outermost function that is the program's. */
static bool is_start(const struct lode_diagnosis *d, uint32_t index)
{
    const struct lode_context_tree *tree = &d->profiles->db->tree;
    const lode_context *at = &tree->nodes[index];
    if (d->profiles->holders[index] != index || d->profiles->holders[at->parent] != 0 || !at->function)
        return false;
    while (at->index != 0 && at->lexical != LODE_LEXICAL_ENTRY)
        at = &tree->nodes[at->parent];
    return at->lexical == LODE_LEXICAL_ENTRY && at->entry == LODE_ENTRY_APPLICATION_THREAD;
}

/*
 * Threads that the program starts itself: all of them begin with the same function of the program.
 * Above it, libraries have functions that are the same for all threads.
 */
static lode_status have_one_start(const struct lode_diagnosis *d, bool *have, lode_error *error)
{
    const lode_database *db = d->profiles->db;
    double *sums = calloc((size_t)db->function_count + 1, sizeof *sums);
    double most = 0, all = 0;
    LODE_TRY_ALLOC(sums, error);
    for (uint32_t i = 1; i < db->tree.count; i++) {
        double cost = d->profiles->cost->inclusive[i];
        if (!(cost > 0) || !is_start(d, i))
            continue;
        double *sum = &sums[db->tree.nodes[i].function->index];
        *sum += cost;
        all += cost;
        most = fmax(most, *sum);
    }
    free(sums);
    *have = all > 0 && most > SAME_START * all;
    return LODE_OK;
}

/* What such threads do, but the first one. */
static void balance_workers(const struct lode_diagnosis *d, struct balance *b)
{
    for (size_t i = 0; i < d->profiles->thread_count; i++)
        if (d->profiles->threads[i].number > 0)
            note(b, lode_diagnose_time_of_thread(&d->profiles->threads[i], USEFUL, EVERYWHERE), i);
}

/* Which rank or thread it is, and in which function. */
static lode_status set_subject(struct lode_diagnosis *d, const struct balance *b, bool is_rank,
                               struct draft *draft, lode_error *error)
{
    const struct thread *thread = &d->profiles->threads[b->longest];
    size_t count = 1;
    for (size_t i = 0; is_rank && i < d->profiles->rank_count; i++)
        if (d->profiles->ranks[i].first == b->longest)
            count = d->profiles->ranks[i].count;
    draft->statement.has_rank = thread->rank != UINT32_MAX;
    draft->statement.rank = thread->rank;
    draft->statement.has_thread = !is_rank;
    draft->statement.thread = (int32_t)thread->number;
    LODE_TRY(
        lode_diagnose_excess(d, b->longest, count, b->count, b->places, &draft->statement.context, error));
    if (draft->statement.context)
        draft->statement.function = lode_diagnose_name_of(d, draft->statement.context);
    return LODE_OK;
}

static lode_status judge(struct lode_diagnosis *d, const struct balance *b, const char *noun, double limit,
                         lode_error *error)
{
    double deviation = sqrt(b->most * lode_diagnose_sampling_period(d));
    double loss = b->most > 0 ? 1 - b->mean / b->most : 0, gain = gain_of(d, b);
    /* The error of one thread's work, and of the mean of all. */
    double half = 1.96 * deviation * sqrt(1 + 1 / (double)b->count) / d->run.run_time;
    char name[200];
    if (loss <= limit || gain <= GAIN_MIN || b->most - b->mean <= ERRORS_MIN * deviation)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "imbalance", .confidence = LODE_LIKELY, .is_bound = 1}};
    LODE_TRY(set_subject(d, b, d->profiles->rank_count > 1, &draft, error));
    lode_profile_label(d->profiles->db, d->profiles->threads[b->longest].profile, name, sizeof name);
    lode_diagnose_set_gain_within(&draft, gain, gain - half, gain + half);
    lode_diagnose_set_text(d, &draft, "%s have unequal work%s%s: load balance %.2f.", noun,
                           draft.statement.function ? ", mostly in " : "",
                           draft.statement.function ? draft.statement.function : "", 1 - loss);
    lode_diagnose_show(d, &draft, b->most, lode_metric_name(d->run.metric), "%s works %s, the mean is %s",
                       name, lode_diagnose_amount(d, b->most), lode_diagnose_amount(d, b->mean));
    /* Totals have the waiting of the others. */
    if (draft.statement.function)
        LODE_SET_COMMAND(&draft, "profiles", "--function", draft.statement.function);
    else
        LODE_SET_COMMAND(&draft, "profiles");
    if (d->profiles->rank_count > 1 && lode_diagnose_unequal_work(d) > EXPLAINS_MIN)
        LODE_ADD_EXPLAINS(&draft, "mpi");
    LODE_ADD_EXPLAINS(&draft, "omp-imbalance", "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    struct balance b = {.places = EVERYWHERE};
    /* Processes that perf records need not do the same, as ranks of MPI do. */
    if (d->profiles->rank_count > 1 && d->profiles->tells_samples && d->lacks[NEED_MPI])
        return LODE_OK;
    if (d->profiles->rank_count > 1) {
        balance_ranks(d, &b);
        return judge(d, &b, "Ranks", RANKS_MIN, error);
    }
    if (!d->lacks[NEED_REGIONS]) {
        b.places = INSIDE; /* what threads do elsewhere is not what they share */
        balance_threads(d, &b);
        return judge(d, &b, "OpenMP threads", THREADS_MIN, error);
    }
    bool have;
    LODE_TRY(have_one_start(d, &have, error));
    if (!have)
        return LODE_OK;
    balance_workers(d, &b);
    return b.count > 1 ? judge(d, &b, "Threads", THREADS_MIN, error) : LODE_OK;
}

const struct lode_diagnose_rule lode_diagnose_profile_rule_imbalance = {
    "imbalance", "one rank or OpenMP thread has more useful work than others",
    1u << NEED_METRIC | 1u << NEED_VALUES | 1u << NEED_SAMPLES | 1u << NEED_THREADS | 1u << NEED_ONE_RUN |
        1u << NEED_CONSISTENT,
    run};
