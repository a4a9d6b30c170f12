/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chatty: 5,000 or more calls that exchange data over sockets or pipes take less than 1 ms each,
 * and one thread spends more than 20 % of the run time in them. Idle servers make few, long calls.
 * one-by-one: 10 or more threads are started one after the other; each has ended before the next
 * begins, and they live for more than half of the run time.
 * Gain: chatty: that time of the thread / run time. one-by-one: what threads at once would save, as
 * many as processors. Both account for that. Likely.
 */
#include "analysis/diagnose/calls/sweep.h"
#include "base/text/count.h"

#include <math.h>

#define CHATTY_MIN  0.20
#define CHATTY_EACH 1e6 /* nanoseconds */
#define LIVES_MIN   0.50
#define BLOCKED_MIN 0.25 /* of the time of calls that read */

enum {
    CHATTY_CALLS = 5000,
    STARTED_MIN = 10
};

static unsigned char effect_of(const struct call_facts *facts, const struct call_pair *pair)
{
    return pair->entry ? facts->functions[pair->entry - 1].effect : LODE_EFFECT_NONE;
}

/* Whether a function also writes, half as often as it reads. */
static bool also_writes(const struct call_facts *facts, const struct call_pair *reading)
{
    for (size_t i = 0; i < facts->pair_count; i++)
        if (facts->pairs[i].holder == reading->holder && facts->pairs[i].calls >= reading->calls / 2 &&
            effect_of(facts, &facts->pairs[i]) == LODE_EFFECT_WRITE)
            return true;
    return false;
}

/* Over a network; or a function writes, and is blocked when it reads: a socket or a pipe. */
static bool is_exchange(const struct call_facts *facts, const struct call_pair *pair)
{
    if (effect_of(facts, pair) == LODE_EFFECT_NETWORK)
        return true;
    return effect_of(facts, pair) == LODE_EFFECT_READ && pair->holder &&
           (double)pair->blocked > BLOCKED_MIN * lode_diagnose_call_pair_time(pair) &&
           also_writes(facts, pair);
}

static lode_status run_chatty(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    const struct call_pair *best = NULL;
    uint64_t calls = 0;
    double time = 0, most = 0;
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        if (!is_exchange(facts, pair))
            continue;
        calls += pair->calls;
        time += lode_diagnose_call_pair_time(pair);
        if (best == NULL || lode_diagnose_call_pair_time(pair) > lode_diagnose_call_pair_time(best))
            best = pair;
    }
    for (size_t i = 0; i < facts->track_count; i++)
        most = fmax(most, (double)facts->tracks[i].time[LODE_ACTIVITY_NET] +
                              (double)facts->tracks[i].time[LODE_ACTIVITY_FILE]);
    double share = fmin(1, fmin(time, most) / (d->run.run_time * 1e9));
    if (best == NULL || calls < CHATTY_CALLS || time > CHATTY_EACH * (double)calls || share <= CHATTY_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "chatty", .confidence = LODE_LIKELY}};
    const char *name = lode_diagnose_call_pair_name(d, best);
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, best->holder);
    lode_diagnose_set_text(d, &draft, "%s over sockets or pipes take %.0f%% of the run time, most in %s.",
                           LODE_COUNTED(calls, "short exchange", "short exchanges"), 100 * share, name);
    draft.statement.advice = "Try to send several requests at once.";
    lode_diagnose_show(
        d, &draft, (double)best->calls, "calls", "%s: %s of %s each", name,
        LODE_COUNTED(best->calls, "call", "calls"),
        lode_diagnose_call_amount(d, lode_diagnose_call_pair_time(best) / fmax(1, (double)best->calls)));
    lode_diagnose_call_show_callers(d, &draft, best->entry);
    LODE_ADD_EXPLAINS(&draft, "file-io", "small-io", "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* The function that waits most for ends or results of threads; NULL: none. */
static const struct call_pair *find_joining(const struct call_facts *facts)
{
    const struct call_pair *best = NULL, *other = NULL;
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        unsigned char role = pair->entry ? facts->functions[pair->entry - 1].role : ROLE_NONE;
        if ((role == ROLE_JOIN || role == ROLE_FUTURE) &&
            (best == NULL || lode_diagnose_call_pair_time(pair) > lode_diagnose_call_pair_time(best)))
            best = pair;
    }
    /* Inside of a library, the wait may have another name. */
    for (size_t i = 0; best == NULL && i < facts->pair_count; i++)
        if (facts->pairs[i].holder && (other == NULL || facts->pairs[i].blocked > other->blocked))
            other = &facts->pairs[i];
    return best ? best : other;
}

/* How long threads that were started live in all; 0: two of them live at once. */
static double find_lives(const struct call_facts *facts, size_t *count)
{
    double lives = 0;
    uint64_t end = 0;
    *count = 0;
    for (size_t i = 0; i < facts->track_count; i++) { /* thread ids rise */
        const struct call_track *track = &facts->tracks[i];
        if (track->pid == track->tid)
            continue;
        if (track->begin < end)
            return 0;
        ++*count;
        lives += (double)(track->end - track->begin);
        end = track->end;
    }
    return lives;
}

static lode_status run_one_by_one(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    size_t count;
    double lives = find_lives(facts, &count) / (d->run.run_time * 1e9);
    const struct call_pair *joining = find_joining(facts);
    if (count < STARTED_MIN || lives <= LIVES_MIN || facts->processes > 1 || d->run.processors < 2 ||
        joining == NULL)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "one-by-one", .confidence = LODE_LIKELY}};
    lode_diagnose_call_gain(&draft, fmin(1, lives) * (1 - 1 / (double)d->run.processors));
    draft.statement.function = lode_diagnose_call_name(d, joining->holder);
    lode_diagnose_set_text(
        d, &draft, "%s waits for each of %zu threads before the next is started: one works at a time.",
        draft.statement.function, count);
    draft.statement.advice = "Try to start several, and wait for them afterwards.";
    lode_diagnose_show(d, &draft, lode_diagnose_call_pair_time(joining) / 1e9, "seconds", "%s: %s in %s",
                       lode_diagnose_call_pair_name(d, joining),
                       lode_diagnose_call_amount(d, lode_diagnose_call_pair_time(joining)),
                       LODE_COUNTED(joining->calls, "call", "calls"));
    lode_diagnose_call_show_callers(d, &draft, joining->entry);
    LODE_ADD_EXPLAINS(&draft, "efficiency", "serial", "sleep");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_chatty = {
    "chatty", "5,000 or more short exchanges over sockets or pipes take more than 20% of the run time",
    CALL_NEEDS, run_chatty};
const struct lode_diagnose_rule lode_diagnose_call_rule_one_by_one = {
    "one-by-one", "10 or more threads are started, each after the end of the one before", CALL_NEEDS_ALL,
    run_one_by_one};
