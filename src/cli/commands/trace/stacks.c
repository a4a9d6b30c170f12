/* SPDX-License-Identifier: BSD-3-Clause */
/* What each line was doing at one time: call paths. */
#include "commands/trace/stacks.h"
#include "alloc.h"

#include <lode/private/call_events.h>
#include <stdlib.h>

static const out_column stack_columns[] = {
    {"line", "Line", OUT_STRING, OUT_ALWAYS},      {"line_index", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"depth", "Depth", OUT_NUMBER, OUT_ALWAYS},    {"begin_ns", "", OUT_MOMENT, OUT_DATA_ONLY},
    {"end_ns", "", OUT_MOMENT, OUT_DATA_ONLY},     {"context", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"name", "Call path", OUT_STRING, OUT_ALWAYS},
};

typedef struct frame {
    const lode_context *context;
    const lode_function *function;
    uint64_t begin, end; /* 0: not known */
} frame;

typedef struct stack {
    frame *frames;
    size_t count, capacity;
} stack;

static void push(stack *s, frame f)
{
    s->frames = alloc_grow(s->frames, &s->capacity, s->count, sizeof *s->frames);
    s->frames[s->count++] = f;
}

static void write_frames(out *o, const stack *s, const trace_line_name *line, int names)
{
    label l = {0};
    for (size_t i = 0; i < s->count; i++) {
        const frame *f = &s->frames[i];
        OUT_ROW(o, STYLE_PLAIN, line->name, line->profile, i + 1, f->begin,
                f->end ? out_u64(f->end) : out_none(),
                f->context ? out_u64(lode_context_id(f->context)) : out_none(),
                f->context ? label_context_as(&l, f->context, names) : label_name(&l, f->function, names));
    }
    label_free(&l);
}

/* The last sample at or before the time, unless it is the last of its line, which has no length. */
static lode_status path_in_line(stack *s, const lode_database *db, uint32_t index, uint64_t time,
                                lode_error *error)
{
    lode_trace_line line;
    lode_sample sample, next;
    lode_status status = lode_database_trace_line(db, index, &line, error);
    if (status != LODE_OK)
        return status;
    uint64_t after = time < UINT64_MAX ? lode_trace_line_seek(&line, time + 1) : line.sample_count;
    if (after == 0 || lode_trace_line_sample(&line, after - 1, &sample) != LODE_OK ||
        lode_trace_line_sample(&line, after, &next) != LODE_OK)
        return LODE_OK;
    const lode_context *context = lode_database_context(db, sample.context_id);
    for (; context && lode_context_parent(context); context = lode_context_parent(context))
        push(s, (frame){.context = context, .begin = sample.time, .end = next.time});
    for (size_t i = 0; i < s->count / 2; i++) {
        frame other = s->frames[i];
        s->frames[i] = s->frames[s->count - 1 - i];
        s->frames[s->count - 1 - i] = other;
    }
    return LODE_OK;
}

static lode_status path_in_track(stack *s, const lode_recording *recording, uint32_t track, uint64_t time,
                                 lode_error *error)
{
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    int is_after = 0;
    lode_status status = lode_cursor_open(&cursor, recording, track, &options, error);
    while (status == LODE_OK && !is_after &&
           (status = lode_cursor_next(cursor, &events, &count, error)) == LODE_OK)
        for (size_t i = 0; i < count && !is_after; i++) {
            is_after = events[i].time > time;
            if (is_after)
                continue;
            if (lode_event_begins(&events[i]))
                push(s, (frame){.function = events[i].function, .begin = events[i].time});
            else if (lode_event_ends(&events[i]) && s->count)
                s->count--;
        }
    lode_cursor_close(cursor);
    return status == LODE_END ? LODE_OK : status;
}

lode_status trace_write_stacks(out *o, const trace_drawing *d, uint64_t time, uint64_t rows,
                               lode_error *error)
{
    stack s = {0};
    lode_status status = LODE_OK;
    size_t bound = rows && rows < d->lines.count ? (size_t)rows : d->lines.count;
    OUT_FIELDS(o, "start_ns", out_digits(d->start), "time_ns", out_digits(time), "line_count", d->lines.count,
               "is_truncated", bound < d->lines.count);
    out_table(o, OUT_MAIN, "rows", stack_columns, sizeof stack_columns / sizeof *stack_columns, UNIT_COUNT);
    for (size_t i = 0; i < bound && status == LODE_OK; i++) {
        const trace_line_name *line = &d->lines.items[i];
        s.count = 0;
        status = d->db ? path_in_line(&s, d->db, line->line, time, error)
                       : path_in_track(&s, d->recording, line->line, time, error);
        if (status == LODE_OK)
            write_frames(o, &s, line, d->names);
    }
    out_table_end(o);
    free(s.frames);
    return status;
}
