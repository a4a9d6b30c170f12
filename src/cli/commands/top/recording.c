/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/shared/recording.h"

#include "options/filter.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/rec_session.h"
#include "text/label.h"

#include <stdio.h>
#include <string.h>

#define OFF_CPU_SIZE (NUMBER_SIZE + 80)

enum {
    COLUMN_SELF_MARGIN = 1, /* of an estimate */
    COLUMN_TOTAL_MARGIN = 4,
    COLUMN_ELAPSED = 5, /* only if calls run at the same time */
    COLUMN_ERRORS = 7,  /* text: only if there are some */
    COLUMN_COUNT = 26,
    NEIGHBOUR_COLUMN_COUNT = 8
};

static const out_column all_columns[COLUMN_COUNT] = {
    {"self_ns", "Self", OUT_TIME, OUT_ALWAYS},        {"self_margin_ns", "±", OUT_TIME, OUT_NEVER},
    {"self_percent", "%", OUT_PERCENT, OUT_ALWAYS},   {"total_ns", "Total", OUT_TIME, OUT_ALWAYS},
    {"total_margin_ns", "±", OUT_TIME, OUT_NEVER},    {"elapsed_ns", "Elapsed", OUT_TIME, OUT_NEVER},
    {"calls", "Calls", OUT_INTEGER, OUT_ALWAYS},      {"errors", "Errors", OUT_INTEGER, OUT_ALWAYS},
    {"mean_ns", "Mean", OUT_REAL, OUT_IF_WIDE},       {"min_ns", "", OUT_TIME, OUT_DATA_ONLY},
    {"p50_ns", "", OUT_TIME, OUT_DATA_ONLY},          {"p95_ns", "", OUT_TIME, OUT_DATA_ONLY},
    {"p99_ns", "p99", OUT_TIME, OUT_IF_WIDE},         {"max_ns", "Max", OUT_TIME, OUT_IF_WIDE},
    {"deviation_ns", "", OUT_REAL, OUT_DATA_ONLY},    {"location", "Location", OUT_STRING, OUT_TEXT_IF_WIDE},
    {"tail", "Module", OUT_STRING, OUT_TEXT_IF_WIDE}, {"name", "Function", OUT_STRING, OUT_ALWAYS},
    {"symbol", "", OUT_STRING, OUT_DATA_ONLY},        {"module", "", OUT_STRING, OUT_DATA_ONLY},
    {"offset", "", OUT_ADDRESS, OUT_DATA_ONLY},       {"file", "", OUT_STRING, OUT_DATA_ONLY},
    {"line", "", OUT_NUMBER, OUT_DATA_ONLY},          {"functions", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"kind", "", OUT_STRING, OUT_DATA_ONLY},          {"has_several_modules", "", OUT_BOOL, OUT_DATA_ONLY},
};

static const char *tail_of(const lode_module *module)
{
    return module ? lode_path_tail(lode_module_path(module)) : NULL;
}

/* What rows are written with. */
typedef struct row_style {
    int names;
    const lode_kind_rules *kinds;
} row_style;

void say_several_modules(out *o, size_t rows)
{
    if (rows)
        out_say(o, "%s of one name in several modules (--by symbol lists them)",
                COUNTED(rows, "row adds up functions", "rows add up functions"));
}

/* What names the function beyond its label. */
static void identity_cells(out *o, const lode_function *function)
{
    const lode_module *module = lode_function_module(function);
    OUT_CELLS(o, lode_function_name(function), path_of_module(module),
              out_u64_if(module != NULL, lode_function_offset(function)));
}

/* Of single calls. An estimate has none: calls that were open where a part begins look shorter. */
static void single_calls(out *o, const lode_call_row *row, int is_exact)
{
    if (is_exact) {
        OUT_CELLS(o, row->mean, row->min, row->p50, row->p95, row->p99, row->max, row->deviation);
    } else {
        OUT_CELLS(o, out_none(), out_none(), out_none(), out_none(), out_none(), out_none(), out_none());
    }
}

static out_value margin_cell(const lode_call_margin *margin, double value)
{
    return out_u64_if(margin != NULL, (uint64_t)(value + 0.5));
}

