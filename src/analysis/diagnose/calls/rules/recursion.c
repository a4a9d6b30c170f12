/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recursion: a function calls itself 10,000 times or more, and more than 1,000 times for each call
 * from outside; its calls take more than 5 % of the run time. Whether that is too many depends on
 * what it computes: possible, no gain.
 */
#include "analysis/diagnose/calls/facts.h"
#include "base/text/count.h"

#define CALLS_MIN 10000
#define EACH_MIN  1000.0
#define SHARE_MIN 0.05

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    uint32_t best = 0;
    for (uint32_t f = 0; f < facts->function_count; f++) {
        const struct call_function *function = &facts->functions[f];
        if (!function->is_known || function->activity != LODE_ACTIVITY_OWN || function->outer == 0 ||
            function->calls < CALLS_MIN || (double)function->calls <= EACH_MIN * (double)function->outer ||
            lode_diagnose_call_share(d, (double)function->total) <= SHARE_MIN)
            continue;
        const struct call_function *old = best ? &facts->functions[best - 1] : NULL;
        if (old == NULL || function->calls > old->calls ||
            (function->calls == old->calls && facts->ranks[f] < facts->ranks[best - 1]))
            best = f + 1;
    }
    if (best == 0)
        return LODE_OK;
    const struct call_function *function = &facts->functions[best - 1];
    double share = lode_diagnose_call_share(d, (double)function->total);
    struct draft draft = {.statement = {.id = "recursion", .confidence = LODE_POSSIBLE}};
    const char *name = lode_diagnose_call_name(d, best);
    draft.statement.function = name;
    lode_diagnose_set_text(d, &draft, "%s calls itself: %s from %s from outside, %.0f%% of %s.", name,
                           LODE_COUNTED(function->calls, "call", "calls"),
                           LODE_COUNTED(function->outer, "call", "calls"), 100 * share,
                           lode_diagnose_call_basis(d, "the run time"));
    lode_diagnose_show(d, &draft, (double)function->calls, "calls",
                       "it is called %s for each call from outside",
                       lode_diagnose_call_times(d, (double)function->calls / (double)function->outer));
    lode_diagnose_call_show_callers(d, &draft, best);
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_recursion = {
    "recursion", "a function calls itself more than 1,000 times for each call from outside",
    CALL_NEEDS | 1u << CALL_NEED_NAMES, run};
