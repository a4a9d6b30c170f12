/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments and attributes of events, as tables. */
#include "table/readers/event_pass.h"
#include <stdlib.h>
#include <string.h>

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
    struct lode_event_pass *pass = reader->state;
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
        LODE_TRY_ALLOC(LODE_GROW(pass->arguments, pass->argument_capacity, count), error);
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
    struct lode_event_pass *pass = reader->state;
    LODE_TRY(decode(reader, event, error));
    for (; pass->next_argument < pass->argument_count && !lode_batch_is_full(batch); pass->next_argument++) {
        const lode_argument *argument = &pass->arguments[pass->next_argument];
        pass_put_track(batch, pass->track);
        lode_batch_u64(batch, 1, event->time);
        lode_batch_fixed(batch, 2, lode_event_kinds[event->kind]);
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
    struct lode_event_pass *pass = reader->state;
    const lode_event *event;
    while (!lode_batch_is_full(batch)) {
        LODE_TRY(reader->tables->options.no_arguments ? LODE_END
                                                      : lode_event_pass_peek(reader, &event, error));
        if (event->data && !is_attribute(reader, event)) {
            LODE_TRY(put_arguments(reader, batch, event, error));
            if (pass->next_argument < pass->argument_count)
                return LODE_OK;
        }
        pass_advance(pass);
    }
    return LODE_OK;
}

const struct lode_table_def lode_table_argument = {
    INFO("arguments and results of calls, and data of instant events", argument), .orders = {{{0, 1}, 2}},
    PASS_OF(argument)};

/* ---- attributes ---- */

static const lode_field attribute_fields[] = {U32_OR_NULL("track_id", "track"),
                                              I64("time_ns", LODE_FIELD_TIME), TEXT("key"), TEXT("value")};

/* Several values, separated by commas, into pass->text. */
static lode_status join_values(struct lode_event_pass *pass, lode_error *error)
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
    struct lode_event_pass *pass = reader->state;
    LODE_TRY(decode(reader, event, error));
    pass_put_track(batch, pass->track);
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
        LODE_TRY(reader->tables->options.no_arguments ? LODE_END
                                                      : lode_event_pass_peek(reader, &event, error));
        if (is_attribute(reader, event))
            LODE_TRY(put_attribute(reader, batch, event, error));
        pass_advance(reader->state);
    }
    return LODE_OK;
}

const struct lode_table_def lode_table_attribute = {INFO("attributes of calls", attribute),
                                                    .orders = {{{0, 1}, 2}}, PASS_OF(attribute)};
