/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"
#include "costs.h"
#include "label.h"
#include "report.h"
#include "session.h"

typedef struct top_options {
    shared_options shared;
    int by; /* lode_group_by */
} top_options;

/* In the order of lode_group_by and lode_hotspot_sort. */
static const char *const by_choices[] = {"function", "line", "loop", "module", "file", NULL};
static const char *const sort_choices[] = {"exclusive", "inclusive", "name", NULL};

enum {
    COLUMN_PLACE = 4, /* text: where a function is */
    COLUMN_MODULE = 5,
    COLUMN_NAME = 6,
    COLUMN_INSIDE = 7, /* text: in which function a line or a loop is */
    COLUMN_COUNT = 13
};

static const out_column all_columns[COLUMN_COUNT] = {
    {"exclusive", "Exclusive", OUT_REAL, OUT_ALWAYS},
    {"exclusive_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"inclusive", "Inclusive", OUT_REAL, OUT_ALWAYS},
    {"inclusive_percent", "%", OUT_PERCENT, OUT_ALWAYS},
    {"place", "Place", OUT_STRING, OUT_NEVER},
    {"module", "Module", OUT_STRING, OUT_NEVER},
    {"name", "", OUT_STRING, OUT_ALWAYS},
    {"inside", "Function", OUT_STRING, OUT_NEVER},
    {"function", "", OUT_STRING, OUT_DATA_ONLY},
    {"file", "", OUT_STRING, OUT_DATA_ONLY},
    {"line", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"module", "", OUT_STRING, OUT_DATA_ONLY},
    {"contexts", "", OUT_INTEGER, OUT_DATA_ONLY},
};

static void write_row(out *o, const lode_hotspot *row, lode_group_by by, double total, label *l)
{
    double whole = total > 0 ? total : 1;
    out_row(o, STYLE_PLAIN);
    out_cell_real(o, row->exclusive);
    out_cell_real(o, row->exclusive / whole);
    out_cell_real(o, row->inclusive);
    out_cell_real(o, row->inclusive / whole);
    out_cell_text(o, label_place(l, row->file, row->line));
    out_cell_text(o, row->module ? lode_path_tail(lode_module_path(row->module)) : NULL);
    out_cell_text(o, label_hotspot(l, row, by));
    out_cell_text(o, row->function ? label_function(l, row->function) : NULL);
    out_cell_text(o, row->function ? label_function(l, row->function) : NULL);
    out_cell_text(o, path_of_file(row->file));
    if (row->line)
        out_cell_u64(o, row->line);
    else
        out_cell_none(o);
    out_cell_text(o, path_of_module(row->module));
    out_cell_u64(o, row->contexts);
    out_row_end(o);
}

static void set_columns(out_column columns[COLUMN_COUNT], lode_group_by by)
{
    static const char *const titles[] = {"Function", "Line", "Loop", "Module", "File"};
    for (int i = 0; i < COLUMN_COUNT; i++)
        columns[i] = all_columns[i];
    columns[COLUMN_NAME].title = titles[by];
    if (by == LODE_BY_FUNCTION)
        columns[COLUMN_PLACE].visibility = columns[COLUMN_MODULE].visibility = OUT_TEXT_IF_WIDE;
    if (by == LODE_BY_LINE || by == LODE_BY_LOOP)
        columns[COLUMN_INSIDE].visibility = OUT_TEXT_IF_WIDE;
}

static void print_rows(out *o, const lode_hotspots *rows, lode_group_by by, const lode_cost *cost,
                       uint64_t limit)
{
    out_column columns[COLUMN_COUNT];
    label l = {0};
    size_t count = lode_hotspots_count(rows);
    size_t shown = limit && limit < count ? (size_t)limit : count;
    set_columns(columns, by);
    out_fact_text(o, "by", by_choices[by]);
    out_fact_u64(o, "row_count", count);
    out_table(o, OUT_MAIN, "rows", columns, COLUMN_COUNT,
              unit_of_metric(lode_metric_name(lode_cost_metric(cost))));
    for (size_t i = 0; i < shown; i++)
        write_row(o, lode_hotspots_at(rows, i), by, lode_cost_total(cost), &l);
    out_table_end(o);
    out_shown(o, shown, count, "rows");
    if (count == 0)
        out_say(o, "No %s has a cost.", by_choices[by]);
    label_free(&l);
}

static int print_top(const invocation *call, session *s, const lode_cost *cost)
{
    const top_options *options = call->options;
    lode_hotspots *rows = NULL;
    lode_error error = {0};
    lode_group_by by = (lode_group_by)options->by;
    if (lode_hotspots_compute(&rows, cost, by, (lode_hotspot_sort)call->shared->sort, &error) != LODE_OK)
        return session_error(s, &error);
    out_begin(call->out, "top", s->path);
    costs_heading(call->out, s, cost);
    print_rows(call->out, rows, by, cost, call->shared->limit);
    costs_footing(call->out, cost);
    out_end(call->out);
    lode_hotspots_free(rows);
    return EXIT_DONE;
}

static int run_top(const invocation *call)
{
    session s;
    lode_cost *cost = NULL;
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = session_cost(&s, &cost);
    if (status == EXIT_DONE)
        status = print_top(call, &s, cost);
    lode_cost_free(cost);
    session_close(&s);
    return status;
}

static const option_spec top_own[] = {
    {"by", 'b', OPTION_CHOICE, NULL, by_choices, offsetof(top_options, by),
     "what to add up costs by (default function)"},
    {"sort", 's', OPTION_CHOICE, NULL, sort_choices, offsetof(shared_options, sort),
     "the order of the rows (default exclusive)"},
    {"limit", 'n', OPTION_COUNT, "N", NULL, offsetof(shared_options, limit),
     "rows to show; 0 shows all (default 20)"},
    {0},
};

static const top_options top_defaults = {.shared = {.limit = 20}};

static const char *const top_description[] = {
    "Adds up the cost of a metric by function, source line, loop, load module or source file, and lists the "
    "most "
    "expensive ones. Exclusive is what was spent in the thing itself, without what it calls; inclusive is "
    "with what it calls, and counts a recursive function once.",
    "Without --profiles, the costs come from the summary of all profiles, in a time that does not depend on "
    "their "
    "number.",
    NULL,
};

static const command_example top_examples[] = {
    {"lode top db", "The 20 most expensive functions."},
    {"lode top --by line --limit 5 db", "The 5 most expensive lines."},
    {"lode top --sort inclusive --profiles rank=0,thread=0 db",
     "Who is responsible for the time of one thread."},
    {NULL, NULL},
};

const command_spec command_top = {
    .name = "top",
    .summary = "the most expensive functions, lines, loops, modules or files",
    .operands = "DB",
    .min_operands = 1,
    .max_operands = 1,
    .description = top_description,
    .examples = top_examples,
    .options = {top_own,
                SHARED_METRIC | SHARED_PROFILES | SHARED_THREADS | SHARED_JSON | SHARED_CSV | SHARED_COLOR},
    .options_size = sizeof(top_options),
    .defaults = &top_defaults,
    .run = run_top,
};
