/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "commands/info/info.h"
#include "output/out.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS_SHOWN 12 /* kinds of ids in a sentence */

/* What the profiles add up to. */
typedef struct profile_sum {
    uint64_t bytes, nodes, placeholders, inferred, values, samples, begin, end;
    uint32_t profiles, empty, traces;
} profile_sum;

static profile_sum add_up(const lode_measurements *m)
{
    profile_sum sum = {0};
    for (uint32_t i = 0; i < lode_measurements_profile_count(m); i++) {
        const lode_measured_profile *profile = lode_measurements_profile(m, i);
        sum.bytes += profile->bytes + profile->trace_bytes;
        sum.nodes += profile->nodes;
        sum.placeholders += profile->placeholders;
        sum.inferred += profile->inferred;
        sum.values += profile->values;
        sum.profiles += profile->file != NULL;
        sum.empty += profile->file && profile->values == 0;
        sum.traces += profile->trace_file != NULL;
        if (profile->samples > 0) {
            sum.begin = sum.samples == 0 || profile->begin < sum.begin ? profile->begin : sum.begin;
            sum.end = profile->end > sum.end ? profile->end : sum.end;
        }
        sum.samples += profile->samples;
    }
    return sum;
}

/* ---- ids ---- */

typedef struct kind_ids {
    unsigned kind;
    uint64_t *ids;
    size_t count, capacity;
} kind_ids;

static int compare_ids(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Kinds in the order of the first profile that has them. */
static size_t collect_ids(const lode_measurements *m, kind_ids kinds[IDS_SHOWN])
{
    size_t count = 0;
    for (uint32_t p = 0; p < lode_measurements_profile_count(m); p++) {
        const lode_measured_profile *profile = lode_measurements_profile(m, p);
        for (uint32_t i = 0; i < profile->id_count; i++) {
            const lode_id *id = &profile->ids[i];
            size_t k = 0;
            while (k < count && kinds[k].kind != id->kind)
                k++;
            if (k == IDS_SHOWN)
                continue;
            if (k == count)
                kinds[count++] = (kind_ids){.kind = id->kind};
            kinds[k].ids = alloc_grow(kinds[k].ids, &kinds[k].capacity, kinds[k].count + 1, sizeof(uint64_t));
            kinds[k].ids[kinds[k].count++] = id->flags & LODE_ID_PHYSICAL ? id->physical : id->logical;
        }
    }
    return count;
}

static size_t count_distinct(kind_ids *kind)
{
    size_t distinct = 0;
    qsort(kind->ids, kind->count, sizeof *kind->ids, compare_ids);
    for (size_t i = 0; i < kind->count; i++)
        distinct += i == 0 || kind->ids[i] != kind->ids[i - 1];
    return distinct;
}

static void say_ids(out *o, const lode_measurements *m)
{
    kind_ids kinds[IDS_SHOWN];
    char list[1024] = "";
    size_t count = collect_ids(m, kinds), used = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = lode_measurements_id_kind_name(m, kinds[i].kind);
        size_t distinct = count_distinct(&kinds[i]);
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%zu %.60s", i ? ", " : "", distinct,
                                     name ? name : "of an unnamed kind");
        free(kinds[i].ids);
    }
    if (count)
        out_entry(o, "Ids", "%s", list);
}

/* ---- sentences ---- */

static void say_traces(out *o, const profile_sum *sum)
{
    char traces[COUNTED_SIZE], samples[COUNTED_SIZE], duration[NUMBER_SIZE], start[2 * NUMBER_SIZE];
    if (sum->traces == 0) {
        out_entry(o, "Traces", "none");
        return;
    }
    format_counted(traces, sum->traces, "trace", "traces");
    format_counted(samples, sum->samples, "sample", "samples");
    if (sum->samples == 0) {
        out_entry(o, "Traces", "%s without samples", traces);
        return;
    }
    format_duration(duration, sum->end - sum->begin);
    format_start(start, sum->begin);
    out_entry(o, "Traces", "%s with %s, %s from %s", traces, samples, duration, start);
}

