/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "command.h"
#include "commands/shared/branches.h"
#include "commands/shared/costs.h"
#include "commands/tree/metrics.h"
#include "options/filter.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/rec_session.h"
#include "stores/session.h"
#include "text/label.h"

#include <lode/unstable/search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tree_options {
    shared_options shared;
    int bottom_up;
    int lines;
    uint64_t depth, at;
    int merge_recursion;
    double min_fraction;
    const char *focus, *callers, *below;
    uint64_t skip;
} tree_options;
#define NO_CONTEXT UINT64_MAX

/* Rows below a row are its callers. */
static int is_by_callers(const tree_options *options)
{
    return options->bottom_up || options->callers;
}

enum {
    COLUMN_SHARE = 0,
    COLUMN_COST = 1,
    COLUMN_ELAPSED = 2,
    COLUMN_EXCLUSIVE = 3,
    COLUMN_EXCLUSIVE_COST = 4,
    COLUMN_CALLS = 5,
    COLUMN_SITE = 6,
    COLUMN_TREE = 8,
    COLUMN_COUNT = 24
};

static const out_column all_columns[COLUMN_COUNT] = {
    {"inclusive_percent", "Incl %", OUT_PERCENT, OUT_ALWAYS},
    {"inclusive", "Inclusive", OUT_REAL, OUT_ALWAYS},
    {"elapsed_ns", "Elapsed", OUT_TIME, OUT_NEVER},
    {"exclusive_percent", "Excl %", OUT_PERCENT, OUT_ALWAYS},
    {"exclusive", "", OUT_REAL, OUT_DATA_ONLY},
    {"calls", "Calls", OUT_INTEGER, OUT_NEVER},
    {"call_site", "Called at", OUT_STRING, OUT_TEXT_IF_WIDE},
    {"mark", "", OUT_STRING, OUT_TEXT_ONLY},
    {"tree", "Call tree", OUT_STRING, OUT_TEXT_ONLY},
    {"row", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"parent_row", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"depth", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"hot", "", OUT_BOOL, OUT_DATA_ONLY},
    {"folded", "", OUT_BOOL, OUT_DATA_ONLY},
    {"name", "", OUT_STRING, OUT_DATA_ONLY},
    {"kind", "", OUT_STRING, OUT_DATA_ONLY},
    {"relation", "", OUT_STRING, OUT_DATA_ONLY},
    {"context", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"contexts", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"call_file", "", OUT_STRING, OUT_DATA_ONLY},
    {"call_line", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"children", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"omitted", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"omitted_inclusive", "", OUT_REAL, OUT_DATA_ONLY},
};

/* Terminal columns: before the tree, for call sites, and preferred for names. */
#define NUMBERS_WIDTH 32
#define SITE_WIDTH    24
#define CALLS_WIDTH   12
#define NAME_WIDTH    16
#define METRIC_WIDTH  13

typedef struct tree_writer {
    out *out;
    branches branches;
    label name, place;
    size_t *above; /* by depth, the last row */
    char *line;
    size_t line_capacity;
    const tree_metrics *metrics;
    double total;
    metric_unit unit;
    int names; /* NAMES_... */
} tree_writer;

/* The tree's own column: branches, name, and what is special about it. */
static void tree_cell(tree_writer *w, const lode_view *view, size_t index, const char *name)
{
    const lode_view_row *row = lode_view_at(view, index);
    const char *branch = branches_of(&w->branches, index);
    int is_inlined = lode_context_relation(row->context) == LODE_RELATION_INLINED;
    size_t size = strlen(branch) + strlen(name) + 32;
    w->line = alloc_grow(w->line, &w->line_capacity, size, 1);
    snprintf(w->line, w->line_capacity, "%s%s%s%s%s", branch, row->depth ? " " : "", name,
             is_inlined ? " [inlined]" : "",
             !row->folded          ? ""
             : out_is_utf8(w->out) ? " …"
                                   : " ...");
    OUT_CELLS(w->out, out_branch(w->line, strlen(branch)));
}

