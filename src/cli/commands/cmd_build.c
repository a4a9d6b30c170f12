/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "commands/build/plan.h"
#include "interrupt.h"
#include "job.h"
#include "output/progress.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/measured.h"
#include "stores/stores.h"
#include "stores/tally.h"

#include <errno.h>
#include <lode/private/measured.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDINGS_MAX SIZE_MAX

typedef struct build_options {
    shared_options shared;
    const char *target;
    int force, has_stats, is_quiet, is_dry;
    span_or_word trace; /* TRACE_..., or the length of an interval */
    const char *rank_pattern, *rank_table, *title;
    uint64_t memory;
    int writing; /* WRITE_... */
    int per;     /* PER_... */
    unsigned statistics;
    int ignores_structures, is_like_hpcprof, is_foreign, has_no_sources;
    int has_all_sources, has_no_loops;
    text_list replacements, source_roots, structures, programs;
    const char *structure_cache; /* NULL: that of the user */
    uint64_t debug_size_most;
} build_options;

enum {
    TRACE_FULL,
    TRACE_NONE
};
static const char *const trace_choices[] = {[TRACE_FULL] = "full", [TRACE_NONE] = "none", NULL};

enum {
    WRITE_EACH,
    WRITE_JOINTLY
};
static const char *const write_choices[] = {[WRITE_EACH] = "each", [WRITE_JOINTLY] = "jointly", NULL};

enum {
    PER_REQUEST,
    PER_THREAD
};
static const char *const per_choices[] = {[PER_REQUEST] = "request", [PER_THREAD] = "thread", NULL};

/* In the order of the bits LODE_STATISTIC_... */
static const char *const statistic_choices[] = {"sum", "mean", "stddev", "cfvar", "min", "max", "none", NULL};

enum {
    BARE_NAMED = 3,
    BARE_TEXT = 256
};

typedef struct building {
    progress progress;
    tally findings;
    out *details;  /* where each finding is named; NULL: nowhere */
    uint64_t bare; /* binaries without debug information */
    char bare_names[BARE_TEXT];
} building;

/* The first of the binaries that have no lines, without directories. */
static void note_bare(building *b, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t used = strlen(b->bare_names);
    if (b->bare++ < BARE_NAMED)
        snprintf(b->bare_names + used, BARE_TEXT - used, "%s%s", used ? ", " : "", slash ? slash + 1 : path);
}

static void say_bare(out *o, const building *b)
{
    char more[COUNTED_SIZE] = "";
    if (b->bare == 0)
        return;
    if (b->bare > BARE_NAMED)
        format_counted(more, b->bare - BARE_NAMED, "more binary", "more binaries");
    out_say(o, "no lines, for want of debug information: %s%s%s", b->bare_names, more[0] ? " and " : "",
            more);
}

static int on_finding(void *user, const lode_finding *finding)
{
    building *b = user;
    if (b->details)
        out_line(b->details, "%s: %s (%s)", finding->file, finding->text, finding->rule);
    /* Notes are about what is there, not about what was done with it. */
    if (finding->severity != LODE_NOTE)
        tally_add(&b->findings, finding);
    else if (strcmp(finding->rule, "binary-bare") == 0)
        note_bare(b, finding->file);
    return 0;
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    building *b = user;
    return progress_report(&b->progress, phase, done, total);
}

static lode_build_options settings_of(const build_options *options, building *b)
{
    lode_build_options settings = LODE_BUILD_OPTIONS_INIT;
    settings.force = options->force;
    settings.strict = options->shared.strict;
    settings.threads = (unsigned)(options->shared.threads < 4096 ? options->shared.threads : 4096);
    settings.memory = options->memory;
    settings.trace = options->trace.word == TRACE_NONE   ? LODE_TRACE_NONE
                     : options->trace.word == TRACE_FULL ? LODE_TRACE_FULL
                                                         : options->trace.nanoseconds;
    settings.rank_pattern = options->rank_pattern;
    settings.rank_table = options->rank_table;
    settings.title = options->title;
    settings.local_ranks = (uint32_t)options->shared.local_ranks;
    settings.comm = options->shared.comm;
    settings.joint = options->writing == WRITE_JOINTLY;
    settings.per_thread = options->per == PER_THREAD;
    settings.statistics = options->statistics;
    settings.ignore_structures = options->ignores_structures;
    settings.like_hpcprof = options->is_like_hpcprof;
    settings.replacements = options->replacements.items;
    settings.replacement_count = options->replacements.count;
    settings.foreign = options->is_foreign;
    settings.no_sources = options->has_no_sources;
    settings.source_roots = options->source_roots.items;
    settings.source_root_count = options->source_roots.count;
    settings.all_sources = options->has_all_sources;
    settings.no_loops = options->has_no_loops;
    settings.structures = options->structures.items;
    settings.structure_count = options->structures.count;
    settings.programs = options->programs.items;
    settings.program_count = options->programs.count;
    settings.debug_size_most = options->debug_size_most;
    settings.on_finding = on_finding;
    settings.on_progress = on_progress;
    settings.user = b;
    return settings;
}

