/* SPDX-License-Identifier: BSD-3-Clause */
/* Efficiencies of all threads, of groups of them, and over time. */
#include "analysis/diagnose/profiles/facts.h"

#include "analysis/spread/spread.h"
#include "base/compare.h"
#include "base/getter.h"
#include "base/options.h"
#include <lode/unstable/efficiency.h>
#include <stdlib.h>
#include <string.h>

struct row {
    lode_efficiency_row row;
    lode_efficiency efficiency;
};

struct lode_efficiencies {
    lode_diagnosis *d;
    struct lode_array rows;
    const char *reason; /* why there are no rows */
    uint32_t without;
    double cycles, instructions;
};

/* A thread and the ids of its group. */
struct member {
    lode_id ids[LODE_GROUP_KINDS];
    uint32_t thread;
};

struct making {
    lode_efficiencies *result;
    const lode_diagnosis *d;
    const lode_efficiency_options *options;
    struct member *members; /* in the order of groups */
    size_t member_count;
    struct work *work; /* of some threads */
    struct rank *ranks;
};

/* ---- groups ---- */

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    int order = lode_compare_group_ids(a->ids, b->ids);
    return order ? order : LODE_COMPARE(a->thread, b->thread);
}

static lode_status find_members(struct making *m, lode_error *error)
{
    const struct profile_facts *facts = m->d->profiles;
    m->members = calloc(facts->thread_count + 1, sizeof *m->members);
    LODE_TRY_ALLOC(m->members, error);
    for (size_t i = 0; i < facts->thread_count && m->options->by_count; i++) {
        struct member *member = &m->members[m->member_count];
        bool has_all;
        *member = (struct member){.thread = (uint32_t)i};
        LODE_TRY(lode_group_ids(member->ids, facts->db, facts->threads[i].profile, m->options->by,
                                m->options->by_count, &has_all, error));
        m->result->without += !has_all;
        m->member_count += has_all;
    }
    if (m->member_count)
        qsort(m->members, m->member_count, sizeof *m->members, compare_members);
    return LODE_OK;
}

/* ---- rows ---- */

/* Which threads, and when. */
struct part {
    const struct work *work;      /* of all threads */
    const struct member *members; /* NULL: all threads */
    size_t count;
    uint64_t from, to;
    double run_time;
};

static bool is_same_rank(const struct thread *a, const struct thread *b)
{
    return a->node == b->node && a->rank == b->rank;
}

/* Whether a group has all threads of its ranks. */
static bool has_whole_ranks(const struct making *m, const struct team *team, const struct part *part)
{
    const struct profile_facts *facts = m->d->profiles;
    for (size_t i = 0; i < team->rank_count; i++) {
        size_t begin = part->members ? part->members[team->ranks[i].first].thread : team->ranks[i].first;
        size_t end = begin + team->ranks[i].count;
        if (!facts->threads[begin].is_master)
            return false;
        if (end < facts->thread_count && is_same_rank(&facts->threads[begin], &facts->threads[end]))
            return false;
    }
    return true;
}

static lode_status add_row(struct making *m, const struct part *part, lode_error *error)
{
    const struct profile_facts *facts = m->d->profiles;
    struct team team = {m->work, m->ranks, part->count, 0, part->run_time, 0, false};
    const struct thread *before = NULL, *first = &facts->threads[part->members ? part->members[0].thread : 0];
    struct row *row = lode_array_push(&m->result->rows);
    LODE_TRY_ALLOC(row, error);
    *row = (struct row){.row = {.first = first->profile,
                                .threads = (uint32_t)part->count,
                                .from = part->from,
                                .to = part->to,
                                .run_time = part->run_time}};
    double total = 0;
    for (size_t i = 0; i < part->count; i++) {
        size_t number = part->members ? part->members[i].thread : i;
        const struct thread *thread = &facts->threads[number];
        m->work[i] = part->work[number];
        total += m->work[i].total;
        row->row.useful += m->work[i].outside + m->work[i].inside;
        row->row.first = thread->profile < row->row.first ? thread->profile : row->row.first;
        if (before == NULL || !is_same_rank(before, thread))
            m->ranks[team.rank_count++] = (struct rank){i, 0};
        m->ranks[team.rank_count - 1].count++;
        before = thread;
    }
    team.samples = total > 0 ? lode_diagnose_sample_count(m->d) * (total / m->d->run.total) : 0;
    team.is_hybrid = lode_diagnose_is_hybrid(m->d) && has_whole_ranks(m, &team, part);
    row->row.ranks = (uint32_t)team.rank_count;
    if (part->members) {
        row->row.is_group = 1;
        memcpy(row->row.ids, part->members[0].ids, sizeof row->row.ids);
    }
    lode_diagnose_efficiency_of(&row->efficiency, &team);
    return LODE_OK;
}

