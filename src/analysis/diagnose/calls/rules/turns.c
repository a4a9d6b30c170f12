/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alternation: threads wait for each other alternately, as with a queue between them that is
 * too small.
 * herd: a condition wakes threads in vain: a function waits for it 4 times or more in each
 * call.
 * Needs: off-CPU events, several threads. Guard: alternation: 15 % of what processors could do,
 * and at least two threads that others wait for, the second for 25 %; herd: 1,000 waits of at
 * least 3 threads, and 5 % of what processors could do.
 * Gain: what is lost to the waiting, of all that processors could do: a bound. herd: and the
 * time that waking up takes; it accounts for that.
 */
#include "analysis/diagnose/calls/sweep.h"
#include "base/text/count.h"

#include <inttypes.h>

#define LOST_MIN   0.15
#define SECOND_MIN 0.25
#define NOBODY_MAX 0.10 /* no thread runs: woken ones wait for the machine */
#define HERD_LOST  0.05
#define HERD_EACH  4.0

enum {
    HERD_CALLS = 1000,
    HERD_THREADS = 3
};

static lode_status run_turns(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_blame *blame = d->calls->blame;
    double first = 0, second = 0, all = 0;
    for (size_t i = 0; i < d->calls->track_count; i++) {
        double time = blame->lockstep[i];
        all += time;
        second = time > first ? first : time > second ? time : second;
        first = time > first ? time : first;
    }
    double share = lode_diagnose_call_lost(d, all);
    const struct call_loss *loss = lode_diagnose_call_loss(d, WHY_COND), *other = NULL;
    for (size_t i = 0; loss && i < blame->loss_count && other == NULL; i++)
        if (blame->losses[i].why == WHY_COND && blame->losses[i].holder != loss->holder)
            other = &blame->losses[i];
    if (loss == NULL || share <= LOST_MIN || second <= SECOND_MIN * all ||
        lode_diagnose_call_lost(d, blame->nobody) > NOBODY_MAX)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "alternation", .confidence = LODE_LIKELY, .is_bound = 1}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, loss->holder);
    lode_diagnose_set_text(d, &draft,
                           "Threads wait for each other alternately, in %s%s%s: one works while others wait.",
                           draft.statement.function, other ? " and " : "",
                           other ? lode_diagnose_call_name(d, other->holder) : "");
    draft.statement.advice = "If there is a queue between them, try a longer one.";
    lode_diagnose_show(d, &draft, share, "share", "%.0f%% of what %.0f processors could do is lost",
                       100 * share, blame->capacity);
    LODE_SET_COMMAND(&draft, "profiles");
    LODE_ADD_EXPLAINS(&draft, "efficiency", "serial", "sleep", "file-io");
    return lode_diagnose_add_statement(d, &draft, error);
}

static size_t count_waiting(const struct call_facts *facts, const struct call_pair *pair)
{
    size_t count = 0;
    for (size_t i = 0; i < facts->track_count; i++) {
        const struct call_track *track = &facts->tracks[i];
        size_t k = 0;
        while (k < track->wait_count &&
               (track->waits[k].holder != pair->holder || track->waits[k].entry != pair->entry))
            k++;
        count += k < track->wait_count;
    }
    return count;
}

static lode_status run_herd(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    const struct call_pair *best = NULL;
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        if (pair->entry && pair->holder && facts->functions[pair->entry - 1].role == ROLE_COND &&
            pair->calls >= HERD_CALLS &&
            (double)pair->calls >= HERD_EACH * (double)facts->functions[pair->holder - 1].calls &&
            (best == NULL || pair->calls > best->calls))
            best = pair;
    }
    if (best == NULL || count_waiting(facts, best) < HERD_THREADS)
        return LODE_OK;
    double share = lode_diagnose_call_lost(d, facts->blame->lost[WHY_COND] + facts->blame->lost[WHY_LOCK] +
                                                  (double)best->running);
    if (share <= HERD_LOST)
        return LODE_OK;
    double each = (double)best->calls / (double)facts->functions[best->holder - 1].calls;
    struct draft draft = {.statement = {.id = "herd", .confidence = LODE_LIKELY}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, best->holder);
    lode_diagnose_set_text(d, &draft,
                           "Threads are woken in vain: %s waits %s in each call before it can go on.",
                           draft.statement.function, lode_diagnose_call_times(d, each));
    draft.statement.advice = "Try to wake one thread for each item, not all.";
    lode_diagnose_show(d, &draft, (double)best->calls, "calls", "%s: %s for %" PRIu64 " of %s",
                       lode_diagnose_call_pair_name(d, best), LODE_COUNTED(best->calls, "wait", "waits"),
                       facts->functions[best->holder - 1].calls, draft.statement.function);
    lode_diagnose_call_show_callers(d, &draft, best->entry);
    LODE_ADD_EXPLAINS(&draft, "efficiency", "lock", "serial", "alternation");
    return lode_diagnose_add_statement(d, &draft, error);
}

enum {
    NEEDS = CALL_NEEDS_ALL | 1u << CALL_NEED_THREADS | 1u << CALL_NEED_SCHED
};

const struct lode_diagnose_rule lode_diagnose_call_rule_turns = {
    "alternation", "threads wait for each other alternately, for more than 15% of what processors could do",
    NEEDS, run_turns};
const struct lode_diagnose_rule lode_diagnose_call_rule_herd = {"herd", "threads are woken in vain", NEEDS,
                                                                run_herd};
