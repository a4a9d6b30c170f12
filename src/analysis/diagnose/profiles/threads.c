/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of each thread by activity and place. */
#include "analysis/diagnose/profiles/facts.h"

#include "analysis/spread/spread.h"
#include "base/compare.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    IDS_MAX = 16,
    PROFILES_MAX = 2000000 /* of 1 KiB each at most */
};

#define JOINS_MIN 0.90

/* ---- sums ---- */

static double sum_rows(const struct time_rows *rows, const double *time, unsigned activities, unsigned places)
{
    double sum = 0;
    for (unsigned i = 0; i < rows->count; i++)
        if (places >> rows->places[i] & 1 && activities >> rows->activities[i] & 1)
            sum += time[i];
    return sum;
}

double lode_diagnose_time_of_thread(const struct thread *thread, unsigned activities, unsigned places)
{
    return thread->time ? sum_rows(thread->rows, thread->time, activities, places) : 0;
}

double lode_diagnose_time_of_threads(const struct lode_diagnosis *d, unsigned activities, unsigned places)
{
    return sum_rows(&d->profiles->rows, d->profiles->sums, activities, places);
}

double lode_diagnose_time_of_masters(const struct lode_diagnosis *d, unsigned activities, unsigned places)
{
    return sum_rows(&d->profiles->rows, d->profiles->master_sums, activities, places);
}

/* ---- rows ---- */

/* Numbers the pairs of place and activity that contexts have. */
static void number_rows(struct profile_facts *facts, uint32_t *row_of)
{
    unsigned char numbers[PLACE_COUNT][ACTIVITIES] = {{0}};
    struct time_rows *rows = &facts->rows;
    for (uint32_t i = 0; i < facts->db->tree.count; i++) {
        unsigned place = facts->places[i], activity = facts->activities_of[i];
        unsigned char *number = &numbers[place][activity];
        if (*number == 0) {
            rows->places[rows->count] = (unsigned char)place;
            rows->activities[rows->count] = (unsigned char)activity;
            *number = (unsigned char)++rows->count;
        }
        row_of[i] = *number - 1u;
    }
}

/* ---- one profile ---- */

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

/* Waits for the ends of others, and does not work. */
static bool only_joins(const struct thread *thread)
{
    return thread->time && lode_diagnose_time_of_thread(thread, ALL, JOINS) > JOINS_MIN * thread->total;
}

/* Threads of libraries alone, such as progress engines of MPI, are not of the program. */
static bool is_helper(const struct thread *thread)
{
    return thread->time && lode_diagnose_time_of_thread(thread, ALL, 1u << PLACE_APPLICATION | INSIDE) == 0 &&
           lode_diagnose_time_of_thread(thread, OPENMP, EVERYWHERE) == 0;
}