/* ---- source files ---- */

typedef struct source_file_count {
    const char *key, *text;
    uint64_t count;
} source_file_count;

enum {
    SOURCE_REASONS = 4, /* for copying, and not */
    SOURCE_TEXT = 512
};

typedef struct source_file_counts {
    source_file_count copied[SOURCE_REASONS], others[SOURCE_REASONS];
} source_file_counts;

static source_file_counts count_sources(const lode_build_sources *sources)
{
    return (source_file_counts){
        .copied = {{"sources_from_roots", "below directories of --source-root and --replace",
                    sources->from_roots},
                   {"sources_from_measurements", "inside the measurements", sources->from_measurements},
                   {"sources_from_public", "that every user may read", sources->from_public},
                   {"sources_from_anywhere", "that not every user may read", sources->from_anywhere}},
        .others = {
            {"sources_restricted", "that not every user may read (see --source-root)", sources->restricted},
            {"sources_outside", "outside the chosen directories", sources->outside},
            {"sources_unfit", "hidden, too large or not text", sources->unfit},
            {"sources_absent", "not on this machine", sources->absent}}};
}

/* "3: 1 below ..., 2 that ..."; the sum. */
static uint64_t list_sources(char text[SOURCE_TEXT], const source_file_count *counts)
{
    uint64_t total = 0;
    char number[NUMBER_SIZE];
    size_t used;
    for (size_t i = 0; i < SOURCE_REASONS; i++)
        total += counts[i].count;
    format_count(number, total);
    used = (size_t)snprintf(text, SOURCE_TEXT, "%s", number);
    for (size_t i = 0, listed = 0; i < SOURCE_REASONS; i++) {
        if (counts[i].count == 0)
            continue;
        format_count(number, counts[i].count);
        used += (size_t)snprintf(text + used, SOURCE_TEXT - used, "%s %s %s", listed++ ? "," : ":", number,
                                 counts[i].text);
    }
    return total;
}

/* The author of the measurements chose these files: the user has to know. */
static void say_sources(out *o, const lode_build_sources *sources)
{
    source_file_counts counts = count_sources(sources);
    char copied[SOURCE_TEXT], others[SOURCE_TEXT];
    uint64_t copied_count = list_sources(copied, counts.copied);
    uint64_t other_count = list_sources(others, counts.others);
    if (other_count > 0)
        out_say(o, "source files copied: %s; not copied: %s", copied, others);
    else if (copied_count > 0)
        out_say(o, "source files copied: %s", copied);
}

static void write_sources(out *o, const lode_build_sources *sources)
{
    source_file_counts counts = count_sources(sources);
    for (size_t i = 0; i < SOURCE_REASONS; i++)
        OUT_FIELDS(o, counts.copied[i].key, counts.copied[i].count);
    for (size_t i = 0; i < SOURCE_REASONS; i++)
        OUT_FIELDS(o, counts.others[i].key, counts.others[i].count);
}

/* ---- what it took ---- */

typedef struct quantity {
    const char *key, *label;
    uint64_t value;
    int is_bytes;
} quantity;

