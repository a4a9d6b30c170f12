/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode top --by kind --list NAME`: what functions do, and which rule says so. */
#include "commands/top/list.h"

#include "output/report.h"
#include "text/label.h"

enum {
    COLUMN_COUNT = 7,
    REASON_SIZE = 256
};

static const out_column columns[COLUMN_COUNT] = {
    {"kind", "Kind", OUT_STRING, OUT_ALWAYS},     {"activity", "Activity", OUT_STRING, OUT_ALWAYS},
    {"effect", "Effect", OUT_STRING, OUT_ALWAYS}, {"rule", "Rule", OUT_STRING, OUT_ALWAYS},
    {"name", "Function", OUT_STRING, OUT_ALWAYS}, {"module", "Module", OUT_STRING, OUT_TEXT_IF_WIDE},
    {"module", "", OUT_STRING, OUT_DATA_ONLY},
};

static void write_row(out *o, const lode_hotspot *row, const lode_kind_rules *kinds, int names, label *l)
{
    char reason[REASON_SIZE];
    lode_activity activity;
    lode_effect effect;
    lode_kind_reason(kinds, row->sample, &activity, &effect, reason, sizeof reason);
    OUT_ROW(o, STYLE_PLAIN, lode_kind_name((int)lode_activity_kind((int)activity)),
            lode_activity_name((int)activity), lode_effect_name((int)effect), reason,
            label_context_as(l, row->sample, names),
            row->module ? lode_path_tail(lode_module_path(row->module)) : NULL, path_of_module(row->module));
}

static void print_list(out *o, const top_list *list, const lode_hotspots *rows)
{
    label l = {0};
    size_t count = lode_hotspots_count(rows);
    size_t shown = list->limit && list->limit < count ? (size_t)list->limit : count;
    out_begin(o, SCHEMA_TOP_LIST, list->path);
    OUT_FIELDS(o, "list", list->name);
    out_fact_rows(o, shown, count);
    out_table(o, OUT_MAIN, "rows", columns, COLUMN_COUNT, UNIT_COUNT);
    for (size_t i = 0; i < shown; i++)
        write_row(o, lode_hotspots_at(rows, i), list->kinds, list->names, &l);
    out_table_end(o);
    out_shown(o, shown, count, "rows");
    if (count == 0)
        out_say(
            o, "No function with a cost has this name; --list takes a name or a pattern, as --include does.");
    out_end(o);
    label_free(&l);
}

int top_list_print(out *o, const top_list *list, const lode_cost *cost)
{
    lode_hotspot_options asked = LODE_HOTSPOT_OPTIONS_INIT;
    lode_hotspots *rows = NULL;
    lode_filter *filter = NULL;
    lode_error error = {0};
    if (lode_filter_open(&filter, &list->name, 1, NULL, 0, &error) != LODE_OK)
        return report("--list: %s", error.text);
    asked.by = LODE_BY_SYMBOL;
    asked.filter = filter;
    int status = EXIT_DONE;
    if (lode_hotspots_select(&rows, cost, &asked, &error) == LODE_OK)
        print_list(o, list, rows);
    else
        status = report_error(list->path, &error);
    lode_hotspots_free(rows);
    lode_filter_close(filter);
    return status;
}
