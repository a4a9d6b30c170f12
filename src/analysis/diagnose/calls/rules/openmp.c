/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * omp-serial, omp-imbalance: OpenMP threads wait more than 10 % of the run time (inside of
 * regions, 15 %). While the first thread works outside of regions, the others wait: serial
 * parts; inside, parts are unequal.
 * Needs: bodies of regions, no other threads that work (teams.c), enough processors;
 * omp-imbalance: threads that were seldom pre-empted. Serial parts are known by running time
 * even if threads were.
 * Gain: useful work outside of regions / run time; time lost inside / run time. Likely.
 */
#include "analysis/diagnose/calls/facts.h"

#include <math.h>

#define WAIT_MIN   0.10
#define INSIDE_MIN 0.15

static lode_status run_serial(struct lode_diagnosis *d, lode_error *error)
{
    struct call_waiting w = lode_diagnose_call_waiting(d);
    const struct call_track *most = w.most;
    if (w.serial <= WAIT_MIN || w.serial < w.inside || most == NULL)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "omp-serial", .confidence = LODE_LIKELY, .is_bound = 1}};
    const char *function = lode_diagnose_call_name(d, most->alone.function);
    lode_diagnose_call_gain(&draft, w.alone / (w.processes * fmax(1, w.run)));
    draft.statement.function = function;
    lode_diagnose_set_text(
        d, &draft,
        "OpenMP threads wait while the first thread of their process works outside of regions, most in %s.",
        function);
    lode_diagnose_show(d, &draft, w.serial, "share",
                       "%sthreads %s %.0f%% of the run time for it, and %.0f%% inside "
                       "of regions",
                       d->efficiency.is_hybrid ? "" : "without pre-emption, ",
                       d->efficiency.is_hybrid ? "wait" : "would wait", 100 * w.serial, 100 * w.inside);
    LODE_SET_COMMAND(&draft, "profiles");
    lode_diagnose_show(d, &draft, (double)most->alone.time / 1e9, "seconds", "%s takes %s itself", function,
                       lode_diagnose_call_amount(d, (double)most->alone.time));
    lode_diagnose_call_show_callers(d, &draft, most->alone.function);
    LODE_ADD_EXPLAINS(&draft, "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* The body that some worker ran first. */
static uint32_t find_body(const struct call_facts *facts)
{
    for (size_t i = 0; i < facts->track_count; i++) {
        uint32_t entry = facts->tracks[i].entry;
        if (entry && facts->functions[entry - 1].role == ROLE_BODY)
            return entry;
    }
    return 0;
}

static lode_status run_imbalance(struct lode_diagnosis *d, lode_error *error)
{
    struct call_waiting w = lode_diagnose_call_waiting(d);
    uint32_t body = find_body(d->calls);
    if (w.inside <= INSIDE_MIN || w.serial >= w.inside || body == 0)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "omp-imbalance", .confidence = LODE_LIKELY, .is_bound = 1}};
    const char *function = lode_diagnose_call_name(d, body);
    lode_diagnose_call_gain(&draft, w.inside);
    draft.statement.function = function;
    lode_diagnose_set_text(
        d, &draft,
        "Threads wait at the ends of OpenMP regions such as %s: their parts are unequal, or too small.",
        function);
    lode_diagnose_show(d, &draft, w.inside, "share",
                       "threads wait %.0f%% of the run time inside of regions, and %.0f%% outside",
                       100 * w.inside, 100 * w.serial);
    LODE_SET_COMMAND(&draft, "profiles");
    LODE_ADD_EXPLAINS(&draft, "efficiency");
    return lode_diagnose_add_statement(d, &draft, error);
}

enum {
    NEEDS = CALL_NEEDS_ALL | 1u << CALL_NEED_THREADS | 1u << CALL_NEED_REGIONS | 1u << CALL_NEED_PROCESSORS |
            1u << CALL_NEED_TEAMS
};

const struct lode_diagnose_rule lode_diagnose_call_rule_omp_serial = {
    "omp-serial", "OpenMP threads wait more than 10% of the run time, mostly for the first thread", NEEDS,
    run_serial};
const struct lode_diagnose_rule lode_diagnose_call_rule_omp_imbalance = {
    "omp-imbalance", "OpenMP threads wait more than 15% of the run time, mostly for each other",
    NEEDS | 1u << CALL_NEED_CALM, run_imbalance};
