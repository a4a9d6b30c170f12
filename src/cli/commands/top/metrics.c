/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/metrics.h"

#include "alloc.h"
#include "commands/shared/metric_columns.h"
#include "commands/shared/recording.h"
#include "options/filter.h"
#include "output/report.h"
#include "text/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct metric_row {
    lode_hotspot names;
    size_t number; /* in the order of addition: where its amounts are */
} metric_row;

typedef struct metric_rows {
    metric_row *items;
    size_t count, capacity;
    double *amounts; /* by row: exclusive sums of all inputs, then inclusive ones */
    size_t amounts_capacity, inputs;
    size_t *by_context; /* position + 1 of the row whose first context has this index */
    double *totals;     /* of all inputs */
    uint32_t profiles;
    size_t hidden; /* by a filter, at least */
} metric_rows;

/* ---- rows ---- */

static double *amounts_of(const metric_rows *rows, const metric_row *row, int is_inclusive)
{
    return rows->amounts + (2 * row->number + (is_inclusive != 0)) * rows->inputs;
}

static void add_row(metric_rows *rows, const lode_hotspot *names)
{
    size_t size = 2 * rows->inputs;
    rows->items = alloc_grow(rows->items, &rows->capacity, rows->count, sizeof *rows->items);
    rows->items[rows->count] = (metric_row){*names, rows->count};
    rows->amounts =
        alloc_grow(rows->amounts, &rows->amounts_capacity, rows->count, size * sizeof *rows->amounts);
    memset(rows->amounts + rows->count * size, 0, size * sizeof *rows->amounts);
    rows->count++;
}

/* Rows of one metric. A row is known by its first context, whatever the metric. */
static int add_metric(metric_rows *rows, session *s, size_t input, const lode_hotspot_options *asked)
{
    lode_cost *cost = NULL;
    lode_hotspots *hotspots = NULL;
    s->metric = s->metrics.inputs[input];
    int status = session_cost(s, &cost);
    if (status == EXIT_DONE)
        status = session_hotspots(s, cost, asked, &hotspots);
    for (size_t i = 0; status == EXIT_DONE && i < lode_hotspots_count(hotspots); i++) {
        const lode_hotspot *from = lode_hotspots_at(hotspots, i);
        size_t *place = &rows->by_context[lode_context_index(from->sample)];
        if (*place == 0) {
            add_row(rows, from);
            *place = rows->count;
        }
        const metric_row *row = &rows->items[*place - 1];
        amounts_of(rows, row, 0)[input] = from->exclusive;
        amounts_of(rows, row, 1)[input] = from->inclusive;
    }
    if (status == EXIT_DONE) {
        rows->totals[input] = lode_cost_total(cost);
        rows->profiles = lode_cost_profiles(cost);
        rows->hidden =
            lode_hotspots_hidden(hotspots) > rows->hidden ? lode_hotspots_hidden(hotspots) : rows->hidden;
    }
    session_free_hotspots(hotspots);
    session_free_cost(cost);
    return status;
}

typedef struct row_order {
    const metric_rows *rows;
    const metric_item *item;
    const lode_hotspot_options *asked;
} row_order;

static int is_by_function(lode_group_by by)
{
    return by == LODE_BY_FUNCTION || by == LODE_BY_SYMBOL;
}

static void name_row(const metric_row *row, const lode_hotspot_options *asked, char *name, size_t capacity)
{
    if (is_by_function(asked->by))
        lode_context_label_as(row->names.sample, asked->names, name, capacity);
    else
        lode_hotspot_label(&row->names, name, capacity);
}

static int compare_names(const metric_row *a, const metric_row *b, const lode_hotspot_options *asked)
{
    char left[512], right[512];
    name_row(a, asked, left, sizeof left);
    name_row(b, asked, right, sizeof right);
    int result = strcmp(left, right);
    uint32_t i = lode_context_index(a->names.sample), k = lode_context_index(b->names.sample);
    return result ? result : i < k ? -1 : i > k;
}

/* Largest first; without a value last. */
static int compare_amounts(const metric_item *item, const double *a, const double *b)
{
    double x, y;
    int has_x = metric_item_value(item, a, &x), has_y = metric_item_value(item, b, &y);
    if (has_x != has_y)
        return has_x ? -1 : 1;
    return x > y ? -1 : x < y;
}

static int compare_rows(const void *left, const void *right, void *argument)
{
    const metric_row *a = left, *b = right;
    const row_order *order = argument;
    int is_inclusive = order->asked->sort == LODE_SORT_INCLUSIVE, result = 0;
    if (order->asked->sort != LODE_SORT_NAME) {
        result = compare_amounts(order->item, amounts_of(order->rows, a, is_inclusive),
                                 amounts_of(order->rows, b, is_inclusive));
        if (result == 0)
            result = compare_amounts(order->item, amounts_of(order->rows, a, !is_inclusive),
                                     amounts_of(order->rows, b, !is_inclusive));
    }
    return result ? result : compare_names(a, b, order->asked);
}

/* ---- output ---- */