static void write_row(out *o, const lode_calls *calls, size_t index, double whole, const row_style *style,
                      label *l)
{
    const lode_call_row *row = lode_calls_at(calls, index);
    const lode_call_margin *margin = lode_calls_margin(calls, index);
    const lode_function *function = row->function;
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, row->self, margin_cell(margin, margin ? margin->self : 0),
              out_share((double)row->self, whole), row->total,
              margin_cell(margin, margin ? margin->total : 0), row->elapsed, row->calls, row->errors);
    single_calls(o, row, margin == NULL);
    OUT_CELLS(o, label_place(l, row->file, row->line), label_modules(row->module, row->several_modules),
              label_name(l, function, style->names));
    if (row->functions == 1) {
        identity_cells(o, function);
    } else {
        OUT_CELLS(o, out_none(), path_of_module(row->module), out_none());
    }
    /* Functions of several modules may be of several kinds. */
    int kind = (int)lode_kind_by_rules(style->kinds, NULL, function);
    OUT_CELLS(o, path_of_file(row->file), out_u64_if(row->line != 0, row->line), row->functions,
              row->several_modules ? NULL : lode_kind_name(kind), row->several_modules != 0);
    out_row_end(o);
}

/* What the calls of all tracks add up to. */
typedef struct top_sum {
    uint64_t calls, errors, total; /* the total is also that of all self times */
    uint64_t out;                  /* off-CPU */
    uint64_t beside;               /* of the total, on side tracks of requests */
    uint64_t elapsed;              /* of requests, from the first begin to the last end */
} top_sum;

/* From the first begin to the last end on the tracks of a request, which follow each other. */
static uint64_t elapsed_of(const lode_calls *calls, const lode_recording *recording, uint32_t *next)
{
    uint32_t main = lode_track_main(recording, lode_calls_track(calls, *next)->track);
    uint64_t begin = UINT64_MAX, end = 0;
    for (; *next < lode_calls_track_count(calls); ++*next) {
        const lode_track_row *row = lode_calls_track(calls, *next);
        if (lode_track_main(recording, row->track) != main)
            break;
        if (row->end == 0)
            continue;
        begin = row->begin < begin ? row->begin : begin;
        end = row->end > end ? row->end : end;
    }
    return end > begin ? end - begin : 0;
}

static top_sum add_up(const lode_calls *calls, const lode_recording *recording)
{
    top_sum sum = {0};
    for (uint32_t i = 0; i < lode_calls_track_count(calls); i++) {
        sum.calls += lode_calls_track(calls, i)->calls;
        sum.errors += lode_calls_track(calls, i)->errors;
        sum.total += lode_calls_track(calls, i)->total;
        sum.out += lode_calls_track(calls, i)->out;
        uint32_t track = lode_calls_track(calls, i)->track;
        if (lode_track_main(recording, track) != track)
            sum.beside += lode_calls_track(calls, i)->total;
    }
    for (uint32_t i = 0; sum.beside > 0 && i < lode_calls_track_count(calls);)
        sum.elapsed += elapsed_of(calls, recording, &i);
    return sum;
}

/* What off-CPU time counts as. */
static void say_off_cpu(char text[OFF_CPU_SIZE], const rec_session *s, uint64_t off_cpu)
{
    char time[NUMBER_SIZE];
    format_duration(time, off_cpu);
    text[0] = '\0';
    if (off_cpu && s->is_running)
        snprintf(text, OFF_CPU_SIZE, " of running time, and were off-CPU for %s", time);
    else if (off_cpu && s->slice.no_sched)
        snprintf(text, OFF_CPU_SIZE, ", %s of it off-CPU (--sched shows where)", time);
}

static void say_heading(out *o, const rec_session *s, const top_sum *sum)
{
    char time[NUMBER_SIZE], errors[NUMBER_SIZE], tracks[2 * NUMBER_SIZE], off_cpu[OFF_CPU_SIZE];
    format_duration(time, sum->total);
    format_count(errors, sum->errors);
    rec_say_tracks(tracks, sizeof tracks, s);
    rec_write_slice(o, s);
    OUT_FIELDS(o, "total_ns", sum->total, "calls", sum->calls, "errors", sum->errors, "off_cpu_ns", sum->out);
    say_off_cpu(off_cpu, s, sum->out);
    if (sum->beside) {
        char elapsed[NUMBER_SIZE];
        format_duration(elapsed, sum->elapsed);
        snprintf(off_cpu, sizeof off_cpu, " of work in %s of elapsed time", elapsed);
        OUT_FIELDS(o, "concurrent_ns", sum->beside, "work_ns", sum->total, "elapsed_ns", sum->elapsed);
    }
    if (sum->errors)
        out_say(o, "%s in %s took %s%s; %s ended with an error\n", COUNTED(sum->calls, "call", "calls"),
                tracks, time, off_cpu, errors);
    else
        out_say(o, "%s in %s took %s%s\n", COUNTED(sum->calls, "call", "calls"), tracks, time, off_cpu);
}