/* All threads, then groups. */
static lode_status add_rows(struct making *m, const struct part *whole, lode_error *error)
{
    LODE_TRY(add_row(m, whole, error));
    for (size_t begin = 0, end = 1; begin < m->member_count; begin = end++) {
        while (end < m->member_count &&
               lode_compare_group_ids(m->members[begin].ids, m->members[end].ids) == 0)
            end++;
        struct part group = *whole;
        group.members = &m->members[begin];
        group.count = end - begin;
        LODE_TRY(add_row(m, &group, error));
    }
    return LODE_OK;
}

static lode_status add_whole(struct making *m, lode_error *error)
{
    const struct profile_facts *facts = m->d->profiles;
    struct work *work = calloc(facts->thread_count + 1, sizeof *work);
    LODE_TRY_ALLOC(work, error);
    for (size_t i = 0; i < facts->thread_count; i++)
        work[i] = lode_diagnose_work_of_thread(&facts->threads[i]);
    const struct part whole = {work, NULL, facts->thread_count, 0, 0, m->d->run.run_time};
    lode_status status = add_rows(m, &whole, error);
    free(work);
    return status;
}

static lode_status add_parts(struct making *m, const struct phases *phases, struct work *work,
                             lode_error *error)
{
    size_t threads = m->d->profiles->thread_count;
    double unit = m->d->run.run_time / (double)(phases->last - phases->first);
    LODE_TRY(lode_diagnose_phases_work(work, m->d, phases, error));
    for (size_t i = 0; i < phases->count; i++) {
        uint64_t from = phases->bounds[i], to = phases->bounds[i + 1];
        const struct part part = {work + i * threads, NULL, threads, from, to, unit * (double)(to - from)};
        LODE_TRY(add_rows(m, &part, error));
    }
    return LODE_OK;
}

static lode_status add_phases(struct making *m, lode_error *error)
{
    const lode_efficiency_options *options = m->options;
    struct phases phases;
    if (options->phases == 0 && options->from == 0 && options->to == 0)
        return LODE_OK;
    lode_status status =
        lode_diagnose_phases_init(&phases, m->d, options->from, options->to, options->phases, error);
    if (status == LODE_OK) {
        struct work *work = calloc(phases.count * m->d->profiles->thread_count + 1, sizeof *work);
        status = work ? add_parts(m, &phases, work, error) : lode_fail_memory(error);
        free(work);
    }
    free(phases.bounds);
    return status;
}

/* ---- the whole ---- */

/* Why efficiencies would say nothing; NULL: they do. */
static const char *find_reason(const lode_diagnosis *d)
{
    static const enum need needs[] = {NEED_METRIC, NEED_SAMPLES, NEED_ONE_RUN, NEED_CONSISTENT};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (d->lacks[needs[i]])
            return lode_diagnose_profile_reasons[needs[i]];
    return d->profiles->thread_count ? NULL : "no thread has any time";
}

