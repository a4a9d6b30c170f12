/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/trace/boxes.h"

#include <lode/unstable/boxes.h>

static const out_column box_columns[] = {
    {"line", "Line", OUT_STRING, OUT_ALWAYS},      {"line_index", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"depth", "Depth", OUT_NUMBER, OUT_ALWAYS},    {"begin", "Begins", OUT_TIME, OUT_TEXT_ONLY},
    {"begin_ns", "", OUT_MOMENT, OUT_DATA_ONLY},   {"end_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"duration_ns", "Time", OUT_TIME, OUT_ALWAYS}, {"calls", "Calls", OUT_INTEGER, OUT_ALWAYS},
    {"context", "", OUT_NUMBER, OUT_DATA_ONLY},    {"name", "Longest call", OUT_STRING, OUT_ALWAYS},
    {"kind", "", OUT_STRING, OUT_DATA_ONLY},
};

static void write_box(out *o, label *l, const trace_line_name *line, const lode_box *b, uint64_t start,
                      int names)
{
    out_row(o, STYLE_PLAIN);
    out_cell_text(o, line->name);
    out_cell_u64(o, line->profile);
    out_cell_u64(o, b->depth);
    out_cell_u64(o, b->begin > start ? b->begin - start : 0);
    out_cell_u64(o, b->begin);
    out_cell_u64(o, b->end);
    out_cell_u64(o, b->duration);
    out_cell_u64(o, b->calls);
    if (b->context)
        out_cell_u64(o, lode_context_id(b->context));
    else
        out_cell_none(o);
    out_cell_text(o, b->context ? label_context(l, b->context) : label_name(l, b->function, names));
    out_cell_text(o, lode_kind_name((int)trace_kind_of(b->context, b->function)));
    out_row_end(o);
}

static lode_status write_line(out *o, const trace_drawing *d, const trace_boxes *wanted,
                              const trace_line_name *line, lode_error *error)
{
    lode_boxes_options options = LODE_BOXES_OPTIONS_INIT;
    lode_boxes *boxes;
    label l = {0};
    options.from = wanted->from;
    options.to = wanted->to;
    options.columns = d->columns;
    options.depth = wanted->depth;
    options.on_progress = wanted->on_progress;
    options.user = wanted->user;
    lode_status status =
        d->db ? lode_boxes_compute(&boxes, d->db, line->line, &options, error)
              : lode_boxes_compute_recording(&boxes, d->recording, line->line, &options, error);
    for (size_t i = 0; status == LODE_OK && i < lode_boxes_count(boxes); i++)
        write_box(o, &l, line, lode_boxes_at(boxes, i), d->start, wanted->names);
    label_free(&l);
    lode_boxes_free(boxes);
    return status;
}

lode_status trace_write_boxes(out *o, const trace_drawing *d, const trace_boxes *wanted, lode_error *error)
{
    lode_status status = LODE_OK;
    size_t bound = wanted->rows && wanted->rows < d->lines.count ? (size_t)wanted->rows : d->lines.count;
    out_fact_moment(o, "start_ns", d->start);
    out_fact_moment(o, "from_ns", wanted->from);
    out_fact_moment(o, "to_ns", wanted->to);
    out_fact_u64(o, "columns", d->columns);
    out_fact_u64(o, "line_count", d->lines.count);
    out_fact_bool(o, "is_truncated", bound < d->lines.count);
    out_table(o, OUT_MAIN, "rows", box_columns, sizeof box_columns / sizeof *box_columns, UNIT_COUNT);
    for (size_t i = 0; i < bound && status == LODE_OK; i++)
        status = write_line(o, d, wanted, &d->lines.items[i], error);
    out_table_end(o);
    return status;
}