/* Contexts of a database have more to their names than a function. */
static const char *name_of(tree_writer *w, const lode_context *context)
{
    return label_context_as(&w->name, context, w->names);
}

/* That of several contexts is not the sum of theirs. */
static out_value elapsed_of(const tree_metrics *metrics, const lode_view_row *row)
{
    int is_known = metrics->elapsed && row->contexts == 1;
    return out_u64_if(is_known, is_known ? metrics->elapsed[lode_context_id(row->context)] : 0);
}

static void write_row(tree_writer *w, const lode_view *view, size_t index)
{
    const lode_view_row *row = lode_view_at(view, index);
    out *o = w->out;
    const char *name = name_of(w, row->context);
    out_row(o, row->hot ? STYLE_HOT : STYLE_PLAIN);
    OUT_CELLS(o, out_share(row->inclusive, w->total), row->inclusive, elapsed_of(w->metrics, row),
              out_share(row->exclusive, w->total), row->exclusive);
    tree_metrics_cells(o, w->metrics, index);
    out_unit(o, w->unit);
    OUT_CELLS(o, row->calls, row->call_line ? label_place(&w->place, row->call_file, row->call_line) : NULL,
              !row->hot        ? " "
              : out_is_utf8(o) ? "▸"
                               : "*");
    tree_cell(w, view, index, name);
    OUT_CELLS(o, index, out_u64_if(row->depth > 0, row->depth > 0 ? w->above[row->depth - 1] : 0));
    w->above[row->depth] = index;
    OUT_CELLS(o, row->depth, row->hot != 0, row->folded != 0, name,
              lode_lexical_name(lode_context_lexical(row->context)),
              lode_relation_name(lode_context_relation(row->context)), lode_context_id(row->context),
              row->contexts, path_of_file(row->call_file), out_u64_if(row->call_line != 0, row->call_line),
              row->children, row->omitted, row->omitted_inclusive);
    out_row_end(o);
}

/* How many levels of branches leave room for the numbers before them and for a name after them. */
static unsigned level_bound(const out *o, unsigned site_width)
{
    unsigned width = out_width(o, 0), taken = NUMBERS_WIDTH + site_width + NAME_WIDTH;
    if (width == 0)
        return 100;
    return width > taken + 10 ? (width - taken) / 2 : 5;
}

/* Of calls, times have the names that 'lode top' has for them. */
static void set_calls(out_column columns[COLUMN_COUNT], int is_top_down)
{
    columns[COLUMN_SHARE].key = "total_percent";
    columns[COLUMN_SHARE].title = "Total %";
    columns[COLUMN_COST].key = "total_ns";
    columns[COLUMN_COST].title = "Total";
    columns[COLUMN_EXCLUSIVE].key = "self_percent";
    columns[COLUMN_EXCLUSIVE].title = "Self %";
    columns[COLUMN_EXCLUSIVE_COST].key = "self_ns";
    columns[COLUMN_CALLS].visibility = is_top_down ? OUT_ALWAYS : OUT_NEVER;
}

/* Call sites go before names do; a row by callers, or below the row of a line, has none. */
static void set_own_columns(out_column columns[COLUMN_COUNT], const tree_options *options,
                            const tree_metrics *metrics, int has_sites, int has_calls)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        columns[i] = all_columns[i];
    if (!has_sites)
        columns[COLUMN_SITE].visibility = OUT_NEVER;
    if (has_calls)
        set_calls(columns, !is_by_callers(options));
    if (metrics->elapsed)
        columns[COLUMN_ELAPSED].visibility = OUT_ALWAYS;
    if (is_by_callers(options)) {
        columns[COLUMN_SHARE].title = "%";
        columns[COLUMN_COST].title = has_calls ? "Time" : "Cost";
        columns[COLUMN_EXCLUSIVE].visibility = OUT_DATA_ONLY;
        columns[COLUMN_TREE].title = "Function / callers";
    }
}