/* The column that the rows are sorted by is shown. */
static void show_sorted(out_column columns[COLUMN_COUNT], lode_calls_sort sort)
{
    static const struct {
        lode_calls_sort sort;
        const char *key, *title;
    } sorted[] = {{LODE_CALLS_BY_MEAN, "mean_ns", "Mean"}, {LODE_CALLS_BY_MIN, "min_ns", "Min"},
                  {LODE_CALLS_BY_P50, "p50_ns", "p50"},    {LODE_CALLS_BY_P95, "p95_ns", "p95"},
                  {LODE_CALLS_BY_P99, "p99_ns", "p99"},    {LODE_CALLS_BY_MAX, "max_ns", "Max"}};
    for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++)
        for (int k = 0; k < COLUMN_COUNT; k++) {
            if (sorted[i].sort != sort || strcmp(columns[k].key, sorted[i].key) != 0)
                continue;
            columns[k].title = sorted[i].title;
            columns[k].visibility = OUT_ALWAYS;
        }
}

static void print_calls(out *o, rec_session *s, const rec_rows *rows, const top_settings *settings)
{
    row_style style = {names_of_recordings(s->shared->names), settings->kinds};
    top_sum sum = add_up(rows->calls, s->recording);
    label l = {0};
    out_column columns[COLUMN_COUNT];
    memcpy(columns, all_columns, sizeof columns);
    columns[COLUMN_ERRORS].visibility = sum.errors ? OUT_ALWAYS : OUT_DATA_ONLY;
    if (sum.beside)
        columns[COLUMN_ELAPSED].visibility = OUT_ALWAYS;
    if (s->estimate)
        columns[COLUMN_SELF_MARGIN].visibility = columns[COLUMN_TOTAL_MARGIN].visibility = OUT_ALWAYS;
    show_sorted(columns, settings->sort);
    size_t count = rows->count, several = 0;
    size_t shown = s->shared->limit && s->shared->limit < count ? (size_t)s->shared->limit : count;
    out_begin(o, SCHEMA_TOP_RECORDING, s->path);
    say_heading(o, s, &sum);
    out_fact_rows(o, shown, count);
    OUT_FIELDS(o, "percentile_error", LODE_PERCENTILE_ERROR);
    out_table(o, OUT_MAIN, "rows", columns, COLUMN_COUNT, UNIT_NANOSECONDS);
    for (size_t i = 0; i < shown; i++) {
        write_row(o, rows->calls, rows->order[i], (double)sum.total, &style, &l);
        several += lode_calls_at(rows->calls, rows->order[i])->several_modules != 0;
    }
    out_table_end(o);
    out_shown(o, shown, count, "rows");
    rec_say_estimate(o, s);
    say_several_modules(o, several);
    filter_say_hidden(o, rows->hidden);
    if (count == 0)
        out_say(o, "No calls.");
    damage_write(o);
    out_end(o);
    label_free(&l);
}

/* Whether an estimate has what rows are sorted by. */
static int can_estimate(lode_calls_sort sort)
{
    return sort == LODE_CALLS_BY_SELF || sort == LODE_CALLS_BY_TOTAL || sort == LODE_CALLS_BY_CALLS ||
           sort == LODE_CALLS_BY_ERRORS || sort == LODE_CALLS_BY_ELAPSED || sort == LODE_CALLS_BY_NAME;
}

static int print_top(out *o, rec_session *s, const top_settings *settings)
{
    rec_rows rows;
    if (s->shared->estimate && !can_estimate(settings->sort))
        return report("--estimate has no numbers of single calls to sort by (see 'lode help top')");
    lode_calls_options options = rec_calls_options(s);
    options.sort = settings->sort;
    options.merge = !settings->is_by_symbol;
    options.names = name_form(names_of_recordings(s->shared->names));
    options.filter = settings->filter;
    int status = rec_compute_calls(s, &options, &rows);
    if (status == EXIT_DONE)
        print_calls(o, s, &rows, settings);
    rec_free_rows(&rows);
    return status;
}

