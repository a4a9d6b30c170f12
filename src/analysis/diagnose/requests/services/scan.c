/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds attributes, entries and the order of calls to those of a request. */
#include "analysis/diagnose/requests/services/services.h"

#include "analysis/diagnose/requests/statement.h"
#include "base/compare.h"
#include "base/memory/hash.h"
#include <stdlib.h>
#include <string.h>

enum {
    BEGIN_ARGUMENTS = 4, /* of a call: the kind is among the first ones */
    VALUE_LENGTH = 128   /* longer values are ids, texts and statements */
};

void lode_diagnose_service_scan_open(struct service_scan *scan, const lode_recording *recording)
{
    scan->recording = recording;
    lode_diagnose_service_tables_init(&scan->tables);
    lode_array_init(&scan->calls, sizeof(struct service_call), UINT32_MAX / 2);
    lode_array_init(&scan->order, sizeof(uint32_t), SIZE_MAX);
    lode_array_init(&scan->touched, sizeof(uint32_t), SIZE_MAX);
    lode_array_init(&scan->marks, sizeof(struct service_mark), SIZE_MAX);
    lode_array_init(&scan->waits, sizeof(uint8_t), SIZE_MAX);
}

void lode_diagnose_service_scan_close(struct service_scan *scan)
{
    lode_diagnose_service_tables_free(&scan->tables);
    lode_request_free(&scan->request);
    lode_array_free(&scan->calls);
    lode_array_free(&scan->order);
    lode_array_free(&scan->touched);
    lode_array_free(&scan->marks);
    lode_array_free(&scan->waits);
    lode_blob_free(&scan->values);
}

void lode_diagnose_service_scan_start(struct service_scan *scan, uint64_t duration)
{
    scan->calls.count = scan->marks.count = 0;
    scan->values.size = 0;
    scan->duration = duration;
}

bool lode_diagnose_service_scan_track(struct service_scan *scan, uint32_t track, bool is_side)
{
    scan->track = track;
    scan->is_side = is_side;
    lode_status status = is_side ? lode_request_side(&scan->request, track, NULL)
                                 : lode_request_begin(&scan->request, scan->recording, track, NULL);
    return status == LODE_OK;
}

/* ---- calls ---- */

static enum call_kind kind_of(const struct service_scan *scan, const lode_event *event)
{
    lode_argument arguments[BEGIN_ARGUMENTS];
    size_t count = 0;
    if (lode_event_arguments(scan->recording, scan->track, event, arguments, BEGIN_ARGUMENTS, &count, NULL) !=
        LODE_OK)
        return CALL_INSIDE;
    for (size_t i = 0; i < count && i < BEGIN_ARGUMENTS; i++) {
        const lode_argument *argument = &arguments[i];
        if (argument->kind != LODE_VALUE_TEXT || strcmp(argument->name, "kind") != 0)
            continue;
        if (argument->length == 6 && memcmp(argument->bytes, "server", 6) == 0)
            return CALL_SERVER;
        if (argument->length == 8 && memcmp(argument->bytes, "consumer", 8) == 0)
            return CALL_SERVER;
        if (argument->length == 6 && memcmp(argument->bytes, "client", 6) == 0)
            return CALL_CLIENT;
    }
    return CALL_INSIDE;
}

static bool add_call(struct service_scan *scan, const lode_event *event)
{
    struct service_call *call = lode_array_push(&scan->calls);
    if (call) {
        call->kind = (uint8_t)kind_of(scan, event);
        call->is_side = scan->is_side;
    }
    return call != NULL;
}

/* ---- attributes ---- */

static bool take_statement(struct service_scan *scan, struct service_call *call, const lode_argument *value)
{
    char text[TEXT_MAX_SIZE];
    if (value->kind != LODE_VALUE_TEXT || value->bytes == NULL || value->length == 0)
        return true;
    lode_diagnose_normalise_statement(value->bytes, value->length, text, sizeof text, &call->has_parameters);
    call->raw = lode_hash_bytes(value->bytes, value->length);
    return lode_diagnose_service_text(&scan->tables, text, &call->statement);
}

/* Keeps a value until the request is complete: only then it is known what it is an attribute of. */
static bool keep_value(struct service_scan *scan, uint32_t call, const char *key, const lode_argument *value)
{
    char text[VALUE_LENGTH];
    size_t length = value->length;
    if (value->kind == LODE_VALUE_TEXT && value->bytes) {
        if (length >= sizeof text || memchr(value->bytes, '\0', length))
            return true;
        memcpy(text, value->bytes, length);
        text[length] = '\0';
    } else if (lode_argument_text(value, text, sizeof text) >= sizeof text) {
        return true;
    }
    length = strlen(text) + 1;
    size_t at = lode_blob_extend(&scan->values, length);
    struct service_mark *mark = at == LODE_BLOB_FULL ? NULL : lode_array_push(&scan->marks);
    if (mark == NULL)
        return false;
    memcpy(scan->values.bytes + at, text, length);
    *mark = (struct service_mark){key, at, call};
    return true;
}

