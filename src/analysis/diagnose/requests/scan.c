/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a request: own times of methods, attributes of the outermost call, failures. */
#include "analysis/diagnose/requests/scan.h"

#include "analysis/diagnose/requests/statement.h"
#include "base/memory/hash.h"
#include <string.h>

enum {
    NUMBERS = 16 /* of the recorder, at the end of a call */
};

void lode_diagnose_request_scan_open(struct scan *scan, const lode_recording *recording, bool sums_repeats)
{
    scan->recording = recording;
    scan->has_services = sums_repeats && recording->mains;
    scan->sums_repeats = sums_repeats && !scan->has_services;
    lode_diagnose_service_scan_open(&scan->services, recording);
    lode_diagnose_request_tables_init(&scan->tables);
    open_calls_init(&scan->frames, sizeof(struct frame), SIZE_MAX);
    lode_array_init(&scan->open, sizeof(uint32_t), SIZE_MAX);
    lode_array_init(&scan->groups, sizeof(struct statement_group), SIZE_MAX);
    lode_array_init(&scan->touched_methods, sizeof(uint32_t), SIZE_MAX);
    lode_array_init(&scan->touched_groups, sizeof(uint32_t), SIZE_MAX);
    lode_array_init(&scan->touched_sites, sizeof(uint32_t), SIZE_MAX);
}

void lode_diagnose_request_scan_close(struct scan *scan)
{
    lode_diagnose_service_scan_close(&scan->services);
    lode_diagnose_request_tables_free(&scan->tables);
    open_calls_free(&scan->frames);
    lode_array_free(&scan->open);
    lode_array_free(&scan->groups);
    lode_array_free(&scan->touched_methods);
    lode_array_free(&scan->touched_groups);
    lode_array_free(&scan->touched_sites);
}

/* A call begins. */
static bool open_call(struct scan *scan, uint32_t function)
{
    while (scan->open.count <= function)
        if (lode_array_push(&scan->open) == NULL)
            return false;
    ++*LODE_ARRAY_AT(&scan->open, uint32_t, function);
    return true;
}

static void close_call(struct scan *scan, uint32_t function)
{
    --*LODE_ARRAY_AT(&scan->open, uint32_t, function);
}

lode_status lode_diagnose_request_scan_start(struct scan *scan, struct request *request, uint32_t track,
                                             uint64_t duration, lode_error *error)
{
    /* Calls of the request before that did not end. */
    for (size_t i = 0; i < open_calls_count(&scan->frames); i++)
        close_call(scan, OPEN_CALLS_AT(&scan->frames, struct frame, i)->function);
    scan->request = request;
    scan->track = track;
    scan->duration = duration;
    scan->number++;
    open_calls_reset(&scan->frames);
    scan->entry = NULL;
    scan->has_ended = scan->is_broken = scan->is_side = false;
    scan->request_calls = 0;
    scan->attribute_count = 0;
    scan->has_many_attributes = false;
    lode_diagnose_service_scan_start(&scan->services, duration);
    bool done = !scan->has_services || lode_diagnose_service_scan_track(&scan->services, track, false);
    return done ? LODE_OK : lode_fail_memory(error);
}

lode_status lode_diagnose_request_scan_side(struct scan *scan, uint32_t track, lode_error *error)
{
    scan->is_side = true;
    scan->track = track;
    bool done = !scan->has_services || lode_diagnose_service_scan_track(&scan->services, track, true);
    return done ? LODE_OK : lode_fail_memory(error);
}

/* ---- calls ---- */

static bool enter(struct scan *scan, const lode_event *event)
{
    /* A request has one outermost call. */
    scan->is_broken = scan->is_broken || (scan->has_ended && !scan->is_side);
    struct frame *frame = open_calls_push(&scan->frames);
    if (frame == NULL)
        return false;
    *frame =
        (struct frame){.begin = event->time, .function = event->function->index, .serial = ++scan->serial};
    scan->request_calls++;
    if (scan->entry == NULL)
        scan->entry = event->function;
    return open_call(scan, frame->function);
}