/* Further metrics stand beside the first. */
static void set_columns(metric_columns *columns, const tree_options *options, const tree_metrics *metrics,
                        int has_sites, int has_calls)
{
    out_column own[COLUMN_COUNT];
    set_own_columns(own, options, metrics, has_sites, has_calls);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (i == COLUMN_CALLS)
            tree_metrics_columns(columns, metrics);
        metric_columns_add(columns, own[i]);
    }
}

/* A cost without a metric is the time of calls. */
static metric_unit unit_of(const lode_cost *cost)
{
    const lode_metric *metric = lode_cost_metric(cost);
    return metric ? unit_of_metric(lode_metric_name(metric)) : UNIT_NANOSECONDS;
}

/* Terminal columns of what is not in every tree. */
static unsigned width_of_more(const tree_metrics *metrics, int has_sites, int has_calls)
{
    return (has_sites ? SITE_WIDTH : 0U) + (has_calls ? CALLS_WIDTH : 0U) +
           METRIC_WIDTH * ((unsigned)tree_metrics_count(metrics) + (metrics->elapsed != NULL));
}

/* Costs of calls have no metric. */
static int names_of(const lode_cost *cost, const tree_options *options)
{
    int names = options->shared.names;
    return lode_cost_metric(cost) ? names_of_database(lode_cost_database(cost), names)
                                  : names_of_recordings(names);
}

static void write_rows(out *o, const lode_view *view, const lode_cost *cost, const tree_metrics *metrics,
                       const tree_options *options)
{
    int has_calls = !lode_cost_metric(cost);
    tree_writer w = {.out = o,
                     .metrics = metrics,
                     .total = lode_cost_total(cost),
                     .unit = unit_of(cost),
                     .names = names_of(cost, options)};
    metric_columns *columns = metric_columns_new(tree_metrics_count(metrics) + 1);
    int has_sites = !has_calls && !options->lines && !is_by_callers(options) &&
                    branches_deepest(view) <= level_bound(o, width_of_more(metrics, 1, 0));
    set_columns(columns, options, metrics, has_sites, has_calls);
    branches_init(&w.branches, view, level_bound(o, width_of_more(metrics, has_sites, has_calls)),
                  out_is_utf8(o));
    w.above = alloc_array((size_t)branches_deepest(view) + 1, sizeof *w.above);
    out_table(o, OUT_MAIN, "rows", columns->items, columns->count, w.unit);
    for (size_t i = 0; i < lode_view_count(view); i++)
        write_row(&w, view, i);
    out_table_end(o);
    branches_free(&w.branches);
    label_free(&w.name);
    label_free(&w.place);
    metric_columns_free(columns);
    free(w.above);
    free(w.line);
}

static void say_what_is_left_out(out *o, const lode_view *view, const tree_options *options)
{
    uint64_t small = lode_view_omitted_by_share(view), deep = lode_view_omitted_by_depth(view);
    char rows[NUMBER_SIZE], total[NUMBER_SIZE];
    format_count(rows, lode_view_count(view));
    format_count(total, lode_view_total(view));
    int is_filtered = options->shared.include.count || options->shared.exclude.count;
    if (lode_view_count(view) == 0)
        out_say(o, "No row%s has a cost of at least %g%% of the total.",
                is_filtered ? " that --include and --exclude leave" : "", options->min_fraction * 100);
    else if (lode_view_is_cut(view))
        out_say(o, "showing %s of %s%s rows (--limit 0 shows all)", rows,
                lode_view_has_more(view) ? "more than " : "", total);
    if (small)
        out_say(o, "omitted: %s below %g%% of the total (--min-percent 0 shows all)",
                COUNTED(small, "row", "rows"), options->min_fraction * 100);
    if (deep)
        out_say(o, "omitted: %s deeper than %s (--depth 0 shows all)", COUNTED(deep, "row", "rows"),
                COUNTED(options->depth, "level", "levels"));
}

