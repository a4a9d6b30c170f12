/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu-copies, gpu-runtime: data move to and from the GPU; the processor is in the GPU runtime. */
#include "analysis/diagnose/profiles/facts.h"

#include <math.h>
#include <string.h>

#define COPIES_OF_GPU 0.20
#define COPIES_OF_RUN 0.05
#define RUNTIME_MIN   0.20

static lode_status run_copies(struct lode_diagnosis *d, lode_error *error)
{
    double gpu = 0, copies = 0, in = 0, out = 0;
    if (!lode_diagnose_metric(d, "GPUOP (sec)", &gpu) || !lode_diagnose_metric(d, "GXCOPY (sec)", &copies))
        return LODE_OK;
    double share = fmin(1, copies / d->run.seconds);
    if (copies / gpu <= COPIES_OF_GPU || share <= COPIES_OF_RUN)
        return LODE_OK;
    struct draft draft = {
        .statement = {
            .id = "gpu-copies", .confidence = LODE_LIKELY, .has_gain = 1, .gain = share, .high = share}};
    lode_diagnose_set_text(d, &draft, "Copies to and from the GPU take %.0f%% of the run time.", 100 * share);
    lode_diagnose_show(d, &draft, copies, "GXCOPY (sec)",
                       "%.3g s of %.3g s; kernels and the rest of the GPU: %.3g s", copies, d->run.seconds,
                       gpu - copies);
    LODE_SET_COMMAND(&draft, "top", "--metric", "GXCOPY (sec)");
    lode_diagnose_metric(d, "GXCOPY:H2D (B)", &in);
    lode_diagnose_metric(d, "GXCOPY:D2H (B)", &out);
    if (in + out > 0)
        lode_diagnose_show(d, &draft, in + out, "B", "%.3g GiB, %.3g GiB/s", (in + out) / 0x1p30,
                           (in + out) / 0x1p30 / copies);
    return lode_diagnose_add_statement(d, &draft, error);
}

/* The first call into the runtime also starts it. */
static bool may_start(const char *name)
{
    static const char *const parts[] = {"alloc",     "Alloc",     "Init",     "init",
                                        "SetDevice", "dataenter", "CtxCreate"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

static lode_status run_runtime(struct lode_diagnosis *d, lode_error *error)
{
    struct path path;
    double kernels = 0, share = lode_diagnose_time_of_threads(d, SET(GPU), EVERYWHERE) / d->run.total;
    if (share - lode_diagnose_share_error(d, share) <= RUNTIME_MIN)
        return LODE_OK;
    LODE_TRY(lode_diagnose_path(d, d->profiles->cost, SET(GPU), &path, error));
    struct draft draft = {
        .statement = {.id = "gpu-runtime", .confidence = LODE_LIKELY, .context = path.entry}};
    const char *entry = lode_diagnose_name_of(d, path.entry), *holder = lode_diagnose_name_of(d, path.holder);
    const char *words[] = {"tree", "--callers", entry, NULL};
    /* Waiting for kernels is not lost. */
    lode_diagnose_metric(d, "GKER (sec)", &kernels);
    double busy = d->run.seconds > 0 ? kernels / d->run.seconds : 0;
    lode_diagnose_set_gain(d, &draft, fmax(0, share - busy));
    draft.statement.function = entry;
    lode_diagnose_set_text(d, &draft,
                           "%.0f%% of the time of threads is in the GPU runtime, %s in %s below %s.%s",
                           100 * share, lode_diagnose_mostly(&path), entry, holder,
                           may_start(entry) ? " The first such call also starts the runtime." : "");
    lode_diagnose_show(d, &draft, path.share, "share", "below %s: %.0f%% of it", holder, 100 * path.share);
    lode_diagnose_set_command(&draft, words);
    if (busy >= 0.005)
        lode_diagnose_show(d, &draft, busy, "share",
                           "kernels run in %.0f%% of the run time: waiting for them is not lost", 100 * busy);
    if (strstr(entry, "emcpy") || strstr(entry, "data"))
        LODE_ADD_EXPLAINS(&draft, "gpu-copies");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_profile_rule_gpu_copies = {
    "gpu-copies", "copies are more than 20% of the GPU time and 5% of the run time",
    1u << NEED_GPU | 1u << NEED_SECONDS | 1u << NEED_ONE_RUN, run_copies};
const struct lode_diagnose_rule lode_diagnose_profile_rule_gpu_runtime = {
    "gpu-runtime", "threads spend more than 20% of their time in the GPU runtime",
    1u << NEED_METRIC | 1u << NEED_SAMPLES | 1u << NEED_ONE_RUN, run_runtime};