/* Calls that the tracer counted in the outermost call and that are not recorded. */
static void count_hidden(struct scan *scan, const lode_event *event)
{
    lode_argument numbers[NUMBERS];
    size_t count = 0;
    if (event->data == NULL ||
        lode_event_arguments(scan->recording, scan->track, event, numbers, NUMBERS, &count, NULL) != LODE_OK)
        return;
    for (size_t i = 0; i < count && i < NUMBERS; i++)
        if (strcmp(numbers[i].name, "calls") == 0 && numbers[i].kind != LODE_VALUE_TEXT &&
            numbers[i].unsigned_value > scan->request_calls && numbers[i].unsigned_value <= UINT32_MAX)
            scan->hidden += numbers[i].unsigned_value - scan->request_calls;
}

/* A call of a method; it counts when the request ends. */
static bool note_method(struct scan *scan, uint32_t function, uint64_t own)
{
    struct method_sum *sum = lode_diagnose_tables_add_method(&scan->tables, scan->entry->index, function);
    if (sum == NULL)
        return false;
    if (sum->pending_calls++ == 0) {
        uint32_t *touched = lode_array_push(&scan->touched_methods);
        if (touched == NULL)
            return false;
        *touched = (uint32_t)(sum - LODE_ARRAY_AT(&scan->tables.methods, struct method_sum, 0));
    }
    sum->pending_own += own;
    return true;
}

static void end_methods(struct scan *scan)
{
    for (size_t i = 0; i < scan->touched_methods.count; i++) {
        struct method_sum *sum = LODE_ARRAY_AT(&scan->tables.methods, struct method_sum,
                                               *LODE_ARRAY_AT(&scan->touched_methods, uint32_t, i));
        sum->calls += scan->is_broken ? 0 : sum->pending_calls;
        sum->own += scan->is_broken ? 0 : sum->pending_own;
        sum->pending_calls = sum->pending_own = 0;
    }
    scan->touched_methods.count = 0;
}

static bool leave(struct scan *scan, const lode_event *event)
{
    if (open_calls_end(&scan->frames) != LODE_CALL_ENDS)
        return true;
    bool has_failed = (event->flags & LODE_EVENT_FAILED) != 0;
    const struct frame *call = open_calls_pop(&scan->frames);
    uint64_t time = event->time - call->begin, own = time > call->inside ? time - call->inside : 0;
    bool is_outermost = open_calls_count(&scan->frames) == 0;
    if (is_outermost && !scan->is_side) {
        scan->has_ended = true;
        scan->request->own += own;
        scan->request->flags |= has_failed ? REQUEST_FAILED : 0;
        count_hidden(scan, event);
    }
    bool done = note_method(scan, call->function, own);
    if (scan->sums_repeats && done)
        done = lode_diagnose_request_scan_end_children(scan, call);
    close_call(scan, call->function);
    if (!is_outermost) {
        struct frame *parent = OPEN_CALLS_TOP(&scan->frames, struct frame);
        parent->inside += time;
        if (scan->sums_repeats && done)
            done = lode_diagnose_request_scan_add_child(scan, parent, call, event->time, has_failed);
    }
    return done;
}

/* ---- attributes ---- */

/* A value as text, without a zero byte inside; false: it is too long, or no single value. */
static bool read_value(const struct scan *scan, const lode_event *event, char *text, size_t capacity)
{
    lode_argument argument;
    size_t count = 0;
    if (lode_event_arguments(scan->recording, scan->track, event, &argument, 1, &count, NULL) != LODE_OK ||
        count != 1)
        return false;
    if (argument.kind != LODE_VALUE_TEXT || argument.bytes == NULL)
        return lode_argument_text(&argument, text, capacity) < capacity;
    if (argument.length >= capacity)
        return false;
    memcpy(text, argument.bytes, argument.length);
    text[argument.length] = '\0';
    return memchr(text, '\0', argument.length) == NULL;
}

/* Keeps attributes of the outermost call; of the same key, the last counts. */
static void keep_attribute(struct scan *scan, const lode_event *event, const char *key)
{
    unsigned i = 0;
    while (i < scan->attribute_count && strcmp(scan->attributes[i].key, key) != 0)
        i++;
    if (strlen(key) >= KEY_SIZE)
        return;
    if (i == ATTRIBUTES) {
        scan->has_many_attributes = true;
        return;
    }
    memcpy(scan->attributes[i].key, key, strlen(key) + 1);
    scan->attributes[i].is_long = !read_value(scan, event, scan->attributes[i].value, VALUE_SIZE);
    if (i == scan->attribute_count)
        scan->attribute_count++;
}