static lode_name_form form_of(const lode_cost *cost, const tree_options *options)
{
    return name_form(names_of(cost, options));
}

/* Several functions can have a name, or match a part of one. */
static void say_matches(out *o, const lode_cost *cost, const tree_options *options)
{
    lode_matches *matches = NULL;
    const char *name = options->callers ? options->callers : options->focus;
    if (!name || lode_matches_find(&matches, cost, name, form_of(cost, options), NULL) != LODE_OK)
        return;
    if (lode_matches_count(matches) > 1)
        out_say(o, "%s '%s'", COUNTED(lode_matches_count(matches), "function matches", "functions match"),
                name);
    lode_matches_free(matches);
}

/* What a view is built with, and what belongs to it. */
typedef struct tree_view_settings {
    lode_view_options options;
    lode_filter *filter;
    const lode_context **path;
} tree_view_settings;

static void settings_free(tree_view_settings *settings)
{
    lode_filter_close(settings->filter);
    free(settings->path);
}

/* NULL after a message. */
static const lode_context *context_of(const char *path, const lode_cost *cost, uint64_t id)
{
    const lode_context *context = id <= UINT32_MAX ? lode_cost_context(cost, (uint32_t)id) : NULL;
    if (!context)
        report("%s: there is no context %llu", path, (unsigned long long)id);
    return context;
}

/* The contexts of --below. */
static int parse_path(tree_view_settings *settings, const char *path, const lode_cost *cost, const char *text)
{
    settings->path = alloc_array(strlen(text) / 2 + 1, sizeof *settings->path);
    for (const char *at = text; at; at = strchr(at, ',')) {
        char *end = NULL;
        at += *at == ',';
        unsigned long long id = strtoull(at, &end, 10);
        if (*at < '0' || *at > '9' || (*end && *end != ','))
            return report(
                "--below takes numbers of contexts with commas between them, not '%.40s' (see 'lode "
                "help tree')",
                text);
        const lode_context *context = context_of(path, cost, id);
        if (!context)
            return EXIT_TROUBLE;
        settings->path[settings->options.path_count++] = context;
    }
    settings->options.path = settings->path;
    return EXIT_DONE;
}

/* settings_free is due in every case. */
static int take_settings(tree_view_settings *settings, const char *path, const lode_cost *cost,
                         const tree_options *options)
{
    *settings = (tree_view_settings){.options = LODE_VIEW_OPTIONS_INIT};
    lode_view_options *view = &settings->options;
    view->mode = options->callers     ? LODE_VIEW_CALLERS_OF
                 : options->bottom_up ? LODE_VIEW_CALLERS
                                      : LODE_VIEW_TOP_DOWN;
    view->depth = (unsigned)(options->depth < UINT32_MAX ? options->depth : 0);
    view->min_fraction = options->min_fraction;
    view->focus = options->callers ? options->callers : options->focus;
    view->lines = options->lines;
    view->names = form_of(cost, options);
    view->max_rows = (size_t)options->shared.limit;
    view->skip = (size_t)options->skip;
    view->merge_recursion = options->merge_recursion;
    if (options->at != NO_CONTEXT && !(view->at = context_of(path, cost, options->at)))
        return EXIT_TROUBLE;
    if (options->below && parse_path(settings, path, cost, options->below) != EXIT_DONE)
        return EXIT_TROUBLE;
    int status = filter_open(&settings->filter, &options->shared);
    view->filter = settings->filter;
    return status;
}

/* NULL after a message. */
static lode_view *build_view(const char *path, const lode_cost *cost, const tree_view_settings *settings)
{
    lode_view *view = NULL;
    lode_error error = {0};
    if (lode_view_build(&view, cost, &settings->options, &error) != LODE_OK)
        report_error(path, &error);
    return view;
}

