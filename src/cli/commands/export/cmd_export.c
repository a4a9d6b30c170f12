/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "commands/export/list.h"
#include "interrupt.h"
#include "options/formats.h"
#include "output/place.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/rec_session.h"
#include "stores/session.h"
#include "text/label.h"

#include <fnmatch.h>
#include <lode/private/usual_names.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

typedef struct export_options {
    shared_options shared;
    const char *target, *focus, *table, *title;
    int list, force;
    int format;      /* UNSAID, or an index of choices */
    int compression; /* lode_compression */
    int by_profile, lines, loops, no_entries, no_inline, samples, no_arguments;
} export_options;

enum {
    UNSAID = -1
};

/* ---- what to write ---- */

/* Whether the last component of a path is one of the usual names. */
static int is_named(const char *path, const char *names)
{
    const char *slash = strrchr(path, '/');
    char pattern[EXPORT_NAME_SIZE];
    while (export_next_name(&names, pattern))
        if (fnmatch(pattern, slash ? slash + 1 : path, FNM_CASEFOLD) == 0)
            return 1;
    return 0;
}

static const char *format_by_name(const char *path)
{
    lode_export_info info;
    for (size_t i = 0; lode_export_at(i, &info) == LODE_OK; i++)
        if (is_named(path, info.names))
            return info.name;
    return NULL;
}

static const struct {
    const char *suffix;
    lode_compression compression;
} packings[] = {{".gz", LODE_COMPRESSION_GZIP}, {".zst", LODE_COMPRESSION_ZSTD}};

/* The compression that the end of a name means; DEFAULT: none. Sets the length without it. */
static lode_compression compression_by_name(const char *path, size_t *length)
{
    *length = strlen(path);
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++) {
        size_t size = strlen(packings[i].suffix);
        if (*length > size && strcasecmp(path + *length - size, packings[i].suffix) == 0) {
            *length -= size;
            return packings[i].compression;
        }
    }
    return LODE_COMPRESSION_DEFAULT;
}

/* "x.folded.gz": a usual name with the suffix of a compression after it. */
static const char *format_by_packed_name(const char *path)
{
    size_t length;
    if (compression_by_name(path, &length) == LODE_COMPRESSION_DEFAULT)
        return NULL;
    char *plain = alloc_array(length + 1, 1);
    memcpy(plain, path, length);
    const char *format = format_by_name(plain);
    free(plain);
    return format;
}

/* The format by --format, or by the name of the file. NULL after a message. */
static const char *format_of(const export_options *options)
{
    if (options->format != UNSAID)
        return export_choices[options->format];
    const char *named = format_by_name(options->target);
    if (!named)
        named = format_by_packed_name(options->target);
    if (named)
        return named;
    report("missing option: --format; '%s' has the suffix of no format (see 'lode export --list')",
           options->target);
    return NULL;
}

static unsigned threads_of(const shared_options *shared)
{
    return (unsigned)(shared->threads < 4096 ? shared->threads : 4096);
}

static lode_export_options settings_of(const invocation *call, const char *format, out_place *place,
                                       lode_name_form usual_names)
{
    const export_options *options = call->options;
    const shared_options *shared = call->shared;
    lode_export_options settings = LODE_EXPORT_OPTIONS_INIT;
    settings.format = format;
    settings.title = options->title;
    size_t length;
    settings.compression = options->compression == LODE_COMPRESSION_DEFAULT
                               ? compression_by_name(options->target, &length)
                               : (lode_compression)options->compression;
    settings.names = shared->names == NAMES_BY_STORE ? usual_names : name_form(shared->names);
    settings.focus = options->focus;
    settings.depth = (uint32_t)(shared->depth < UINT32_MAX ? shared->depth : UINT32_MAX);
    settings.by_profile = options->by_profile;
    settings.lines = options->lines;
    settings.loops = options->loops;
    settings.no_entries = options->no_entries;
    settings.no_inline = options->no_inline;
    settings.samples = options->samples;
    settings.no_arguments = options->no_arguments;
    settings.table = options->table;
    settings.threads = threads_of(shared);
    settings.force = options->force;
    settings.strict = shared->strict;
    settings.kinds = call->kinds;
    settings.write = place_write;
    settings.write_user = place;
    return settings;
}

/* What was lost goes to standard error: standard output may be the export. */
static int say_lost(const lode_finding *finding)
{
    report("%s: %s", lode_severity_name(finding->severity), finding->text);
    return 0;
}

/* ---- databases ---- */

