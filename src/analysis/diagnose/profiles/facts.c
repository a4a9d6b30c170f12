/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of each thread by activity and place. */
#include "analysis/diagnose/profiles/facts.h"

#include "analysis/key.h"
#include "analysis/spread.h"
#include "base/compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the metric ---- */

const lode_metric *lode_diagnose_metric(const struct lode_diagnosis *d, const char *name, double *total)
{
    lode_block summary;
    if (lode_profile_block(d->profiles->db, 0, &summary, NULL) != LODE_OK)
        return NULL;
    for (uint32_t i = 0; i < lode_database_metric_count(d->profiles->db); i++) {
        const lode_metric *metric = lode_database_metric(d->profiles->db, i);
        uint16_t id;
        double value = 0;
        if (strcmp(lode_metric_name(metric), name) == 0 &&
            lode_metric_sum_id(metric, LODE_SCOPE_EXECUTION, &id) == LODE_OK &&
            lode_block_lookup(&summary, 0, id, &value, NULL) == LODE_OK && value > 0 && isfinite(value)) {
            if (total)
                *total = value;
            return metric;
        }
    }
    return NULL;
}

static void choose_metric(struct lode_diagnosis *d)
{
    static const char *const names[] = {"REALTIME (sec)", "CPUTIME (sec)", "cycles", "perf::cpu-clock",
                                        "perf::task-clock"};
    for (size_t i = 0; i < sizeof names / sizeof *names && d->run.metric == NULL; i++) {
        d->run.metric = lode_diagnose_metric(d, names[i], NULL);
        d->run.is_seconds = d->run.metric && i < 2;
    }
    d->lacks[NEED_METRIC] = d->run.metric == NULL;
}

/* ---- contexts ---- */

/* The names that compilers give to the bodies of OpenMP regions. */
static bool is_region(const lode_context *context)
{
    static const char *const marks[] = {"._omp_fn.", ".omp_outlined", "__omp_outlined", "_omp_par_region"};
    const char *name = context->function ? context->function->name : NULL;
    for (size_t i = 0; name && i < sizeof marks / sizeof *marks; i++)
        if (strstr(name, marks[i]))
            return true;
    return false;
}

