/* SPDX-License-Identifier: BSD-3-Clause */
/* From recordings, or slices of them, to one recording in a format that is chosen by its name. */
#include "transform/rewrite.h"

#include "base/error.h"
#include "base/options.h"
#include <string.h>

/* A time of the first recording's clock in that of another, no earlier than its beginning. */
static uint64_t unmove_time(uint64_t time, int64_t clock)
{
    uint64_t moved;
    if (!__builtin_sub_overflow(time, clock, &moved))
        return moved;
    return clock > 0 ? 0 : UINT64_MAX;
}

bool lode_rewrite_slice(const lode_slice *slice, int64_t clock, lode_slice *out)
{
    *out = *slice;
    out->from = slice->from ? unmove_time(slice->from, clock) : 0;
    out->to = slice->to ? unmove_time(slice->to, clock) : 0;
    return slice->to == 0 || out->to > 0;
}

lode_calls_options lode_rewrite_pass(const lode_rewrite_options *options)
{
    lode_calls_options pass = LODE_CALLS_OPTIONS_INIT;
    pass.threads = options->threads;
    pass.on_finding = options->on_finding;
    pass.on_progress = options->on_progress;
    pass.user = options->user;
    return pass;
}

/* A format that recordings can be written in. */
struct target {
    const char *name;
    lode_status (*write)(const lode_recording *const *recordings, size_t count, const char *path,
                         const lode_slice *slice, const lode_rewrite_options *options, lode_error *error);
};
static const struct target targets[] = {
    {"uftrace", lode_rewrite_uftrace}, {"zorka", lode_rewrite_zorka}, {"zorka-zico", lode_rewrite_zorka}};

static const struct target *find_target(const char *name)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    return NULL;
}

static lode_status check_arguments(size_t count, const lode_slice *slice, lode_error *error)
{
    const char *wrong = NULL;
    if (count == 0)
        wrong = "there is no recording to write";
    else if (count > 1 && slice->tracks)
        wrong = "tracks can be selected from one recording only";
    return wrong ? lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "%s", wrong) : LODE_OK;
}

lode_status lode_rewrite(const lode_recording *const *recordings, size_t count, const char *path,
                         const lode_slice *slice, const lode_rewrite_options *given, lode_error *error)
{
    lode_slice taken = LODE_SLICE_INIT;
    lode_rewrite_options options = LODE_REWRITE_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&taken, slice, error));
    LODE_TRY(lode_options_take(&options, given, error));
    LODE_TRY(check_arguments(count, &taken, error));
    if (options.to == NULL)
        options.to = strcmp(recordings[0]->format, "zorka") == 0 ? "zorka" : "uftrace";
    const struct target *target = find_target(options.to);
    if (target == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "no recording can be written in the format %s", options.to);
    return target->write(recordings, count, path, &taken, &options, error);
}
