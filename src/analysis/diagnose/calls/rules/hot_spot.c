/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hot-spot: one function of the program or of a system library has more than 20 % of the running
 * time itself. Not a fault.
 * Functions of one name are one, as in `lode top`, whatever load modules they are in.
 * Needs: names. Guard: functions whose calls mostly take less than 5 times what recording a call
 * costs measure the recorder.
 */
#include "analysis/diagnose/calls/facts.h"

#include "analysis/calls/names.h"
#include "base/text/count.h"
#include "model/recording/recording.h"
#include <lode/name.h>
#include <stdlib.h>

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

/* What functions of one name have; the largest of them stands for all. */
struct group {
    uint64_t own, calls;
    uint32_t largest; /* + 1; 0: none that is judged */
    bool several_modules;
};

/* ": 1,000 calls of 5 us each, most from main"; "" of functions that are called once. */
static const char *describe_calls(struct lode_diagnosis *d, const struct group *group)
{
    uint32_t hot = group->largest, caller = find_caller(d->calls, hot);
    if (caller == 0 && d->calls->functions[hot - 1].activity != LODE_ACTIVITY_OWN)
        caller = find_holder(d->calls, hot);
    if (group->calls < 2)
        return "";
    return lode_diagnose_say(d, ": %s of %s each%s%s", LODE_COUNTED(group->calls, "call", "calls"),
                             lode_diagnose_call_amount(d, (double)group->own / (double)group->calls),
                             caller ? ", most from " : "", caller ? lode_diagnose_call_name(d, caller) : "");
}

static const lode_function *function_at(const struct call_facts *facts, uint32_t f)
{
    return lode_function_table_at(recording_functions(facts->recording), f);
}

static bool is_before(const struct call_facts *facts, uint32_t f, uint32_t g)
{
    const struct call_function *a = &facts->functions[f], *b = &facts->functions[g];
    return a->own != b->own ? a->own > b->own : facts->ranks[f] < facts->ranks[g];
}

static void join(const struct call_facts *facts, struct group *group, uint32_t f)
{
    const struct call_function *function = &facts->functions[f];
    group->own += function->own;
    group->calls += function->calls;
    if (group->largest && function_at(facts, f)->module != function_at(facts, group->largest - 1)->module)
        group->several_modules = true;
    if (group->largest == 0 || is_before(facts, f, group->largest - 1))
        group->largest = f + 1;
}

/* Functions by name, as `lode top` has them by default. `groups`: by index of function. */
static lode_status find_groups(const struct call_facts *facts, struct group *groups, lode_error *error)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    struct lode_call_names names;
    options.merge = 1;
    options.names = LODE_NAME_SIMPLE;
    lode_status status = lode_call_names_init(&names, facts->recording, &options, error);
    for (uint32_t f = 0; f < facts->function_count && status == LODE_OK; f++) {
        const struct call_function *function = &facts->functions[f];
        if (!function->is_known || !(NAMED >> function->activity & 1) || function->own == 0)
            continue;
        uint32_t group = lode_call_names_group(&names, function_at(facts, f));
        if (group == 0)
            status = lode_fail_memory(error);
        else
            join(facts, &groups[group - 1], f);
    }
    lode_call_names_free(&names);
    return status;
}

/* Groups whose largest function measures the recorder are not judged. NULL: there is none. */
static const struct group *hottest(const struct call_facts *facts, const struct group *groups)
{
    const struct group *hot = NULL;
    for (uint32_t f = 0; f < facts->function_count; f++) {
        const struct group *group = &groups[f];
        if (group->largest == 0 || is_short(facts, group->largest - 1))
            continue;
        if (hot == NULL || group->own > hot->own ||
            (group->own == hot->own && facts->ranks[group->largest - 1] < facts->ranks[hot->largest - 1]))
            hot = group;
    }
    return hot;
}

static lode_status say_hot(struct lode_diagnosis *d, const struct group *hot, double all, lode_error *error)
{
    struct draft draft = {.statement = {.id = "hot-spot", .confidence = LODE_SURE}};
    const char *name = lode_diagnose_call_name(d, hot->largest);
    double own = (double)hot->own;
    draft.statement.function = name;
    lode_diagnose_set_text(d, &draft, "%s has %.1f%% of the running time itself%s.", name, 100 * own / all,
                           describe_calls(d, hot));
    lode_diagnose_show(d, &draft, own / 1e9, "seconds", "%s of %s", lode_diagnose_call_amount(d, own),
                       lode_diagnose_call_amount(d, all));
    lode_diagnose_call_show_callers(d, &draft, hot->largest);
    if (hot->several_modules) {
        lode_diagnose_show(d, &draft, own / 1e9, "seconds",
                           "it adds up functions of this name in several modules");
        LODE_SET_COMMAND(&draft, "top", "--by", "symbol", "--include", name);
    }
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    double all = 0;
    for (uint32_t f = 0; f < facts->function_count; f++)
        all += (double)facts->functions[f].own;
    struct group *groups = calloc((size_t)facts->function_count + 1, sizeof *groups);
    LODE_TRY_ALLOC(groups, error);
    lode_status status = find_groups(facts, groups, error);
    const struct group *hot = status == LODE_OK ? hottest(facts, groups) : NULL;
    if (hot && (double)hot->own > HOT_MIN * all)
        status = say_hot(d, hot, all, error);
    free(groups);
    return status;
}

const struct lode_diagnose_rule lode_diagnose_call_rule_hot_spot = {
    "hot-spot", "a function of the program has more than 20% of the running time itself",
    CALL_NEEDS | 1u << CALL_NEED_NAMES, run};