static void write_quantities(out *o, const lode_build_result *r)
{
    const quantity quantities[] = {
        {"comm_size", "Communicator size", r->comm_size, 0},
        {"recordings", "Recordings", r->recordings, 0},
        {"nodes", "Nodes", r->nodes, 0},
        {"ranks", "Ranks", r->ranks, 0},
        {"profiles", "Profiles", r->tracks, 0},
        {"events", "Events", r->events, 0},
        {"functions", "Functions", r->functions, 0},
        {"contexts", "Contexts", r->contexts, 0},
        {"worker_contexts", "Worker contexts", r->tree_contexts, 0},
        {"metrics", "Metrics", r->metrics, 0},
        {"profile_contexts", "Profile contexts", r->rows, 0},
        {"values", "Values", r->values, 0},
        {"samples", "Samples", r->samples, 0},
        {"rounds", "Exchange rounds", r->rounds, 0},
        {"spooled_bytes", "Spooled", r->spooled_bytes, 1},
        {"memory_bytes", "Peak memory", r->memory, 1},
    };
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        char text[NUMBER_SIZE];
        if (quantities[i].is_bytes)
            format_bytes(text, quantities[i].value);
        else
            format_count(text, quantities[i].value);
        out_entry(o, quantities[i].label, "%s", text);
        OUT_FIELDS(o, quantities[i].key, quantities[i].value);
    }
}

static void write_phases(out *o, const lode_build_result *r)
{
    static const out_column columns[] = {
        {"seconds", "Time", OUT_REAL, OUT_ALWAYS},
        {"read_bytes", "Read", OUT_BYTES, OUT_ALWAYS},
        {"written_bytes", "Written", OUT_BYTES, OUT_ALWAYS},
        {"messages", "Messages", OUT_INTEGER, OUT_ALWAYS},
        {"sent_bytes", "Sent", OUT_BYTES, OUT_ALWAYS},
        {"phase", "Phase", OUT_STRING, OUT_ALWAYS},
    };
    out_table(o, OUT_MAIN, "phases", columns, sizeof columns / sizeof *columns, UNIT_SECONDS);
    for (unsigned i = 0; i < LODE_BUILD_PHASES; i++) {
        const lode_build_phase *phase = &r->phases[i];
        OUT_ROW(o, STYLE_PLAIN, phase->seconds, phase->read_bytes, phase->written_bytes, phase->messages,
                phase->sent_bytes, lode_build_phase_name(i));
    }
    out_table_end(o);
}

static void write_stats(out *o, const char *target, const lode_build_result *result)
{
    out_begin(o, SCHEMA_BUILD, NULL);
    OUT_FIELDS(o, "database", target);
    out_labels(o, sizeof "Profile contexts" + 1);
    write_quantities(o, result);
    write_sources(o, &result->sources);
    out_gap(o);
    write_phases(o, result);
    out_end(o);
}

/* ---- the command ---- */

/* Small sources were checked, one by one; of others it is not known whose findings these are. */
static void add_findings(const invocation *call, const tally *findings)
{
    if (call->operand_count == 1)
        damage_add(call->operands[0], findings);
    else if (!damage_is_known(call->operands, call->operand_count))
        damage_add("the recordings", findings);
}

/* What can be opened is built with names as --replace and --foreign say: a check knows neither. */
static lode_check_level level_of(const char *path)
{
    lode_store_kind kind = LODE_STORE_RECORDING;
    (void)!lode_store_probe(path, &kind, NULL);
    return kind == LODE_STORE_DATABASE ? LODE_CHECK_STRUCTURE : LODE_CHECK_FULL;
}

static int check_sources(const invocation *call)
{
    int status = EXIT_DONE;
    for (size_t i = 0; i < call->operand_count && status == EXIT_DONE; i++)
        status = damage_refuse_at(&(damage_request){call->operands[i], NULL,
                                                    DAMAGE_WRITE_BYTES / call->operand_count,
                                                    call->shared->threads},
                                  level_of(call->operands[i]));
    return status;
}