static bool take_exception(struct service_scan *scan, struct service_call *call, const lode_event *event)
{
    lode_argument type;
    char text[TEXT_MAX_SIZE];
    size_t count = 0;
    if (lode_event_arguments(scan->recording, scan->track, event, &type, 1, &count, NULL) != LODE_OK ||
        count == 0 || type.kind != LODE_VALUE_TEXT || type.bytes == NULL || type.length == 0)
        return true;
    size_t length = type.length < sizeof text ? type.length : sizeof text - 1;
    memcpy(text, type.bytes, length);
    text[length] = '\0';
    return lode_diagnose_service_text(&scan->tables, text, &call->exception);
}

static bool take_instant(struct service_scan *scan, const lode_event *event)
{
    const struct lode_request_call *innermost = lode_request_innermost(&scan->request);
    if (innermost == NULL)
        return true;
    uint32_t index = (uint32_t)(innermost - lode_request_call_at(&scan->request, 0));
    struct service_call *call = service_call_at(scan, index);
    lode_instant instant = lode_event_instant(scan->recording, event);
    if (instant == LODE_INSTANT_EXCEPTION)
        return call->exception || take_exception(scan, call, event);
    if (instant != LODE_INSTANT_ATTRIBUTE)
        return true;
    const char *key = lode_event_name(scan->recording, event);
    bool is_statement = lode_diagnose_is_statement_key(key);
    /* Addresses and sizes of what clients ask for have many values, and name no cause. */
    if (!is_statement && call->kind == CALL_CLIENT)
        return true;
    lode_argument value;
    size_t count = 0;
    if (lode_event_arguments(scan->recording, scan->track, event, &value, 1, &count, NULL) != LODE_OK ||
        count != 1)
        return true;
    if (is_statement)
        return call->kind == CALL_SERVER || take_statement(scan, call, &value);
    return keep_value(scan, index, key, &value);
}

bool lode_diagnose_service_scan_take(struct service_scan *scan, const lode_event *event)
{
    if (event->kind == LODE_EVENT_INSTANT)
        return take_instant(scan, event);
    if (lode_request_take(&scan->request, event, NULL) != LODE_OK)
        return false;
    return event->kind != LODE_EVENT_ENTER || add_call(scan, event);
}

/* ---- a complete request ---- */

static void copy_calls(struct service_scan *scan)
{
    for (uint32_t i = 0; i < scan->calls.count; i++) {
        const struct lode_request_call *from = lode_request_call_at(&scan->request, i);
        struct service_call *call = service_call_at(scan, i);
        call->begin = from->begin;
        call->end = from->end;
        call->function = from->function->index;
        call->parent = from->parent;
        call->has_failed = from->has_failed;
    }
}

/* Depths and entries; callers have lower indices. */
static void find_entries(struct service_scan *scan)
{
    for (uint32_t i = 0; i < scan->calls.count; i++) {
        struct service_call *call = service_call_at(scan, i);
        struct service_call *parent = call->parent == NO_CALL ? NULL : service_call_at(scan, call->parent);
        call->depth = parent ? parent->depth + 1 : 1;
        call->entry = call->kind == CALL_SERVER || parent == NULL ? i : parent->entry;
        if (call->kind == CALL_SERVER && parent && parent->kind == CALL_CLIENT)
            parent->callee = call->function + 1;
        call->failed_above = parent == NULL       ? NO_CALL
                             : parent->has_failed ? call->parent
                                                  : parent->failed_above;
        call->failed_below = NO_CALL;
    }
}

/* By caller, then by begin. The sort is stable by index: callers come before their callees. */
struct placed {
    uint64_t begin;
    uint32_t parent, index;
};

static int compare_placed(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    if (a->parent != b->parent)
        return LODE_COMPARE(a->parent, b->parent);
    return a->begin != b->begin ? LODE_COMPARE(a->begin, b->begin) : LODE_COMPARE(a->index, b->index);
}

static bool sort_calls(struct service_scan *scan)
{
    size_t count = scan->calls.count;
    struct placed *placed = malloc((count + 1) * sizeof *placed);
    scan->order.count = 0;
    bool done = placed != NULL;
    for (uint32_t i = 0; done && i < count; i++) {
        const struct service_call *call = service_call_at(scan, i);
        placed[i] = (struct placed){call->begin, call->parent, i};
        done = lode_array_push(&scan->order) != NULL;
    }
    if (done && count > 1)
        qsort(placed, count, sizeof *placed, compare_placed);
    for (size_t i = 0; done && i < count; i++)
        *LODE_ARRAY_AT(&scan->order, uint32_t, i) = placed[i].index;
    free(placed);
    return done;
}

bool lode_diagnose_service_scan_finish(struct service_scan *scan, bool is_judged)
{
    bool done = true;
    if (is_judged && scan->calls.count > 0) {
        copy_calls(scan);
        find_entries(scan);
        done = sort_calls(scan) && lode_diagnose_service_look(scan);
    }
    for (size_t i = 0; i < scan->touched.count; i++) {
        uint32_t number = *LODE_ARRAY_AT(&scan->touched, uint32_t, i);
        struct service_sum *sum = LODE_ARRAY_AT(&scan->tables.sums, struct service_sum, number);
        uint64_t saved = sum->pending_saved < scan->duration ? sum->pending_saved : scan->duration;
        sum->requests++;
        sum->saved += saved;
        sum->squares += (lode_square)saved * saved;
        sum->products += (lode_square)saved * scan->duration;
        sum->pending_saved = 0;
        sum->is_touched = false;
    }
    scan->touched.count = 0;
    return done;
}
