/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * straggler: at the end of a parallel part one thread still works, and others have ended or wait
 * for the end, because one call takes at least 5 times as long as most calls of its function.
 * Guard: 10 % of what processors could do; 10 calls; the call covers half of the time.
 * Gain: what the idle processors could do meanwhile, of all that processors could: a bound. Likely.
 */
#include "analysis/diagnose/calls/sweep.h"

#define LOST_MIN  0.10
#define COVER_MIN 0.50
#define LONGER    5.0

enum {
    CALLS_MIN = 10
};

static const struct call_alone *find_longest(const struct call_blame *blame)
{
    const struct call_alone *longest = NULL;
    for (size_t i = 0; i < blame->tail_count; i++) {
        const struct call_alone *tail = &blame->tails[i];
        if (longest == NULL || tail->to - tail->from > longest->to - longest->from)
            longest = tail;
    }
    return longest;
}

/* The outermost call that is long for its function and covers the tail; NULL: none. */
static const struct call_span *find_call(const struct call_facts *facts, const struct call_alone *tail)
{
    const struct call_track *track = &facts->tracks[tail->track];
    const struct call_span *best = NULL;
    for (size_t i = 0; i < track->span_count; i++) {
        const struct call_span *span = &track->spans[i];
        uint64_t from = span->from > tail->from ? span->from : tail->from;
        uint64_t to = span->to < tail->to ? span->to : tail->to;
        double median = (double)lode_diagnose_call_quantile(facts, span->function, 0.5);
        if (to > from && (double)(to - from) >= COVER_MIN * (double)(tail->to - tail->from) &&
            facts->functions[span->function].outer >= CALLS_MIN &&
            (double)(span->to - span->from) >= LONGER * median && (best == NULL || span->depth < best->depth))
            best = span;
    }
    return best;
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    double share = lode_diagnose_call_lost(d, facts->blame->tail);
    const struct call_alone *tail = find_longest(facts->blame);
    const struct call_span *span = tail && share > LOST_MIN ? find_call(facts, tail) : NULL;
    if (span == NULL)
        return LODE_OK;
    const struct call_track *track = &facts->tracks[tail->track];
    struct draft draft = {.statement = {.id = "straggler",
                                        .confidence = LODE_LIKELY,
                                        .is_bound = 1,
                                        .has_thread = 1,
                                        .thread = track->tid,
                                        .from = tail->from,
                                        .to = tail->to}};
    const char *name = lode_diagnose_call_name(d, span->function + 1);
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = name;
    lode_diagnose_set_text(
        d, &draft, "One long call of %s keeps %s working alone at the end; others have nothing left to do.",
        name, lode_diagnose_call_thread(d, track));
    draft.statement.advice = "Try to begin long items first, or to divide them.";
    lode_diagnose_show(
        d, &draft, (double)(span->to - span->from) / 1e9, "seconds",
        "it takes %s, half of the %llu calls at most %s",
        lode_diagnose_call_amount(d, (double)(span->to - span->from)),
        (unsigned long long)facts->functions[span->function].outer,
        lode_diagnose_call_amount(d, (double)lode_diagnose_call_quantile(facts, span->function, 0.5)));
    lode_diagnose_call_show_callers(d, &draft, span->function + 1);
    LODE_ADD_EXPLAINS(&draft, "imbalance", "slow-thread", "efficiency", "long-tail");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_straggler = {
    "straggler", "one long call keeps a thread working alone, for more than 10% of what processors could do",
    CALL_NEEDS_ALL | 1u << CALL_NEED_THREADS | 1u << CALL_NEED_SCHED, run};
