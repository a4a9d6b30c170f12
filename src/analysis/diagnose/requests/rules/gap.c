/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gap: time in the outermost methods themselves.
 * Needs: 30 requests. Computation: own time of outermost calls / time of all requests.
 * Guard: the lower end of the interval. Limit: 50 %. Gain: none. Confidence: sure.
 */
#include "analysis/diagnose/requests/facts.h"

#define GAP_MIN 0.50
#define MOSTLY  0.50

/* The entry point with the most of it, and how much. */
static const struct entry *find_entry(const struct request_facts *facts, double *own)
{
    const struct entry *best = NULL;
    double most = -1;
    for (uint32_t k = 0; k < facts->entry_count; k++) {
        uint32_t index = facts->entries[k].function->index;
        const struct method_sum *sum = lode_diagnose_tables_find_method(facts->all, index, index);
        if (sum && (double)sum->own > most) {
            most = (double)sum->own;
            best = &facts->entries[k];
        }
    }
    *own = most;
    return best;
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    const struct request_facts *facts = d->requests;
    struct part part = {0};
    for (uint32_t i = 0; i < facts->count; i++) {
        double own = (double)facts->requests[i].own;
        part.sum += own;
        part.squares += own * own;
        part.products += own * (double)facts->requests[i].duration;
    }
    struct share share = lode_diagnose_request_share(facts, &part);
    double own = 0;
    const struct entry *entry = share.low > GAP_MIN ? find_entry(facts, &own) : NULL;
    if (entry == NULL)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "gap", .confidence = LODE_SURE}};
    const char *name = lode_diagnose_request_method(d, entry->function);
    draft.statement.function = name;
    bool is_most = own > MOSTLY * part.sum;
    lode_diagnose_set_text(
        d, &draft,
        "%.0f%% of the time of all requests is in the outermost methods themselves, %s %s: %s what "
        "is not recorded.",
        100 * share.value, is_most ? "mostly" : "the largest part in", name,
        is_most ? "it waits, or calls" : "they wait, or call");
    draft.statement.advice =
        is_most ? "Try to record more methods below it." : "Try to record more methods below them.";
    lode_diagnose_show(d, &draft, share.value, "share", "%.1f%% (95%% interval: %.1f to %.1f%%)",
                       100 * share.value, 100 * share.low, 100 * share.high);
    LODE_SET_COMMAND(&draft, "tree", lode_diagnose_request_option(d, "focus", name), "--depth=2");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_request_rule_gap = {
    "gap", "more than 50% of the time is in the outermost methods themselves", 1u << REQUEST_NEED_DATA, run};