static void say_profiles(out *o, const profile_sum *sum)
{
    char profiles[COUNTED_SIZE], nodes[COUNTED_SIZE], values[COUNTED_SIZE], bytes[NUMBER_SIZE],
        empty[64] = "", more[COUNTED_SIZE + 64] = "";
    format_counted(profiles, sum->profiles, "profile", "profiles");
    format_counted(nodes, sum->nodes, "node", "nodes");
    format_counted(values, sum->values, "value", "values");
    format_bytes(bytes, sum->bytes);
    if (sum->empty)
        snprintf(empty, sizeof empty, " (%u of them without values)", sum->empty);
    if (sum->inferred)
        snprintf(more, sizeof more, "; the callers of %s were not unwound",
                 COUNTED(sum->inferred, "node", "nodes"));
    out_entry(o, "Profiles", "%s%s with %s and %s, %s%s", profiles, empty, nodes, values, bytes, more);
}

static void say_modules(out *o, const lode_measurements *m)
{
    uint32_t count = lode_measurements_module_count(m), used = 0;
    for (uint32_t i = 0; i < count; i++)
        used += lode_measurements_module(m, i)->nodes > 0;
    out_entry(o, "Modules", "%s, %s of them with nodes", GROUPED(count), GROUPED(used));
}

/* The title is the program of the first profile that says it. */
static const char *title_of(const lode_measurements *m)
{
    for (uint32_t i = 0; i < lode_measurements_profile_count(m); i++)
        if (lode_measurements_profile(m, i)->program[0])
            return lode_measurements_profile(m, i)->program;
    return "";
}

static void say_structures(out *o, const lode_measurements *m)
{
    uint32_t counts[LODE_STRUCTURE_LOGICAL + 1] = {0};
    uint64_t functions[LODE_STRUCTURE_LOGICAL + 1] = {0};
    char words[COUNTED_SIZE];
    for (uint32_t i = 0; i < lode_measurements_structure_count(m); i++) {
        const lode_measured_structure *structure = lode_measurements_structure(m, i);
        counts[structure->kind]++;
        functions[structure->kind] += structure->functions;
    }
    if (counts[LODE_STRUCTURE_FILE] > 0)
        out_entry(o, "Structure", "of %s",
                  COUNTED(counts[LODE_STRUCTURE_FILE], "load module", "load modules"));
    for (int kind = LODE_STRUCTURE_KERNEL; kind <= LODE_STRUCTURE_LOGICAL; kind++) {
        format_counted(words, functions[kind], "function", "functions");
        if (counts[kind] > 0)
            out_entry(o, kind == LODE_STRUCTURE_KERNEL ? "Kernel" : "Logical", "names of %s", words);
    }
}

static void print_text(out *o, const lode_measurements *m, const profile_sum *sum)
{
    const char *title = title_of(m);
    uint32_t skipped = lode_measurements_skip_count(m);
    out_entry(o, "Title", "%s", title[0] ? title : "(none)");
    out_entry(o, "Format", "measurements of hpcrun 04.00");
    say_profiles(o, sum);
    say_ids(o, m);
    say_traces(o, sum);
    say_modules(o, m);
    say_structures(o, m);
    if (skipped)
        out_entry(o, "Skipped", "%s (details: 'lode check')",
                  COUNTED(skipped, "file that cannot be used", "files that cannot be used"));
    out_gap(o);
}

static void print_json(out *o, const lode_measurements *m, const profile_sum *sum)
{
    OUT_FIELDS(o, "title", title_of(m), "format", "hpcrun 04.00", "bytes", sum->bytes, "nodes", sum->nodes,
               "placeholders", sum->placeholders, "inferred", sum->inferred, "values", sum->values, "samples",
               sum->samples);
}

/* ---- tables ---- */

