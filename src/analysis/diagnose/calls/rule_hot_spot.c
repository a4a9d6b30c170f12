/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hot-spot: one function of the program or of a system library has more than 20 % of the running
 * time itself. Not a fault.
 * Needs: names. Guard: functions whose calls mostly take less than 5 times what recording a call
 * costs measure the recorder.
 */
#include "analysis/diagnose/calls/facts.h"

#define HOT_MIN 0.20

/* Other library functions have rules of their own. */
#define NAMED (CALL_SET(OWN) | CALL_SET(LIB) | CALL_SET(MATH))

enum {
    COSTS_MIN = 5
};

/* Of calls that did not end, the median is not known. */
static bool is_short(const struct call_facts *facts, uint32_t f)
{
    const struct call_function *function = &facts->functions[f];
    uint64_t least = COSTS_MIN * facts->cost;
    return function->outer ? lode_call_quantile(facts, f, 0.5) < least
                           : function->own < least * function->calls;
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    uint32_t hot = 0;
    double all = 0;
    for (uint32_t f = 0; f < facts->function_count; f++) {
        const struct call_function *function = &facts->functions[f];
        all += (double)function->own;
        if (!function->is_known || !(NAMED >> function->activity & 1) || is_short(facts, f))
            continue;
        const struct call_function *best = hot ? &facts->functions[hot - 1] : NULL;
        if (best == NULL || function->own > best->own ||
            (function->own == best->own && facts->ranks[f] < facts->ranks[hot - 1]))
            hot = f + 1;
    }
    double own = hot ? (double)facts->functions[hot - 1].own : 0;
    if (!(own > HOT_MIN * all))
        return LODE_OK;
    struct draft draft = {.statement = {.id = "hot-spot", .confidence = LODE_SURE}};
    const char *name = lode_call_name(d, hot);
    draft.statement.function = name;
    draft.statement.text = lode_say(d, "%s has %.1f%% of the running time itself.", name, 100 * own / all);
    lode_call_show_callers(
        d,
        lode_add_evidence(&draft, lode_say(d, "%s of %s", lode_call_amount(d, own), lode_call_amount(d, all)),
                          own / 1e9, "seconds"),
        hot);
    return lode_add_statement(d, &draft, error);
}

const struct rule lode_call_rule_hot_spot = {
    "hot-spot", "a function of the program has more than 20% of the running time itself",
    CALL_NEEDS | 1u << CALL_NEED_NAMES, run};
