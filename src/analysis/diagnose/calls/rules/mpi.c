/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi: ranks spend more than 15 % of the run time in MPI, without its start and end.
 * Needs: several ranks, enough processors, threads that were seldom pre-empted: ranks spin while
 * they wait. Where all ranks called the same collectives, the time until the last one entered is
 * waiting, the rest is transfer.
 * Gain: time in MPI / run time, mean over ranks; of each, its thread with the most. Likely.
 */
#include "analysis/diagnose/calls/facts.h"

#include <math.h>
#include <stdlib.h>

#define MPI_MIN 0.15

struct collectives {
    double waiting, all;
};

/* The threads of ranks that call collectives. */
static size_t find_callers(const struct call_facts *facts, const struct call_track **callers)
{
    size_t count = 0;
    for (size_t i = 0; i < facts->track_count; i++)
        if (facts->tracks[i].collective_count)
            callers[count++] = &facts->tracks[i];
    return count;
}

/* Whether the k-th call of each is the same, and no clock goes wrong. */
static bool add_call(const struct call_track *const *callers, size_t count, size_t k, struct collectives *c)
{
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        const struct call_collective *call = &callers[i]->collectives[k];
        last = call->enter > last ? call->enter : last;
        if (call->function != callers[0]->collectives[k].function)
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct call_collective *call = &callers[i]->collectives[k];
        if (call->leave < last)
            return false;
        c->waiting += (double)(last - call->enter);
        c->all += (double)(call->leave - call->enter);
    }
    return true;
}

static bool measure(const struct call_facts *facts, const struct call_track **callers, struct collectives *c)
{
    size_t count = find_callers(facts, callers);
    if (count < 2 || count != facts->mpi_processes)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!callers[i]->are_all || callers[i]->collective_count != callers[0]->collective_count ||
            (i > 0 && callers[i]->pid == callers[i - 1]->pid))
            return false;
    for (size_t k = 0; k < callers[0]->collective_count; k++)
        if (!add_call(callers, count, k, c))
            return false;
    return c->all > 0;
}

static lode_status add_waiting(struct lode_diagnosis *d, struct draft *draft, lode_error *error)
{
    struct collectives c = {0};
    const struct call_track **callers = calloc(d->calls->track_count + 1, sizeof *callers);
    LODE_TRY_ALLOC(callers, error);
    if (measure(d->calls, callers, &c))
        lode_diagnose_show(d, draft, c.waiting / c.all, "share",
                           "%.0f%% of the time in collectives is waiting for the last rank",
                           100 * c.waiting / c.all);
    free(callers);
    return LODE_OK;
}

/* The time of ranks in MPI: of each, that of its thread with the most. */
static double find_time(const struct call_facts *facts)
{
    double time = 0, most = 0;
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        bool is_last = i + 1 == facts->track_count || track[1].pid != track->pid;
        most = track->is_left_out ? most : fmax(most, (double)track->time[LODE_ACTIVITY_MPI]);
        time += is_last ? most : 0;
        most = is_last ? 0 : most;
    }
    return time;
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    double share = find_time(facts) / ((double)facts->mpi_processes * lode_diagnose_call_run(d));
    struct call_place place = lode_diagnose_call_place(d, CALL_SET(MPI));
    if (share <= MPI_MIN || place.best == NULL)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "mpi", .confidence = LODE_LIKELY}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, place.best->entry);
    lode_diagnose_set_text(d, &draft, "MPI takes %.0f%% of %s, %s in %s.", 100 * share,
                           lode_diagnose_call_basis(d, "the run time"),
                           place.part > 0.5 * place.time ? "mostly" : "the largest part",
                           lode_diagnose_call_pair_name(d, place.best));
    lode_diagnose_show(d, &draft, place.part / place.time, "share", "%s: %.0f%% of the time in MPI",
                       lode_diagnose_call_pair_name(d, place.best), 100 * place.part / place.time);
    lode_diagnose_call_show_callers(d, &draft, place.best->entry);
    LODE_TRY(add_waiting(d, &draft, error));
    LODE_ADD_EXPLAINS(&draft, "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_mpi = {
    "mpi", "ranks spend more than 15% of the run time in MPI",
    CALL_NEEDS_ALL | 1u << CALL_NEED_RANKS | 1u << CALL_NEED_PROCESSORS | 1u << CALL_NEED_CALM, run};
