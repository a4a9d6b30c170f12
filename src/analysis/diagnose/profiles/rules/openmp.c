/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * omp-serial, omp-imbalance: threads wait in the OpenMP runtime. What masters do outside of
 * regions, also in MPI, explains at most that time x (threads - 1) of it; trace lines say how much.
 * omp-calls: creating tasks takes a part of the time that only small tasks have.
 */
#include "analysis/diagnose/profiles/facts.h"

#include <math.h>
#include <string.h>

#define WAIT_MIN   0.10
#define EXPLAINED  0.50
#define MAKING_MIN 0.05

struct waiting {
    double share;     /* of the time of threads */
    double explained; /* of the waiting; at most, without trace lines */
    double serial;    /* time of masters alone */
    bool is_traced;
};

/* What profiles allow at most: all that masters do outside of regions keeps all others waiting. */
static double explained_at_most(const struct lode_diagnosis *d, double wait)
{
    double idle = 0;
    for (size_t i = 0; i < d->profiles->rank_count; i++)
        idle += lode_diagnose_time_of_thread(&d->profiles->threads[d->profiles->ranks[i].first], ~OPENMP,
                                             OUTSIDE) *
                (double)(d->profiles->ranks[i].count - 1);
    return wait > 0 ? fmin(1, idle / wait) : 0;
}

/*
 * Calls do not tell what workers do between regions: nothing is recorded while they wait. It is the
 * rest of the run time.
 */
static double time_between_regions(const struct lode_diagnosis *d)
{
    double sum = 0;
    for (size_t i = 0; d->profiles->is_counted && i < d->profiles->thread_count; i++) {
        const struct thread *thread = &d->profiles->threads[i];
        if (!thread->is_master && lode_diagnose_time_of_thread(thread, ALL, INSIDE) > 0)
            sum += fmax(0, d->run.run_time - thread->total);
    }
    return sum;
}

/* `is_much`: threads wait more than the limit. Only then are trace lines read. */
static lode_status measure(struct lode_diagnosis *d, struct waiting *w, bool *is_much, lode_error *error)
{
    double between = time_between_regions(d),
           wait = lode_diagnose_time_of_threads(d, OPENMP, EVERYWHERE) + between;
    const struct blame *blame = &d->profiles->blame;
    *w = (struct waiting){.share = wait / (d->run.total + between)};
    w->serial = lode_diagnose_time_of_masters(d, USEFUL, OUTSIDE);
    w->explained = explained_at_most(d, wait);
    *is_much = w->share - lode_diagnose_share_error(d, w->share) > WAIT_MIN;
    if (!*is_much)
        return LODE_OK;
    LODE_TRY(lode_diagnose_blame(d, error));
    w->is_traced = blame->cost && blame->waiting > 0;
    if (w->is_traced)
        w->explained = fmin(1, blame->explained / blame->waiting);
    return LODE_OK;
}

static void add_wait(struct lode_diagnosis *d, struct draft *draft, const struct waiting *w)
{
    const char *text =
        w->is_traced
            ? lode_diagnose_say(
                  d,
                  "threads spend %.1f%% of their time in the OpenMP runtime; in %.0f%% of it the first "
                  "thread works outside of regions (trace lines)",
                  100 * w->share, 100 * w->explained)
            : lode_diagnose_say(d,
                                "threads spend %.1f%% of their time in the OpenMP runtime; what first "
                                "threads do outside of regions explains at most %.0f%% of it%s",
                                100 * w->share, 100 * w->explained,
                                d->profiles->blame.is_too_large ? " (--deep reads trace lines)" : "");
    lode_diagnose_show(d, draft, w->share, "share", "%s", text);
    LODE_SET_COMMAND(draft, "top", "--by", "kind", "--limit", "0");
}

/* Where masters are meanwhile. */
static lode_status add_place(struct lode_diagnosis *d, struct draft *draft, lode_error *error)
{
    struct path path;
    LODE_TRY(lode_diagnose_path(d, d->profiles->blame.cost, ALL, &path, error));
    if (path.entry == NULL)
        return LODE_OK;
    const char *holder = lode_diagnose_name_of(d, path.holder), *entry = lode_diagnose_name_of(d, path.entry);
    bool is_short = strcmp(holder, entry) == 0;
    double share = path.part * path.all / d->profiles->blame.waiting;
    draft->statement.function = holder;
    draft->statement.context = path.holder;
    lode_diagnose_show(d, draft, share, "share", "%.0f%% of the waiting falls into %s%s%s", 100 * share,
                       holder, is_short ? "" : " > ", is_short ? "" : entry);
    LODE_SET_COMMAND(draft, "tree", "--callers", entry);
    return LODE_OK;
}

