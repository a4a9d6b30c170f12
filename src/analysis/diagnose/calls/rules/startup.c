/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * start-up: constructors of static objects, and what else runs before main.
 * Guard: 10 % of the run time. Gain: their time; it accounts for that. Likely.
 */
#include "analysis/diagnose/calls/sweep.h"

#include <string.h>

#define SHARE_MIN 0.10

struct startup {
    double time, most;
    uint32_t longest; /* function + 1; 0: none */
    size_t calls;
};

static const struct call_span *find_main(struct lode_diagnosis *d, const struct call_track *track)
{
    for (size_t i = 0; i < track->span_count; i++)
        if (track->spans[i].depth == 0 &&
            strcmp(lode_diagnose_call_name(d, track->spans[i].function + 1), "main") == 0)
            return &track->spans[i];
    return NULL;
}

static void add_track(struct lode_diagnosis *d, const struct call_track *track, struct startup *startup)
{
    const struct call_span *main_call = find_main(d, track);
    for (size_t i = 0; main_call && i < track->span_count; i++) {
        const struct call_span *span = &track->spans[i];
        double took = (double)(span->to - span->from);
        if (span->depth > 0 || span->to > main_call->from)
            continue;
        startup->calls++;
        startup->time += took;
        if (took > startup->most) {
            startup->most = took;
            startup->longest = span->function + 1;
        }
    }
}

static lode_status run(struct lode_diagnosis *d, lode_error *error)
{
    struct startup startup = {0};
    for (size_t i = 0; i < d->calls->track_count; i++)
        if (!d->calls->tracks[i].is_launcher)
            add_track(d, &d->calls->tracks[i], &startup);
    double share = startup.time / (d->run.run_time * 1e9);
    if (startup.longest == 0 || share <= SHARE_MIN || share > 1)
        return LODE_OK;
    const char *name = lode_diagnose_call_name(d, startup.longest);
    struct draft draft = {.statement = {.id = "start-up", .confidence = LODE_LIKELY}};
    lode_diagnose_call_gain(&draft, share);
    draft.statement.function = name;
    lode_diagnose_set_text(d, &draft, "%.0f%% of the run time is before main, most in %s.", 100 * share,
                           name);
    draft.statement.advice = "Try to initialise objects when they are used first.";
    lode_diagnose_show(d, &draft, startup.most / 1e9, "seconds", "%s takes %s of %s", name,
                       lode_diagnose_call_amount(d, startup.most),
                       lode_diagnose_call_amount(d, startup.time));
    LODE_SET_COMMAND(&draft, "tree", "--focus", name);
    LODE_ADD_EXPLAINS(&draft, "serial", "efficiency", "allocation");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_call_rule_startup = {
    "start-up", "what runs before main takes more than 10% of the run time",
    CALL_NEEDS | 1u << CALL_NEED_NAMES, run};
