/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/shared/rewrite.h"
#include "interrupt.h"
#include "job.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/session.h"

#include <stdint.h>

#define LOCAL_RANKS_MAX 1024

typedef struct slice_options {
    shared_options shared;
    const char *target, *focus;
    int force, keep_contexts;
    double min_share;
    int mpi; /* job_kind */
    uint64_t local_ranks;
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

static lode_merge_options settings_of(const slice_options *options, lode_comm *comm, slicing *user)
{
    lode_merge_options settings = LODE_MERGE_OPTIONS_INIT;
    settings.force = options->force;
    settings.threads = (unsigned)(options->shared.threads < 4096 ? options->shared.threads : 4096);
    settings.memory = options->shared.memory;
    settings.on_finding = on_finding;
    settings.on_progress = on_progress;
    settings.user = user;
    settings.comm = comm;
    settings.local_ranks = (uint32_t)options->local_ranks;
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

static int slice_with(session *s, const invocation *call, lode_comm *comm)
{
    const slice_options *options = call->options;
    slicing user = {s, call->out};
    lode_merge_options settings = settings_of(options, comm, &user);
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
    if (job_is_first(comm))
        interrupt_hold();
    if (lode_slice_database(&input, options->target, &slice, &settings, &error) != LODE_OK)
        return report_failure(s, options, &error);
    progress_clear(&s->progress);
    damage_copied(options->target);
    return EXIT_DONE;
}

static int slice_database(const invocation *call, lode_comm *comm)
{
    session s;
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = slice_with(&s, call, comm);
    session_close(&s);
    return status;
}

static int slice_recording(const invocation *call, const lode_comm *comm)
{
    const slice_options *options = call->options;
    rewrite_request request = {options->target, options->force, NULL};
    if (comm && lode_comm_size(comm) > 1)
        return report("a recording is sliced by one process; 'lode build' makes a database with many");
    return rewrite_recordings(call, &request);
}

static int run_slice(const invocation *call)
{
    const slice_options *options = call->options;
    lode_comm *comm;
    int status = job_join(&comm, (job_kind)options->mpi, options->local_ranks > 0);
    if (status != EXIT_DONE)
        return status;
    status = call->kind == LODE_STORE_RECORDING ? slice_recording(call, comm) : slice_database(call, comm);
    return job_leave(comm, status);
}

static int slice_usage(const invocation *call)
{
    const slice_options *options = call->options;
    report_quietly(options->mpi != JOB_OFF && job_is_quiet());
    if (!options->target)
        return report("missing option: -o/--output (see 'lode help slice')");
    if (options->local_ranks > LOCAL_RANKS_MAX)
        return report("--local-ranks takes at most %d", LOCAL_RANKS_MAX);
    return EXIT_DONE;
}

static const option_spec slice_own[] = {
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(slice_options, target)},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(slice_options, force)},
    {"depth", 'd', OPTION_COUNT, "N", NULL, offsetof(slice_options, shared.depth)},
    {"mpi", 0, OPTION_CHOICE, NULL, job_choices, offsetof(slice_options, mpi)},
    {0},
};

static const option_spec slice_of_databases[] = {
    {"focus", 0, OPTION_TEXT, "NAME", NULL, offsetof(slice_options, focus)},
    {"min-share", 0, OPTION_PERCENT, "PERCENT", NULL, offsetof(slice_options, min_share)},
    {"keep-contexts", 0, OPTION_FLAG, NULL, NULL, offsetof(slice_options, keep_contexts)},
    {"memory", 0, OPTION_SIZE, "SIZE", NULL, offsetof(slice_options, shared.memory)},
    {"local-ranks", 0, OPTION_COUNT, "N", NULL, offsetof(slice_options, local_ranks)},
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
                .shared = SHARED_PART | SHARED_METRIC | SHARED_PROFILES | SHARED_STRICT | SHARED_THREADS},
    .options_size = sizeof(slice_options),
    .joins_job = 1,
    .usage = slice_usage,
    .run = run_slice,
};
