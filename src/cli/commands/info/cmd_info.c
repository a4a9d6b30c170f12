/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "commands/info/info.h"
#include "commands/shared/recording.h"
#include "output/out.h"
#include "output/report.h"
#include "stores/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct info_options {
    shared_options shared;
    int verbose;
} info_options;

static const char *const kind_words[INFO_KIND_COUNT][2] = {
    {"entry point", "entry points"},
    {"function", "functions"},
    {"loop", "loops"},
    {"line", "lines"},
    {"instruction", "instructions"},
    {"of another kind", "of another kind"},
};
static const char *const kind_keys[INFO_KIND_COUNT] = {"entry_points", "functions",    "loops",
                                                       "lines",        "instructions", "other"};

/* "1 loop", "3,120 loops". */
static void count_words(char buffer[96], uint64_t count, const char *one, const char *many)
{
    char number[NUMBER_SIZE];
    format_count(number, count);
    snprintf(buffer, 96, "%s %s", number, count == 1 ? one : many);
}

/* Adds to a list in a sentence. */
static void append(char *list, size_t capacity, const char *item)
{
    size_t used = strlen(list);
    snprintf(list + used, capacity - used, "%s%s", used ? ", " : "", item);
}

static void say_files(out *o, const lode_database *db)
{
    char list[512] = "", item[128], size[NUMBER_SIZE];
    for (int i = 0; i < LODE_PART_COUNT; i++) {
        lode_part part = (lode_part)i;
        uint64_t bytes = lode_database_part_size(db, part);
        int is_usable = lode_database_has(db, part);
        /* A store that is one file has it for all parts. */
        if (i > 0 && lode_database_part_file(db, part) == lode_database_part_file(db, LODE_PART_META))
            continue;
        if (lode_database_part_file(db, LODE_PART_PROFILE) == lode_database_part_file(db, LODE_PART_META) &&
            !is_usable)
            continue;
        format_bytes(size, bytes);
        snprintf(item, sizeof item, "%s %s%s", lode_database_part_file(db, part),
                 is_usable || bytes ? size : "absent", !is_usable && bytes ? " (damaged, not used)" : "");
        append(list, sizeof list, item);
    }
    out_entry(o, "Files", "%s", list);
}

static void say_contexts(out *o, const lode_database *db, const info_facts *facts)
{
    char list[512] = "", item[96], total[NUMBER_SIZE], functions[96], files[96], modules[96];
    for (int kind = 0; kind < INFO_KIND_COUNT; kind++) {
        if (facts->contexts[kind] == 0)
            continue;
        count_words(item, facts->contexts[kind], kind_words[kind][0], kind_words[kind][1]);
        append(list, sizeof list, item);
    }
    format_count(total, facts->context_count);
    out_entry(o, "Contexts", "%s, up to %u deep: %s", total, facts->depth, list);
    count_words(functions, lode_database_function_count(db), "function", "functions");
    count_words(files, lode_database_file_count(db), "source file", "source files");
    count_words(modules, lode_database_module_count(db), "load module", "load modules");
    out_entry(o, "Names", "%s, %s (%u copied into the database), %s", functions, files, facts->copied_files,
              modules);
}

static void say_ids(out *o, const lode_database *db, const info_facts *facts)
{
    char list[1024] = "";
    for (size_t i = 0; i < facts->id_count; i++) {
        const info_ids *ids = &facts->ids[i];
        const char *name = lode_database_id_kind_name(db, ids->kind);
        char item[160], range[32] = "";
        if (ids->min != ids->max)
            snprintf(range, sizeof range, " (%u-%u)", ids->min, ids->max);
        if (name)
            snprintf(item, sizeof item, "%zu %.100s%s", ids->distinct, name, range);
        else
            snprintf(item, sizeof item, "%zu of kind %u%s", ids->distinct, ids->kind, range);
        append(list, sizeof list, item);
    }
    if (facts->id_count)
        out_entry(o, "Ids", "%s", list);
}

static void say_profiles(out *o, const lode_database *db, const info_facts *facts)
{
    char profiles[NUMBER_SIZE], values[NUMBER_SIZE], empty[64] = "";
    format_count(profiles, facts->profiles);
    format_count(values, facts->values);
    if (facts->empty_profiles)
        snprintf(empty, sizeof empty, " (%u of them empty)", facts->empty_profiles);
    out_entry(o, "Profiles", "%s%s with %s values", profiles, empty, values);
    say_ids(o, db, facts);
}

static void say_traces(out *o, const lode_database *db, const info_facts *facts)
{
    char lines[96], samples[96], duration[NUMBER_SIZE], start[2 * NUMBER_SIZE], empty[64] = "";
    if (!lode_database_has(db, LODE_PART_TRACE)) {
        out_entry(o, "Traces", "none");
        return;
    }
    count_words(lines, facts->trace_lines, "line", "lines");
    count_words(samples, facts->samples, "sample", "samples");
    if (facts->empty_lines)
        snprintf(empty, sizeof empty, " (%u of them empty)", facts->empty_lines);
    if (facts->samples == 0) {
        out_entry(o, "Traces", "%s without samples", lines);
        return;
    }
    format_duration(duration, facts->trace_max - facts->trace_min);
    format_start(start, facts->trace_min);
    out_entry(o, "Traces", "%s%s with %s, %s from %s", lines, empty, samples, duration, start);
}