static const out_column metric_columns[] = {
    {"index", "#", OUT_NUMBER, OUT_ALWAYS},
    {"total", "Total", OUT_REAL, OUT_ALWAYS},
    {"values", "Values", OUT_INTEGER, OUT_ALWAYS},
    {"name", "Metric", OUT_STRING, OUT_ALWAYS},
    {"description", "Description", OUT_STRING, OUT_IF_WIDE},
    {"period", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"is_integer", "", OUT_BOOL, OUT_DATA_ONLY},
    {"is_relation", "", OUT_BOOL, OUT_DATA_ONLY},
    {"visibility", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"formula", "", OUT_STRING, OUT_DATA_ONLY},
};

static void write_metrics(out *o, const lode_measurements *m, int is_verbose)
{
    uint32_t hidden = 0;
    out_table(o, OUT_MAIN, "metrics", metric_columns, 10, UNIT_COUNT);
    for (uint32_t i = 0; i < lode_measurements_metric_count(m); i++) {
        const lode_measured_metric *metric = lode_measurements_metric(m, i);
        hidden += metric->values == 0 && !is_verbose;
        if (metric->values == 0 && !is_verbose)
            continue;
        out_unit(o, unit_of_metric(metric->name));
        OUT_ROW(o, STYLE_PLAIN, i, metric->total, metric->values, metric->name, metric->description,
                metric->period, (uint64_t)metric->is_integer, (uint64_t)metric->is_relation,
                metric->visibility, metric->formula[0] ? metric->formula : NULL);
    }
    out_table_end(o);
    if (hidden)
        out_say(o, "%s without values (shown with --verbose)", COUNTED(hidden, "metric", "metrics"));
}

static const out_column profile_columns[] = {
    {"nodes", "Nodes", OUT_INTEGER, OUT_ALWAYS},   {"placeholders", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"inferred", "", OUT_INTEGER, OUT_DATA_ONLY},  {"valued", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"values", "Values", OUT_INTEGER, OUT_ALWAYS}, {"samples", "Samples", OUT_INTEGER, OUT_ALWAYS},
    {"bytes", "", OUT_BYTES, OUT_DATA_ONLY},       {"begin_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"end_ns", "", OUT_MOMENT, OUT_DATA_ONLY},     {"is_call_trace", "", OUT_BOOL, OUT_DATA_ONLY},
    {"host", "", OUT_STRING, OUT_DATA_ONLY},       {"job", "", OUT_STRING, OUT_DATA_ONLY},
    {"trace_file", "", OUT_STRING, OUT_DATA_ONLY}, {"ids", "Ids", OUT_STRING, OUT_ALWAYS},
    {"file", "File", OUT_STRING, OUT_ALWAYS},
};

/* "NODE 296485632, THREAD 0". */
static void write_ids(out *o, const lode_measurements *m, const lode_measured_profile *profile)
{
    char text[512] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < profile->id_count && used < sizeof text; i++) {
        const lode_id *id = &profile->ids[i];
        const char *name = lode_measurements_id_kind_name(m, id->kind);
        uint64_t number = id->flags & LODE_ID_PHYSICAL ? id->physical : id->logical;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.60s %llu", i ? ", " : "",
                                 name ? name : "?", (unsigned long long)number);
    }
    OUT_CELLS(o, profile->id_count ? text : NULL);
}

static void write_profile(out *o, const lode_measurements *m, const lode_measured_profile *profile)
{
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, profile->nodes, profile->placeholders, profile->inferred, profile->valued, profile->values,
              profile->samples, profile->bytes + profile->trace_bytes,
              out_u64_if(profile->samples > 0, profile->begin),
              out_u64_if(profile->samples > 0, profile->end), (uint64_t)profile->is_call_trace, profile->host,
              profile->job, profile->trace_file);
    write_ids(o, m, profile);
    OUT_CELLS(o, profile->file);
    out_row_end(o);
}

static const out_column module_columns[] = {
    {"nodes", "Nodes", OUT_INTEGER, OUT_ALWAYS},
    {"profiles", "Profiles", OUT_INTEGER, OUT_ALWAYS},
    {"path", "Load module", OUT_STRING, OUT_ALWAYS},
};

