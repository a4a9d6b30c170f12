/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/runs/runs.h"

#include "output/out.h"
#include "output/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const out_column columns[] = {
    {"run", "Run", OUT_NUMBER, OUT_ALWAYS},        {"begun", "Begun (UTC)", OUT_STRING, OUT_TEXT_ONLY},
    {"begun_ns", "", OUT_MOMENT, OUT_DATA_ONLY},   {"total", "Total", OUT_REAL, OUT_ALWAYS},
    {"metric", "Metric", OUT_STRING, OUT_IF_WIDE}, {"profiles", "Profiles", OUT_INTEGER, OUT_IF_WIDE},
    {"title", "Title", OUT_STRING, OUT_ALWAYS},    {"labels", "Labels", OUT_STRING, OUT_TEXT_ONLY},
    {"labels", "", OUT_STRING, OUT_CSV_ONLY},      {"path", "", OUT_STRING, OUT_DATA_ONLY},
    {"format", "", OUT_STRING, OUT_DATA_ONLY},     {"bytes", "", OUT_BYTES, OUT_DATA_ONLY},
    {"added_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
};
#define COLUMN_COUNT (sizeof columns / sizeof *columns)

#define SHOWN_RUNS     20
#define DAY_AND_MINUTE 16 /* "2026-03-02 09:00" */

/* The title has a column of its own. A command is long, and mostly the same. */
static char *other_labels(const run_row *run)
{
    run_label kept[RUNS_LABEL_MAX];
    size_t count = 0;
    for (size_t i = 0; i < run->label_count && count < RUNS_LABEL_MAX; i++) {
        kept[count] = run->labels[i];
        count += strcmp(kept[count].name, "title") != 0 && strcmp(kept[count].name, "command") != 0;
    }
    return runs_labels_text(kept, count);
}

static int write_run(void *user, const run_row *run)
{
    out *o = user;
    char begun[NUMBER_SIZE];
    char *shown = other_labels(run), *all = runs_labels_text(run->labels, run->label_count);
    format_utc(begun, run->begun);
    begun[DAY_AND_MINUTE] = '\0';
    out_unit(o, unit_of_metric(run->metric ? run->metric : ""));
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, (uint64_t)run->id, begun, run->begun, run->metric ? out_real(run->total) : out_none(),
              run->metric, run->profiles, run_label_value(run, "title"), shown, all);
    runs_labels_write(o, run->labels, run->label_count);
    OUT_CELLS(o, run->path, run->format, run->bytes, run->added);
    out_row_end(o);
    free(shown);
    free(all);
    return out_has_failed(o);
}

static int print_list(const invocation *call, catalogue *c, const run_filter *filter)
{
    catalogue_error error;
    out *o = call->out;
    uint64_t count;
    if (catalogue_count(c, filter, &count, &error) != 0)
        return runs_failed(&error);
    uint64_t shown = filter->limit && filter->limit < count ? filter->limit : count;
    char *path = runs_catalogue_path(call->options);
    out_begin(o, SCHEMA_RUNS_LIST, NULL);
    OUT_FIELDS(o, "catalogue", path);
    out_fact_rows(o, shown, count);
    out_table(o, OUT_MAIN, "rows", columns, COLUMN_COUNT, UNIT_COUNT);
    int status = catalogue_list(c, filter, write_run, o, &error);
    out_table_end(o);
    out_shown(o, shown, count, "runs");
    if (count == 0)
        out_say(o, "No run is in %s%s.", path,
                filter->label_count || filter->from || filter->to ? " and matches" : "");
    out_end(o);
    free(path);
    return status == 0 ? EXIT_DONE : runs_failed(&error);
}

int runs_list(const invocation *call)
{
    catalogue *c = NULL;
    run_filter filter;
    runs_labels labels;
    int status = runs_filter(&filter, &labels, call->options);
    if (call->shared->limit == RUNS_NO_LIMIT)
        filter.limit = SHOWN_RUNS;
    if (status == EXIT_DONE)
        status = runs_open(&c, call->options, CATALOGUE_READ);
    if (status == EXIT_DONE)
        status = print_list(call, c, &filter);
    catalogue_close(c);
    runs_labels_free(&labels);
    return status;
}
