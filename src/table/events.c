/* SPDX-License-Identifier: BSD-3-Clause */
/* Events, calls, arguments and attributes of a recording, as tables: each a pass over tracks. */
#include "analysis/slice.h"
#include "base/blob.h"
#include "model/recording.h"
#include "table/fields.h"
#include "table/keys.h"
#include <stdlib.h>
#include <string.h>

enum {
    EVENT_BYTES = 16, /* approximate size of a record, for progress */
    TEXT_FIRST = 512
};

static const char *const event_kinds[] = {"enter", "leave", "sched_out", "sched_in", "instant", "lost"};

/* ---- a pass over the tracks ---- */

struct call {
    uint64_t begin, inside; /* time of callees */
    uint32_t function;
};

struct pass {
    lode_slice slice;
    struct lode_slicer slicer;
    uint32_t track_count, next; /* of the slice */
    uint32_t track;
    lode_cursor *cursor;
    bool has_finished;        /* the slicer gave its rest */
    bool has_messages;        /* the events without a track come next */
    const lode_event *events; /* of this track, not yet read */
    size_t count;
    uint64_t reported; /* bytes of this track */
    struct lode_array calls;
    lode_argument *arguments; /* of the current event */
    size_t argument_capacity, argument_count, next_argument;
    bool has_arguments; /* they are decoded */
    uint64_t undecoded; /* events whose data was not understood */
    struct lode_blob text;
    /* Of a query: */
    struct lode_key_set tracks;
    struct lode_function_names names; /* of this pass, by first use in it */
};

/* Ids of functions are those of first use in all tracks, whichever of them a query reads. */
static lode_status find_functions(struct lode_table_reader *reader, lode_error *error)
{
    for (unsigned i = 0; reader->query && i < reader->def->info.field_count; i++)
        if (strcmp(reader->def->info.fields[i].name, "function_id") == 0 && (reader->query->needed >> i & 1))
            return lode_tables_scan(reader->tables, error);
    return LODE_OK;
}

static bool is_wanted_track(const struct lode_table_reader *reader, uint32_t track)
{
    const struct pass *pass = reader->state;
    uint64_t key;
    size_t at = 0;
    return lode_key_set_next(&pass->tracks, track, &at, &key) && key == track;
}

static lode_status open_pass(struct lode_table_reader *reader, lode_error *error)
{
    struct pass *pass = reader->state;
    const struct lode_tables *tables = reader->tables;
    lode_slicer_init(&pass->slicer, tables->options.slice);
    lode_array_init(&pass->calls, sizeof(struct call), SIZE_MAX);
    lode_function_names_init(&pass->names, tables->options.names);
    pass->tracks = lode_key_set_of(reader->query, 0, UINT32_MAX);
    LODE_TRY(find_functions(reader, error));
    LODE_TRY(lode_slice_tracks(tables->options.slice, tables->recording, &pass->track_count, error));
    for (uint32_t i = 0; i < pass->track_count; i++) {
        uint32_t track = lode_slice_track(tables->options.slice, i);
        if (is_wanted_track(reader, track))
            reader->total += tables->recording->tracks[track].bytes;
    }
    return LODE_OK;
}

static void close_pass(struct lode_table_reader *reader)
{
    struct pass *pass = reader->state;
    lode_cursor_close(pass->cursor);
    lode_slicer_free(&pass->slicer);
    lode_array_free(&pass->calls);
    lode_function_names_free(&pass->names);
    lode_blob_free(&pass->text);
    free(pass->arguments);
}

static lode_status open_track(struct lode_table_reader *reader, lode_error *error)
{
    struct pass *pass = reader->state;
    const struct lode_tables *tables = reader->tables;
    const lode_slice *slice = tables->options.slice;
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    pass->track = lode_slice_track(slice, pass->next++);
    if (!is_wanted_track(reader, pass->track))
        return LODE_OK;
    options.strict = tables->options.strict;
    /* The first pass reports repairs; queries are read by several threads. */
    options.on_finding = reader->query || tables->is_scanned ? NULL : tables->options.on_finding;
    options.user = tables->options.user;
    lode_slicer_reset(&pass->slicer);
    pass->calls.count = 0;
    pass->has_finished = false;
    pass->reported = 0;
    return lode_cursor_open(&pass->cursor, tables->recording, pass->track, &options, error);
}

