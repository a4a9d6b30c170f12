/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "commands/shared/rewrite.h"
#include "interrupt.h"
#include "job.h"
#include "output/progress.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/stores.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORES_MAX SIZE_MAX

typedef struct merge_options {
    shared_options shared;
    const char *target, *labels;
    int force, drop_unlisted, mean;
    int align; /* UNSAID, or ALIGN_... */
} merge_options;

enum {
    UNSAID = -1
};

static const char *const align_choices[] = {"start", NULL};

/* A merge under way. */
typedef struct merging {
    progress progress;
    out *out;
} merging;

static int on_finding(void *user, const lode_finding *finding)
{
    merging *m = user;
    progress_clear(&m->progress);
    out_say(m->out, "%s %s: %s%s%s", lode_severity_name(finding->severity), finding->rule, finding->file,
            finding->file[0] ? ": " : "", finding->text);
    return out_is_lost(m->out);
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    merging *m = user;
    return progress_report(&m->progress, phase, done, total);
}

/* ---- labels ---- */

static size_t count_labels(const char *text)
{
    size_t count = 1;
    for (; *text; text++)
        count += *text == ',';
    return count;
}

/* The texts between commas, in one allocation. */
static char *split_labels(const char *text, lode_merge_input *inputs)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(alloc_array(size, 1), text, size), *at = copy;
    for (size_t i = 0; at; i++)
        inputs[i].label = strsep(&at, ",");
    return copy;
}

/* Without --labels a run is called by its path, without slashes at the end. */
static char *default_label(const invocation *call, size_t index)
{
    const char *path = call->operands[index];
    size_t length = strlen(path), same = 1;
    for (size_t i = 0; i < index; i++)
        same += strcmp(call->operands[i], path) == 0;
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *label = alloc_array(length + 24, 1);
    if (same > 1)
        snprintf(label, length + 24, "%.*s#%zu", (int)length, path, same);
    else
        snprintf(label, length + 24, "%.*s", (int)length, path);
    return label;
}

/* ---- databases ---- */

typedef struct databases {
    lode_database **items;
    lode_merge_input *inputs;
    size_t count;
    char **labels;
} databases;

static void close_databases(databases *d)
{
    for (size_t i = 0; i < d->count; i++) {
        report_look(d->inputs[i].directory);
        lode_database_close(d->items[i]);
        free(d->labels[i]);
    }
    free(d->items);
    free(d->inputs);
    free(d->labels);
}

static int open_databases(databases *d, const invocation *call)
{
    const merge_options *options = call->options;
    size_t count = call->operand_count;
    *d = (databases){.items = alloc_array(count, sizeof(lode_database *)),
                     .inputs = alloc_array(count, sizeof *d->inputs),
                     .labels = alloc_array(count, sizeof(char *))};
    for (size_t i = 0; i < count; i++) {
        const char *path = call->operands[i];
        lode_error error = {0};
        if (lode_database_open(&d->items[i], path, &error) != LODE_OK)
            return store_unopened(path, &error);
        d->count++;
        damage_request request = {path, d->items[i], DAMAGE_WRITE_BYTES, call->shared->threads};
        if (damage_refuse(&request) != EXIT_DONE)
            return EXIT_TROUBLE;
        d->inputs[i] = (lode_merge_input){d->items[i], path, NULL};
        if (!options->labels)
            d->inputs[i].label = d->labels[i] = default_label(call, i);
    }
    if (options->labels)
        d->labels[0] = split_labels(options->labels, d->inputs);
    return EXIT_DONE;
}

static int check_kinds(const invocation *call)
{
    for (size_t i = 1; i < call->operand_count; i++) {
        lode_store_kind kind;
        lode_error error = {0};
        if (lode_store_probe(call->operands[i], &kind, &error) != LODE_OK)
            return store_unopened(call->operands[i], &error);
        if (kind != call->kind)
            return report("%s is a %s and %s is not; use 'lode build' to make databases of recordings",
                          call->operands[0], call->kind == LODE_STORE_RECORDING ? "recording" : "database",
                          call->operands[i]);
    }
    return EXIT_DONE;
}