static void print_view(out *o, const lode_view *view, const lode_cost *cost, const tree_metrics *metrics,
                       const tree_options *options)
{
    OUT_FIELDS(o, "mode",
               options->callers     ? "callers"
               : options->bottom_up ? "bottom-up"
                                    : "top-down",
               "focus", options->callers ? options->callers : options->focus);
    if (options->at != NO_CONTEXT)
        OUT_FIELDS(o, "root", options->at);
    if (options->below)
        OUT_FIELDS(o, "below", options->below);
    if (options->skip)
        OUT_FIELDS(o, "skip", options->skip);
    OUT_FIELDS(o, "min_percent", options->min_fraction * 100);
    if (options->depth)
        OUT_FIELDS(o, "depth", options->depth);
    OUT_FIELDS(o, "row_count", lode_view_has_more(view) ? out_text(NULL) : out_u64(lode_view_total(view)),
               "is_truncated", lode_view_is_cut(view), "omitted_by_share", lode_view_omitted_by_share(view),
               "omitted_by_depth", lode_view_omitted_by_depth(view));
    write_rows(o, view, cost, metrics, options);
    say_matches(o, cost, options);
    say_what_is_left_out(o, view, options);
}

static int tree_of_cost(const invocation *call, session *s, lode_cost *cost)
{
    tree_view_settings settings;
    tree_metrics metrics = {0};
    lode_view *view = NULL;
    int status = take_settings(&settings, s->path, cost, call->options);
    if (status == EXIT_DONE && !(view = build_view(s->path, cost, &settings)))
        status = EXIT_TROUBLE;
    if (status == EXIT_DONE)
        status = tree_metrics_compute(&metrics, s, view, &settings.options);
    if (status == EXIT_DONE) {
        out_begin(call->out, SCHEMA_TREE_DATABASE, s->path);
        costs_heading(call->out, s, cost);
        tree_metrics_heading(call->out, &metrics);
        print_view(call->out, view, cost, &metrics, call->options);
        costs_footing(call->out, s, cost);
        out_end(call->out);
    }
    tree_metrics_free(&metrics);
    lode_view_free(view);
    settings_free(&settings);
    return status;
}

