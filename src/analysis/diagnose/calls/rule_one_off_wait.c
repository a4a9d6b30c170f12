/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one-off-wait: the first thread of a process waits once for more than 10 % of the run time:
 * sleeping, for the network or a file, not for another thread.
 * Needs: off-CPU events; a single call that sleeps says as much without.
 * Guard: one wait is nearly all of what the function waits; possible only, if other threads exist
 * meanwhile.
 * Gain: the wait / run time. Likely.
 */
#include "analysis/diagnose/calls/facts.h"

#define WAIT_MIN   0.10
#define OF_WAITING 0.80
#define OVERLAP    0.50

struct wait {
    const struct call_pair *pair;
    double time;
};

static double time_of(const struct call_facts *facts, const struct call_pair *pair)
{
    enum {
        WAITS = CALL_SET(SLEEP) | CALL_SET(NET) | CALL_SET(FILE) | CALL_SET(LOADER) | CALL_SET(OWN)
    };
    unsigned activity = pair->entry ? facts->functions[pair->entry - 1].activity : LODE_ACTIVITY_OWN;
    if (!(WAITS >> activity & 1))
        return 0;
    if (!facts->has_sched)
        return activity == LODE_ACTIVITY_SLEEP && pair->calls == 1 ? (double)pair->running : 0;
    return (double)pair->longest > OF_WAITING * (double)pair->blocked ? (double)pair->longest : 0;
}

static const struct call_track *find_track(const struct call_facts *facts, uint32_t track)
{
    for (size_t i = 0; i < facts->track_count; i++)
        if (facts->tracks[i].track == track)
            return &facts->tracks[i];
    return NULL;
}

/* Whether it is the first thread of its process, and one that counts. */
static bool is_first(const struct call_facts *facts, const struct call_pair *pair)
{
    const struct call_track *track = find_track(facts, pair->track);
    if (!facts->has_sched)
        return facts->slot_count == 1;
    return track && !track->is_left_out && (track->pid == track->tid || facts->slot_count == 1);
}

static bool is_alone(const struct call_facts *facts, const struct call_pair *pair)
{
    double wait = (double)(pair->to - pair->from);
    for (size_t i = 0; facts->has_sched && i < facts->track_count; i++) {
        const struct call_track *other = &facts->tracks[i];
        uint64_t from = other->begin > pair->from ? other->begin : pair->from;
        uint64_t to = other->end < pair->to ? other->end : pair->to;
        if (other->track != pair->track && !other->is_left_out && to > from &&
            (double)(to - from) > OVERLAP * wait)
            return false;
    }
    return true;
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    struct wait wait = {0};
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        double time = time_of(facts, pair);
        if (time > wait.time && is_first(facts, pair))
            wait = (struct wait){pair, time};
    }
    double share = wait.time / lode_call_run(d);
    if (wait.pair == NULL || share <= WAIT_MIN)
        return LODE_OK;
    const struct call_pair *pair = wait.pair;
    struct draft draft = {.statement = {.id = "one-off-wait",
                                        .confidence = is_alone(facts, pair) ? LODE_LIKELY : LODE_POSSIBLE,
                                        .from = pair->from,
                                        .to = pair->to}};
    const char *name = lode_call_name(d, pair->holder);
    lode_call_gain(&draft, share);
    draft.statement.function = name;
    draft.statement.text =
        lode_say(d, "%s waits once for %s, %.0f%% of %s.", name, lode_call_amount(d, wait.time), 100 * share,
                 lode_call_basis(d, "the run time"));
    lode_call_show_callers(d,
                           lode_add_evidence(&draft,
                                             lode_say(d, "%s: %s in one wait", lode_call_pair_name(d, pair),
                                                      lode_call_amount(d, wait.time)),
                                             wait.time / 1e9, "seconds"),
                           pair->entry ? pair->entry : pair->holder);
    return lode_add_statement(d, &draft, error);
}

const struct rule lode_call_rule_one_off_wait = {
    "one-off-wait", "a function waits once for more than 10% of the run time", CALL_NEEDS, run};