static void close_track(struct lode_table_reader *reader)
{
    struct pass *pass = reader->state;
    uint64_t bytes = reader->tables->recording->tracks[pass->track].bytes;
    lode_cursor_close(pass->cursor);
    pass->cursor = NULL;
    reader->done += bytes - pass->reported;
}

static void report(struct lode_table_reader *reader, size_t count)
{
    struct pass *pass = reader->state;
    uint64_t left = reader->tables->recording->tracks[pass->track].bytes - pass->reported;
    uint64_t bytes = count * EVENT_BYTES < left ? count * EVENT_BYTES : left;
    pass->reported += bytes;
    reader->done += bytes;
}

/* The next events of the open track; none at its end. */
static lode_status fill(struct lode_table_reader *reader, lode_error *error)
{
    struct pass *pass = reader->state;
    while (pass->count == 0 && !pass->has_finished) {
        lode_status status = lode_slicer_has_ended(&pass->slicer)
                                 ? LODE_END
                                 : lode_cursor_next(pass->cursor, &pass->events, &pass->count, error);
        if (status < 0)
            return status;
        if (status == LODE_END) {
            pass->has_finished = true;
            return lode_slicer_finish(&pass->slicer, &pass->events, &pass->count, error);
        }
        report(reader, pass->count);
        LODE_TRY(
            lode_slicer_push(&pass->slicer, pass->events, pass->count, &pass->events, &pass->count, error));
    }
    return LODE_OK;
}

/* Events that belong to no track: only without a choice of tracks. */
static void open_messages(struct lode_table_reader *reader)
{
    struct pass *pass = reader->state;
    const lode_recording *recording = reader->tables->recording;
    const lode_slice *slice = reader->tables->options.slice;
    pass->has_messages = true;
    /* Their track is NULL, which meets no condition. */
    if ((slice && slice->tracks) || (reader->query && lode_key_set_filters(reader->query, 0)))
        return;
    pass->track = LODE_NO_TRACK;
    pass->events = recording->messages;
    pass->count = recording->message_count;
    while (slice && pass->count > 0 && pass->events->time < slice->from) {
        pass->events++;
        pass->count--;
    }
    while (slice && slice->to && pass->count > 0 && pass->events[pass->count - 1].time >= slice->to)
        pass->count--;
}

/* The current event; NULL at the end of everything. It stays until pass_advance. */
static lode_status peek(struct lode_table_reader *reader, const lode_event **event, lode_error *error)
{
    struct pass *pass = reader->state;
    while (pass->count == 0) {
        if (pass->cursor) {
            LODE_TRY(fill(reader, error));
            if (pass->count == 0)
                close_track(reader);
        } else if (pass->next < pass->track_count) {
            LODE_TRY(open_track(reader, error));
        } else if (!pass->has_messages) {
            open_messages(reader);
        } else {
            if (reader->query == NULL)
                reader->tables->is_scanned = true;
            *event = NULL;
            return LODE_END;
        }
    }
    *event = pass->events;
    return LODE_OK;
}

static void advance(struct pass *pass)
{
    pass->events++;
    pass->count--;
    pass->has_arguments = false;
}

static bool has_function(const lode_event *event)
{
    return event->kind <= LODE_EVENT_SCHED_IN;
}

/* Without a query, functions are numbered as they come. */
static lode_status put_function(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                unsigned column, const lode_function *function, lode_error *error)
{
    struct lode_tables *tables = reader->tables;
    uint32_t id = 0;
    if (reader->query == NULL)
        LODE_TRY(lode_tables_function(tables, function, &id, error));
    else if (lode_batch_needs(batch, column))
        id = lode_interner_find(&tables->names.functions, &function);
    lode_batch_u32(batch, column, id);
    return LODE_OK;
}

/* Pruning of tracks; an order by track has NULL last, where SQL has it first. */
static lode_status plan_pass(struct lode_tables *tables, struct lode_table_query *query, lode_error *error)
{
    struct lode_table_plan *plan = &query->plan;
    uint32_t tracks;
    LODE_TRY(lode_slice_tracks(tables->options.slice, tables->recording, &tracks, error));
    plan->seeks = lode_key_set_filters(query, 0);
    plan->order = plan->seeks || tables->recording->message_count == 0 ? 0 : LODE_NO_ORDER;
    double bytes = 0, share = lode_key_set_share(query, 0, tracks);
    for (uint32_t i = 0; i < tracks; i++)
        bytes += (double)tables->recording->tracks[lode_slice_track(tables->options.slice, i)].bytes;
    plan->rows = plan->cost = bytes / EVENT_BYTES * share;
    return LODE_OK;
}

