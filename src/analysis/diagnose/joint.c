/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls, the call tree and the diagnosis of a recording from one pass. */
#include <lode/private/joint.h>

#include "analysis/calls/calls.h"
#include "analysis/calls/calltree.h"
#include "analysis/diagnose/report.h"
#include "base/options.h"

enum {
    PASSES = 2
};

struct jobs {
    struct lode_calls_job *calls;
    struct lode_calltree_job *tree;
};

/*
 * Whether a diagnosis and calls of the slice are of the same events: of all, whose off-CPU time is
 * left as it is. Requests with side tracks are one row to a diagnosis, and several to calls.
 */
static bool reads_the_same(const struct lode_pass *pass)
{
    const lode_slice *slice = &pass->slice;
    const lode_recording *recording = pass->recording;
    bool is_whole = slice->tracks == NULL && slice->from == 0 && slice->to == 0 && slice->depth == 0 &&
                    slice->min_time == 0;
    bool keeps_off_cpu = !slice->no_sched || recording->is_never_out || !recording->has_sched;
    return is_whole && keeps_off_cpu && !pass->options.is_running && !pass->options.strict &&
           pass->options.parts == 0 && recording->mains == NULL;
}

static lode_status prepare(struct jobs *jobs, const lode_recording *recording, const lode_slice *slice,
                           const lode_calls_options *options, lode_error *error)
{
    lode_calls_options silent = LODE_CALLS_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&silent, options, error));
    /* One of them hands findings on. */
    silent.on_finding = NULL;
    LODE_TRY(lode_calls_prepare(&jobs->calls, recording, slice, options, error));
    return lode_calltree_prepare(&jobs->tree, recording, slice, &silent, error);
}

static lode_status compute(lode_joint *out, const struct jobs *jobs, const lode_diagnose_options *diagnose,
                           lode_error *error)
{
    struct lode_pass *const passes[PASSES] = {lode_calls_pass(jobs->calls), lode_calltree_pass(jobs->tree)};
    if (diagnose && reads_the_same(passes[0]))
        LODE_TRY(lode_diagnose_with(&out->diagnosis, passes[0]->recording, diagnose, passes, PASSES, error));
    else
        LODE_TRY(lode_pass_run_all(passes, PASSES, error));
    LODE_TRY(lode_calls_conclude(&out->calls, jobs->calls, error));
    return lode_calltree_conclude(&out->tree, jobs->tree, error);
}

lode_status lode_joint_compute(lode_joint *out, const lode_recording *recording, const lode_slice *slice,
                               const lode_calls_options *options, const lode_diagnose_options *diagnose,
                               lode_error *error)
{
    struct jobs jobs = {NULL, NULL};
    lode_diagnose_options own = LODE_DIAGNOSE_OPTIONS_INIT;
    *out = (lode_joint){NULL, NULL, NULL};
    lode_status status = lode_options_take(&own, diagnose, error);
    if (status == LODE_OK)
        status = prepare(&jobs, recording, slice, options, error);
    if (status == LODE_OK)
        status = compute(out, &jobs, diagnose ? &own : NULL, error);
    lode_calls_end(jobs.calls);
    lode_calltree_end(jobs.tree);
    if (status != LODE_OK) {
        lode_calls_free(out->calls);
        lode_calltree_free(out->tree);
        lode_diagnosis_free(out->diagnosis);
        *out = (lode_joint){NULL, NULL, NULL};
    }
    return status;
}

lode_status lode_joint_estimates(int *is_estimate, const lode_recording *recording, const lode_slice *slice,
                                 const lode_calls_options *options, lode_error *error)
{
    struct lode_pass pass;
    lode_status status = lode_pass_open(&pass, recording, slice, options, error);
    if (status == LODE_OK)
        status = lode_pass_sample(&pass, error);
    *is_estimate = status == LODE_OK && pass.sample.piece > 0;
    lode_pass_close(&pass);
    return status == LODE_ABSENT ? LODE_OK : status;
}