/* Options that are for one kind of store, which all are of. */
static int check_options(const invocation *call)
{
    const build_options *options = call->options;
    int is_measured = call->kind == LODE_STORE_MEASUREMENTS;
    const char *wrong = NULL;
    if (is_measured)
        wrong = options->rank_pattern     ? "rank-from"
                : options->rank_table     ? "ranks"
                : options->per            ? "per"
                : options->trace.word < 0 ? "trace TIME"
                                          : NULL;
    else
        wrong = options->statistics           ? "statistics"
                : options->ignores_structures ? "ignore-structs"
                : options->is_like_hpcprof    ? "like-hpcprof"
                : options->replacements.count ? "replace"
                : options->is_foreign         ? "foreign"
                : options->has_no_sources     ? "no-source"
                : options->source_roots.count ? "source-root"
                : options->has_all_sources    ? "all-sources"
                : options->debug_size_most    ? "debug-max-size"
                : options->has_no_loops       ? "no-loops"
                : options->structures.count   ? "structure"
                : options->structure_cache    ? "structure-cache"
                : options->programs.count     ? "only"
                : options->is_dry             ? "dry-run"
                                              : NULL;
    if (wrong)
        return report("--%s is not for %s (see 'lode help build')", wrong,
                      is_measured ? "measurements" : "recordings");
    return EXIT_DONE;
}

static int check_kinds(const invocation *call)
{
    for (size_t i = 1; i < call->operand_count; i++) {
        lode_store_kind kind;
        lode_error error = {0};
        if (lode_store_probe(call->operands[i], &kind, &error) != LODE_OK)
            return store_unopened(call->operands[i], &error);
        if (kind == LODE_STORE_DATABASE && lode_store_is_measured(call->operands[i]))
            kind = LODE_STORE_MEASUREMENTS;
        if (kind == LODE_STORE_DATABASE)
            return report("%s is a database; 'lode build' is for recordings and measurements",
                          call->operands[i]);
        if (kind != call->kind)
            return report("recordings and measurements cannot be built together: %s", call->operands[i]);
    }
    int status = check_options(call);
    return status == EXIT_DONE ? check_sources(call) : status;
}

static int print_plan(const invocation *call)
{
    const build_options *options = call->options;
    plugin symbols;
    build_plan plan = {.programs = &options->programs,
                       .structures = &options->structures,
                       .ignores_structures = options->ignores_structures,
                       .reads_binaries = !options->is_foreign && measured_symbols(&symbols) != NULL,
                       .is_verbose = options->shared.verbose};
    return build_print_plan(call, &plan);
}

/* What one rank does; the first one speaks. */
static int run_build(const invocation *call)
{
    const build_options *options = call->options;
    building b = {.findings = {.cap = 100}, .details = options->shared.verbose ? call->out : NULL};
    lode_build_options settings = settings_of(options, &b);
    lode_build_result result;
    lode_error error = {0};
    int is_first = job_is_first(settings.comm), status = EXIT_DONE;
    if (is_first && (status = check_kinds(call)) != EXIT_DONE)
        return status;
    if (options->is_dry)
        return is_first ? print_plan(call) : EXIT_DONE;
    plugin symbols;
    char *cache = measured_cache(options->structure_cache);
    if (call->kind == LODE_STORE_MEASUREMENTS && is_first)
        settings.symbols_program = measured_symbols(&symbols);
    settings.structure_cache = cache;
    progress_init(&b.progress);
    b.progress.byte_phase = "reading";
    /* The first process has the output; the others have nothing to clear away. */
    if (is_first)
        interrupt_hold();
    lode_status done =
        lode_build(call->operands, call->operand_count, options->target, &settings, &result, &error);
    progress_clear(&b.progress);
    free(cache);
    if (done != LODE_OK) {
        status = report_unwritten(options->target, &error);
    } else if (is_first) {
        add_findings(call, &b.findings);
        damage_copied(options->target);
        if (!options->is_quiet) {
            say_sources(call->out, &result.sources);
            say_bare(call->out, &b);
        }
        if (options->has_stats || options->shared.json)
            write_stats(call->out, options->target, &result);
    }
    tally_free(&b.findings);
    return status;
}

/* Which source files are copied. */
static int sources_usage(const build_options *options)
{
    const text_list *roots = &options->source_roots;
    if (options->has_no_sources && (options->has_all_sources || roots->count > 0))
        return report("--no-source and --%s cannot be used together (see 'lode help build')",
                      options->has_all_sources ? "all-sources" : "source-root");
    if (roots->count > 0 && (options->has_all_sources || options->is_foreign))
        return report("--%s and --source-root cannot be used together (see 'lode help build')",
                      options->has_all_sources ? "all-sources" : "foreign");
    for (size_t i = 0; i < roots->count; i++) {
        char *real = realpath(roots->items[i], NULL);
        int is_everything = real && real[1] == '\0', code = errno;
        free(real);
        if (is_everything)
            return report("--source-root %s is the whole machine; use --all-sources", roots->items[i]);
        if (!real)
            return report("--source-root %s: %s", roots->items[i], strerror(code));
    }
    return EXIT_DONE;
}