/* Recordings of perf name threads, and have those of mpirun, too, which is no rank. */
static bool is_launcher(const struct lode_diagnosis *d, const struct thread *thread)
{
    static const char *const names[] = {"mpirun",  "mpirun.openmpi", "mpiexec",        "mpiexec.openmpi",
                                        "orterun", "orted",          "prterun",        "prted",
                                        "srun",    "mpiexec.hydra",  "hydra_pmi_proxy"};
    const char **all = d->profiles->db->profile_names;
    const char *name = all ? all[thread->profile] : NULL;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* `time`: by row, of the profile; NULL: only its total is known. */
static lode_status take_profile(struct lode_diagnosis *d, uint32_t profile, const double *time, double total,
                                lode_error *error)
{
    struct profile_facts *facts = d->profiles;
    struct thread *thread = &facts->threads[facts->thread_count];
    bool is_thread;
    *thread = (struct thread){.profile = profile, .total = isfinite(total) ? total : 0};
    LODE_TRY(read_ids(d, thread, &is_thread, error));
    if (!is_thread)
        return LODE_OK;
    if (time) {
        thread->rows = &facts->rows;
        thread->time = time;
        thread->total = lode_diagnose_time_of_thread(thread, ALL, EVERYWHERE);
    }
    if (!(thread->total > 0))
        d->run.empty++;
    else if (is_launcher(d, thread)) {
        d->run.helpers++;
        facts->launchers++;
    } else if (is_helper(thread) || only_joins(thread)) {
        d->run.helpers++;
        facts->joiners += only_joins(thread);
    } else
        facts->thread_count++;
    return LODE_OK;
}

static lode_status make_room(struct lode_diagnosis *d, lode_error *error)
{
    size_t count = (size_t)d->profiles->db->profile_count + 1;
    if (count > PROFILES_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more than %d profiles", PROFILES_MAX);
    d->profiles->threads = calloc(count, sizeof *d->profiles->threads);
    LODE_TRY_ALLOC(d->profiles->threads, error);
    return LODE_OK;
}

/* ---- values of each profile ---- */

static lode_status take_values(struct lode_diagnosis *d, const double *values, lode_error *error)
{
    struct profile_facts *facts = d->profiles;
    size_t profiles = facts->db->profile_count, width = facts->rows.count;
    facts->times = calloc(profiles + 1, width * sizeof *facts->times);
    LODE_TRY_ALLOC(facts->times, error);
    for (uint32_t p = 1; p < profiles; p++) {
        double *time = facts->times + facts->thread_count * width;
        for (size_t row = 0; row < width; row++) {
            double value = values[2 * (row * profiles + p)];
            time[row] = isfinite(value) ? value : 0;
        }
        LODE_TRY(take_profile(d, p, time, 0, error));
    }
    return LODE_OK;
}

static lode_status read_values(struct lode_diagnosis *d, const uint32_t *row_of, lode_error *error)
{
    lode_spread_rows_options options = LODE_SPREAD_ROWS_OPTIONS_INIT;
    size_t profiles = d->profiles->db->profile_count;
    options.metric = d->run.metric;
    options.rows = row_of;
    options.row_count = d->profiles->rows.count;
    options.threads = d->options.threads;
    options.on_progress = d->options.on_progress;
    options.user = d->options.user;
    options.pool = d->options.pool;
    double *values = calloc(profiles + 1, 2 * options.row_count * sizeof *values);
    LODE_TRY_ALLOC(values, error);
    lode_status status = lode_spread_rows_values(values, d->profiles->db, &options, d->options.comm, error);
    if (status == LODE_OK)
        status = take_values(d, values, error);
    free(values);
    return status;
}

/* ---- totals of profiles, and the summary ---- */

static lode_status take_totals(struct lode_diagnosis *d, const lode_spread *spread, lode_error *error)
{
    for (size_t i = 0; i < lode_spread_count(spread); i++) {
        const lode_spread_row *row = lode_spread_at(spread, i);
        LODE_TRY(take_profile(d, row->profile, NULL, row->total, error));
    }
    d->run.empty += lode_spread_empty(spread) + lode_spread_without(spread);
    return LODE_OK;
}

static lode_status read_totals(struct lode_diagnosis *d, const uint32_t *row_of, lode_error *error)
{
    struct profile_facts *facts = d->profiles;
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    lode_spread *spread;
    options.metric = d->run.metric;
    options.threads = d->options.threads;
    options.on_progress = d->options.on_progress;
    options.user = d->options.user;
    options.pool = d->options.pool;
    options.comm = d->options.comm;
    LODE_TRY(lode_spread_compute(&spread, facts->db, &options, error));
    lode_status status = take_totals(d, spread, error);
    lode_spread_free(spread);
    for (uint32_t i = 0; i < facts->db->tree.count; i++)
        if (isfinite(facts->cost->own[i]))
            facts->sums[row_of[i]] += facts->cost->own[i];
    return status;
}

/* ---- ranks ---- */

static int compare_threads(const void *left, const void *right)
{
    const struct thread *a = left, *b = right;
    if (a->node != b->node || a->rank != b->rank)
        return a->node != b->node ? LODE_COMPARE(a->node, b->node) : LODE_COMPARE(a->rank, b->rank);
    return a->number != b->number ? LODE_COMPARE(a->number, b->number) : LODE_COMPARE(a->profile, b->profile);
}

static void add_thread(struct lode_diagnosis *d, const struct thread *thread)
{
    struct profile_facts *facts = d->profiles;
    d->run.total += thread->total;
    d->run.run_time = fmax(d->run.run_time, thread->total);
    for (unsigned row = 0; thread->time && row < facts->rows.count; row++) {
        facts->sums[row] += thread->time[row];
        facts->master_sums[row] += thread->is_master ? thread->time[row] : 0;
    }
}

static lode_status find_ranks(struct lode_diagnosis *d, lode_error *error)
{
    struct profile_facts *facts = d->profiles;
    facts->ranks = calloc(facts->thread_count + 1, sizeof *facts->ranks);
    LODE_TRY_ALLOC(facts->ranks, error);
    if (facts->thread_count)
        qsort(facts->threads, facts->thread_count, sizeof *facts->threads, compare_threads);
    for (size_t i = 0; i < facts->thread_count; i++) {
        struct thread *thread = &facts->threads[i];
        bool is_first = i == 0 || thread[-1].node != thread->node || thread[-1].rank != thread->rank;
        if (is_first)
            facts->ranks[facts->rank_count++].first = i;
        thread->is_master = is_first;
        facts->ranks[facts->rank_count - 1].count++;
        add_thread(d, thread);
    }
    /* Each thread is one of a rank: then all are masters. */
    d->lacks[NEED_MASTERS] = d->lacks[NEED_VALUES] && facts->rank_count != facts->thread_count;
    if (d->lacks[NEED_VALUES] && !d->lacks[NEED_MASTERS])
        memcpy(facts->master_sums, facts->sums, sizeof facts->sums);
    for (unsigned a = 0; a < ACTIVITIES; a++)
        d->activities[a] = lode_diagnose_time_of_threads(d, 1u << a, EVERYWHERE);
    d->run.ranks = (uint32_t)facts->rank_count;
    d->run.threads = (uint32_t)facts->thread_count;
    return LODE_OK;
}

static lode_status add_up(struct lode_diagnosis *d, const uint32_t *row_of, lode_error *error)
{
    LODE_TRY(lode_diagnose_cost(d, d->run.metric, NULL, &d->profiles->cost, error));
    LODE_TRY(make_room(d, error));
    LODE_TRY(lode_diagnose_size(d, row_of, error));
    LODE_TRY(d->lacks[NEED_VALUES] ? read_totals(d, row_of, error) : read_values(d, row_of, error));
    return find_ranks(d, error);
}

lode_status lode_diagnose_threads(struct lode_diagnosis *d, lode_error *error)
{
    uint32_t *row_of = calloc((size_t)d->profiles->db->tree.count + 1, sizeof *row_of);
    LODE_TRY_ALLOC(row_of, error);
    number_rows(d->profiles, row_of);
    lode_status status = add_up(d, row_of, error);
    free(row_of);
    return status;
}