static lode_status count(lode_efficiencies *result, lode_error *error)
{
    double total;
    if (result->d->lacks[NEED_COUNTERS])
        return LODE_OK;
    LODE_TRY(lode_diagnose_own_cost(result->d, "cycles", &result->cycles, &total, error));
    return lode_diagnose_own_cost(result->d, "instructions", &result->instructions, &total, error);
}

static lode_status make(struct making *m, const lode_database *db, lode_error *error)
{
    static const struct lode_diagnose_rules none = {NULL, 0, NULL};
    lode_diagnosis *d = m->result->d;
    LODE_TRY(lode_diagnose_profile_facts_make(d, db, error));
    LODE_TRY(lode_diagnose_run_rules(d, &none, error));
    m->result->reason = find_reason(d);
    if (m->result->reason)
        return LODE_OK;
    m->d = d;
    m->work = calloc(d->profiles->thread_count + 1, sizeof *m->work);
    m->ranks = calloc(d->profiles->thread_count + 1, sizeof *m->ranks);
    LODE_TRY_ALLOC(m->work && m->ranks, error);
    LODE_TRY(find_members(m, error));
    LODE_TRY(add_whole(m, error));
    LODE_TRY(add_phases(m, error));
    return count(m->result, error);
}

static lode_diagnosis *start(const lode_efficiency_options *options)
{
    lode_diagnose_options given = LODE_DIAGNOSE_OPTIONS_INIT;
    given.kinds = options->kinds;
    given.threads = options->threads;
    given.on_progress = options->on_progress;
    given.user = options->user;
    given.pool = options->pool;
    given.read_limit = UINT64_MAX; /* all values are needed */
    return lode_diagnose_start(&given);
}

lode_status lode_efficiencies_compute(lode_efficiencies **out, const lode_database *db,
                                      const lode_efficiency_options *given, lode_error *error)
{
    lode_efficiency_options options = LODE_EFFICIENCY_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    if (options.by_count > LODE_GROUP_KINDS)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "groups by too many kinds");
    lode_efficiencies *result = calloc(1, sizeof *result);
    LODE_TRY_ALLOC(result, error);
    lode_array_init(&result->rows, sizeof(struct row), UINT32_MAX);
    result->d = start(&options);
    struct making m = {.result = result, .options = &options};
    lode_status status = result->d ? make(&m, db, error) : lode_fail_memory(error);
    free(m.members);
    free(m.work);
    free(m.ranks);
    if (status != LODE_OK) {
        lode_efficiencies_free(result);
        return status;
    }
    for (size_t i = 0; i < result->rows.count; i++) {
        struct row *row = LODE_ARRAY_AT(&result->rows, struct row, i);
        row->row.efficiency = &row->efficiency;
    }
    *out = result;
    return LODE_OK;
}

void lode_efficiencies_free(lode_efficiencies *efficiencies)
{
    if (efficiencies == NULL)
        return;
    lode_array_free(&efficiencies->rows);
    lode_diagnosis_free(efficiencies->d);
    free(efficiencies);
}

LODE_GETTER(size_t, lode_efficiencies_count, lode_efficiencies, rows.count);
LODE_GETTER(const char *, lode_efficiencies_reason, lode_efficiencies, reason);
LODE_GETTER(uint32_t, lode_efficiencies_without, lode_efficiencies, without);

const lode_efficiency_row *lode_efficiencies_at(const lode_efficiencies *efficiencies, size_t index)
{
    return index < efficiencies->rows.count ? &LODE_ARRAY_AT(&efficiencies->rows, struct row, index)->row
                                            : NULL;
}

const lode_run *lode_efficiencies_run(const lode_efficiencies *efficiencies)
{
    return lode_diagnosis_run(efficiencies->d);
}

const lode_quality_note *lode_efficiencies_note(const lode_efficiencies *efficiencies, size_t index)
{
    return lode_diagnosis_note(efficiencies->d, index);
}

void lode_efficiencies_counters(const lode_efficiencies *efficiencies, double *cycles, double *instructions)
{
    *cycles = efficiencies->cycles;
    *instructions = efficiencies->instructions;
}