static int tree_database(const invocation *call)
{
    session s;
    lode_cost *cost = NULL;
    int status = session_open_metrics(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = tree_metrics_first(&s);
    if (status == EXIT_DONE)
        status = session_cost(&s, &cost);
    if (status == EXIT_DONE)
        status = tree_of_cost(call, &s, cost);
    session_free_cost(cost);
    session_close(&s);
    return status;
}

static void print_calltree(out *o, rec_session *s, const lode_calltree *tree, const lode_view *view,
                           const tree_options *options)
{
    const lode_cost *cost = lode_calltree_cost(tree);
    const uint64_t *elapsed = lode_calltree_elapsed(tree);
    tree_metrics metrics = {.elapsed = is_by_callers(options) ? NULL : elapsed};
    char total[NUMBER_SIZE], tracks[2 * NUMBER_SIZE], work[NUMBER_SIZE + 40] = "";
    format_amount(total, lode_cost_total(cost), UNIT_NANOSECONDS);
    /* The root, which stands for nothing that was called, is one of them. */
    uint32_t count = lode_calltree_context_count(tree) - 1;
    rec_say_tracks(tracks, sizeof tracks, s);
    out_begin(o, SCHEMA_TREE_RECORDING, s->path);
    rec_write_slice(o, s);
    OUT_FIELDS(o, "total_ns", lode_cost_total(cost), "context_count", count);
    if (elapsed) {
        char time[NUMBER_SIZE];
        format_duration(time, elapsed[0]);
        snprintf(work, sizeof work, " of work in %s of elapsed time", time);
        OUT_FIELDS(o, "elapsed_ns", elapsed[0]);
    }
    out_say(o, "%s%s in %s, %s\n", total, work, tracks, COUNTED(count, "call path", "call paths"));
    print_view(o, view, cost, &metrics, options);
    rec_say_estimate(o, s);
    damage_write(o);
    out_end(o);
}

static int tree_recording(const invocation *call)
{
    rec_session s;
    tree_view_settings settings = {0};
    const lode_calltree *tree = NULL;
    lode_view *view = NULL;
    int status = rec_open_slice(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE && !(tree = rec_calltree(&s)))
        status = EXIT_TROUBLE;
    if (status == EXIT_DONE)
        status = take_settings(&settings, s.path, lode_calltree_cost(tree), call->options);
    if (status == EXIT_DONE && !(view = build_view(s.path, lode_calltree_cost(tree), &settings)))
        status = EXIT_TROUBLE;
    if (status == EXIT_DONE)
        print_calltree(call->out, &s, tree, view, call->options);
    lode_view_free(view);
    settings_free(&settings);
    rec_close(&s);
    return status;
}

static int tree_usage(const invocation *call)
{
    const tree_options *options = call->options;
    if (options->callers && (options->focus || options->bottom_up))
        return report("--callers and %s cannot be used together (see 'lode help tree')",
                      options->focus ? "--focus" : "--bottom-up");
    if (options->at != NO_CONTEXT && (options->callers || options->focus || options->bottom_up))
        return report("--root cannot be used with --callers, --focus and --bottom-up (see 'lode help tree')");
    return EXIT_DONE;
}

static int run_tree(const invocation *call)
{
    return call->kind == LODE_STORE_RECORDING ? tree_recording(call) : tree_database(call);
}

static const option_spec tree_own[] = {
    {"bottom-up", 0, OPTION_FLAG, NULL, NULL, offsetof(tree_options, bottom_up)},
    {"callers", 0, OPTION_TEXT, "NAME", NULL, offsetof(tree_options, callers)},
    {"focus", 0, OPTION_TEXT, "NAME", NULL, offsetof(tree_options, focus)},
    {"root", 0, OPTION_COUNT, "CONTEXT", NULL, offsetof(tree_options, at)},
    {"below", 0, OPTION_TEXT, "CONTEXT[,CONTEXT]...", NULL, offsetof(tree_options, below)},
    {"skip", 0, OPTION_COUNT, "N", NULL, offsetof(tree_options, skip)},
    {"merge-recursion", 0, OPTION_FLAG, NULL, NULL, offsetof(tree_options, merge_recursion)},
    {"depth", 'd', OPTION_COUNT, "N", NULL, offsetof(tree_options, depth)},
    {"min-percent", 0, OPTION_PERCENT, "P", NULL, offsetof(tree_options, min_fraction)},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit)},
    {0},
};

static const option_spec tree_of_databases[] = {
    {"lines", 0, OPTION_FLAG, NULL, NULL, offsetof(tree_options, lines)},
    {0},
};

static const tree_options tree_defaults = {
    .at = NO_CONTEXT, .shared = {.limit = 100, .names = NAMES_BY_STORE, .no_sched = 1}, .min_fraction = 0.01};

const command_spec command_tree = {
    .name = "tree",
    .operands = "[STORE]",
    .min_operands = 1,
    .max_operands = 1,
    .stores = FOR_ALL,
    .options = {.own = tree_own,
                .of_databases = tree_of_databases,
                .shared = SHARED_ANY_METRICS | SHARED_PROFILES | SHARED_PART | SHARED_NAMES | SHARED_FILTER |
                          SHARED_SCHED | SHARED_ESTIMATE | SHARED_STRICT | SHARED_MEMORY | SHARED_THREADS |
                          SHARED_JSON | SHARED_CSV | SHARED_COLOR | SHARED_VERBOSE},
    .options_size = sizeof(tree_options),
    .defaults = &tree_defaults,
    .usage = tree_usage,
    .run = run_tree,
};