static int on_finding(void *user, const lode_finding *finding)
{
    session *s = user;
    progress_clear(&s->progress);
    return say_lost(finding);
}

static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    session *s = user;
    return progress_report(&s->progress, phase, done, total);
}

/* All metrics, also those without a total: a file has room for them. */
static int take_all(const session *s, const lode_metric **metrics, size_t *count)
{
    *count = lode_database_metric_count(s->db);
    for (uint32_t i = 0; i < *count; i++)
        metrics[i] = lode_database_metric(s->db, i);
    return EXIT_DONE;
}

/* The metrics that --metric names. Formulas have no value at a call path that adds up. */
static int take_metrics(const session *s, const lode_metric **metrics, size_t *count)
{
    if (s->metrics.has_all)
        return take_all(s, metrics, count);
    *count = s->metrics.count;
    for (size_t i = 0; i < s->metrics.count; i++) {
        const metric_item *item = &s->metrics.items[i];
        metrics[i] =
            lode_derived_is_metric(item->derived) ? lode_derived_metric(item->derived, 0) : item->accumulator;
        if (!metrics[i])
            return report("%s: formulas cannot be exported; name the metrics of '%s'", s->path,
                          metric_item_name(item));
    }
    return EXIT_DONE;
}

static int export_failed(const export_options *options, const out_place *place, const char *path,
                         const lode_error *error)
{
    if (error->status == LODE_ERR_CORRUPT || error->status == LODE_ERR_LIMIT ||
        error->status == LODE_ABSENT || error->status == LODE_NOT_FOUND)
        return report_error(path, error);
    if (error->status == LODE_ERR_CANCELLED)
        return EXIT_TROUBLE;
    /* A reader that has left has what it wants. */
    if (place->is_standard && place->is_broken)
        return EXIT_DONE;
    if (place->is_standard)
        return report_error("standard output", error);
    struct stat found;
    if (error->status == LODE_ERR_ARGUMENT && stat(options->target, &found) == 0)
        return report("%s: already exists; use --force to replace it", options->target);
    return report_unwritten(options->target, error);
}

static int export_metrics(session *s, const invocation *call, const char *format, out_place *place,
                          const lode_metric **metrics)
{
    lode_export_options settings = settings_of(call, format, place, lode_database_usual_names(s->db));
    lode_error error = {0};
    uint64_t start;
    if (take_metrics(s, metrics, &settings.metric_count) != EXIT_DONE)
        return EXIT_TROUBLE;
    settings.metrics = metrics;
    settings.selection = s->selection;
    settings.on_finding = on_finding;
    settings.on_progress = on_progress;
    settings.user = s;
    if (session_has_window(s) && session_window(s, &start, &settings.from, &settings.to) != EXIT_DONE)
        return EXIT_TROUBLE;
    if (damage_refuse(&(damage_request){s->path, s->db, DAMAGE_WRITE_BYTES, s->shared->threads}) != EXIT_DONE)
        return EXIT_TROUBLE;
    interrupt_hold();
    lode_status status = lode_export_database(s->db, place->path, &settings, &error);
    progress_clear(&s->progress);
    return status == LODE_OK ? EXIT_DONE : export_failed(call->options, place, s->path, &error);
}

static int export_database(session *s, const invocation *call, const char *format, out_place *place)
{
    const lode_metric **metrics =
        alloc_array(s->metrics.count + lode_database_metric_count(s->db), sizeof(const lode_metric *));
    int status = export_metrics(s, call, format, place, metrics);
    free(metrics);
    return status;
}

