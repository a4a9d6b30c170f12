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

static void write_box(out *o, label *l, const trace_line_name *line, const lode_box *b,
                      const trace_drawing *d)
{
    OUT_ROW(o, STYLE_PLAIN, line->name, line->profile, b->depth,
            b->begin > d->start ? b->begin - d->start : 0, b->begin, b->end, b->duration, b->calls,
            b->context ? out_u64(lode_context_id(b->context)) : out_none(),
            b->context ? label_context_as(l, b->context, d->names) : label_name(l, b->function, d->names),
            lode_kind_name((int)lode_kind_by_rules(d->kinds, b->context, b->function)));
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
        write_box(o, &l, line, lode_boxes_at(boxes, i), d);
    label_free(&l);
    lode_boxes_free(boxes);
    return status;
}

lode_status trace_write_boxes(out *o, const trace_drawing *d, const trace_boxes *wanted, lode_error *error)
{
    lode_status status = LODE_OK;
    size_t bound = wanted->rows && wanted->rows < d->lines.count ? (size_t)wanted->rows : d->lines.count;
    OUT_FIELDS(o, "start_ns", out_digits(d->start), "from_ns", out_digits(wanted->from), "to_ns",
               out_digits(wanted->to), "columns", d->columns, "line_count", d->lines.count, "is_truncated",
               bound < d->lines.count);
    out_table(o, OUT_MAIN, "rows", box_columns, sizeof box_columns / sizeof *box_columns, UNIT_COUNT);
    for (size_t i = 0; i < bound && status == LODE_OK; i++)
        status = write_line(o, d, wanted, &d->lines.items[i], error);
    out_table_end(o);
    return status;
}
