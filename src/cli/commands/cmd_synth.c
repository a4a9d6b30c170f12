/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "interrupt.h"
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
    uint64_t calls_per_trace;
    int arguments;
    int format, layout;
} synth_options;

/* In the order of the choices of --format and --layout. */
enum {
    UNSAID = -1,
    FORMAT_UFTRACE,
    FORMAT_ZORKA
};
enum {
    LAYOUT_PAGE,
    LAYOUT_ZICO
};
static const char *const format_choices[] = {"uftrace", "zorka", NULL};
static const char *const layout_choices[] = {"page", "zico", NULL};

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
    lode_synth_recording_options settings = LODE_SYNTH_RECORDING_OPTIONS_INIT;
    progress_init(&shown);
    settings.tasks = at_most(options->tasks);
    settings.records = options->records;
    settings.functions = at_most(options->functions);
    settings.depth = options->depth ? at_most(options->depth) : settings.depth;
    settings.seed = options->seed;
    settings.arguments = options->arguments;
    settings.calls_per_trace = options->calls_per_trace;
    settings.to = options->format != FORMAT_ZORKA  ? "uftrace"
                  : options->layout == LAYOUT_ZICO ? "zorka-zico"
                                                   : "zorka";
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
        return report("'%s' cannot be made; 'database' and 'recording' can (see 'lode help synth')", what);
    const option_spec *misplaced =
        option_misplaced(&call->command->options, call->given, is_recording ? FOR_RECORDINGS : FOR_DATABASES);
    if (misplaced)
        return report("--%s is for a %s, not for a %s (see 'lode help synth')", misplaced->name,
                      is_recording ? "database" : "recording", what);
    if (!options->target)
        return report("missing option: -o/--output (see 'lode help synth')");
    if (options->format != FORMAT_ZORKA && (options->layout != UNSAID || options->calls_per_trace))
        return report(
            "--layout and --calls-per-trace are for trace stores, --format zorka (see 'lode help synth')");
    if (options->format == FORMAT_ZORKA && options->arguments)
        return report(
            "--arguments is for uftrace recordings, not for --format zorka (see 'lode help synth')");
    return is_recording ? make_recording(options) : make_database(options);
}

static const option_spec synth_own[] = {
    {"output", 'o', OPTION_TEXT, "NEW", NULL, offsetof(synth_options, target),
     "the directory to write; it appears only when it is complete"},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(synth_options, force), "replace a store that is there"},
    {"depth", 'd', OPTION_COUNT, "N", NULL, offsetof(synth_options, depth),
     "depth of calls, at most (default 20 in a database, 24 in a recording)"},
    {"seed", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, seed), "where chance begins (default 1)"},
    {0},
};

static const option_spec synth_of_databases[] = {
    {"profiles", 'p', OPTION_COUNT, "N", NULL, offsetof(synth_options, profiles), "profiles (default 16)"},
    {"contexts", 'c', OPTION_COUNT, "N", NULL, offsetof(synth_options, contexts), "contexts (default 1000)"},
    {"metrics", 'm', OPTION_COUNT, "N", NULL, offsetof(synth_options, metrics),
     "metrics, in four scopes each (default 1)"},
    {"density", 0, OPTION_REAL, "X", NULL, offsetof(synth_options, density),
     "share of the source lines that have values in a profile, up to 1 (default 0.5)"},
    {"skew", 0, OPTION_REAL, "X", NULL, offsetof(synth_options, skew),
     "0: all lines cost alike; 1 and more: a few cost most (default 1)"},
    {"samples", 's', OPTION_COUNT, "N", NULL, offsetof(synth_options, samples),
     "samples in each trace line; 0 makes no trace.db (default 100)"},
    {"memory", 0, OPTION_SIZE, "SIZE", NULL, offsetof(synth_options, memory),
     "memory for work on values, such as 500M or 2G (default a quarter of the machine's)"},
    {0},
};

static const option_spec synth_of_recordings[] = {
    {"format", 0, OPTION_CHOICE, NULL, format_choices, offsetof(synth_options, format),
     "the format to write (default uftrace); zorka makes traces of requests that services have served"},
    {"layout", 0, OPTION_CHOICE, NULL, layout_choices, offsetof(synth_options, layout),
     "of a Zorka trace store: as its document describes it, or as the ZICO collectors wrote it (default "
     "page)"},
    {"tasks", 't', OPTION_COUNT, "N", NULL, offsetof(synth_options, tasks), "tasks (default 4)"},
    {"records", 'r', OPTION_COUNT, "N", NULL, offsetof(synth_options, records),
     "records of all tasks together: beginnings and ends of calls (default 1000000)"},
    {"functions", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, functions),
     "functions of the program (default 1000)"},
    {"calls-per-trace", 0, OPTION_COUNT, "N", NULL, offsetof(synth_options, calls_per_trace),
     "calls of a trace in a Zorka trace store, about (default 1000)"},
    {"arguments", 'a', OPTION_FLAG, NULL, NULL, offsetof(synth_options, arguments),
     "give some functions arguments and results"},
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

static const char *const synth_description[] = {
    "Makes a store from parameters, of any size, to test and measure with. It was never measured, but it "
    "adds up: "
    "'lode check --level full' is clean on it. The same parameters give the same bytes.",
    "'lode synth database' makes an HPCToolkit database, 'lode synth recording' a uftrace recording or a "
    "Zorka "
    "trace store. All are written as a stream: memory does not grow with values or records.",
    NULL,
};

static const command_example synth_examples[] = {
    {"lode synth database -o small-db", "16 profiles of 1,000 contexts."},
    {"lode synth database --profiles 100000 --contexts 2000 --memory 1G -o large-db", "About 10 GB."},
    {"lode synth recording --records 50000000 --tasks 16 -o large.data", "A recording of 800 MB."},
    {"lode synth recording --format zorka --records 2000000 -o store",
     "A thousand traces of a thousand calls each."},
    {NULL, NULL},
};

const command_spec command_synth = {
    .name = "synth",
    .summary = "a store made from parameters",
    .operands = "database|recording",
    .min_operands = 1,
    .max_operands = 1,
    .description = synth_description,
    .examples = synth_examples,
    .options = {.own = synth_own,
                .of_databases = synth_of_databases,
                .of_recordings = synth_of_recordings,
                .shared = SHARED_THREADS},
    .options_size = sizeof(synth_options),
    .defaults = &synth_defaults,
    .run = run_synth,
};