/* ---- events ---- */

static const lode_field event_fields[] = {U32_OR_NULL("track_id", "track"),
                                          I64("time_ns", LODE_FIELD_TIME),
                                          TEXT("kind"),
                                          U32_OR_NULL("function_id", "function"),
                                          U32("depth", NULL),
                                          TEXT_OR_NULL("flags"),
                                          TEXT_OR_NULL("name"),
                                          I64("lost_records", LODE_FIELD_OPTIONAL)};

/* Flags as text, never as codes. */
static const char *flags_text(unsigned flags)
{
    static const char *const texts[] = {NULL,
                                        "made",
                                        "moved",
                                        "made moved",
                                        "preempted",
                                        "made preempted",
                                        "moved preempted",
                                        "made moved preempted",
                                        "failed",
                                        "made failed",
                                        "moved failed",
                                        "made moved failed",
                                        "preempted failed",
                                        "made preempted failed",
                                        "moved preempted failed",
                                        "made moved preempted failed"};
    return texts[flags & 15];
}

static void put_track(struct lode_table_batch *batch, uint32_t track)
{
    if (track == LODE_NO_TRACK)
        lode_batch_null(batch, 0);
    else
        lode_batch_u32(batch, 0, track);
}

static lode_status put_event(struct lode_table_reader *reader, struct lode_table_batch *batch,
                             const lode_event *event, lode_error *error)
{
    const struct pass *pass = reader->state;
    put_track(batch, pass->track);
    lode_batch_u64(batch, 1, event->time);
    lode_batch_fixed(batch, 2, event_kinds[event->kind]);
    lode_batch_null(batch, 3);
    lode_batch_u32(batch, 4, event->depth);
    lode_batch_fixed(batch, 5, flags_text(event->flags));
    lode_batch_fixed(batch, 6, NULL);
    lode_batch_null(batch, 7);
    if (has_function(event)) {
        LODE_TRY(put_function(reader, batch, 3, event->function, error));
    } else if (event->kind == LODE_EVENT_INSTANT) {
        LODE_TRY(lode_batch_text(batch, 6, lode_event_name(reader->tables->recording, event), error));
    } else if (event->id) {
        lode_batch_u64(batch, 7, event->id);
    }
    batch->rows++;
    return LODE_OK;
}

static lode_status next_event(struct lode_table_reader *reader, struct lode_table_batch *batch,
                              lode_error *error)
{
    const lode_event *event;
    while (!lode_batch_is_full(batch)) {
        LODE_TRY(peek(reader, &event, error));
        LODE_TRY(put_event(reader, batch, event, error));
        advance(reader->state);
    }
    return LODE_OK;
}

const struct lode_table_def lode_table_event = {INFO("events of tracks, each in chronological order", event),
                                                .state_size = sizeof(struct pass),
                                                .open = open_pass,
                                                .next = next_event,
                                                .close = close_pass,
                                                .orders = {{{0, 1}, 2}},
                                                .order_count = 1,
                                                .plan = plan_pass};

/* ---- calls ---- */

static const lode_field call_fields[] = {
    U32("track_id", "track"), I64("begin_ns", LODE_FIELD_TIME),
    I64("duration_ns", 0),    I64("self_ns", 0),
    U32("depth", NULL),       U32("function_id", "function"),
    TEXT("function"),         {"failed", LODE_COLUMN_U8, LODE_FIELD_BOOLEAN, NULL}};

/* Numbers of functions are those of the tables, or of the pass of a query. */
static struct lode_function_names *names_of(struct lode_table_reader *reader)
{
    struct pass *pass = reader->state;
    return reader->query ? &pass->names : &reader->tables->names;
}

static lode_status number_function(struct lode_table_reader *reader, const lode_function *function,
                                   uint32_t *number, lode_error *error)
{
    bool is_new;
    if (reader->query)
        return lode_function_names_add(names_of(reader), function, number, &is_new, error);
    return lode_tables_function(reader->tables, function, number, error);
}