static const out_column neighbour_columns[NEIGHBOUR_COLUMN_COUNT] = {
    {"total_ns", "Total", OUT_TIME, OUT_ALWAYS},  {"self_ns", "Self", OUT_TIME, OUT_ALWAYS},
    {"calls", "Calls", OUT_INTEGER, OUT_ALWAYS},  {"tail", "Module", OUT_STRING, OUT_TEXT_IF_WIDE},
    {"name", "Function", OUT_STRING, OUT_ALWAYS}, {"symbol", "", OUT_STRING, OUT_DATA_ONLY},
    {"module", "", OUT_STRING, OUT_DATA_ONLY},    {"offset", "", OUT_ADDRESS, OUT_DATA_ONLY},
};

static void write_neighbour(out *o, const lode_neighbour_row *row, int names, label *l)
{
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, row->total, row->self, row->calls,
              row->function ? tail_of(lode_function_module(row->function)) : NULL,
              row->function ? label_name(l, row->function, names) : "(outermost calls)");
    if (row->function) {
        identity_cells(o, row->function);
    } else {
        OUT_CELLS(o, out_none(), out_none(), out_none());
    }
    out_row_end(o);
}

/* What was typed, and how many functions it means. */
typedef struct asked_name {
    const char *text;
    size_t functions;
} asked_name;

static void print_neighbours(out *o, rec_session *s, const lode_neighbours *rows, const asked_name *name,
                             lode_neighbour which)
{
    label l = {0};
    size_t count = lode_neighbours_count(rows);
    size_t shown = s->shared->limit && s->shared->limit < count ? (size_t)s->shared->limit : count;
    const char *word = which == LODE_CALLERS ? "callers" : "callees";
    out_begin(o, SCHEMA_TOP_NEIGHBOURS, s->path);
    rec_write_slice(o, s);
    OUT_FIELDS(o, word, name->text);
    out_fact_rows(o, shown, count);
    if (which == LODE_CALLERS)
        out_say(o, "Callers of '%s'\n", name->text);
    else
        out_say(o, "Callees of '%s'\n", name->text);
    out_table(o, OUT_MAIN, "rows", neighbour_columns, NEIGHBOUR_COLUMN_COUNT, UNIT_NANOSECONDS);
    for (size_t i = 0; i < shown; i++)
        write_neighbour(o, lode_neighbours_at(rows, i), names_of_recordings(s->shared->names), &l);
    out_table_end(o);
    out_shown(o, shown, count, "rows");
    rec_say_estimate(o, s);
    if (name->functions > 1)
        out_say(o, "%s '%s'", COUNTED(name->functions, "function matches", "functions match"), name->text);
    if (count == 0)
        out_say(o, "No recorded callees.");
    damage_write(o);
    out_end(o);
    label_free(&l);
}

static int find_neighbours(out *o, rec_session *s, const char *name, lode_neighbour which)
{
    lode_matches *matches = NULL;
    lode_neighbours *rows = NULL;
    lode_error error = {0};
    int result = EXIT_DONE;
    const lode_calltree *tree = rec_calltree(s);
    if (!tree)
        return EXIT_TROUBLE;
    lode_status status = lode_matches_find(&matches, lode_calltree_cost(tree), name,
                                           name_form(names_of_recordings(s->shared->names)), &error);
    if (status == LODE_OK)
        status = lode_neighbours_of(&rows, tree, matches, which, &error);
    if (status != LODE_OK)
        result = rec_error(s, &error);
    else
        print_neighbours(o, s, rows, &(asked_name){name, lode_matches_count(matches)}, which);
    lode_neighbours_free(rows);
    lode_matches_free(matches);
    return result;
}

int top_recording(const invocation *call, const top_settings *settings)
{
    rec_session s;
    int status = rec_open_slice(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE && settings->callers)
        status = find_neighbours(call->out, &s, settings->callers, LODE_CALLERS);
    else if (status == EXIT_DONE && settings->callees)
        status = find_neighbours(call->out, &s, settings->callees, LODE_CALLEES);
    else if (status == EXIT_DONE)
        status = print_top(call->out, &s, settings);
    rec_close(&s);
    return status;
}
