/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of one track, as columns. */
#include "lodepy.h"

/* What is read without the interpreter's lock; functions become names afterwards. */
typedef struct event_list {
    lode_event *items;
    size_t count, capacity;
} event_list;

typedef struct events_job {
    lp_job job;
    const lode_recording *recording;
    uint32_t track;
    uint64_t limit;
    lode_cursor_options options;
    event_list events;
} events_job;

static bool append(event_list *list, const lode_event *events, size_t count)
{
    if (count > list->capacity - list->count) {
        size_t capacity = 2 * list->capacity + count;
        lode_event *items = realloc(list->items, capacity * sizeof *items);
        if (!items)
            return false;
        list->items = items;
        list->capacity = capacity;
    }
    memcpy(list->items + list->count, events, count * sizeof *events);
    list->count += count;
    return true;
}

static lode_status read_all(events_job *e, lode_cursor *cursor)
{
    const lode_event *events;
    size_t count;
    lode_status status = LODE_OK;
    while ((!e->limit || e->events.count < e->limit) &&
           (status = lode_cursor_next(cursor, &events, &count, &e->job.error)) == LODE_OK) {
        if (!append(&e->events, events, count)) {
            e->job.error = (lode_error){.status = LODE_ERR_MEMORY};
            return LODE_ERR_MEMORY;
        }
        if (lp_job_progress(e, "reading", e->events.count, 0)) {
            e->job.error = (lode_error){.status = LODE_ERR_CANCELLED, .text = "cancelled"};
            return LODE_ERR_CANCELLED;
        }
    }
    if (e->limit && e->events.count > e->limit)
        e->events.count = (size_t)e->limit;
    return status == LODE_END ? LODE_OK : status;
}

static lode_status run_events(lp_job *job)
{
    events_job *e = (events_job *)job;
    lode_cursor *cursor = NULL;
    lode_status status = lode_cursor_open(&cursor, e->recording, e->track, &e->options, &job->error);
    if (status == LODE_OK)
        status = read_all(e, cursor);
    lode_cursor_close(cursor);
    return status;
}

static bool has_function(const lode_event *event)
{
    return event->kind <= LODE_EVENT_SCHED_IN;
}

static void add_event(lp_frame *frame, const events_job *e, const lode_event *event, int form)
{
    static const char *const kinds[] = {"enter", "leave", "sched_out", "sched_in", "instant", "lost"};
    lp_frame_u64(frame, event->time);
    lp_frame_text(frame, event->kind < 6 ? kinds[event->kind] : NULL);
    lp_frame_u64(frame, event->depth);
    if (has_function(event))
        lp_frame_label(frame, lp_label_of_function, event->function, form);
    else
        lp_frame_text(frame, event->kind == LODE_EVENT_INSTANT ? lode_event_name(e->recording, event) : NULL);
    lp_frame_u64(frame, event->flags);
}

static PyObject *events_frame(PyObject *module, const events_job *e, int form)
{
    static const lp_field fields[] = {
        {"time", 'Q'}, {"kind", 's'}, {"depth", 'I'}, {"name", 's'}, {"flags", 'B'}};
    lp_frame frame;
    if (!lp_frame_open(&frame, fields, sizeof fields / sizeof *fields, e->events.count))
        return NULL;
    for (size_t i = 0; i < e->events.count; i++)
        add_event(&frame, e, &e->events.items[i], form);
    return lp_frame_close(&frame, module);
}

/* events(store, track, from, to, limit, form, progress) -> dict of columns */
PyObject *lp_module_events(PyObject *module, PyObject *arguments)
{
    PyObject *argument, *result = NULL;
    unsigned long long from, to, limit;
    int form;
    events_job e = {.job = {.run = run_events}, .options = LODE_CURSOR_OPTIONS_INIT};
    if (!PyArg_ParseTuple(arguments, "OIKKKiO:events", &argument, &e.track, &from, &to, &limit, &form,
                          &e.job.progress))
        return NULL;
    lp_store *store = lp_use_recording(module, argument);
    if (!store)
        return NULL;
    e.recording = store->recording;
    e.options.from = from;
    e.options.to = to;
    e.limit = limit;
    if (lp_job_run(module, &e.job))
        result = events_frame(module, &e, form);
    free(e.events.items);
    lp_store_release(store);
    return result;
}