/* A call ended. */
static lode_status put_call(struct lode_table_reader *reader, struct lode_table_batch *batch,
                            const lode_event *event, lode_error *error)
{
    struct pass *pass = reader->state;
    struct call call = *LODE_ARRAY_AT(&pass->calls, struct call, pass->calls.count - 1);
    uint64_t duration = event->time - call.begin;
    lode_array_pop(&pass->calls);
    if (pass->calls.count > 0)
        LODE_ARRAY_AT(&pass->calls, struct call, pass->calls.count - 1)->inside += duration;
    lode_batch_u32(batch, 0, pass->track);
    lode_batch_u64(batch, 1, call.begin);
    lode_batch_u64(batch, 2, duration);
    lode_batch_u64(batch, 3, duration - call.inside);
    lode_batch_u32(batch, 4, (uint32_t)pass->calls.count);
    const struct lode_function_names *names = names_of(reader);
    LODE_TRY(put_function(reader, batch, 5,
                          *LODE_ARRAY_AT(&names->functions.items, const lode_function *, call.function),
                          error));
    lode_batch_fixed(batch, 6, lode_function_names_label(names, call.function));
    lode_batch_boolean(batch, 7, (event->flags & LODE_EVENT_FAILED) != 0);
    batch->rows++;
    return LODE_OK;
}

/* Off-CPU time is a call of its pseudo function. */
static lode_status take_event(struct lode_table_reader *reader, struct lode_table_batch *batch,
                              const lode_event *event, lode_error *error)
{
    struct pass *pass = reader->state;
    if (event->kind == LODE_EVENT_ENTER || event->kind == LODE_EVENT_SCHED_OUT) {
        uint32_t function;
        LODE_TRY(number_function(reader, event->function, &function, error));
        struct call *call = lode_array_push(&pass->calls);
        LODE_TRY_ALLOC(call, error);
        *call = (struct call){.begin = event->time, .function = function};
    } else if (has_function(event) && pass->calls.count > 0) {
        LODE_TRY(put_call(reader, batch, event, error));
    }
    return LODE_OK;
}

static lode_status next_call(struct lode_table_reader *reader, struct lode_table_batch *batch,
                             lode_error *error)
{
    const lode_event *event;
    while (!lode_batch_is_full(batch)) {
        LODE_TRY(peek(reader, &event, error));
        LODE_TRY(take_event(reader, batch, event, error));
        advance(reader->state);
    }
    return LODE_OK;
}

const struct lode_table_def lode_table_call = {INFO("calls, in the order of their ends", call),
                                               .state_size = sizeof(struct pass),
                                               .open = open_pass,
                                               .next = next_call,
                                               .close = close_pass,
                                               .orders = {{{0}, 1}},
                                               .order_count = 1,
                                               .plan = plan_pass};

/* ---- arguments ---- */

static const lode_field argument_fields[] = {U32_OR_NULL("track_id", "track"),
                                             I64("time_ns", LODE_FIELD_TIME),
                                             TEXT("kind"),
                                             U32("position", NULL),
                                             TEXT_OR_NULL("name"),
                                             TEXT("value")};

/* Decodes the arguments of the current event, once. Those that are not understood are counted. */
static lode_status decode(struct lode_table_reader *reader, const lode_event *event, lode_error *error)
{
    struct pass *pass = reader->state;
    if (pass->has_arguments)
        return LODE_OK;
    pass->argument_count = pass->next_argument = 0;
    for (size_t count = 0; event->data;) {
        lode_status status = lode_event_arguments(reader->tables->recording, pass->track, event,
                                                  pass->arguments, pass->argument_capacity, &count, NULL);
        pass->undecoded += status < 0;
        if (status != LODE_OK || count <= pass->argument_capacity) {
            pass->argument_count = status == LODE_OK ? count : 0;
            break;
        }
        lode_argument *arguments = realloc(pass->arguments, count * sizeof *arguments);
        LODE_TRY_ALLOC(arguments, error);
        pass->arguments = arguments;
        pass->argument_capacity = count;
    }
    pass->has_arguments = true;
    return LODE_OK;
}

static size_t argument_label(const void *argument, char *buffer, size_t capacity)
{
    return lode_argument_text(argument, buffer, capacity);
}

/* A string as it is, without quotes; other values as text. */
static lode_status put_value(struct lode_table_batch *batch, unsigned column, const lode_argument *argument,
                             lode_error *error)
{
    if (argument->kind == LODE_VALUE_TEXT && argument->bytes)
        return lode_batch_bytes(batch, column, argument->bytes, argument->length, error);
    return lode_batch_label(batch, column, argument_label, argument, error);
}