static int build_usage(const invocation *call)
{
    const build_options *options = call->options;
    if (!options->target && !options->is_dry)
        return report("missing option: -o/--output (see 'lode help build')");
    if (options->is_quiet && options->shared.verbose)
        return report("--quiet and --verbose cannot be used together (see 'lode help build')");
    if (options->is_dry && options->shared.json)
        return report("--dry-run and --json cannot be used together (see 'lode help build')");
    if (options->rank_pattern && options->rank_table)
        return report("--rank-from and --ranks cannot be used together (see 'lode help build')");
    return sources_usage(options);
}

static const option_spec build_own[] = {
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(build_options, target)},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(build_options, force)},
    {"trace", 0, OPTION_SPAN_OR_WORD, "TIME", trace_choices, offsetof(build_options, trace)},
    {"rank-from", 0, OPTION_TEXT, "PATTERN", NULL, offsetof(build_options, rank_pattern)},
    {"ranks", 0, OPTION_TEXT, "FILE", NULL, offsetof(build_options, rank_table)},
    {"title", 0, OPTION_TEXT, "TEXT", NULL, offsetof(build_options, title)},
    {"memory", 0, OPTION_SIZE, "SIZE", NULL, offsetof(build_options, memory)},
    {"write", 0, OPTION_CHOICE, NULL, write_choices, offsetof(build_options, writing)},
    {"per", 0, OPTION_CHOICE, NULL, per_choices, offsetof(build_options, per)},
    {"statistics", 0, OPTION_CHOICES, NULL, statistic_choices, offsetof(build_options, statistics)},
    {"ignore-structs", 0, OPTION_FLAG, NULL, NULL, offsetof(build_options, ignores_structures)},
    {"like-hpcprof", 0, OPTION_FLAG, NULL, NULL, offsetof(build_options, is_like_hpcprof)},
    {"replace", 0, OPTION_TEXTS, "FROM=TO", NULL, offsetof(build_options, replacements)},
    {"foreign", 0, OPTION_FLAG, NULL, NULL, offsetof(build_options, is_foreign)},
    {"source-root", 0, OPTION_TEXTS, "DIR", NULL, offsetof(build_options, source_roots)},
    {"all-sources", 0, OPTION_FLAG, NULL, NULL, offsetof(build_options, has_all_sources)},
    {"no-source", 0, OPTION_FLAG, NULL, NULL, offsetof(build_options, has_no_sources)},
    {"structure", 0, OPTION_TEXTS, "FILE", NULL, offsetof(build_options, structures)},
    {"structure-cache", 0, OPTION_TEXT, "DIR", NULL, offsetof(build_options, structure_cache)},
    {"only", 0, OPTION_TEXTS, "PROGRAM", NULL, offsetof(build_options, programs)},
    {"no-loops", 0, OPTION_FLAG, NULL, NULL, offsetof(build_options, has_no_loops)},
    {"debug-max-size", 0, OPTION_SIZE, "SIZE", NULL, offsetof(build_options, debug_size_most)},
    {"stats", 0, OPTION_FLAG, NULL, NULL, offsetof(build_options, has_stats)},
    {"dry-run", 0, OPTION_FLAG, NULL, NULL, offsetof(build_options, is_dry)},
    {"quiet", 0, OPTION_FLAG, NULL, NULL, offsetof(build_options, is_quiet)},
    {0},
};

const command_spec command_build = {
    .name = "build",
    .operands = "[REC...]",
    .min_operands = 1,
    .max_operands = RECORDINGS_MAX,
    .stores = FOR_RECORDINGS | FOR_MEASUREMENTS,
    .options = {.own = build_own,
                .shared = SHARED_STRICT | SHARED_THREADS | SHARED_RANKS | SHARED_JSON | SHARED_VERBOSE},
    .options_size = sizeof(build_options),
    .on_ranks = FOR_RECORDINGS | FOR_MEASUREMENTS,
    .usage = build_usage,
    .run = run_build,
};