/* Scopes by name, and the different statistics: "sum", "min", "sum of ($$^2)". */
static void metric_words(const lode_metric *metric, char scopes[256], char statistics[256])
{
    lode_metric_scope scope;
    lode_metric_statistic statistic;
    scopes[0] = statistics[0] = '\0';
    for (uint32_t i = 0; lode_metric_scope_at(metric, i, &scope) == LODE_OK; i++)
        append(scopes, 256, lode_scope_name(scope.scope));
    for (uint32_t i = 0; lode_metric_statistic_at(metric, i, &statistic) == LODE_OK; i++) {
        char item[128];
        const char *combine = lode_combine_name(statistic.combine);
        int is_plain = strcmp(statistic.formula, "$$") == 0;
        snprintf(item, sizeof item, "%s%s%.80s", combine ? combine : "?", is_plain ? "" : " of ",
                 is_plain ? "" : statistic.formula);
        if (!info_list_has(statistics, item))
            append(statistics, 256, item);
    }
}

static const out_column metric_columns[] = {
    {"index", "#", OUT_NUMBER, OUT_ALWAYS},        {"total", "Total", OUT_REAL, OUT_ALWAYS},
    {"name", "Metric", OUT_STRING, OUT_ALWAYS},    {"statistics", "Statistics", OUT_STRING, OUT_IF_WIDE},
    {"scopes", "Scopes", OUT_STRING, OUT_IF_WIDE},
};

static void say_metrics(out *o, const session *s, int is_verbose)
{
    uint32_t hidden = 0;
    out_table(o, OUT_MAIN, "metrics", metric_columns, 5, UNIT_COUNT);
    for (uint32_t i = 0; i < lode_database_metric_count(s->db); i++) {
        const lode_metric *metric = lode_database_metric(s->db, i);
        const char *name = lode_metric_name(metric);
        char scopes[256], statistics[256];
        double value = session_metric_total(s, metric);
        /* The sum of an accumulator says nothing: its mean is among the derived metrics. */
        if (!is_verbose && lode_metric_counted_by(s->db, metric))
            continue;
        hidden += value <= 0 && !is_verbose;
        if (value <= 0 && !is_verbose)
            continue;
        metric_words(metric, scopes, statistics);
        out_unit(o, unit_of_metric(name));
        OUT_ROW(o, STYLE_PLAIN, i, value, name, statistics, scopes);
    }
    out_table_end(o);
    if (hidden)
        out_say(o, "%s without a total (shown with --verbose)", COUNTED(hidden, "metric", "metrics"));
}

/* Text, or CSV, which is all metrics and nothing else. */
static void print_text(out *o, const session *s, const info_facts *facts, const lode_derived_list *derived,
                       int is_verbose)
{
    const char *title = lode_database_title(s->db), *description = lode_database_description(s->db);
    out_entry(o, "Title", "%s", title[0] ? title : "(none)");
    /* What hpcprof writes when nobody said anything says nothing. */
    if (description[0] && strcmp(description, "TODO database description") != 0)
        out_entry(o, "About", "%s", description);
    out_entry(o, "Format", "%s", lode_database_format(s->db));
    say_files(o, s->db);
    say_contexts(o, s->db, facts);
    say_profiles(o, s->db, facts);
    say_traces(o, s->db, facts);
    out_gap(o);
    say_metrics(o, s, is_verbose || out_format_of(o) == OUT_CSV);
    info_say_derived(o, s, derived, is_verbose);
}

static void json_files(out *o, const lode_database *db)
{
    out_break(o);
    out_array(o, "files");
    for (int i = 0; i < LODE_PART_COUNT; i++) {
        lode_part part = (lode_part)i;
        unsigned major, minor;
        lode_database_version(db, part, &major, &minor);
        out_object(o, NULL);
        OUT_FIELDS(o, "name", lode_database_part_file(db, part), "present",
                   lode_database_has(db, part) || lode_database_part_size(db, part) > 0, "usable",
                   lode_database_has(db, part), "size", lode_database_part_size(db, part));
        OUT_ARRAY(o, "version", major, minor);
        out_object_end(o);
    }
    out_array_end(o);
}

static void json_contexts(out *o, const lode_database *db, const info_facts *facts)
{
    out_break(o);
    out_object(o, "contexts");
    OUT_FIELDS(o, "count", facts->context_count, "depth", facts->depth);
    for (int kind = 0; kind < INFO_KIND_COUNT; kind++)
        OUT_FIELDS(o, kind_keys[kind], facts->contexts[kind]);
    OUT_FIELDS(o, "inlined_calls", facts->inlined);
    out_object_end(o);
    out_break(o);
    OUT_FIELDS(o, "functions", lode_database_function_count(db), "source_files", lode_database_file_count(db),
               "copied_source_files", facts->copied_files, "modules", lode_database_module_count(db));
}

