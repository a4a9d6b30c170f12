/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpu-idle, gpu-small-kernels, gpu-stalls: the GPU waits for the CPU; kernels are short; kernels
 * stall. Only where the GPU works for more than 5 % of the run time, or kernels take 10 ms.
 */
#include "analysis/diagnose/profiles/facts.h"
#include "base/text/count.h"

#include <math.h>
#include <string.h>

#define IDLE_MIN      0.30
#define OF_RUN        0.05
#define KERNEL_MAX    10e-6 /* s */
#define LAUNCHES_MIN  20
#define STALLED_MIN   0.50
#define KERNELS_MIN   10e-3 /* s */
#define MEANWHILE_MIN 0.20  /* of the idle time, to name a place */

/* The part of the run time that a GPU works. */
static double gpu_share(const struct gpu *gpu)
{
    return gpu->run > 0 ? gpu->operations / (fmax(1, (double)gpu->devices) * gpu->run) : 0;
}

static lode_status add_meanwhile(struct lode_diagnosis *d, struct draft *draft, lode_error *error)
{
    struct path path;
    const struct gpu *gpu = &d->profiles->gpu;
    if (gpu->meanwhile == NULL || d->lacks[NEED_METRIC])
        return LODE_OK;
    LODE_TRY(lode_diagnose_path(d, gpu->meanwhile, ALL, &path, error));
    double share = path.part * path.all / (gpu->span - gpu->busy);
    if (path.entry == NULL || share < MEANWHILE_MIN)
        return LODE_OK;
    const char *entry = lode_diagnose_name_of(d, path.entry), *holder = lode_diagnose_name_of(d, path.holder);
    bool is_short = strcmp(entry, holder) == 0;
    draft->statement.function = entry;
    draft->statement.context = path.entry;
    lode_diagnose_show(d, draft, share, "share", "meanwhile the CPU is in %s%s%s for %.0f%% of it", entry,
                       is_short ? "" : " below ", is_short ? "" : holder, 100 * share);
    LODE_SET_COMMAND(draft, "tree", "--callers", entry);
    return LODE_OK;
}

static lode_status run_idle(struct lode_diagnosis *d, lode_error *error)
{
    const struct gpu *gpu = &d->profiles->gpu;
    double idle = gpu->span > 0 ? 1 - gpu->busy / gpu->span : 0;
    if (idle <= IDLE_MIN || gpu_share(gpu) <= OF_RUN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "gpu-idle", .confidence = LODE_LIKELY}};
    double gain = (gpu->span - gpu->busy) / (double)gpu->devices / gpu->run;
    lode_diagnose_set_gain_within(&draft, gain, gain, gain);
    lode_diagnose_set_text(
        d, &draft, "The GPU is idle in %.0f%% of the time from its first to its last operation.", 100 * idle);
    lode_diagnose_show(d, &draft, gpu->busy, "s", "busy for %.3g s of %.3g s, on %s", gpu->busy, gpu->span,
                       LODE_COUNTED(gpu->devices, "GPU", "GPUs"));
    LODE_SET_COMMAND(&draft, "trace");
    LODE_TRY(add_meanwhile(d, &draft, error));
    return lode_diagnose_add_statement(d, &draft, error);
}

static lode_status run_small(struct lode_diagnosis *d, lode_error *error)
{
    double time = 0, count = 0;
    if (!lode_diagnose_metric(d, "GKER (sec)", &time) || !lode_diagnose_metric(d, "GKER:COUNT", &count) ||
        count <= LAUNCHES_MIN || time / count >= KERNEL_MAX || gpu_share(&d->profiles->gpu) <= OF_RUN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "gpu-small-kernels", .confidence = LODE_LIKELY}};
    lode_diagnose_set_text(d, &draft,
                           "GPU kernels take %.2g us on average: starting them takes about as long.",
                           1e6 * time / count);
    lode_diagnose_show(d, &draft, count, "GKER:COUNT", "%.0f kernels in %.3g s", count, time);
    LODE_SET_COMMAND(&draft, "top", "--metric", "GKER:COUNT");
    return lode_diagnose_add_statement(d, &draft, error);
}

/* The reason with most samples. */
static const char *find_stall(const struct lode_diagnosis *d, double *most)
{
    static const char *const reasons[][2] = {
        {"GINS:STL_IDEP", "for results of other instructions"},
        {"GINS:STL_GMEM", "for global memory"},
        {"GINS:STL_LMEM", "for local memory"},
        {"GINS:STL_CMEM", "for constant memory"},
        {"GINS:STL_TMEM", "for texture memory"},
        {"GINS:STL_IFET", "for instructions to be fetched"},
        {"GINS:STL_SYNC", "for other threads"},
        {"GINS:STL_PIPE", "for a busy pipeline"},
        {"GINS:STL_MTHR", "for memory to take requests"},
    };
    const char *best = NULL;
    *most = 0;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        double value = 0;
        if (lode_diagnose_metric(d, reasons[i][0], &value) && value > *most) {
            *most = value;
            best = reasons[i][1];
        }
    }
    return best;
}

static lode_status run_stalls(struct lode_diagnosis *d, lode_error *error)
{
    double all = 0, stalled = 0, kernels = 0, most;
    if (!lode_diagnose_metric(d, "GINS", &all) || !lode_diagnose_metric(d, "GINS:STL_ANY", &stalled) ||
        !lode_diagnose_metric(d, "GKER (sec)", &kernels) || stalled / all <= STALLED_MIN ||
        kernels <= KERNELS_MIN)
        return LODE_OK;
    struct draft draft = {.statement = {.id = "gpu-stalls", .confidence = LODE_LIKELY}};
    const char *reason = find_stall(d, &most);
    draft.statement.text =
        reason ? lode_diagnose_say(d, "GPU instructions wait in %.0f%% of the samples, most often %s.",
                                   100 * stalled / all, reason)
               : lode_diagnose_say(d, "GPU instructions wait in %.0f%% of the samples.", 100 * stalled / all);
    lode_diagnose_show(d, &draft, stalled / all, "share", "it is %.0f%% of the waiting; kernels take %.3g s",
                       100 * fmin(1, most / stalled), kernels);
    LODE_SET_COMMAND(&draft, "top", "--metric", "GINS:STL_ANY");
    return lode_diagnose_add_statement(d, &draft, error);
}

const struct lode_diagnose_rule lode_diagnose_profile_rule_gpu_idle = {
    "gpu-idle", "GPUs are idle for more than 30% of the time from their first to their last operation",
    1u << NEED_GPU | 1u << NEED_STREAMS | 1u << NEED_UNSAMPLED_GPU | 1u << NEED_ONE_RUN, run_idle};
const struct lode_diagnose_rule lode_diagnose_profile_rule_gpu_small_kernels = {
    "gpu-small-kernels", "GPU kernels take less than 10 us on average", 1u << NEED_GPU | 1u << NEED_ONE_RUN,
    run_small};
const struct lode_diagnose_rule lode_diagnose_profile_rule_gpu_stalls = {
    "gpu-stalls", "GPU instructions wait in more than 50% of the samples",
    1u << NEED_GPU | 1u << NEED_STALLS | 1u << NEED_ONE_RUN, run_stalls};
