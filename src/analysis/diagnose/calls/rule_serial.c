/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * serial: one of at least three threads does more than 70 % of the useful work, while the others
 * wait. Guard: helpers and timers wait by design, so possible only; nothing if unequal work of like
 * threads, or serial parts of OpenMP, were said; the others work less than 30 % of their time.
 * Gain: its work / run time x (1 - 1 / threads).
 */
#include "analysis/diagnose/calls/facts.h"

#define WORK_MIN   0.70
#define OTHERS_MAX 0.30
#define GAIN_MIN   0.05

enum {
    THREADS_MIN = 3
};

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    static const char *const words[] = {"profiles", NULL};
    const struct call_facts *facts = d->calls;
    const struct call_track *one = NULL;
    double sum = 0, lives = 0;
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        if (track->is_left_out)
            continue;
        sum += (double)track->useful;
        lives += (double)(track->end - track->begin);
        if (one == NULL || track->useful > one->useful)
            one = track;
    }
    if (one == NULL || facts->slot_count < THREADS_MIN || facts->slot_count != d->run.threads ||
        lode_find_statement(d, "imbalance") || lode_find_statement(d, "slow-thread") ||
        lode_find_statement(d, "omp-serial"))
        return LODE_OK;
    double work = (double)one->useful, n = (double)facts->slot_count;
    double gain = work / lode_call_run(d) * (1 - 1 / n);
    if (work <= WORK_MIN * sum || sum - work > OTHERS_MAX * (lives - (double)(one->end - one->begin)) ||
        gain < GAIN_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "serial", .confidence = LODE_POSSIBLE}};
    const char *function = lode_call_name(d, one->busy[0].function), *name = lode_call_thread(d, one);
    lode_call_gain(&draft, gain);
    draft.statement.function = function;
    draft.statement.has_thread = 1;
    draft.statement.thread = one->tid;
    draft.statement.text =
        lode_say(d, "One of %zu threads, %s, does %.0f%% of the work, most in %s; the others wait.",
                 facts->slot_count, name, 100 * work / sum, function);
    lode_set_command(lode_add_evidence(&draft,
                                       lode_say(d, "it works %s, the others %s in all",
                                                lode_call_amount(d, work), lode_call_amount(d, sum - work)),
                                       work / 1e9, "seconds"),
                     words);
    lode_add_explains(&draft, "efficiency");
    return lode_add_statement(d, &draft, error);
}

const struct rule lode_call_rule_serial = {
    "serial", "one of three or more threads does more than 70% of the work",
    CALL_NEEDS_ALL | 1u << CALL_NEED_THREADS | 1u << CALL_NEED_RUNNING, run};
