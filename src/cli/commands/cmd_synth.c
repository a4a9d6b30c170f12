/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "interrupt.h"
#include "options/formats.h"
#include "output/progress.h"
#include "output/report.h"

#include <string.h>

typedef struct synth_options {
    shared_options shared;
    const char *target;
    int force;
    uint64_t depth, seed; /* depth 0: what is usual for the kind */
    uint64_t memory, profiles, contexts, metrics, samples;
    double density, skew;
    uint64_t tasks, records, functions;
    uint64_t calls_per_request;
    int arguments;
    int format, layout;
} synth_options;

/* Of --format and --layout; else indices of their choices. */
enum {
    UNSAID = -1
};

/* The format that is asked for. 0 if there is none with that layout. */
static int find_format(const synth_options *options, lode_format_info *format)
{
    const char *family = synth_choices[options->format == UNSAID ? 0 : options->format];
    return format_find(family, options->layout == UNSAID ? NULL : layout_choices[options->layout], format);
}

/* All but the default, which has functions of a program. */
static int makes_requests(const lode_format_info *format)
{
    return strcmp(format->family, synth_choices[0]) != 0;
}

static unsigned threads_of(const synth_options *options)
{
    return (unsigned)(options->shared.threads < 4096 ? options->shared.threads : 4096);
}

static uint32_t at_most(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static int make_database(const synth_options *options)
{
    progress shown;
    lode_error error = {0};
    lode_synth_options settings = LODE_SYNTH_OPTIONS_INIT;
    progress_init(&shown);
    settings.profiles = at_most(options->profiles);
    settings.contexts = at_most(options->contexts);
    settings.depth = options->depth ? at_most(options->depth) : settings.depth;
    settings.metrics = at_most(options->metrics);
    settings.density = options->density;
    settings.skew = options->skew;
    settings.samples = at_most(options->samples);
    settings.seed = options->seed;
    settings.force = options->force;
    settings.threads = threads_of(options);
    settings.memory = options->memory;
    settings.on_progress = progress_report;
    settings.user = &shown;
    interrupt_hold();
    lode_status status = lode_synth_database(options->target, &settings, &error);
    progress_clear(&shown);
    return status == LODE_OK ? EXIT_DONE : report_unwritten(options->target, &error);
}

static int make_recording(const synth_options *options)
{
    progress shown;
    lode_error error = {0};
    lode_format_info format;
    lode_synth_recording_options settings = LODE_SYNTH_RECORDING_OPTIONS_INIT;
    progress_init(&shown);
    settings.tasks = at_most(options->tasks);
    settings.records = options->records;
    settings.functions = at_most(options->functions);
    settings.depth = options->depth ? at_most(options->depth) : settings.depth;
    settings.seed = options->seed;
    settings.arguments = options->arguments;
    settings.calls_per_request = options->calls_per_request;
    settings.to = find_format(options, &format) ? format.name : NULL;
    settings.force = options->force;
    settings.threads = threads_of(options);
    settings.on_progress = progress_report;
    settings.user = &shown;
    interrupt_hold();
    lode_status status = lode_synth_recording(options->target, &settings, &error);
    progress_clear(&shown);
    return status == LODE_OK ? EXIT_DONE : report_unwritten(options->target, &error);
}

static int run_synth(const invocation *call)
{
    const synth_options *options = call->options;
    const char *what = call->operands[0];
    int is_recording = strcmp(what, "recording") == 0;
    if (!is_recording && strcmp(what, "database") != 0)
        return report("unknown kind of store '%s'; use 'database' or 'recording' (see 'lode help synth')",
                      what);
    const option_spec *misplaced =
        option_misplaced(&call->command->options, call->given, is_recording ? FOR_RECORDINGS : FOR_DATABASES);
    if (misplaced)
        return report("--%s is for a %s, not for a %s (see 'lode help synth')", misplaced->name,
                      is_recording ? "database" : "recording", what);
    if (!options->target)
        return report("missing option: -o/--output (see 'lode help synth')");
    lode_format_info format;
    int is_known = find_format(options, &format);
    if (options->layout != UNSAID && !(is_known && format.layout))
        return report("--layout needs --format %s (see 'lode help synth')", format_with_layouts());
    int has_requests = is_known && makes_requests(&format);
    const char *other = options->calls_per_request && !has_requests ? "--calls-per-request"
                        : options->arguments && has_requests        ? "--arguments"
                                                                    : NULL;
    if (is_known && other)
        return report("%s cannot be used with --format %s (see 'lode help synth')", other, format.family);
    return is_recording ? make_recording(options) : make_database(options);
}

static const option_spec synth_own[] = {
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(synth_options, target)},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(synth_options, force)},
    {"depth", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, depth)},
    {"seed", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, seed)},
    {0},
};

static const option_spec synth_of_databases[] = {
    {"profiles", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, profiles)},
    {"contexts", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, contexts)},
    {"metrics", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, metrics)},
    {"density", 0, OPTION_REAL, "X", NULL, offsetof(synth_options, density)},
    {"skew", 0, OPTION_REAL, "X", NULL, offsetof(synth_options, skew)},
    {"samples", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, samples)},
    {"memory", 0, OPTION_SIZE, "SIZE", NULL, offsetof(synth_options, memory)},
    {0},
};

static const option_spec synth_of_recordings[] = {
    {"format", 0, OPTION_CHOICE, "FORMAT", synth_choices, offsetof(synth_options, format)},
    {"layout", 0, OPTION_CHOICE, NULL, layout_choices, offsetof(synth_options, layout)},
    {"tasks", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, tasks)},
    {"records", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, records)},
    {"functions", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, functions)},
    {"calls-per-request", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, calls_per_request)},
    {"arguments", 0, OPTION_FLAG, NULL, NULL, offsetof(synth_options, arguments)},
    {0},
};

static const synth_options synth_defaults = {.layout = UNSAID,
                                             .seed = 1,
                                             .profiles = 16,
                                             .contexts = 1000,
                                             .metrics = 1,
                                             .density = 0.5,
                                             .skew = 1.0,
                                             .samples = 100,
                                             .tasks = 4,
                                             .records = 1000000,
                                             .functions = 1000};

const command_spec command_synth = {
    .name = "synth",
    .operands = "database|recording",
    .min_operands = 1,
    .max_operands = 1,
    .options = {.own = synth_own,
                .of_databases = synth_of_databases,
                .of_recordings = synth_of_recordings,
                .shared = SHARED_THREADS},
    .options_size = sizeof(synth_options),
    .defaults = &synth_defaults,
    .run = run_synth,
};
