/* SPDX-License-Identifier: BSD-3-Clause */
/* A timeline as a table: a row for each interval in which a trace line shows one function. */
#include "commands/shared/id_tuple.h"
#include "commands/trace/draw.h"
#include "text/label.h"

enum {
    COLUMN_LINE = 0,
    COLUMN_IDS = 2,
    COLUMN_COUNT = 8
};

static const out_column all_columns[COLUMN_COUNT] = {
    {"profile", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"line_name", "", OUT_STRING, OUT_DATA_ONLY},
    ID_TUPLE_COLUMN,
    {"from_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"to_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"letter", "", OUT_STRING, OUT_DATA_ONLY},
    {"context", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"name", "", OUT_STRING, OUT_DATA_ONLY},
};

/* When a column begins, as the time axis has it. */
static uint64_t time_of(const lode_timeline *timeline, unsigned column, unsigned columns)
{
    uint64_t from, to;
    lode_timeline_window(timeline, &from, &to);
    return column == columns ? to : from + (uint64_t)((double)(to - from) / columns * column);
}

static void write_interval(const trace_table *t, const trace_line_name *line, unsigned first, unsigned end)
{
    out *o = t->out;
    int share = lode_timeline_cell(t->timeline, line->row, first);
    const lode_timeline_share *shown = lode_timeline_share_at(t->timeline, (size_t)share);
    label l = {0};
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, line->profile, line->name);
    if (t->db)
        id_tuple_cell(o, t->db, line->profile);
    else
        OUT_CELLS(o, out_none());
    OUT_CELLS(o, time_of(t->timeline, first, t->columns), time_of(t->timeline, end, t->columns),
              ((char[]){t->key->letters[share], '\0'}),
              shown->context ? out_u64(lode_context_id(shown->context)) : out_none(),
              t->name(&l, shown, t->names));
    out_row_end(o);
    label_free(&l);
}

/* Returns whether the line has any. */
static int write_line(const trace_table *t, const trace_line_name *line)
{
    int has_any = 0;
    for (unsigned i = 0; i < t->columns;) {
        int share = lode_timeline_cell(t->timeline, line->row, i);
        unsigned end = i + 1;
        while (end < t->columns && lode_timeline_cell(t->timeline, line->row, end) == share)
            end++;
        if (share >= 0)
            write_interval(t, line, i, end);
        has_any |= share >= 0;
        i = end;
    }
    return has_any;
}

void trace_table_write(const trace_table *t, uint64_t limit)
{
    uint64_t written = 0;
    out_column columns[COLUMN_COUNT];
    for (int i = 0; i < COLUMN_COUNT; i++)
        columns[i] = all_columns[i];
    if (!t->db) {
        columns[COLUMN_LINE].key = "track";
        columns[COLUMN_IDS].visibility = OUT_NEVER;
    }
    out_table(t->out, OUT_SIDE, "timeline", columns, COLUMN_COUNT, UNIT_COUNT);
    for (size_t i = 0; i < t->lines->count && (limit == 0 || written < limit); i++)
        written += write_line(t, &t->lines->items[i]) != 0;
    out_table_end(t->out);
}