static void json_profiles(out *o, const lode_database *db, const info_facts *facts)
{
    out_break(o);
    out_object(o, "profiles");
    OUT_FIELDS(o, "count", facts->profiles, "empty", facts->empty_profiles, "values", facts->values,
               "summary_values", facts->summary_values);
    out_array(o, "ids");
    for (size_t i = 0; i < facts->id_count; i++) {
        OUT_OBJECT(o, NULL, "kind", lode_database_id_kind_name(db, facts->ids[i].kind), "kind_number",
                   facts->ids[i].kind, "distinct", facts->ids[i].distinct, "min", facts->ids[i].min, "max",
                   facts->ids[i].max);
    }
    out_array_end(o);
    out_object_end(o);
}

static void json_traces(out *o, const lode_database *db, const info_facts *facts)
{
    out_break(o);
    if (!lode_database_has(db, LODE_PART_TRACE)) {
        OUT_FIELDS(o, "traces", out_none());
        return;
    }
    OUT_OBJECT(o, "traces", "lines", facts->trace_lines, "empty", facts->empty_lines, "samples",
               facts->samples, "begin_ns", out_digits(facts->trace_min), "end_ns",
               out_digits(facts->trace_max), "is_utc", time_is_utc(facts->trace_min));
}

static void json_metric(out *o, const session *s, const lode_metric *metric)
{
    lode_metric_scope scope;
    lode_metric_statistic statistic;
    out_break(o);
    out_object(o, NULL);
    OUT_FIELDS(o, "index", lode_metric_index(metric), "name", lode_metric_name(metric), "total",
               session_metric_total(s, metric));
    out_array(o, "scopes");
    for (uint32_t i = 0; lode_metric_scope_at(metric, i, &scope) == LODE_OK; i++)
        OUT_ELEMENTS(o, lode_scope_name(scope.scope));
    out_array_end(o);
    out_array(o, "statistics");
    for (uint32_t i = 0; lode_metric_statistic_at(metric, i, &statistic) == LODE_OK; i++) {
        OUT_OBJECT(o, NULL, "scope", lode_scope_name(statistic.scope), "formula", statistic.formula,
                   "combine", lode_combine_name(statistic.combine));
    }
    out_array_end(o);
    out_object_end(o);
}

static void print_json(out *o, const session *s, const info_facts *facts, const lode_derived_list *derived)
{
    OUT_FIELDS(o, "title", lode_database_title(s->db), "description", lode_database_description(s->db),
               "format", lode_database_format(s->db));
    json_files(o, s->db);
    json_contexts(o, s->db, facts);
    json_profiles(o, s->db, facts);
    json_traces(o, s->db, facts);
    out_break(o);
    out_array(o, "metrics");
    for (uint32_t i = 0; i < lode_database_metric_count(s->db); i++)
        json_metric(o, s, lode_database_metric(s->db, i));
    out_array_end(o);
    info_json_derived(o, s, derived);
}

static int info_database(const invocation *call)
{
    const info_options *options = call->options;
    session s;
    lode_derived_list *derived = NULL;
    info_facts facts = {0};
    lode_error error = {0};
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE && info_gather(&facts, s.db, &error) != LODE_OK)
        status = session_error(&s, &error);
    if (status == EXIT_DONE)
        status = info_open_derived(&s, &derived);
    if (status == EXIT_DONE) {
        out_begin(call->out, SCHEMA_INFO_DATABASE, s.path);
        if (options->verbose)
            info_json_fingerprint(call->out, s.path);
        if (out_format_of(call->out) == OUT_JSON)
            print_json(call->out, &s, &facts, derived);
        else
            print_text(call->out, &s, &facts, derived, options->verbose);
        out_end(call->out);
    }
    info_free(&facts);
    lode_derived_list_close(derived);
    session_close(&s);
    return status;
}

static int run_info(const invocation *call)
{
    const info_options *options = call->options;
    if (call->kind == LODE_STORE_RECORDING)
        return info_recording(call, options->verbose);
    if (call->kind == LODE_STORE_MEASUREMENTS)
        return info_measurements(call, options->verbose);
    return info_database(call);
}

static const option_spec info_own[] = {
    {"verbose", 'v', OPTION_FLAG, NULL, NULL, offsetof(info_options, verbose)},
    {0},
};

static const option_spec info_of_recordings[] = {
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {0},
};

const command_spec command_info = {
    .name = "info",
    .operands = "[STORE]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_ALL | FOR_MEASUREMENTS,
    .options = {.own = info_own,
                .of_recordings = info_of_recordings,
                .shared = SHARED_STRICT | SHARED_MEMORY | SHARED_JSON | SHARED_CSV | SHARED_COLOR},
    .options_size = sizeof(info_options),
    .run = run_info,
};