static void set_columns(metric_columns *columns, const metric_list *list, lode_group_by by, int is_inclusive)
{
    for (size_t i = 0; i < list->count; i++)
        metric_columns_of(columns, &list->items[i], i, is_inclusive);
    metric_columns_add(columns, (out_column){"name", title_of_hotspots(by), OUT_STRING, OUT_ALWAYS});
    metric_columns_add(columns, (out_column){"function", "", OUT_STRING, OUT_DATA_ONLY});
    metric_columns_add(columns, (out_column){"file", "", OUT_STRING, OUT_DATA_ONLY});
    metric_columns_add(columns, (out_column){"line", "", OUT_NUMBER, OUT_DATA_ONLY});
    metric_columns_add(columns, (out_column){"module", "", OUT_STRING, OUT_DATA_ONLY});
    metric_columns_add(columns, (out_column){"contexts", "", OUT_INTEGER, OUT_DATA_ONLY});
    metric_columns_add(columns, (out_column){"functions", "", OUT_INTEGER, OUT_DATA_ONLY});
    metric_columns_add(columns, (out_column){"kind", "", OUT_STRING, OUT_DATA_ONLY});
    metric_columns_add(columns, (out_column){"has_several_modules", "", OUT_BOOL, OUT_DATA_ONLY});
}

static void write_row(out *o, const metric_list *list, const metric_rows *rows, const metric_row *row,
                      const lode_hotspot_options *asked, int forms, label *l)
{
    const lode_hotspot *names = &row->names;
    lode_group_by by = asked->by;
    out_row(o, STYLE_PLAIN);
    for (size_t i = 0; i < list->count; i++) {
        metric_columns_amount(o, &list->items[i], amounts_of(rows, row, 0), rows->totals);
        metric_columns_amount(o, &list->items[i], amounts_of(rows, row, 1), rows->totals);
    }
    OUT_CELLS(o, is_by_function(by) ? label_context_as(l, names->sample, forms) : label_hotspot(l, names),
              names->functions > 1 && by != LODE_BY_KIND ? label_context_as(l, names->sample, forms)
              : names->function                          ? label_name(l, names->function, forms)
                                                         : NULL,
              path_of_file(names->file), out_u64_if(names->line != 0, names->line),
              path_of_module(names->module), names->contexts,
              out_u64_if(is_by_function(by) || by == LODE_BY_KIND, names->functions),
              kind_of_hotspot(names, by, asked->kinds), names->several_modules != 0);
    out_row_end(o);
}

static size_t shown_count(const session *s, const metric_rows *rows)
{
    uint64_t limit = s->shared->limit;
    return limit && limit < rows->count ? (size_t)limit : rows->count;
}

static void write_heading(out *o, const session *s, const metric_rows *rows, const char *by_name,
                          int is_inclusive)
{
    const metric_list *list = &s->metrics;
    const char *selection = s->shared->profiles;
    if (out_format_of(o) == OUT_JSON)
        metric_columns_json(o, list, rows->totals);
    OUT_FIELDS(o, "profiles", rows->profiles, "selection", selection, "by", by_name);
    out_fact_rows(o, shown_count(s, rows), rows->count);
    for (size_t i = 0; i < list->count; i++) {
        char total[NUMBER_SIZE] = "no value";
        double value;
        if (metric_item_value(&list->items[i], rows->totals, &value))
            format_amount(total, value, list->items[i].unit);
        out_say(o, "%s%s: %s", metric_item_name(&list->items[i]), list->items[i].accumulator ? " (mean)" : "",
                total);
    }
    out_say(o, "%s costs in %s%s%s", is_inclusive ? "inclusive" : "exclusive",
            COUNTED(rows->profiles, "profile", "profiles"), selection ? ", " : "",
            selection ? selection : "");
    out_gap(o);
}

static void write_rows(out *o, const session *s, const metric_rows *rows, const lode_hotspot_options *asked,
                       const char *by_name)
{
    size_t shown = shown_count(s, rows), several = 0;
    int forms = names_of_database(s->db, s->shared->names);
    metric_columns *columns = metric_columns_new(s->metrics.count);
    label l = {0};
    set_columns(columns, &s->metrics, asked->by, asked->sort == LODE_SORT_INCLUSIVE);
    out_table(o, OUT_MAIN, "rows", columns->items, columns->count, UNIT_COUNT);
    for (size_t i = 0; i < shown; i++) {
        write_row(o, &s->metrics, rows, &rows->items[i], asked, forms, &l);
        several += rows->items[i].names.several_modules != 0;
    }
    out_table_end(o);
    out_shown(o, shown, rows->count, "rows");
    say_several_modules(o, several);
    filter_say_hidden(o, rows->hidden);
    if (rows->count == 0 && rows->hidden == 0)
        out_say(o, "No %s has a cost.", by_name);
    label_free(&l);
    metric_columns_free(columns);
}

int top_metrics(const invocation *call, session *s, const lode_hotspot_options *asked, const char *by_name)
{
    metric_rows rows = {.inputs = s->metrics.input_count,
                        .totals = alloc_array(s->metrics.input_count, sizeof(double)),
                        .by_context = alloc_array(lode_database_context_count(s->db), sizeof(size_t))};
    row_order order = {&rows, &s->metrics.items[0], asked};
    int status = EXIT_DONE, is_inclusive = asked->sort == LODE_SORT_INCLUSIVE;
    for (size_t i = 0; status == EXIT_DONE && i < s->metrics.input_count; i++)
        status = add_metric(&rows, s, i, asked);
    if (status == EXIT_DONE) {
        if (rows.count)
            qsort_r(rows.items, rows.count, sizeof *rows.items, compare_rows, &order);
        out_begin(call->out, SCHEMA_TOP_METRICS, s->path);
        write_heading(call->out, s, &rows, by_name, is_inclusive);
        write_rows(call->out, s, &rows, asked, by_name);
        out_end(call->out);
    }
    free(rows.items);
    free(rows.amounts);
    free(rows.by_context);
    free(rows.totals);
    return status;
}