static bool take_statement(struct scan *scan, const lode_event *event)
{
    struct frame *call = OPEN_CALLS_TOP(&scan->frames, struct frame);
    char text[STATEMENT_SIZE];
    lode_argument argument;
    size_t count = 0;
    if (lode_event_arguments(scan->recording, scan->track, event, &argument, 1, &count, NULL) != LODE_OK ||
        count != 1 || argument.kind != LODE_VALUE_TEXT || argument.bytes == NULL || argument.length == 0)
        return true;
    lode_diagnose_normalise_statement(argument.bytes, argument.length, text, sizeof text,
                                      &call->has_parameters);
    call->raw = lode_hash_bytes(argument.bytes, argument.length);
    return lode_diagnose_tables_add_statement(&scan->tables, text, &call->statement);
}

static bool take_instant(struct scan *scan, const lode_event *event)
{
    size_t depth = open_calls_count(&scan->frames);
    if (depth == 0 || lode_event_instant(scan->recording, event) != LODE_INSTANT_ATTRIBUTE)
        return true;
    const char *key = lode_event_name(scan->recording, event);
    if (depth == 1) {
        if (!scan->has_ended)
            keep_attribute(scan, event, key);
        return true;
    }
    return !scan->sums_repeats || !lode_diagnose_is_statement_key(key) || take_statement(scan, event);
}

/* ---- a request ---- */

static bool take(struct scan *scan, const lode_event *event)
{
    /* Clocks of several hosts are never equal: there, a repair is no damage. */
    bool is_repaired = (event->flags & (LODE_EVENT_MADE | LODE_EVENT_MOVED)) != 0;
    scan->is_broken = scan->is_broken || (is_repaired && scan->recording->mains == NULL);
    switch (event->kind) {
    case LODE_EVENT_ENTER:
        return enter(scan, event);
    case LODE_EVENT_LEAVE:
        return leave(scan, event);
    case LODE_EVENT_INSTANT:
        return take_instant(scan, event);
    case LODE_EVENT_LOST:
        scan->is_broken = true;
        break;
    default:
        break;
    }
    return true;
}

lode_status lode_diagnose_request_scan_events(struct scan *scan, const lode_event *events, size_t count,
                                              lode_error *error)
{
    bool done = true;
    for (size_t i = 0; i < count && done; i++)
        done = take(scan, &events[i]) &&
               (!scan->has_services || lode_diagnose_service_scan_take(&scan->services, &events[i]));
    return done ? LODE_OK : lode_fail_memory(error);
}

static bool add_attributes(struct scan *scan)
{
    struct value_sum sum = {1, scan->duration, (lode_square)scan->duration * scan->duration};
    bool done = true;
    scan->tables.has_many_keys = scan->tables.has_many_keys || scan->has_many_attributes;
    for (unsigned i = 0; scan->entry && i < scan->attribute_count && done; i++)
        if (!scan->attributes[i].is_long)
            done = lode_diagnose_tables_add_value(&scan->tables, scan->entry->index, scan->attributes[i].key,
                                                  scan->attributes[i].value, &sum);
    return done;
}

lode_status lode_diagnose_request_scan_finish(struct scan *scan, lode_error *error)
{
    bool done = true;
    scan->calls += scan->request_calls;
    scan->is_broken = scan->is_broken || !scan->has_ended || scan->entry == NULL;
    end_methods(scan);
    if (scan->entry)
        scan->request->entry = scan->entry->index;
    const struct lode_recording_ops *ops = scan->recording->ops;
    if (ops->has_failed && ops->has_failed(scan->recording, scan->request->track))
        scan->request->flags |= REQUEST_FAILED;
    if (!scan->is_broken) {
        scan->request->flags |= REQUEST_JUDGED;
        done = add_attributes(scan);
    }
    if (scan->sums_repeats && done)
        done = lode_diagnose_request_scan_end_repeats(scan);
    if (scan->has_services && done)
        done = lode_diagnose_service_scan_finish(&scan->services, !scan->is_broken);
    return done ? LODE_OK : lode_fail_memory(error);
}
