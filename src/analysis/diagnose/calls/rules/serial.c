/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * serial: one thread works while processors are idle that others could use. Either nobody else is
 * there (before, between and after parallel parts): likely; or others wait for it to tell them
 * something, such as that there is work: possible, for helpers wait by design.
 * Needs: several threads. Guard: 10 % of what processors could do; OpenMP has rules of its own.
 * Gain: what the idle processors could do meanwhile, of all that processors could: a bound.
 */
#include "analysis/diagnose/calls/sweep.h"

#define LOST_MIN   0.10
#define WAITED_MIN 0.22
#define FOR_ONE    0.80
#define KNOWN_MIN  0.50

static lode_status state_alone(struct lode_diagnosis *d, double share, lode_error *error)
{
    const struct call_blame *blame = d->calls->blame;
    uint32_t function = 0;
    double time = 0;
    const char *path = lode_diagnose_call_alone_path(d, &function);
    struct draft draft = {.statement = {.id = "serial", .confidence = LODE_LIKELY, .is_bound = 1}};
    for (size_t i = 0; i < blame->alone_count; i++)
        time += (double)(blame->alone[i].to - blame->alone[i].from);
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, function);
    lode_diagnose_set_text(d, &draft, "One thread works alone for %.0f%% of the run time, most in %s.",
                           100 * time / (d->run.run_time * 1e9), path);
    lode_diagnose_show(d, &draft, time / 1e9, "seconds", "%s, while %.0f of %.0f processors are idle",
                       lode_diagnose_call_amount(d, time), blame->capacity - 1, blame->capacity);
    LODE_SET_COMMAND(&draft, "profiles");
    lode_diagnose_show(d, &draft, time / 1e9, "seconds", "most of it is in %s", path);
    lode_diagnose_call_show_callers(d, &draft, function);
    LODE_ADD_EXPLAINS(&draft, "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status state_waited_for(struct lode_diagnosis *d, const struct call_track *one, double share,
                                    lode_error *error)
{
    const struct call_loss *loss = lode_diagnose_call_loss(d, WHY_COND);
    struct draft draft = {.statement = {.id = "serial", .confidence = LODE_POSSIBLE, .is_bound = 1}};
    const char *function = lode_diagnose_call_name(d, one->busy[0].function),
               *name = lode_diagnose_call_thread(d, one);
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = function;
    draft.statement.has_thread = 1;
    draft.statement.thread = one->tid;
    lode_diagnose_set_text(d, &draft, "Threads wait for %s, which works alone, most in %s.", name, function);
    lode_diagnose_show(d, &draft, share, "share",
                       "it works %s; %.0f%% of what processors could do is lost%s%s",
                       lode_diagnose_call_amount(d, (double)one->useful), 100 * share,
                       loss ? ", most in " : "", loss ? lode_diagnose_call_name(d, loss->holder) : "");
    LODE_SET_COMMAND(&draft, "profiles");
    LODE_ADD_EXPLAINS(&draft, "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_blame *blame = d->calls->blame;
    double alone = lode_diagnose_call_lost(d, blame->serial), waited = 0, all = 0;
    const struct call_track *one = NULL;
    for (size_t i = 0; i < d->calls->track_count; i++) {
        all += blame->waited_for[i];
        if (blame->waited_for[i] > waited) {
            waited = blame->waited_for[i];
            one = &d->calls->tracks[i];
        }
    }
    if (lode_diagnose_find_statement(d, "omp-serial") || lode_diagnose_find_statement(d, "threads"))
        return LODE_OK;
    if (alone > LOST_MIN && alone >= lode_diagnose_call_lost(d, waited))
        return state_alone(d, alone, error);
    bool is_for_one = waited > FOR_ONE * all && all > KNOWN_MIN * blame->lost[WHY_COND];
    return one && is_for_one && lode_diagnose_call_lost(d, waited) > WAITED_MIN
               ? state_waited_for(d, one, lode_diagnose_call_lost(d, waited), error)
               : LODE_OK;
}

const struct lode_diagnose_rule lode_diagnose_call_rule_serial = {
    "serial", "one thread works alone, and more than 10% of what processors could do is lost",
    CALL_NEEDS_ALL | 1u << CALL_NEED_THREADS | 1u << CALL_NEED_RUNNING, run};
