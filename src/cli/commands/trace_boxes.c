/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/trace_boxes.h"
#include "alloc.h"

#include <stdlib.h>

#define CHECK_STEP 65536 /* samples between looks at whether to go on */

static const out_column box_columns[] = {
    {"line", "Line", OUT_STRING, OUT_ALWAYS},         {"line_index", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"depth", "Depth", OUT_NUMBER, OUT_ALWAYS},       {"begin_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"end_ns", "", OUT_MOMENT, OUT_DATA_ONLY},        {"duration_ns", "Time", OUT_TIME, OUT_ALWAYS},
    {"calls", "Calls", OUT_INTEGER, OUT_ALWAYS},      {"context", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"name", "Longest call", OUT_STRING, OUT_ALWAYS}, {"kind", "", OUT_STRING, OUT_DATA_ONLY},
};

typedef struct frame {
    const lode_context *context; /* or */
    const lode_function *function;
    uint64_t begin;
} frame;

typedef struct box {
    frame longest;
    uint64_t begin, end;
    uint64_t duration, most; /* of all calls, of the longest */
    uint64_t calls;          /* 0: none yet */
    size_t depth;
    unsigned column;
} box;

/* One line while it is read. */
typedef struct pen {
    const trace_boxes *wanted;
    unsigned columns;
    frame *frames; /* that are open */
    size_t count, capacity;
    box *narrow; /* by depth: what is in one column so far */
    size_t narrow_count, narrow_capacity;
    box *boxes;
    size_t box_count, box_capacity;
} pen;

/* When a column ends, after the beginning of the time window; without a product that overflows. */
static uint64_t edge_of(const pen *p, unsigned column)
{
    uint64_t span = p->wanted->to - p->wanted->from, next = (uint64_t)column + 1;
    return span / p->columns * next + span % p->columns * next / p->columns;
}

static unsigned column_of(const pen *p, uint64_t time)
{
    uint64_t offset = time - p->wanted->from, span = p->wanted->to - p->wanted->from;
    unsigned column = (unsigned)((double)offset / (double)span * p->columns);
    if (column >= p->columns)
        column = p->columns - 1;
    while (column > 0 && offset < edge_of(p, column - 1))
        column--;
    while (column + 1 < p->columns && offset >= edge_of(p, column))
        column++;
    return column;
}

static void put_box(pen *p, const box *b)
{
    p->boxes = alloc_grow(p->boxes, &p->box_capacity, p->box_count, sizeof *p->boxes);
    p->boxes[p->box_count++] = *b;
}

/* Adds a call to the narrow ones of its column; those of the column before are complete. */
static void put_narrow(pen *p, const box *b)
{
    while (p->narrow_count <= b->depth) {
        p->narrow = alloc_grow(p->narrow, &p->narrow_capacity, p->narrow_count, sizeof *p->narrow);
        p->narrow[p->narrow_count++] = (box){0};
    }
    box *kept = &p->narrow[b->depth];
    if (kept->calls && kept->column != b->column) {
        put_box(p, kept);
        kept->calls = 0;
    }
    if (kept->calls == 0) {
        *kept = *b;
        return;
    }
    kept->end = b->end;
    kept->duration += b->duration;
    kept->calls++;
    if (b->most > kept->most) {
        kept->most = b->most;
        kept->longest = b->longest;
    }
}

/* A call has ended: what of it is in the time window. */
static void put_call(pen *p, size_t depth, uint64_t end)
{
    const frame *f = &p->frames[depth];
    uint64_t begin = f->begin > p->wanted->from ? f->begin : p->wanted->from;
    int is_instant = f->begin == end && f->begin >= p->wanted->from;
    if (end > p->wanted->to)
        end = p->wanted->to;
    if (begin >= p->wanted->to || (begin >= end && !is_instant))
        return;
    box b = {.longest = *f, .begin = begin, .end = end, .duration = end - begin, .most = end - begin};
    b.calls = 1;
    b.depth = depth;
    b.column = column_of(p, begin);
    if (is_instant || b.column == column_of(p, end - 1))
        put_narrow(p, &b);
    else
        put_box(p, &b);
}

static void open_frame(pen *p, frame f)
{
    p->frames = alloc_grow(p->frames, &p->capacity, p->count, sizeof *p->frames);
    p->frames[p->count++] = f;
}

/* Ends the calls below a depth. */
static void close_frames(pen *p, size_t depth, uint64_t time)
{
    while (p->count > depth) {
        if (!p->wanted->depth || p->count <= p->wanted->depth)
            put_call(p, p->count - 1, time);
        p->count--;
    }
}

static int compare_boxes(const void *left, const void *right)
{
    const box *a = left, *b = right;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    /* Calls of no length begin when the one after them does. */
    return a->end < b->end ? -1 : a->end > b->end;
}

static void finish_line(pen *p, uint64_t time)
{
    close_frames(p, 0, time);
    for (size_t i = 0; i < p->narrow_count; i++) {
        if (p->narrow[i].calls)
            put_box(p, &p->narrow[i]);
        p->narrow[i].calls = 0;
    }
    if (p->box_count)
        qsort(p->boxes, p->box_count, sizeof *p->boxes, compare_boxes);
}

/* ---- trace lines ---- */

/* Contexts from the outermost to that of the sample; none for unlisted ones and for the root. */
static size_t path_of(const lode_database *db, uint32_t id, const lode_context ***path, size_t *capacity)
{
    size_t count = 0;
    const lode_context *context = lode_database_context(db, id);
    for (; context && lode_context_parent(context); context = lode_context_parent(context)) {
        *path = alloc_grow(*path, capacity, count, sizeof **path);
        (*path)[count++] = context;
    }
    for (size_t i = 0; i < count / 2; i++) {
        const lode_context *other = (*path)[i];
        (*path)[i] = (*path)[count - 1 - i];
        (*path)[count - 1 - i] = other;
    }
    return count;
}

static void take_sample(pen *p, const lode_context *const *path, size_t count, uint64_t time)
{
    size_t same = 0;
    while (same < count && same < p->count && p->frames[same].context == path[same])
        same++;
    close_frames(p, same, time);
    for (size_t i = same; i < count; i++)
        open_frame(p, (frame){.context = path[i], .begin = time});
}

static lode_status read_line(pen *p, const lode_database *db, uint32_t index, lode_error *error)
{
    const lode_context **path = NULL;
    size_t capacity = 0;
    lode_trace_line line;
    lode_sample sample = {0};
    lode_status status = lode_database_trace_line(db, index, &line, error);
    uint64_t first = status == LODE_OK ? lode_trace_line_seek(&line, p->wanted->from) : 0;
    /* The sample before the time window may reach into it. */
    first -= first > 0;
    for (uint64_t i = first; status == LODE_OK && i < line.sample_count; i++) {
        if (i % CHECK_STEP == 0 &&
            p->wanted->on_progress(p->wanted->user, "reading samples", i, line.sample_count))
            status = LODE_ERR_CANCELLED;
        if (status != LODE_OK || lode_trace_line_sample(&line, i, &sample) != LODE_OK ||
            sample.time >= p->wanted->to)
            break;
        size_t count = path_of(db, sample.context_id, &path, &capacity);
        take_sample(p, path, count, sample.time);
    }
    /* The last sample has no length. */
    finish_line(p, sample.time);
    free((void *)path);
    return status;
}

/* ---- tracks ---- */

static void take_event(pen *p, const lode_event *event)
{
    if (event->kind == LODE_EVENT_ENTER || event->kind == LODE_EVENT_SCHED_OUT)
        open_frame(p, (frame){.function = event->function, .begin = event->time});
    else if ((event->kind == LODE_EVENT_LEAVE || event->kind == LODE_EVENT_SCHED_IN) && p->count)
        close_frames(p, p->count - 1, event->time);
}

/* From its beginning, as calls may have begun at any time. */
static lode_status read_track(pen *p, const lode_recording *recording, uint32_t track, lode_error *error)
{
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    uint64_t done = 0, begin, end;
    options.to = p->wanted->to;
    lode_status status = lode_cursor_open(&cursor, recording, track, &options, error);
    while (status == LODE_OK && (status = lode_cursor_next(cursor, &events, &count, error)) == LODE_OK) {
        for (size_t i = 0; i < count; i++)
            take_event(p, &events[i]);
        done += count;
        if (p->wanted->on_progress(p->wanted->user, "reading calls", done, 0))
            status = LODE_ERR_CANCELLED;
    }
    lode_cursor_close(cursor);
    if (status != LODE_END)
        return status;
    /* What is still open goes on after the time window, or its end was not recorded. */
    status = lode_track_interval(recording, track, &begin, &end, error);
    if (status < 0)
        return status;
    finish_line(p, status == LODE_OK && end < p->wanted->to ? end : p->wanted->to);
    return LODE_OK;
}

/* ---- rows ---- */

static void write_boxes(out *o, const pen *p, const trace_line_name *line)
{
    label l = {0};
    for (size_t i = 0; i < p->box_count; i++) {
        const box *b = &p->boxes[i];
        const frame *f = &b->longest;
        out_row(o, STYLE_PLAIN);
        out_cell_text(o, line->name);
        out_cell_u64(o, line->profile);
        out_cell_u64(o, b->depth + 1);
        out_cell_u64(o, b->begin);
        out_cell_u64(o, b->end);
        out_cell_u64(o, b->duration);
        out_cell_u64(o, b->calls);
        if (f->context)
            out_cell_u64(o, lode_context_id(f->context));
        else
            out_cell_none(o);
        out_cell_text(o, f->context ? label_context(&l, f->context)
                                    : label_name(&l, f->function, p->wanted->names));
        out_cell_text(o, lode_kind_name((int)trace_kind_of(f->context, f->function)));
        out_row_end(o);
    }
    label_free(&l);
}

lode_status trace_write_boxes(out *o, const trace_drawing *d, const trace_boxes *wanted, lode_error *error)
{
    pen p = {.wanted = wanted, .columns = d->columns};
    lode_status status = LODE_OK;
    size_t bound = wanted->rows && wanted->rows < d->lines.count ? (size_t)wanted->rows : d->lines.count;
    out_fact_moment(o, "start_ns", d->start);
    out_fact_moment(o, "from_ns", wanted->from);
    out_fact_moment(o, "to_ns", wanted->to);
    out_fact_u64(o, "columns", d->columns);
    out_fact_u64(o, "line_count", d->lines.count);
    out_fact_bool(o, "is_truncated", bound < d->lines.count);
    out_table(o, OUT_MAIN, "rows", box_columns, sizeof box_columns / sizeof *box_columns, UNIT_COUNT);
    for (size_t i = 0; i < bound && status == LODE_OK; i++) {
        const trace_line_name *line = &d->lines.items[i];
        p.count = p.box_count = 0;
        status =
            d->db ? read_line(&p, d->db, line->line, error) : read_track(&p, d->recording, line->line, error);
        if (status == LODE_OK)
            write_boxes(o, &p, line);
    }
    out_table_end(o);
    free(p.frames);
    free(p.narrow);
    free(p.boxes);
    return status;
}
