/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "commands/shared/costs.h"
#include "commands/shared/group_choices.h"
#include "commands/shared/groups.h"
#include "commands/shared/recording.h"
#include "commands/top/metrics.h"
#include "options/filter.h"
#include "output/report.h"
#include "stores/session.h"
#include "text/label.h"
#include "text/suggest.h"

#include <strings.h>

typedef struct top_options {
    shared_options shared;
    const char *by; /* one of group_choices, else kinds of ids */
    const char *callers, *callees;
    const char *list;
} top_options;

/* Time in a function itself has two usual names, and so has time with what it calls. */
#define SORTS(X)                                                                                             \
    X("exclusive", LODE_SORT_EXCLUSIVE, LODE_CALLS_BY_SELF)                                                  \
    X("inclusive", LODE_SORT_INCLUSIVE, LODE_CALLS_BY_TOTAL)                                                 \
    X("self", LODE_SORT_EXCLUSIVE, LODE_CALLS_BY_SELF)                                                       \
    X("total", LODE_SORT_INCLUSIVE, LODE_CALLS_BY_TOTAL)                                                     \
    X("elapsed", NOT_OF_DATABASES, LODE_CALLS_BY_ELAPSED)                                                    \
    X("name", LODE_SORT_NAME, LODE_CALLS_BY_NAME)                                                            \
    X("calls", NOT_OF_DATABASES, LODE_CALLS_BY_CALLS)                                                        \
    X("mean", NOT_OF_DATABASES, LODE_CALLS_BY_MEAN)                                                          \
    X("min", NOT_OF_DATABASES, LODE_CALLS_BY_MIN)                                                            \
    X("max", NOT_OF_DATABASES, LODE_CALLS_BY_MAX)                                                            \
    X("errors", NOT_OF_DATABASES, LODE_CALLS_BY_ERRORS)                                                      \
    X("p50", NOT_OF_DATABASES, LODE_CALLS_BY_P50)                                                            \
    X("p95", NOT_OF_DATABASES, LODE_CALLS_BY_P95)                                                            \
    X("p99", NOT_OF_DATABASES, LODE_CALLS_BY_P99)
#define NOT_OF_DATABASES      (-1)
#define SORT_NAME(name, ...)  name,
#define SORT_ORDER(name, ...) {__VA_ARGS__},

static const char *const sort_choices[] = {SORTS(SORT_NAME) NULL};
static const struct sort_order {
    int database; /* lode_hotspot_sort */
    lode_calls_sort recording;
} sort_orders[] = {SORTS(SORT_ORDER)};

/* Whether rows are groups of contexts. The others are groups of profiles. */
static int find_by(const top_options *options, lode_group_by *by)
{
    return group_find(options->by, group_choices, by);
}

enum {
    COLUMN_LOCATION = 4, /* text: where a function is */
    COLUMN_MODULE = 5,
    COLUMN_NAME = 6,
    COLUMN_INSIDE = 7, /* text: in which function a line or a loop is */
    COLUMN_COUNT = 16
};