/* What one rank does; the first one speaks. */
static int write_merged(const invocation *call, const databases *d)
{
    const merge_options *options = call->options;
    merging m = {.out = call->out};
    lode_merge_options settings = LODE_MERGE_OPTIONS_INIT;
    lode_error error = {0};
    settings.force = options->force;
    settings.drop_unlisted = options->drop_unlisted;
    settings.with_runs = options->labels != NULL;
    settings.align = options->align != UNSAID;
    settings.mean = options->mean;
    settings.threads = (unsigned)(options->shared.threads < 4096 ? options->shared.threads : 4096);
    settings.memory = options->shared.memory;
    settings.on_finding = on_finding;
    settings.on_progress = on_progress;
    settings.user = &m;
    settings.comm = options->shared.comm;
    settings.local_ranks = (uint32_t)options->shared.local_ranks;
    progress_init(&m.progress);
    /* The first process has the output; the others have nothing to clear away. */
    if (job_is_first(settings.comm))
        interrupt_hold();
    lode_status done = lode_merge_databases(d->inputs, d->count, options->target, &settings, &error);
    progress_clear(&m.progress);
    if (done != LODE_OK)
        return report_unwritten(options->target, &error);
    damage_copied(options->target);
    return EXIT_DONE;
}

static int merge_databases(const invocation *call)
{
    databases d;
    int status = job_is_first(call->shared->comm) ? check_kinds(call) : EXIT_DONE;
    if (status != EXIT_DONE)
        return status;
    status = open_databases(&d, call);
    if (status == EXIT_DONE)
        status = write_merged(call, &d);
    close_databases(&d);
    return status;
}

/* ---- the command ---- */

static int merge_recordings(const invocation *call)
{
    const merge_options *options = call->options;
    rewrite_request request = {options->target, options->force, NULL};
    int status = check_kinds(call);
    return status == EXIT_DONE ? rewrite_recordings(call, &request) : status;
}

static int run_merge(const invocation *call)
{
    return call->kind == LODE_STORE_RECORDING ? merge_recordings(call) : merge_databases(call);
}

static int merge_usage(const invocation *call)
{
    const merge_options *options = call->options;
    if (!options->target)
        return report("missing option: -o/--output (see 'lode help merge')");
    if (options->labels && count_labels(options->labels) != call->operand_count)
        return report("--labels needs a name for each database: %zu, not %zu (see 'lode help merge')",
                      call->operand_count, count_labels(options->labels));
    return EXIT_DONE;
}

static const option_spec merge_own[] = {
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(merge_options, target)},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(merge_options, force)},
    {0},
};

static const option_spec merge_of_databases[] = {
    {"labels", 0, OPTION_TEXT, "NAMES", NULL, offsetof(merge_options, labels)},
    {"align", 0, OPTION_CHOICE, NULL, align_choices, offsetof(merge_options, align)},
    {"mean", 0, OPTION_FLAG, NULL, NULL, offsetof(merge_options, mean)},
    {"drop-unlisted", 0, OPTION_FLAG, NULL, NULL, offsetof(merge_options, drop_unlisted)},
    {"memory", 0, OPTION_SIZE, "SIZE", NULL, offsetof(merge_options, shared.memory)},
    {0},
};

static const merge_options merge_defaults = {.align = UNSAID};

const command_spec command_merge = {
    .name = "merge",
    .operands = "[STORE...]",
    .min_operands = 1,
    .max_operands = STORES_MAX,
    .stores = FOR_ALL,
    .options = {.own = merge_own,
                .of_databases = merge_of_databases,
                .shared = SHARED_STRICT | SHARED_THREADS | SHARED_RANKS},
    .options_size = sizeof(merge_options),
    .defaults = &merge_defaults,
    .on_ranks = FOR_DATABASES,
    .usage = merge_usage,
    .run = run_merge,
};
