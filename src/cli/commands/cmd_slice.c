/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/shared/rewrite.h"
#include "interrupt.h"
#include "job.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/session.h"

#include <stdint.h>

typedef struct slice_options {
    shared_options shared;
    const char *target, *focus;
    int force, keep_contexts;
    double min_share;
} slice_options;

/* A slice under way. */
typedef struct slicing {
    session *session;
    out *out;
} slicing;

static int on_finding(void *user, const lode_finding *finding)
{
    slicing *s = user;
    progress_clear(&s->session->progress);
    out_say(s->out, "%s %s: %s%s%s", lode_severity_name(finding->severity), finding->rule, finding->file,
            finding->file[0] ? ": " : "", finding->text);
    return out_is_lost(s->out);
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    slicing *s = user;
    return progress_report(&s->session->progress, phase, done, total);
}

static lode_merge_options settings_of(const slice_options *options, slicing *user)
{
    lode_merge_options settings = LODE_MERGE_OPTIONS_INIT;
    settings.force = options->force;
    settings.threads = (unsigned)(options->shared.threads < 4096 ? options->shared.threads : 4096);
    settings.memory = options->shared.memory;
    settings.on_finding = on_finding;
    settings.on_progress = on_progress;
    settings.user = user;
    settings.comm = options->shared.comm;
    settings.local_ranks = (uint32_t)options->shared.local_ranks;
    return settings;
}

/* What is wrong with what was asked for, or with the database, or with the target. */
static int report_failure(session *s, const slice_options *options, const lode_error *error)
{
    progress_clear(&s->progress);
    if (error->status == LODE_NOT_FOUND || error->status == LODE_ABSENT ||
        error->status == LODE_ERR_CORRUPT || error->status == LODE_ERR_LIMIT)
        return session_error(s, error);
    return report_unwritten(options->target, error);
}

static int slice_with(session *s, const invocation *call)
{
    const slice_options *options = call->options;
    slicing user = {s, call->out};
    lode_merge_options settings = settings_of(options, &user);
    lode_database_slice slice = LODE_DATABASE_SLICE_INIT;
    lode_merge_input input = {s->db, s->path, NULL};
    lode_error error = {0};
    uint64_t start;
    slice.selection = s->selection;
    slice.focus = options->focus;
    slice.depth = (uint32_t)(options->shared.depth < UINT32_MAX ? options->shared.depth : UINT32_MAX);
    slice.min_share = options->min_share;
    slice.metric = s->metric;
    slice.keep_contexts = options->keep_contexts;
    if (session_has_window(s) && session_window(s, &start, &slice.from, &slice.to) != EXIT_DONE)
        return EXIT_TROUBLE;
    if (damage_refuse(&(damage_request){s->path, s->db, DAMAGE_WRITE_BYTES, s->shared->threads}) != EXIT_DONE)
        return EXIT_TROUBLE;
    /* The first process has the output; the others have nothing to clear away. */
    if (job_is_first(settings.comm))
        interrupt_hold();
    if (lode_slice_database(&input, options->target, &slice, &settings, &error) != LODE_OK)
        return report_failure(s, options, &error);
    progress_clear(&s->progress);
    damage_copied(options->target);
    return EXIT_DONE;
}

static int slice_database(const invocation *call)
{
    session s;
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = slice_with(&s, call);
    session_close(&s);
    return status;
}

static int slice_recording(const invocation *call)
{
    const slice_options *options = call->options;
    rewrite_request request = {options->target, options->force, NULL};
    return rewrite_recordings(call, &request);
}

static int run_slice(const invocation *call)
{
    return call->kind == LODE_STORE_RECORDING ? slice_recording(call) : slice_database(call);
}

static int slice_usage(const invocation *call)
{
    const slice_options *options = call->options;
    if (!options->target)
        return report("missing option: -o/--output (see 'lode help slice')");
    return EXIT_DONE;
}

static const option_spec slice_own[] = {
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(slice_options, target)},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(slice_options, force)},
    {"depth", 'd', OPTION_COUNT, "N", NULL, offsetof(slice_options, shared.depth)},
    {0},
};

static const option_spec slice_of_databases[] = {
    {"focus", 0, OPTION_TEXT, "NAME", NULL, offsetof(slice_options, focus)},
    {"min-share", 0, OPTION_PERCENT, "PERCENT", NULL, offsetof(slice_options, min_share)},
    {"keep-contexts", 0, OPTION_FLAG, NULL, NULL, offsetof(slice_options, keep_contexts)},
    {"memory", 0, OPTION_SIZE, "SIZE", NULL, offsetof(slice_options, shared.memory)},
    {0},
};

const command_spec command_slice = {
    .name = "slice",
    .operands = "[STORE]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_ALL,
    .options = {.own = slice_own,
                .of_databases = slice_of_databases,
                .shared = SHARED_PART | SHARED_METRIC | SHARED_PROFILES | SHARED_STRICT | SHARED_THREADS |
                          SHARED_RANKS},
    .options_size = sizeof(slice_options),
    .on_ranks = FOR_DATABASES,
    .usage = slice_usage,
    .run = run_slice,
};