static const out_column all_columns[COLUMN_COUNT] = {
    {"exclusive", "Exclusive", OUT_REAL, OUT_ALWAYS},
    {"exclusive_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"inclusive", "Inclusive", OUT_REAL, OUT_ALWAYS},
    {"inclusive_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"location", "Location", OUT_STRING, OUT_NEVER},
    {"module", "Module", OUT_STRING, OUT_NEVER},
    {"name", "", OUT_STRING, OUT_ALWAYS},
    {"inside", "Function", OUT_STRING, OUT_NEVER},
    {"function", "", OUT_STRING, OUT_DATA_ONLY},
    {"file", "", OUT_STRING, OUT_DATA_ONLY},
    {"line", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"module", "", OUT_STRING, OUT_DATA_ONLY},
    {"contexts", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"functions", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"kind", "", OUT_STRING, OUT_DATA_ONLY},
    {"has_several_modules", "", OUT_BOOL, OUT_DATA_ONLY},
};

static int is_by_function(lode_group_by by)
{
    return by == LODE_BY_FUNCTION || by == LODE_BY_SYMBOL;
}

/* Several functions of one name have that name only, and those of one kind none. */
static const char *function_of_row(label *l, const lode_hotspot *row, lode_group_by by, int names)
{
    if (row->functions > 1 && by != LODE_BY_KIND)
        return label_context_as(l, row->sample, names);
    return row->function ? label_name(l, row->function, names) : NULL;
}

/* What rows are written with. */
typedef struct row_style {
    lode_group_by by;
    int names;
    double total;
    const lode_kind_rules *kinds;
} row_style;

static void write_row(out *o, const lode_hotspot *row, const row_style *style, label *l)
{
    lode_group_by by = style->by;
    int names = style->names;
    double total = style->total;
    OUT_ROW(o, STYLE_PLAIN, row->exclusive, out_share(row->exclusive, total), row->inclusive,
            out_share(row->inclusive, total), label_place(l, row->file, row->line),
            label_modules(row->module, row->several_modules != 0),
            is_by_function(by) ? label_context_as(l, row->sample, names) : label_hotspot(l, row),
            function_of_row(l, row, by, names), function_of_row(l, row, by, names), path_of_file(row->file),
            out_u64_if(row->line != 0, row->line), path_of_module(row->module), row->contexts,
            out_u64_if(is_by_function(by) || by == LODE_BY_KIND, row->functions),
            kind_of_hotspot(row, by, style->kinds), row->several_modules != 0);
}

static void set_columns(out_column columns[COLUMN_COUNT], lode_group_by by)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        columns[i] = all_columns[i];
    columns[COLUMN_NAME].title = title_of_hotspots(by);
    if (is_by_function(by))
        columns[COLUMN_LOCATION].visibility = columns[COLUMN_MODULE].visibility = OUT_TEXT_IF_WIDE;
    if (by == LODE_BY_LINE || by == LODE_BY_LOOP)
        columns[COLUMN_INSIDE].visibility = OUT_TEXT_IF_WIDE;
}

static void print_rows(const invocation *call, const lode_hotspots *rows, lode_group_by by,
                       const lode_cost *cost)
{
    out *o = call->out;
    uint64_t limit = call->shared->limit;
    row_style style = {by, names_of_database(lode_cost_database(cost), call->shared->names),
                       lode_cost_total(cost), call->kinds};
    out_column columns[COLUMN_COUNT];
    label l = {0};
    size_t count = lode_hotspots_count(rows), several = 0;
    size_t shown = limit && limit < count ? (size_t)limit : count;
    set_columns(columns, by);
    OUT_FIELDS(o, "by", group_name(by));
    out_fact_rows(o, shown, count);
    out_table(o, OUT_MAIN, "rows", columns, COLUMN_COUNT,
              unit_of_metric(lode_metric_name(lode_cost_metric(cost))));
    for (size_t i = 0; i < shown; i++) {
        write_row(o, lode_hotspots_at(rows, i), &style, &l);
        several += lode_hotspots_at(rows, i)->several_modules != 0;
    }
    out_table_end(o);
    out_shown(o, shown, count, "rows");
    say_several_modules(o, several);
    filter_say_hidden(o, lode_hotspots_hidden(rows));
    if (count == 0 && lode_hotspots_hidden(rows) == 0)
        out_say(o, "No %s has a cost.", group_name(by));
    label_free(&l);
}

/* What --list asks for. */
static top_list list_of(const invocation *call, int names)
{
    const top_options *options = call->options;
    return (top_list){call->operands[0], options->list, call->kinds, call->shared->limit, names};
}

static lode_hotspot_options hotspot_options(const invocation *call, const session *s,
                                            const lode_filter *filter)
{
    lode_hotspot_options asked = LODE_HOTSPOT_OPTIONS_INIT;
    lode_group_by by = LODE_BY_FUNCTION;
    find_by(call->options, &by);
    asked.by = by;
    asked.sort = (lode_hotspot_sort)sort_orders[call->shared->sort].database;
    asked.names = name_form(names_of_database(s->db, call->shared->names));
    asked.filter = filter;
    asked.kinds = call->kinds;
    return asked;
}

static int print_metrics(const invocation *call, session *s, const lode_filter *filter)
{
    lode_hotspot_options asked = hotspot_options(call, s, filter);
    return top_metrics(call, s, &asked, group_name((lode_group_by)asked.by));
}

static int print_top(const invocation *call, session *s, const lode_cost *cost, const lode_filter *filter)
{
    lode_hotspot_options asked = hotspot_options(call, s, filter);
    lode_group_by by = (lode_group_by)asked.by;
    lode_hotspots *rows = NULL;
    top_list list = list_of(call, names_of_database(s->db, call->shared->names));
    if (list.name)
        return top_list_print(call->out, &list, cost);
    if (session_hotspots(s, cost, &asked, &rows) != EXIT_DONE)
        return EXIT_TROUBLE;
    out_begin(call->out, SCHEMA_TOP_DATABASE, s->path);
    costs_heading(call->out, s, cost);
    print_rows(call, rows, by, cost);
    costs_footing(call->out, s, cost);
    out_end(call->out);
    session_free_hotspots(rows);
    return EXIT_DONE;
}

static int top_database(const invocation *call)
{
    session s;
    lode_cost *cost = NULL;
    lode_filter *filter = NULL;
    if (sort_orders[call->shared->sort].database == NOT_OF_DATABASES)
        return report("%s is a database; --sort %s is for recordings (see 'lode help top')",
                      call->operands[0], sort_choices[call->shared->sort]);
    int status = session_open_metrics(&s, call->operands[0], call->shared);
    int is_one = s.metrics.count == 0 || s.metric;
    const top_options *options = call->options;
    if (status == EXIT_DONE && !is_one && options->list)
        status = report("--list takes one metric (see 'lode help top')");
    if (status == EXIT_DONE && is_one)
        status = session_cost(&s, &cost);
    if (status == EXIT_DONE)
        status = filter_open(&filter, call->shared);
    if (status == EXIT_DONE && !is_one)
        status = print_metrics(call, &s, filter);
    if (status == EXIT_DONE && is_one)
        status = print_top(call, &s, cost, filter);
    lode_filter_close(filter);
    session_free_cost(cost);
    session_close(&s);
    return status;
}

static int top_usage(const invocation *call)
{
    const top_options *options = call->options;
    if (options->callers && options->callees)
        return report("--callers and --callees cannot be used together (see 'lode help top')");
    lode_group_by by;
    if ((call->shared->include.count || call->shared->exclude.count) &&
        !(find_by(options, &by) && is_by_function(by)))
        return report("--include and --exclude are for --by function and --by symbol (see 'lode help top')");
    if (options->list && !(find_by(options, &by) && by == LODE_BY_KIND))
        return report("--list is for --by kind (see 'lode help top')");
    const char *meant = find_by(options, &by) ? NULL : suggest_choice(options->by, group_choices);
    if (meant)
        return report(
            "--by is function, symbol, line, loop, module, file or kind, or a kind of id, not '%.40s'; did you mean "
            "%s? (see 'lode help top')",
            options->by, meant);
    return EXIT_DONE;
}

static int print_kinds(const invocation *call)
{
    const top_options *options = call->options;
    int sort = sort_orders[call->shared->sort].database;
    if (options->callers || options->callees)
        return report("--by kind and %s cannot be used together (see 'lode help top')",
                      options->callers ? "--callers" : "--callees");
    if (sort == NOT_OF_DATABASES)
        return report("--sort %s is not for --by kind (see 'lode help top')",
                      sort_choices[call->shared->sort]);
    top_list list = list_of(call, names_of_recordings(call->shared->names));
    return top_kinds(call, (lode_hotspot_sort)sort, &list);
}

static int run_top(const invocation *call)
{
    const top_options *options = call->options;
    lode_filter *filter = NULL;
    groups_question question = {.by = options->by,
                                .sort = sort_orders[call->shared->sort].database == LODE_SORT_NAME};
    lode_group_by by = LODE_BY_FUNCTION;
    if (call->kind == LODE_STORE_DATABASE)
        return find_by(options, &by) ? top_database(call) : groups_database(call, &question);
    int is_known = find_by(options, &by);
    if (is_known && by == LODE_BY_KIND)
        return print_kinds(call);
    int status = is_known && is_by_function(by)
                     ? filter_open(&filter, call->shared)
                     : report("%s is a recording; --by %s is for databases (see 'lode help top')",
                              call->operands[0], options->by);
    top_settings settings = {.sort = sort_orders[call->shared->sort].recording,
                             .callers = options->callers,
                             .callees = options->callees,
                             .is_by_symbol = status == EXIT_DONE && by == LODE_BY_SYMBOL,
                             .filter = filter,
                             .kinds = call->kinds};
    if (status == EXIT_DONE)
        status = top_recording(call, &settings);
    lode_filter_close(filter);
    return status;
}

static const option_spec top_own[] = {
    {"sort", 's', OPTION_CHOICE, "ORDER", sort_choices, offsetof(shared_options, sort)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {"by", 'b', OPTION_TEXT, "KEY[,KEY]...", group_choices, offsetof(top_options, by)},
    {"list", 0, OPTION_TEXT, "NAME", NULL, offsetof(top_options, list)},
    {0},
};

static const option_spec top_of_recordings[] = {
    {"callers", 0, OPTION_TEXT, "NAME", NULL, offsetof(top_options, callers)},
    {"callees", 0, OPTION_TEXT, "NAME", NULL, offsetof(top_options, callees)},
    {0},
};

static const top_options top_defaults = {.shared = {.limit = 20, .names = NAMES_BY_STORE, .no_sched = 1}};

const command_spec command_top = {
    .name = "top",
    .operands = "[STORE]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_ALL,
    .options = {.own = top_own,
                .of_recordings = top_of_recordings,
                .shared = SHARED_ANY_METRICS | SHARED_PROFILES | SHARED_PART | SHARED_DEPTH | SHARED_NAMES |
                          SHARED_FILTER | SHARED_SCHED | SHARED_ESTIMATE | SHARED_STRICT | SHARED_MEMORY |
                          SHARED_THREADS | SHARED_RANKS | SHARED_JSON | SHARED_CSV | SHARED_COLOR |
                          SHARED_VERBOSE | SHARED_KINDS},
    .options_size = sizeof(top_options),
    .defaults = &top_defaults,
    .on_ranks = FOR_DATABASES,
    .usage = top_usage,
    .run = run_top,
};