static const out_column structure_columns[] = {
    {"functions", "Functions", OUT_INTEGER, OUT_ALWAYS},
    {"inlined", "Inlined", OUT_INTEGER, OUT_ALWAYS},
    {"loops", "Loops", OUT_INTEGER, OUT_ALWAYS},
    {"statements", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"ranges", "Ranges", OUT_INTEGER, OUT_ALWAYS},
    {"dropped", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"calls", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"has_calls", "", OUT_BOOL, OUT_DATA_ONLY},
    {"is_cut", "", OUT_BOOL, OUT_DATA_ONLY},
    {"kind", "", OUT_STRING, OUT_DATA_ONLY},
    {"file", "", OUT_STRING, OUT_DATA_ONLY},
    {"path", "Structure of", OUT_STRING, OUT_ALWAYS},
};

static const char *const structure_kinds[] = {"structure", "kernel", "logical"};

static void write_structures(out *o, const lode_measurements *m)
{
    out_gap(o);
    out_table(o, OUT_SIDE, "structures", structure_columns, 12, UNIT_COUNT);
    for (uint32_t i = 0; i < lode_measurements_structure_count(m); i++) {
        const lode_measured_structure *structure = lode_measurements_structure(m, i);
        OUT_ROW(o, STYLE_PLAIN, structure->functions, structure->inlined, structure->loops,
                structure->statements, structure->ranges, structure->dropped, structure->calls,
                (uint64_t)structure->has_calls, (uint64_t)structure->is_cut, structure_kinds[structure->kind],
                structure->file, structure->path);
    }
    out_table_end(o);
}

static const out_column skip_columns[] = {
    {"file", "Skipped", OUT_STRING, OUT_ALWAYS},
    {"text", "Why", OUT_PROSE, OUT_ALWAYS},
};

static void write_skips(out *o, const lode_measurements *m)
{
    out_table(o, OUT_SIDE, "skipped", skip_columns, 2, UNIT_COUNT);
    for (uint32_t i = 0; i < lode_measurements_skip_count(m); i++) {
        OUT_ROW(o, STYLE_PLAIN, lode_measurements_skip(m, i)->file, lode_measurements_skip(m, i)->text);
    }
    out_table_end(o);
}

static void write_more(out *o, const lode_measurements *m)
{
    out_gap(o);
    out_table(o, OUT_SIDE, "profiles", profile_columns, 15, UNIT_COUNT);
    for (uint32_t i = 0; i < lode_measurements_profile_count(m); i++)
        write_profile(o, m, lode_measurements_profile(m, i));
    out_table_end(o);
    out_gap(o);
    out_table(o, OUT_SIDE, "modules", module_columns, 3, UNIT_COUNT);
    for (uint32_t i = 0; i < lode_measurements_module_count(m); i++) {
        const lode_measured_module *module = lode_measurements_module(m, i);
        OUT_ROW(o, STYLE_PLAIN, module->nodes, module->profiles, module->path);
    }
    out_table_end(o);
    if (lode_measurements_structure_count(m) > 0 || !out_is_prose(o))
        write_structures(o, m);
    if (lode_measurements_skip_count(m) > 0 || !out_is_prose(o)) {
        out_gap(o);
        write_skips(o, m);
    }
}

int info_measurements(const invocation *call, int is_verbose)
{
    out *o = call->out;
    const char *path = call->operands[0];
    lode_measurements *m;
    lode_error error = {0};
    if (lode_measurements_open(&m, path, &error) != LODE_OK)
        return store_unopened(path, &error);
    damage_check(&(damage_request){path, NULL, DAMAGE_READ_BYTES, call->shared->threads});
    profile_sum sum = add_up(m);
    out_begin(o, SCHEMA_INFO_MEASUREMENTS, path);
    if (is_verbose)
        info_json_fingerprint(o, path);
    if (out_format_of(o) == OUT_JSON)
        print_json(o, m, &sum);
    else
        print_text(o, m, &sum);
    write_metrics(o, m, is_verbose || !out_is_prose(o));
    if (is_verbose || !out_is_prose(o))
        write_more(o, m);
    out_end(o);
    lode_measurements_close(m);
    return EXIT_DONE;
}
