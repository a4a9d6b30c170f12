/* SPDX-License-Identifier: BSD-3-Clause */
/* Efficiencies of threads, from their useful time and the time that they had. */
#include "analysis/diagnose/profiles/facts.h"

#include <math.h>
#include <stdlib.h>

struct work lode_diagnose_work_of_thread(const struct thread *thread)
{
    return (struct work){lode_diagnose_time_of_thread(thread, USEFUL, OUTSIDE),
                         lode_diagnose_time_of_thread(thread, USEFUL, INSIDE),
                         lode_diagnose_time_of_thread(thread, OPENMP, EVERYWHERE), thread->total};
}

bool lode_diagnose_is_hybrid(const struct lode_diagnosis *d)
{
    return d->profiles->thread_count > d->profiles->rank_count &&
           lode_diagnose_time_of_threads(d, ALL, INSIDE) > 0;
}

static double useful_of(const struct work *work)
{
    return work->outside + work->inside;
}

/* The additive parts: parallel = process + serial + openmp - 2. */
static void set_hybrid(lode_efficiency *e, const struct team *team, double whole, double useful)
{
    double process = 0, serial_loss = 0, openmp = 0, serial_sum = 0, most = 0, sum = 0;
    for (size_t i = 0; i < team->rank_count; i++) {
        const struct work *master = &team->work[team->ranks[i].first];
        double count = (double)team->ranks[i].count;
        double serial = master->outside, inside = master->inside + master->runtime;
        process += count * (serial + inside) / whole;
        serial_loss += serial * (count - 1) / whole;
        openmp += count * inside / whole;
        serial_sum += serial;
        most = fmax(most, serial + inside);
        sum += serial + inside;
    }
    e->is_hybrid = 1;
    e->process = process;
    e->serial = 1 - serial_loss;
    e->openmp = 1 - (openmp - (useful - serial_sum) / whole);
    e->rank_balance = most > 0 ? sum / (double)team->rank_count / most : 1;
    e->rank_communication = most / team->run_time;
}

void lode_diagnose_efficiency_of(lode_efficiency *e, const struct team *team)
{
    double whole = (double)team->thread_count * team->run_time, useful = 0, most = 0;
    *e = (lode_efficiency){0};
    for (size_t i = 0; i < team->thread_count; i++) {
        useful += useful_of(&team->work[i]);
        most = fmax(most, useful_of(&team->work[i]));
    }
    e->parallel = useful / whole;
    e->load_balance = most > 0 ? useful / (double)team->thread_count / most : 1;
    e->communication = most / team->run_time;
    double error = lode_diagnose_error_of_share(e->parallel, team->samples);
    /* In a phase, the end of a sample may exceed it. */
    e->useful_low = fmin(1, fmax(0, e->parallel - error));
    e->useful_high = fmin(1, e->parallel + error);
    if (team->is_hybrid)
        set_hybrid(e, team, whole, useful);
}

lode_status lode_diagnose_efficiency(struct lode_diagnosis *d, lode_error *error)
{
    const struct profile_facts *facts = d->profiles;
    if (facts->thread_count < 2 || !(d->run.run_time > 0) || d->lacks[NEED_ONE_RUN] ||
        d->lacks[NEED_CONSISTENT] || d->lacks[NEED_VALUES] || d->lacks[NEED_SAMPLES])
        return LODE_OK;
    struct work *work = calloc(facts->thread_count, sizeof *work);
    LODE_TRY_ALLOC(work, error);
    for (size_t i = 0; i < facts->thread_count; i++)
        work[i] = lode_diagnose_work_of_thread(&facts->threads[i]);
    const struct team team = {work,
                              facts->ranks,
                              facts->thread_count,
                              facts->rank_count,
                              d->run.run_time,
                              lode_diagnose_sample_count(d),
                              lode_diagnose_is_hybrid(d)};
    lode_diagnose_efficiency_of(&d->efficiency, &team);
    d->has_efficiency = true;
    free(work);
    return LODE_OK;
}
