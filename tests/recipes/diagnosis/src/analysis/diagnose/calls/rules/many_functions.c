/* SPDX-License-Identifier: BSD-3-Clause */
/* many-functions: more than 5 functions are called. An example: possible, no gain. */
#include "analysis/diagnose/calls/facts.h"

#define FUNCTIONS_MIN 5

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct call_facts *facts = d->calls;
    struct draft draft = {.statement = {.id = "many-functions", .confidence = LODE_POSSIBLE}};
    if (facts->function_count <= FUNCTIONS_MIN)
        return LODE_OK;
    draft.statement.text =
        lode_diagnose_say(d, "%lu functions are called.", (unsigned long)facts->function_count);
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_many_functions = {
    "many-functions", "more than 5 functions are called", 1u << CALL_NEED_NAMES, run};