static bool is_attribute(const struct lode_table_reader *reader, const lode_event *event)
{
    return lode_event_instant(reader->tables->recording, event) == LODE_INSTANT_ATTRIBUTE;
}

static lode_status put_arguments(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                 const lode_event *event, lode_error *error)
{
    struct pass *pass = reader->state;
    LODE_TRY(decode(reader, event, error));
    for (; pass->next_argument < pass->argument_count && !lode_batch_is_full(batch); pass->next_argument++) {
        const lode_argument *argument = &pass->arguments[pass->next_argument];
        put_track(batch, pass->track);
        lode_batch_u64(batch, 1, event->time);
        lode_batch_fixed(batch, 2, event_kinds[event->kind]);
        lode_batch_u32(batch, 3, (uint32_t)pass->next_argument);
        LODE_TRY(lode_batch_text(batch, 4, argument->name[0] ? argument->name : NULL, error));
        LODE_TRY(put_value(batch, 5, argument, error));
        batch->rows++;
    }
    return LODE_OK;
}

static lode_status next_argument(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                 lode_error *error)
{
    struct pass *pass = reader->state;
    const lode_event *event;
    while (!lode_batch_is_full(batch)) {
        LODE_TRY(reader->tables->options.no_arguments ? LODE_END : peek(reader, &event, error));
        if (event->data && !is_attribute(reader, event)) {
            LODE_TRY(put_arguments(reader, batch, event, error));
            if (pass->next_argument < pass->argument_count)
                return LODE_OK;
        }
        advance(pass);
    }
    return LODE_OK;
}

const struct lode_table_def lode_table_argument = {
    INFO("arguments and results of calls, and data of instant events", argument),
    .state_size = sizeof(struct pass),
    .open = open_pass,
    .next = next_argument,
    .close = close_pass,
    .orders = {{{0, 1}, 2}},
    .order_count = 1,
    .plan = plan_pass};

/* ---- attributes ---- */

static const lode_field attribute_fields[] = {U32_OR_NULL("track_id", "track"),
                                              I64("time_ns", LODE_FIELD_TIME), TEXT("key"), TEXT("value")};

/* Several values, separated by commas, into pass->text. */
static lode_status join_values(struct pass *pass, lode_error *error)
{
    pass->text.size = 0;
    for (size_t i = 0; i < pass->argument_count; i++) {
        const lode_argument *argument = &pass->arguments[i];
        size_t length = lode_argument_text(argument, NULL, 0), comma = i > 0 ? 2 : 0;
        size_t at = lode_blob_reserve(&pass->text, length + comma + 1, 1);
        if (at == LODE_BLOB_FULL)
            return lode_fail_memory(error);
        memcpy(pass->text.bytes + at, ", ", comma);
        lode_argument_text(argument, (char *)pass->text.bytes + at + comma, length + 1);
        pass->text.size--;
    }
    return LODE_OK;
}

static lode_status put_attribute(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                 const lode_event *event, lode_error *error)
{
    struct pass *pass = reader->state;
    LODE_TRY(decode(reader, event, error));
    put_track(batch, pass->track);
    lode_batch_u64(batch, 1, event->time);
    LODE_TRY(lode_batch_text(batch, 2, lode_event_name(reader->tables->recording, event), error));
    if (pass->argument_count == 1) {
        LODE_TRY(put_value(batch, 3, pass->arguments, error));
    } else {
        LODE_TRY(join_values(pass, error));
        LODE_TRY(lode_batch_bytes(batch, 3, (const char *)pass->text.bytes, pass->text.size, error));
    }
    batch->rows++;
    return LODE_OK;
}

static lode_status next_attribute(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                  lode_error *error)
{
    const lode_event *event;
    while (!lode_batch_is_full(batch)) {
        LODE_TRY(reader->tables->options.no_arguments ? LODE_END : peek(reader, &event, error));
        if (is_attribute(reader, event))
            LODE_TRY(put_attribute(reader, batch, event, error));
        advance(reader->state);
    }
    return LODE_OK;
}

const struct lode_table_def lode_table_attribute = {INFO("attributes of calls", attribute),
                                                    .state_size = sizeof(struct pass),
                                                    .open = open_pass,
                                                    .next = next_attribute,
                                                    .close = close_pass,
                                                    .orders = {{{0, 1}, 2}},
                                                    .order_count = 1,
                                                    .plan = plan_pass};
