/* SPDX-License-Identifier: BSD-3-Clause */
/* Events and calls of a recording, as tables. */
#include "table/readers/event_pass.h"

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

static lode_status put_event(struct lode_table_reader *reader, struct lode_table_batch *batch,
                             const lode_event *event, lode_error *error)
{
    const struct lode_event_pass *pass = reader->state;
    pass_put_track(batch, pass->track);
    lode_batch_u64(batch, 1, event->time);
    lode_batch_fixed(batch, 2, lode_event_kinds[event->kind]);
    lode_batch_null(batch, 3);
    lode_batch_u32(batch, 4, event->depth);
    lode_batch_fixed(batch, 5, flags_text(event->flags));
    lode_batch_fixed(batch, 6, NULL);
    lode_batch_null(batch, 7);
    if (event_has_function(event)) {
        LODE_TRY(lode_event_pass_function(reader, batch, 3, event->function, error));
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
        LODE_TRY(lode_event_pass_peek(reader, &event, error));
        LODE_TRY(put_event(reader, batch, event, error));
        pass_advance(reader->state);
    }
    return LODE_OK;
}

const struct lode_table_def lode_table_event = {INFO("events of tracks, each in chronological order", event),
                                                .orders = {{{0, 1}, 2}}, PASS_OF(event)};

/* ---- calls ---- */

static const lode_field call_fields[] = {U32("track_id", "track"),
                                         I64("begin_ns", LODE_FIELD_TIME),
                                         I64("duration_ns", 0),
                                         I64("self_ns", 0),
                                         U32("depth", NULL),
                                         U32("function_id", "function"),
                                         TEXT("function"),
                                         {"failed", LODE_COLUMN_U8, LODE_FIELD_BOOLEAN, NULL},
                                         I64("id", 0),
                                         I64("parent_id", LODE_FIELD_OPTIONAL)};

/* Numbers of functions are those of the tables, or of the pass of a query. */
static struct lode_function_names *names_of(struct lode_table_reader *reader)
{
    struct lode_event_pass *pass = reader->state;
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

/*
 * Calls of a track are numbered by their begin, and tracks take turns: so an id is unique in the
 * store, known without reading other tracks, and small.
 */
static uint64_t next_id(const struct lode_table_reader *reader)
{
    struct lode_event_pass *pass = reader->state;
    return pass->call_count++ * lode_recording_track_count(reader->tables->recording) + pass->track;
}

/* The id of the call that made the outermost ones of a side track. */
static bool find_caller(const struct lode_table_reader *reader, uint64_t *id)
{
    const struct lode_event_pass *pass = reader->state;
    const lode_recording *recording = reader->tables->recording;
    uint32_t track;
    uint64_t before;
    if (recording->ops->caller == NULL || recording_main(recording, pass->track) == pass->track ||
        !recording->ops->caller(recording, pass->track, &track, &before))
        return false;
    *id = before * lode_recording_track_count(recording) + track;
    return true;
}

static void put_ids(const struct lode_table_reader *reader, struct lode_table_batch *batch, uint64_t id)
{
    const struct lode_event_pass *pass = reader->state;
    uint64_t caller;
    lode_batch_u64(batch, 8, id);
    if (open_calls_count(&pass->calls) > 0)
        lode_batch_u64(batch, 9, OPEN_CALLS_TOP(&pass->calls, struct lode_event_pass_call)->id);
    else if (find_caller(reader, &caller))
        lode_batch_u64(batch, 9, caller);
    else
        lode_batch_null(batch, 9);
}

/* A call ended. */
static lode_status put_call(struct lode_table_reader *reader, struct lode_table_batch *batch,
                            const lode_event *event, lode_error *error)
{
    struct lode_event_pass *pass = reader->state;
    const struct lode_event_pass_call call =
        *(const struct lode_event_pass_call *)open_calls_pop(&pass->calls);
    size_t depth = open_calls_count(&pass->calls);
    uint64_t duration = event->time - call.begin;
    if (depth > 0)
        OPEN_CALLS_TOP(&pass->calls, struct lode_event_pass_call)->inside += duration;
    lode_batch_u32(batch, 0, pass->track);
    lode_batch_u64(batch, 1, call.begin);
    lode_batch_u64(batch, 2, duration);
    lode_batch_u64(batch, 3, duration - call.inside);
    lode_batch_u32(batch, 4, (uint32_t)depth);
    const struct lode_function_names *names = names_of(reader);
    LODE_TRY(lode_event_pass_function(
        reader, batch, 5, *LODE_ARRAY_AT(&names->functions, const lode_function *, call.function), error));
    lode_batch_fixed(batch, 6, lode_function_names_label(names, call.function));
    lode_batch_boolean(batch, 7, (event->flags & LODE_EVENT_FAILED) != 0);
    put_ids(reader, batch, call.id);
    batch->rows++;
    return LODE_OK;
}

static lode_status begin_call(struct lode_table_reader *reader, const lode_event *event, lode_error *error)
{
    struct lode_event_pass *pass = reader->state;
    uint32_t function;
    LODE_TRY(number_function(reader, event->function, &function, error));
    struct lode_event_pass_call *call = open_calls_push(&pass->calls);
    LODE_TRY_ALLOC(call, error);
    *call = (struct lode_event_pass_call){.begin = event->time, .id = next_id(reader), .function = function};
    return LODE_OK;
}

static lode_status take_event(struct lode_table_reader *reader, struct lode_table_batch *batch,
                              const lode_event *event, lode_error *error)
{
    struct lode_event_pass *pass = reader->state;
    enum lode_call_step step = open_calls_take(&pass->calls, event);
    if (step == LODE_CALL_BEGINS)
        return begin_call(reader, event, error);
    return step == LODE_CALL_ENDS ? put_call(reader, batch, event, error) : LODE_OK;
}

static lode_status next_call(struct lode_table_reader *reader, struct lode_table_batch *batch,
                             lode_error *error)
{
    const lode_event *event;
    while (!lode_batch_is_full(batch)) {
        LODE_TRY(lode_event_pass_peek(reader, &event, error));
        LODE_TRY(take_event(reader, batch, event, error));
        pass_advance(reader->state);
    }
    return LODE_OK;
}

const struct lode_table_def lode_table_call = {INFO("calls, in the order of their ends", call),
                                               .orders = {{{0}, 1}}, PASS_OF(call)};
