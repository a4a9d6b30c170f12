/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc: few instructions per cycle in code of the program. Spinning changes it elsewhere. */
#include "analysis/diagnose/profiles/facts.h"

#define IPC_MIN  0.7
#define MOST_OWN 0.5 /* of the cycles */

lode_status lode_diagnose_own_cost(const struct lode_diagnosis *d, const char *name, double *own,
                                   double *total, lode_error *error)
{
    lode_cost *cost;
    LODE_TRY(lode_diagnose_cost(d, lode_diagnose_metric(d, name, total), NULL, &cost, error));
    *own = 0;
    for (uint32_t i = 0; i < d->profiles->db->tree.count; i++)
        if (d->profiles->activities_of[i] == LODE_ACTIVITY_OWN)
            *own += cost->own[i];
    lode_cost_free(cost);
    return LODE_OK;
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    double cycles, instructions, total, other;
    LODE_TRY(lode_diagnose_own_cost(d, "cycles", &cycles, &total, error));
    LODE_TRY(lode_diagnose_own_cost(d, "instructions", &instructions, &other, error));
    double ipc = cycles > 0 ? instructions / cycles : 0;
    if (!(cycles > MOST_OWN * total) || !(ipc > 0) || ipc >= IPC_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "ipc", .confidence = LODE_POSSIBLE}};
    lode_diagnose_set_text(
        d, &draft,
        "The program runs %.2f instructions per cycle: it may wait for memory, or for slow instructions.",
        ipc);
    lode_diagnose_show(d, &draft, cycles / total, "share", "in %.0f%% of the cycles, without libraries",
                       100 * cycles / total);
    LODE_SET_COMMAND(&draft, "top", "--metric", "cycles,instructions,instructions/cycles");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_profile_rule_ipc = {
    "ipc", "fewer than 0.7 instructions per cycle in code of the program",
    1u << NEED_METRIC | 1u << NEED_SAMPLES | 1u << NEED_COUNTERS, run};
