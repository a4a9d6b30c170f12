/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hot-spot: one function of the program or of a system library has more than 20 % of the running
 * time itself. Not a fault.
 * Needs: names. Guard: functions whose calls mostly take less than 5 times what recording a call
 * costs measure the recorder.
 */
#include "analysis/diagnose/calls/facts.h"

#include "base/text/count.h"

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
    return function->outer ? lode_diagnose_call_quantile(facts, f, 0.5) < least
                           : function->own < least * function->calls;
}

/* The function of the application that calls it most, + 1; 0: none is known. */
static uint32_t find_caller(const struct call_facts *facts, uint32_t function)
{
    uint32_t caller = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < facts->edge_count; i++)
        if (facts->edges[i].callee == function && facts->edges[i].calls > most) {
            most = facts->edges[i].calls;
            caller = facts->edges[i].caller;
        }
    for (size_t i = 0; i < facts->pair_count; i++)
        if (facts->pairs[i].entry == function && facts->pairs[i].calls > most) {
            most = facts->pairs[i].calls;
            caller = facts->pairs[i].holder;
        }
    return caller;
}

/* The function of the application below which a library function takes its time, + 1; 0: none. */
static uint32_t find_holder(const struct call_facts *facts, uint32_t hot)
{
    uint32_t best = 0;
    for (uint32_t f = 0; f < facts->function_count; f++)
        if (facts->functions[f].held > (best ? facts->functions[best - 1].held : 0))
            best = f + 1;
    return best && best != hot && facts->functions[best - 1].held > facts->functions[hot - 1].own / 2 ? best
                                                                                                      : 0;
}

/* ": 1,000 calls of 5 us each, most from main"; "" of functions that are called once. */
static const char *describe_calls(struct lode_diagnosis *d, uint32_t hot)
{
    const struct call_function *function = &d->calls->functions[hot - 1];
    uint32_t caller = find_caller(d->calls, hot);
    if (caller == 0 && function->activity != LODE_ACTIVITY_OWN)
        caller = find_holder(d->calls, hot);
    if (function->calls < 2)
        return "";
    return lode_diagnose_say(d, ": %s of %s each%s%s", LODE_COUNTED(function->calls, "call", "calls"),
                             lode_diagnose_call_amount(d, (double)function->own / (double)function->calls),
                             caller ? ", most from " : "", caller ? lode_diagnose_call_name(d, caller) : "");
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
    const char *name = lode_diagnose_call_name(d, hot);
    draft.statement.function = name;
    lode_diagnose_set_text(d, &draft, "%s has %.1f%% of the running time itself%s.", name, 100 * own / all,
                           describe_calls(d, hot));
    lode_diagnose_show(d, &draft, own / 1e9, "seconds", "%s of %s", lode_diagnose_call_amount(d, own),
                       lode_diagnose_call_amount(d, all));
    lode_diagnose_call_show_callers(d, &draft, hot);
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_hot_spot = {
    "hot-spot", "a function of the program has more than 20% of the running time itself",
    CALL_NEEDS | 1u << CALL_NEED_NAMES, run};