/* Functions of the standard library that are compiled into the program belong to their callers. */
static bool is_std(const lode_context *context)
{
    static const char *const beginnings[] = {"std::",  "__gnu_cxx::",   "_ZSt",          "_ZNSt",
                                             "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"};
    const char *name = context->function ? context->function->name : NULL;
    for (size_t i = 0; name && i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* An application function below others: it is the place of what it calls. */
static void enter_application(struct lode_diagnosis *d, const lode_context *context)
{
    uint32_t i = context->index;
    if (d->profiles->places[i] < PLACE_APPLICATION)
        d->profiles->places[i] = PLACE_APPLICATION;
    if (is_region(context))
        d->profiles->places[i] = PLACE_REGION;
    if (!is_std(context) || d->profiles->holders[i] == 0)
        d->profiles->holders[i] = i;
    d->profiles->entries[i] = i;
}

static void find_place(struct lode_diagnosis *d, const lode_context *context, bool is_own)
{
    uint32_t i = context->index, above = context->parent;
    d->profiles->places[i] = d->profiles->places[above];
    d->profiles->holders[i] = d->profiles->holders[above];
    d->profiles->entries[i] = d->profiles->entries[above];
    d->profiles->functions[i] = begins_function(context) ? i : d->profiles->functions[above];
    if (is_own)
        enter_application(d, context);
    else if (d->profiles->activities_of[i] != d->profiles->activities_of[above])
        d->profiles->entries[i] = i;
}

static lode_status find_places(struct lode_diagnosis *d, lode_error *error)
{
    const struct lode_context_tree *tree = &d->profiles->db->tree;
    size_t count = (size_t)tree->count + 1;
    d->profiles->activities_of = calloc(count, 1);
    d->profiles->places = calloc(count, 1);
    d->profiles->holders = calloc(count, sizeof *d->profiles->holders);
    d->profiles->entries = calloc(count, sizeof *d->profiles->entries);
    d->profiles->functions = calloc(count, sizeof *d->profiles->functions);
    LODE_TRY_ALLOC(d->profiles->activities_of && d->profiles->places && d->profiles->holders &&
                       d->profiles->entries && d->profiles->functions,
                   error);
    unsigned char *is_own = calloc(count, 1);
    LODE_TRY_ALLOC(is_own, error);
    lode_status status =
        lode_activity_paths(d->profiles->activities_of, is_own, tree, d->options.kinds, error);
    for (uint32_t i = 1; i < tree->count && status == LODE_OK; i++)
        find_place(d, &tree->nodes[i], is_own[i]);
    free(is_own);
    return status;
}

/* ---- threads ---- */

double lode_time_of_thread(const struct thread *thread, unsigned activities, unsigned places)
{
    double sum = 0;
    for (unsigned p = 0; p < PLACE_COUNT; p++)
        for (unsigned a = 0; a < ACTIVITIES; a++)
            if (places >> p & 1 && activities >> a & 1)
                sum += thread->time[p][a];
    return sum;
}

double lode_time_of_threads(const struct lode_diagnosis *d, unsigned activities, unsigned places)
{
    double sum = 0;
    for (size_t i = 0; i < d->profiles->thread_count; i++)
        sum += lode_time_of_thread(&d->profiles->threads[i], activities, places);
    return sum;
}

double lode_time_of_masters(const struct lode_diagnosis *d, unsigned activities, unsigned places)
{
    double sum = 0;
    for (size_t i = 0; i < d->profiles->rank_count; i++)
        sum += lode_time_of_thread(&d->profiles->threads[d->profiles->ranks[i].first], activities, places);
    return sum;
}

enum {
    IDS_MAX = 16,
    PROFILES_MAX = 2000000 /* of 1 KiB each */
};

/* Whether the profile is one of a thread, and its ids. */
static lode_status read_ids(const struct lode_diagnosis *d, struct thread *thread, bool *is_thread,
                            lode_error *error)
{
    lode_id ids[IDS_MAX];
    uint32_t count;
    *is_thread = !lode_profile_is_summary(d->profiles->db, thread->profile);
    LODE_TRY(lode_profile_ids(d->profiles->db, thread->profile, ids, IDS_MAX, &count, error));
    thread->rank = UINT32_MAX;
    for (uint32_t i = 0; i < count && i < IDS_MAX; i++) {
        const char *kind = lode_database_id_kind_name(d->profiles->db, ids[i].kind);
        if (kind == NULL)
            continue;
        if (strncmp(kind, "GPU", 3) == 0)
            *is_thread = false;
        else if (strcmp(kind, "NODE") == 0)
            thread->node = ids[i].logical;
        else if (strcmp(kind, "RANK") == 0)
            thread->rank = ids[i].logical;
        else if (strcmp(kind, "THREAD") == 0)
            thread->number = ids[i].logical;
        else if (strcmp(kind, "CORE") == 0) {
            thread->core = ids[i].physical;
            thread->has_core = true;
        }
    }
    return LODE_OK;
}

/* Threads of libraries alone, such as progress engines of MPI, are not of the program. */
static bool is_helper(const struct thread *thread)
{
    return lode_time_of_thread(thread, ALL, 1u << PLACE_APPLICATION | INSIDE) == 0 &&
           lode_time_of_thread(thread, OPENMP, EVERYWHERE) == 0;
}

static lode_status take_profile(struct lode_diagnosis *d, const double *values, uint32_t profile,
                                lode_error *error)
{
    struct thread *thread = &d->profiles->threads[d->profiles->thread_count];
    bool is_thread;
    *thread = (struct thread){.profile = profile};
    LODE_TRY(read_ids(d, thread, &is_thread, error));
    if (!is_thread)
        return LODE_OK;
    for (unsigned row = 0; row < ROWS; row++) {
        double time = values[2 * ((size_t)row * d->profiles->db->profile_count + profile)];
        thread->time[row / ACTIVITIES][row % ACTIVITIES] = isfinite(time) ? time : 0;
    }
    thread->total = lode_time_of_thread(thread, ALL, EVERYWHERE);
    if (!(thread->total > 0))
        d->run.empty++;
    else if (is_helper(thread))
        d->run.helpers++;
    else
        d->profiles->thread_count++;
    return LODE_OK;
}

static lode_status read_threads(struct lode_diagnosis *d, double *values, uint32_t *rows, lode_error *error)
{
    lode_spread_rows_options options = LODE_SPREAD_ROWS_OPTIONS_INIT;
    for (uint32_t i = 0; i < d->profiles->db->tree.count; i++)
        rows[i] = (uint32_t)d->profiles->places[i] * ACTIVITIES + d->profiles->activities_of[i];
    options.metric = d->run.metric;
    options.rows = rows;
    options.row_count = ROWS;
    options.threads = d->options.threads;
    options.on_progress = d->options.on_progress;
    options.user = d->options.user;
    options.pool = d->options.pool;
    LODE_TRY(lode_spread_rows_values(values, d->profiles->db, &options, error));
    d->profiles->threads = calloc((size_t)d->profiles->db->profile_count + 1, sizeof *d->profiles->threads);
    LODE_TRY_ALLOC(d->profiles->threads, error);
    for (uint32_t p = 1; p < d->profiles->db->profile_count; p++)
        LODE_TRY(take_profile(d, values, p, error));
    return LODE_OK;
}

static int compare_threads(const void *left, const void *right)
{
    const struct thread *a = left, *b = right;
    if (a->node != b->node || a->rank != b->rank)
        return a->node != b->node ? LODE_COMPARE(a->node, b->node) : LODE_COMPARE(a->rank, b->rank);
    return a->number != b->number ? LODE_COMPARE(a->number, b->number) : LODE_COMPARE(a->profile, b->profile);
}

static lode_status find_ranks(struct lode_diagnosis *d, lode_error *error)
{
    d->profiles->ranks = calloc(d->profiles->thread_count + 1, sizeof *d->profiles->ranks);
    LODE_TRY_ALLOC(d->profiles->ranks, error);
    if (d->profiles->thread_count)
        qsort(d->profiles->threads, d->profiles->thread_count, sizeof *d->profiles->threads, compare_threads);
    for (size_t i = 0; i < d->profiles->thread_count; i++) {
        struct thread *thread = &d->profiles->threads[i];
        bool is_first = i == 0 || thread[-1].node != thread->node || thread[-1].rank != thread->rank;
        if (is_first)
            d->profiles->ranks[d->profiles->rank_count++].first = i;
        thread->is_master = is_first;
        d->profiles->ranks[d->profiles->rank_count - 1].count++;
        d->run.total += thread->total;
        d->run.run_time = fmax(d->run.run_time, thread->total);
        for (unsigned a = 0; a < ACTIVITIES; a++)
            d->activities[a] += lode_time_of_thread(thread, 1u << a, EVERYWHERE);
    }
    d->run.ranks = (uint32_t)d->profiles->rank_count;
    d->run.threads = (uint32_t)d->profiles->thread_count;
    return LODE_OK;
}

static lode_status add_up(struct lode_diagnosis *d, lode_error *error)
{
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    if (d->profiles->db->profile_count > PROFILES_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more than %d profiles", PROFILES_MAX);
    double *values = calloc((size_t)d->profiles->db->profile_count + 1, (size_t)2 * ROWS * sizeof *values);
    uint32_t *rows = calloc((size_t)d->profiles->db->tree.count + 1, sizeof *rows);
    lode_status status = values && rows ? read_threads(d, values, rows, error) : lode_fail_memory(error);
    free(values);
    free(rows);
    LODE_TRY(status);
    LODE_TRY(find_ranks(d, error));
    options.metric = d->run.metric;
    options.threads = d->options.threads;
    options.pool = d->options.pool;
    return lode_cost_compute(&d->profiles->cost, d->profiles->db, &options, error);
}

lode_status lode_diagnose_threads(struct lode_diagnosis *d, lode_error *error)
{
    if (d->profiles->db->profile_count > 0)
        choose_metric(d);
    else
        d->lacks[NEED_METRIC] = true;
    if (d->lacks[NEED_METRIC])
        return LODE_OK;
    LODE_TRY(find_places(d, error));
    return add_up(d, error);
}
