/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait for each other so often that waking them takes longer than their work.
 * hand-over: 20,000 or more waits for conditions or semaphores, of less than 50 us each.
 * barrier: 2,000 or more waits at barriers, of less than 1 ms each, and work is equal.
 * Needs: off-CPU events, several threads. Guard: these waits take more than 40 % of the time of
 * threads. Gain: none of it is a bound; it accounts for that part. Likely.
 */
#include "analysis/diagnose/calls/sweep.h"
#include "base/text/count.h"

#include <math.h>

#define SHARE_MIN     0.40
#define HAND_OVER_MAX 50e3 /* nanoseconds */
#define BARRIER_MAX   1e6

enum {
    HAND_OVERS_MIN = 20000,
    BARRIERS_MIN = 2000
};

/* Waits with some roles: all of them, and the two places with the most. */
struct meetings {
    uint64_t calls;
    double time;
    const struct call_pair *best, *second;
};

static struct meetings find_meetings(const struct call_facts *facts, uint32_t roles)
{
    struct meetings found = {0};
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        if (pair->entry == 0 || pair->holder == 0 || !(roles >> facts->functions[pair->entry - 1].role & 1))
            continue;
        found.calls += pair->calls;
        found.time += lode_diagnose_call_pair_time(pair);
        if (found.best == NULL || pair->calls > found.best->calls) {
            found.second = found.best;
            found.best = pair;
        } else if (found.second == NULL || pair->calls > found.second->calls)
            found.second = pair;
    }
    return found;
}

/* Of the time of threads that others do not wait for the end of. */
static double share_of(const struct call_facts *facts, double time)
{
    double all = 0;
    for (size_t i = 0; i < facts->track_count; i++)
        if (!facts->tracks[i].is_left_out && !facts->tracks[i].is_launcher)
            all += (double)(facts->tracks[i].end - facts->tracks[i].begin);
    return all > 0 ? fmin(1, time / all) : 0;
}

static void explain(struct draft *draft)
{
    static const char *const ids[] = {"efficiency", "alternation", "serial", "herd", "lock"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        LODE_ADD_EXPLAINS(draft, ids[i]);
}

static void show(struct lode_diagnosis *d, struct draft *draft, const struct meetings *found)
{
    lode_diagnose_show(d, draft, (double)found->calls, "calls", "%s of %s each",
                       LODE_COUNTED(found->calls, "wait", "waits"),
                       lode_diagnose_call_amount(d, found->time / (double)found->calls));
    lode_diagnose_call_show_callers(d, draft, found->best->entry);
    explain(draft);
}

static lode_status run_hand_over(struct lode_diagnosis *d, lode_error *error)
{
    struct meetings found = find_meetings(d->calls, 1u << ROLE_COND | 1u << ROLE_WORD);
    double share = share_of(d->calls, found.time);
    if (found.calls < HAND_OVERS_MIN || share <= SHARE_MIN ||
        found.time > HAND_OVER_MAX * (double)found.calls)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "hand-over", .confidence = LODE_LIKELY}};
    bool has_second = found.second && found.second->holder != found.best->holder;
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, found.best->holder);
    lode_diagnose_set_text(
        d, &draft,
        "Threads wait for each other at every item, in %s%s%s: waking them takes %.0f%% of their time.",
        draft.statement.function, has_second ? " and " : "",
        has_second ? lode_diagnose_call_name(d, found.second->holder) : "", 100 * share);
    draft.statement.advice = "Try to hand over several items at once, or a longer queue between threads.";
    show(d, &draft, &found);
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run_barrier(struct lode_diagnosis *d, lode_error *error)
{
    struct meetings found = find_meetings(d->calls, 1u << ROLE_BARRIER);
    double share = share_of(d->calls, found.time);
    if (found.calls < BARRIERS_MIN || share <= SHARE_MIN || found.time > BARRIER_MAX * (double)found.calls ||
        lode_diagnose_find_statement(d, "imbalance"))
        return LODE_OK;
    struct draft draft = {.statement = {.id = "barrier", .confidence = LODE_LIKELY}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, found.best->holder);
    lode_diagnose_set_text(
        d, &draft, "Threads meet at a barrier too often, in %s: waiting there takes %.0f%% of their time.",
        draft.statement.function, 100 * share);
    draft.statement.advice = "Try to do more work between two barriers, or to use fewer threads.";
    show(d, &draft, &found);
    return lode_diagnose_add_statement(d, &draft, error);
}

enum {
    NEEDS = CALL_NEEDS_ALL | 1u << CALL_NEED_THREADS | 1u << CALL_NEED_SCHED
};

const struct lode_diagnose_rule lode_diagnose_call_rule_hand_over = {
    "hand-over", "20,000 or more short waits for conditions take more than 40% of the time of threads", NEEDS,
    run_hand_over};
const struct lode_diagnose_rule lode_diagnose_call_rule_barrier = {
    "barrier", "2,000 or more short waits at barriers take more than 40% of the time of threads", NEEDS,
    run_barrier};
