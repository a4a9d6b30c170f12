/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * churn: a function allocates memory at least 100,000 times, and 10 times in each of its calls.
 * What that costs cannot be told: recording a call takes longer. Possible, no gain.
 * large-blocks: freeing takes 100 us or more each time, 8 times or more, for more than 2 %: blocks
 * go back to the system, and their pages have to come again. Possible; page faults are not in the
 * gain.
 * allocation: allocating and freeing takes more than 5 % of the run time, in calls of 2 us or more
 * on average. Gain: share of the run. Likely.
 */
#include "analysis/diagnose/calls/facts.h"
#include "base/text/count.h"

#define CHURN_CALLS    100000
#define CHURN_PER_CALL 10.0
#define ALLOCATION_MIN 0.05
#define JUDGED_MIN     2000.0 /* nanoseconds */
#define LARGE_MIN      0.02
#define LARGE_EACH     100e3 /* nanoseconds: the block goes back to the system */
#define LARGE_CALLS    8

/* Allocations by one function; `pair` has the most of them. */
struct user {
    uint32_t holder;
    uint64_t calls;
    const struct call_pair *pair;
};

/* Pairs of one function are neighbours. */
static struct user find_user(const struct call_facts *facts)
{
    struct user best = {0}, user = {0};
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        if (pair->entry == 0 || pair->holder == 0 || facts->functions[pair->entry - 1].role != ROLE_ALLOC)
            continue;
        if (user.holder != pair->holder)
            user = (struct user){pair->holder, 0, pair};
        user.calls += pair->calls;
        user.pair = pair->calls > user.pair->calls ? pair : user.pair;
        if (user.calls > best.calls)
            best = user;
    }
    return best;
}

/* The first function, or the one that takes most time: constructors may run before main. */
static bool is_outermost(const struct call_track *track, uint32_t function)
{
    bool is = track->entry == function;
    for (size_t i = 0; i < track->span_count && !is; i++) {
        const struct call_span *span = &track->spans[i];
        is = span->depth == 0 && span->function + 1 == function &&
             span->to - span->from > (track->end - track->begin) / 2;
    }
    return is;
}

/* All of a program is in its outermost function: that says nothing. */
static bool is_entry(const struct call_facts *facts, uint32_t function)
{
    for (size_t i = 0; i < facts->track_count; i++)
        if (is_outermost(&facts->tracks[i], function))
            return true;
    return false;
}

static lode_status run_churn(struct lode_diagnosis *d, lode_error *error)
{
    struct user user = find_user(d->calls);
    if (user.calls < CHURN_CALLS)
        return LODE_OK;
    uint64_t calls = d->calls->functions[user.holder - 1].calls;
    double each = calls ? (double)user.calls / (double)calls : 0;
    if (each < CHURN_PER_CALL || is_entry(d->calls, user.holder))
        return LODE_OK;
    struct draft draft = {.statement = {.id = "churn", .confidence = LODE_POSSIBLE}};
    const char *name = lode_diagnose_call_name(d, user.holder);
    draft.statement.function = name;
    lode_diagnose_set_text(d, &draft,
                           "%s allocates memory %s, %s in each call. What that costs cannot be "
                           "told from a recording: sample it.",
                           name, LODE_COUNTED(user.calls, "time", "times"),
                           lode_diagnose_call_times(d, each));
    draft.statement.advice = "Try to reuse memory from call to call.";
    lode_diagnose_show(d, &draft, (double)user.pair->calls, "calls", "%s: %s",
                       lode_diagnose_call_pair_name(d, user.pair),
                       LODE_COUNTED(user.pair->calls, "call", "calls"));
    lode_diagnose_call_show_callers(d, &draft, user.pair->entry);
    return lode_diagnose_add_statement(d, &draft, error);
}

/* The function that frees blocks for the longest time; NULL: none. */
static const struct call_pair *find_freeing(const struct call_facts *facts)
{
    const struct call_pair *best = NULL;
    for (size_t i = 0; i < facts->pair_count; i++) {
        const struct call_pair *pair = &facts->pairs[i];
        if (pair->entry && pair->holder && facts->functions[pair->entry - 1].effect == LODE_EFFECT_FREE &&
            (best == NULL || pair->running > best->running))
            best = pair;
    }
    return best;
}

static lode_status run_large_blocks(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_pair *best = find_freeing(d->calls);
    double share = best ? lode_diagnose_call_share(d, (double)best->running) : 0;
    if (best == NULL || best->calls < LARGE_CALLS || share <= LARGE_MIN ||
        (double)best->running < LARGE_EACH * (double)best->calls)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "large-blocks", .confidence = LODE_POSSIBLE}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, best->holder);
    lode_diagnose_set_text(
        d, &draft,
        "%s frees large blocks of memory, for %.0f%% of %s; page faults of new ones come on top of that.",
        draft.statement.function, 100 * share, lode_diagnose_call_basis(d, "the run time"));
    draft.statement.advice = "Try to use blocks again.";
    lode_diagnose_show(d, &draft, (double)best->calls, "calls", "%s: %s of %s each",
                       lode_diagnose_call_pair_name(d, best), LODE_COUNTED(best->calls, "call", "calls"),
                       lode_diagnose_call_amount(d, (double)best->running / (double)best->calls));
    lode_diagnose_call_show_callers(d, &draft, best->entry);
    LODE_ADD_EXPLAINS(&draft, "allocation");
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run_allocation(struct lode_diagnosis *d, lode_error *error)
{
    struct call_place place = lode_diagnose_call_place(d, CALL_SET(ALLOC) | CALL_SET(PAGES));
    double share = lode_diagnose_call_share(d, place.time);
    if (place.best == NULL || share <= ALLOCATION_MIN || place.time < JUDGED_MIN * (double)place.calls)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "allocation", .confidence = LODE_LIKELY}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = lode_diagnose_call_name(d, place.best->holder);
    lode_diagnose_set_text(d, &draft, "Allocating and freeing memory takes %.0f%% of %s, %s in %s.",
                           100 * share, lode_diagnose_call_basis(d, "the run time"),
                           lode_diagnose_call_most(&place), lode_diagnose_call_pair_name(d, place.best));
    lode_diagnose_show(d, &draft, place.part / 1e9, "seconds", "%s: %s in %s",
                       lode_diagnose_call_pair_name(d, place.best), lode_diagnose_call_amount(d, place.part),
                       LODE_COUNTED(place.best->calls, "call", "calls"));
    lode_diagnose_call_show_callers(d, &draft, place.best->entry);
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_churn = {
    "churn", "a function allocates memory 100,000 times or more, 10 times in each call", CALL_NEEDS,
    run_churn};
const struct lode_diagnose_rule lode_diagnose_call_rule_large_blocks = {
    "large-blocks", "freeing blocks takes 100 us or more each, for more than 2% of the run time", CALL_NEEDS,
    run_large_blocks};
const struct lode_diagnose_rule lode_diagnose_call_rule_allocation = {
    "allocation", "allocating and freeing memory takes more than 5% of the run time", CALL_NEEDS,
    run_allocation};