/* The same without trace lines: where masters are outside of regions. */
static lode_status add_serial_place(struct lode_diagnosis *d, struct draft *draft, lode_error *error)
{
    const struct profile_facts *facts = d->profiles;
    const lode_cost *masters;
    lode_cost *outside;
    struct path path;
    LODE_TRY(lode_diagnose_master_cost(d, &masters, error));
    LODE_TRY(lode_cost_make(&outside, facts->db, error));
    for (uint32_t i = 0; i < facts->db->tree.count; i++)
        outside->own[i] = facts->places[i] == PLACE_REGION ? 0 : masters->own[i];
    lode_status status = lode_diagnose_path(d, outside, ~OPENMP, &path, error);
    lode_cost_free(outside);
    LODE_TRY(status);
    if (path.holder == NULL)
        return LODE_OK;
    const char *holder = lode_diagnose_name_of(d, path.holder);
    draft->statement.function = holder;
    draft->statement.context = path.holder;
    lode_diagnose_show(d, draft, path.share, "share", "%.0f%% of what first threads do alone is in %s",
                       100 * path.share, holder);
    LODE_SET_COMMAND(draft, "tree", "--callers", holder);
    return LODE_OK;
}

static lode_status run_serial(struct lode_diagnosis *d, lode_error *error)
{
    struct waiting w;
    bool is_much;
    LODE_TRY(measure(d, &w, &is_much, error));
    if (!is_much || w.explained <= EXPLAINED)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "omp-serial", .confidence = LODE_LIKELY, .is_bound = 1}};
    lode_diagnose_set_gain_of_masters(d, &draft,
                                      w.serial / ((double)d->profiles->rank_count * d->run.run_time));
    draft.statement.text =
        "OpenMP threads wait while the first thread of their process works outside of regions.";
    add_wait(d, &draft, &w);
    LODE_TRY(w.is_traced ? add_place(d, &draft, error) : add_serial_place(d, &draft, error));
    LODE_ADD_EXPLAINS(&draft, "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* ---- tasks ---- */

enum task_part {
    TASK_MAKING, /* it is made, and given to threads */
    TASK_ANY     /* or waited for */
};

/* Functions of libgomp and libomp for tasks; others of these names are internal. */
static bool is_task_function(const char *name, enum task_part part)
{
    static const char *const making[] = {
        "GOMP_task",       "GOMP_taskloop",         "GOMP_taskloop_ull",
        "__kmpc_omp_task", "__kmpc_omp_task_alloc", "__kmpc_omp_task_with_deps",
        "__kmpc_taskloop", "__kmpc_taskloop_5"};
    static const char *const waiting[] = {
        "GOMP_taskwait",       "GOMP_taskwait_depend",        "GOMP_taskgroup_end",
        "__kmpc_omp_taskwait", "__kmpc_omp_taskwait_deps_51", "__kmpc_end_taskgroup"};
    for (size_t i = 0; i < sizeof making / sizeof *making; i++)
        if (strcmp(name, making[i]) == 0)
            return true;
    for (size_t i = 0; part == TASK_ANY && i < sizeof waiting / sizeof *waiting; i++)
        if (strcmp(name, waiting[i]) == 0)
            return true;
    return false;
}

/* Time in the OpenMP runtime below its functions for tasks. `cost` may be NULL: only the sum. */
static double time_of_tasks(const struct lode_diagnosis *d, enum task_part part, lode_cost *cost)
{
    const struct profile_facts *facts = d->profiles;
    double sum = 0;
    for (uint32_t i = 0; i < facts->db->tree.count; i++) {
        const lode_context *entry = &facts->db->tree.nodes[facts->functions[facts->entries[i]]];
        bool is_meant = OPENMP >> facts->activities_of[i] & 1 && lode_diagnose_has_function(entry) &&
                        entry->function->name && is_task_function(entry->function->name, part);
        if (is_meant)
            sum += facts->cost->own[i];
        if (cost)
            cost->own[i] = is_meant ? facts->cost->own[i] : 0;
    }
    return sum;
}

static lode_status find_makers(struct lode_diagnosis *d, struct path *path, double *sum, lode_error *error)
{
    lode_cost *cost;
    LODE_TRY(lode_cost_make(&cost, d->profiles->db, error));
    *sum = time_of_tasks(d, TASK_MAKING, cost);
    lode_status status = lode_diagnose_path(d, cost, OPENMP, path, error);
    lode_cost_free(cost);
    return status;
}

/* Whoever makes a task does nothing else meanwhile: that is no waiting. */
static lode_status run_calls(struct lode_diagnosis *d, lode_error *error)
{
    struct path path;
    double sum = time_of_tasks(d, TASK_MAKING, NULL), share = sum / d->run.total;
    if (!(share - lode_diagnose_share_error(d, share) > MAKING_MIN))
        return LODE_OK;
    LODE_TRY(find_makers(d, &path, &sum, error));
    if (path.holder == NULL)
        return LODE_OK;
    struct draft draft = {
        .statement = {.id = "omp-calls", .confidence = LODE_LIKELY, .context = path.holder}};
    double all = time_of_tasks(d, TASK_ANY, NULL) / d->run.total;
    const char *holder = lode_diagnose_name_of(d, path.holder), *entry = lode_diagnose_name_of(d, path.entry);
    lode_diagnose_set_gain(d, &draft, share);
    draft.statement.function = holder;
    lode_diagnose_set_text(d, &draft,
                           "OpenMP tasks are too small: to make them takes %.0f%% of the time of threads, "
                           "%s in %s.",
                           100 * share, lode_diagnose_mostly(&path), holder);
    draft.statement.advice = "Try to make fewer and larger tasks.";
    lode_diagnose_show(d, &draft, path.share, "share", "%s > %s: %.0f%% of it", holder, entry,
                       100 * path.share);
    LODE_SET_COMMAND(&draft, "tree", "--callers", entry);
    lode_diagnose_show(d, &draft, all, "share", "with waiting for tasks, it is %.0f%%", 100 * all);
    LODE_ADD_EXPLAINS(&draft, "omp-imbalance", "imbalance", "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* ---- unequal parts ---- */

static lode_status run_imbalance(struct lode_diagnosis *d, lode_error *error)
{
    struct waiting w;
    bool is_much;
    LODE_TRY(measure(d, &w, &is_much, error));
    if (!is_much || w.explained > EXPLAINED)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "omp-imbalance", .confidence = LODE_LIKELY, .is_bound = 1}};
    lode_diagnose_set_gain(d, &draft,
                           d->has_efficiency && d->efficiency.is_hybrid ? 1 - d->efficiency.openmp : w.share);
    /* Time below functions for tasks is not at the end of a region. */
    bool is_of_tasks =
        time_of_tasks(d, TASK_ANY, NULL) > EXPLAINED * lode_diagnose_time_of_threads(d, OPENMP, EVERYWHERE);
    lode_diagnose_set_text(d, &draft, "Threads wait %s: %s are unequal, or too small.",
                           is_of_tasks ? "for OpenMP tasks" : "at the ends of OpenMP regions",
                           is_of_tasks ? "they" : "their parts");
    add_wait(d, &draft, &w);
    lode_diagnose_show(d, &draft, d->efficiency.load_balance, "share",
                       "useful work of threads: load balance %.2f", d->efficiency.load_balance);
    LODE_SET_COMMAND(&draft, "profiles");
    LODE_ADD_EXPLAINS(&draft, "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

enum {
    NEEDS = 1u << NEED_METRIC | 1u << NEED_RUNNING | 1u << NEED_VALUES | 1u << NEED_SAMPLES |
            1u << NEED_THREADS | 1u << NEED_ONE_RUN | 1u << NEED_CONSISTENT | 1u << NEED_REGIONS |
            1u << NEED_PROCESSORS
};

const struct lode_diagnose_rule lode_diagnose_profile_rule_omp_serial = {
    "omp-serial", "OpenMP threads wait more than 10% of their time, mostly for the first thread", NEEDS,
    run_serial};
const struct lode_diagnose_rule lode_diagnose_profile_rule_omp_imbalance = {
    "omp-imbalance", "OpenMP threads wait more than 10% of their time, mostly for each other", NEEDS,
    run_imbalance};
const struct lode_diagnose_rule lode_diagnose_profile_rule_omp_calls = {
    "omp-calls", "creating OpenMP tasks takes more than 5% of the time of threads",
    1u << NEED_METRIC | 1u << NEED_SAMPLES | 1u << NEED_ONE_RUN | 1u << NEED_CONSISTENT, run_calls};