static int run_database(const invocation *call, const char *format, out_place *place)
{
    session s;
    int status = call->kind == LODE_STORE_MEASUREMENTS
                     ? session_open_measured(&s, call->operands[0], call->shared)
                     : session_open_metrics(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = export_database(&s, call, format, place);
    session_close(&s);
    return status;
}

/* ---- recordings ---- */

/* What a check would find too is counted; what is lost is said. */
static int on_recording_finding(void *user, const lode_finding *finding)
{
    rec_session *s = user;
    if (strncmp(finding->rule, "export-", strlen("export-")) != 0)
        return rec_on_finding(s, finding);
    progress_clear(&s->progress);
    return say_lost(finding);
}

static int export_recording(rec_session *s, const invocation *call, const char *format, out_place *place)
{
    lode_export_options settings = settings_of(call, format, place, LODE_NAME_SIMPLE);
    lode_error error = {0};
    settings.slice = &s->slice;
    settings.on_finding = on_recording_finding;
    settings.on_progress = rec_on_progress;
    settings.user = s;
    if (damage_refuse(&(damage_request){s->path, NULL, DAMAGE_WRITE_BYTES, s->shared->threads}) != EXIT_DONE)
        return EXIT_TROUBLE;
    interrupt_hold();
    lode_status status = lode_export_recording(s->recording, place->path, &settings, &error);
    progress_clear(&s->progress);
    return status == LODE_OK ? EXIT_DONE : export_failed(call->options, place, s->path, &error);
}

static int run_recording(const invocation *call, const char *format, out_place *place)
{
    rec_session s;
    int status = rec_open_slice(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = export_recording(&s, call, format, place);
    rec_close(&s);
    return status;
}

/* ---- the command ---- */

static int wants_list(const invocation *call)
{
    const export_options *options = call->options;
    return options->list;
}

static int export_usage(const invocation *call)
{
    const export_options *options = call->options;
    if (!options->list && !options->target)
        return report("missing option: -o/--output; '-' is standard output (see 'lode help export')");
    return EXIT_DONE;
}

/* Before measurements are built: what is there is not found only after that. */
static int check_target(const invocation *call)
{
    const export_options *options = call->options;
    struct stat found;
    int is_there = lstat(options->target, &found) == 0 && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode));
    if (call->kind != LODE_STORE_MEASUREMENTS || options->force || !is_there)
        return EXIT_DONE;
    return report("%s: already exists; use --force to replace it", options->target);
}

static int run_export(const invocation *call)
{
    const export_options *options = call->options;
    out_place place;
    if (options->list)
        return export_list(call->out);
    const char *format = format_of(options);
    if (!format || check_target(call) != EXIT_DONE || place_open(&place, options->target) != EXIT_DONE)
        return EXIT_TROUBLE;
    int status = call->kind == LODE_STORE_RECORDING ? run_recording(call, format, &place)
                                                    : run_database(call, format, &place);
    if (status == EXIT_DONE)
        damage_copied(options->target);
    place_close(&place, status == EXIT_DONE);
    return status;
}

static const option_spec export_own[] = {
    {"list", 0, OPTION_FLAG, NULL, NULL, offsetof(export_options, list)},
    {"format", 0, OPTION_CHOICE, "FORMAT", export_choices, offsetof(export_options, format)},
    {"output", 'o', OPTION_TEXT, "PATH", NULL, offsetof(export_options, target)},
    {"force", 'f', OPTION_FLAG, NULL, NULL, offsetof(export_options, force)},
    {"compression", 0, OPTION_CHOICE, NULL, export_compressions, offsetof(export_options, compression)},
    {"title", 0, OPTION_TEXT, "TEXT", NULL, offsetof(export_options, title)},
    {"by-profile", 0, OPTION_FLAG, NULL, NULL, offsetof(export_options, by_profile)},
    {"focus", 0, OPTION_TEXT, "NAME", NULL, offsetof(export_options, focus)},
    {"depth", 'd', OPTION_COUNT, "N", NULL, offsetof(export_options, shared.depth)},
    {"lines", 0, OPTION_FLAG, NULL, NULL, offsetof(export_options, lines)},
    {"no-inline", 0, OPTION_FLAG, NULL, NULL, offsetof(export_options, no_inline)},
    {"samples", 0, OPTION_FLAG, NULL, NULL, offsetof(export_options, samples)},
    {"no-arguments", 0, OPTION_FLAG, NULL, NULL, offsetof(export_options, no_arguments)},
    {"table", 0, OPTION_TEXT, "NAME", NULL, offsetof(export_options, table)},
    {0},
};

static const option_spec export_of_databases[] = {
    {"loops", 0, OPTION_FLAG, NULL, NULL, offsetof(export_options, loops)},
    {"no-entries", 0, OPTION_FLAG, NULL, NULL, offsetof(export_options, no_entries)},
    {0},
};

static const export_options export_defaults = {.format = UNSAID, .shared.names = NAMES_BY_STORE};

const command_spec command_export = {
    .name = "export",
    .operands = "[STORE]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_ALL | FOR_MEASUREMENTS,
    .builds_measurements = 1,
    .needs_no_store = wants_list,
    .options = {.own = export_own,
                .of_databases = export_of_databases,
                .shared = SHARED_PART | SHARED_METRICS | SHARED_PROFILES | SHARED_NAMES | SHARED_NO_SCHED |
                          SHARED_STRICT | SHARED_MEMORY | SHARED_THREADS | SHARED_JSON | SHARED_KINDS},
    .options_size = sizeof(export_options),
    .defaults = &export_defaults,
    .usage = export_usage,
    .run = run_export,
};
