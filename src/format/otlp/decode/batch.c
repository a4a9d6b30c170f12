/* SPDX-License-Identifier: BSD-3-Clause */
/* From the protobuf form of a span to its record. */
#include "base/io/bytes.h"
#include "format/otlp/decode/decode.h"
#include "format/protobuf.h"

#define TIME_END (UINT64_C(1) << 62) /* in 2116; sums of two times fit into 63 bits */

void lode_otlp_batch_init(struct otlp_batch *batch)
{
    *batch = (struct otlp_batch){0};
    lode_array_init(&batch->spans, sizeof(struct otlp_span), UINT32_MAX / 2);
    lode_otlp_table_init(&batch->resources);
    lode_otlp_table_init(&batch->origins);
}

void lode_otlp_batch_free(struct otlp_batch *batch)
{
    lode_array_free(&batch->spans);
    lode_otlp_table_free(&batch->resources);
    lode_otlp_table_free(&batch->origins);
    lode_blob_free(&batch->scratch);
    lode_blob_free(&batch->names);
}

uint32_t lode_otlp_batch_origin(struct otlp_batch *batch, struct lode_range resource, struct lode_range scope)
{
    uint32_t number = lode_otlp_table_add(&batch->resources, resource);
    batch->names.size = 0;
    size_t at = lode_blob_extend(&batch->names, sizeof number + (size_t)scope.size);
    if (number == LODE_NO_NUMBER || at == LODE_BLOB_FULL) {
        batch->has_failed = true;
        return LODE_NO_NUMBER;
    }
    memcpy(batch->names.bytes, &number, sizeof number);
    if (scope.size > 0)
        memcpy(batch->names.bytes + sizeof number, scope.data, (size_t)scope.size);
    uint32_t origin =
        lode_otlp_table_add(&batch->origins, (struct lode_range){batch->names.bytes, batch->names.size});
    batch->has_failed |= origin == LODE_NO_NUMBER;
    return origin;
}

static void read_status(struct otlp_span *span, struct lode_range bytes)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD)
        if (field.number == STATUS_CODE && field.value == OTLP_STATUS_ERROR)
            span->flags |= OTLP_SPAN_FAILED;
}

static void read_ids(struct otlp_reading *reading, const struct lode_pb_field *field)
{
    struct otlp_span *span = &reading->span;
    if (field->number == SPAN_TRACE_ID && field->bytes.size == sizeof span->trace) {
        span->trace[0] = get_u64be(field->bytes.data);
        span->trace[1] = get_u64be(field->bytes.data + 8);
    } else if (field->number == SPAN_ID && field->bytes.size == sizeof span->id) {
        span->id = get_u64be(field->bytes.data);
    } else if (field->number == SPAN_PARENT && field->bytes.size == sizeof span->parent_id) {
        span->parent_id = get_u64be(field->bytes.data);
    }
}

static void read_field(struct otlp_reading *reading, const struct lode_pb_field *field)
{
    struct otlp_span *span = &reading->span;
    switch (field->number) {
    case SPAN_TRACE_ID:
    case SPAN_ID:
    case SPAN_PARENT:
        read_ids(reading, field);
        break;
    case SPAN_KIND:
        span->kind = field->value < OTLP_KINDS ? (uint8_t)field->value : OTLP_UNSPECIFIED;
        break;
    case SPAN_BEGIN:
        span->begin = field->value;
        break;
    case SPAN_END:
        span->end = field->value;
        break;
    case SPAN_DROPPED_ATTRIBUTES:
        reading->dropped[0] = field->value;
        break;
    case SPAN_DROPPED_EVENTS:
        reading->dropped[1] = field->value;
        break;
    case SPAN_DROPPED_LINKS:
        reading->dropped[2] = field->value;
        break;
    case SPAN_STATUS:
        read_status(span, field->bytes);
        break;
    case SPAN_FLAGS:
        otlp_reading_flags(reading, field->value);
        break;
    case SPAN_NOTES:
        span->flags |= field->value & (OTLP_SPAN_SHARED | OTLP_SPAN_ADJUSTED);
        reading->is_warned = true;
        break;
    default:
        break;
    }
}

/* Whether a span can be used; else it is counted. */
static bool is_sound(struct otlp_batch *batch, const struct otlp_span *span)
{
    if ((span->trace[0] | span->trace[1]) == 0 || span->id == 0) {
        batch->counts[OTLP_COUNT_BAD_ID]++;
        return false;
    }
    bool has_time = span->begin > 0 && span->begin < TIME_END && span->end < TIME_END;
    batch->counts[OTLP_COUNT_BAD_TIME] += !has_time;
    return has_time;
}

void lode_otlp_batch_put(struct otlp_batch *batch, struct otlp_reading *reading, const uint8_t *position,
                         uint32_t origin)
{
    reading->span.position = batch->file | (uint64_t)(position - batch->start);
    reading->span.origin = origin;
    if (!is_sound(batch, &reading->span))
        return;
    struct otlp_span *span = lode_array_push(&batch->spans);
    if (span == NULL) {
        batch->has_failed = true;
        return;
    }
    *span = reading->span;
    if (span->end < span->begin) {
        span->flags |= OTLP_SPAN_NO_END;
        span->end = span->begin;
        batch->counts[OTLP_COUNT_NO_END]++;
    }
    for (unsigned i = 0; i < 3; i++)
        batch->counts[OTLP_COUNT_DROPPED_ATTRIBUTES + i] += reading->dropped[i];
    batch->counts[OTLP_COUNT_WARNED] += reading->is_warned && (span->flags & OTLP_SPAN_ADJUSTED);
}

bool lode_otlp_batch_add(struct otlp_batch *batch, struct lode_range bytes, const uint8_t *position,
                         uint32_t origin)
{
    struct otlp_reading reading = {0};
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    enum lode_pb_step step;
    while ((step = lode_pb_next(&walk, &field)) == LODE_PB_FIELD)
        read_field(&reading, &field);
    if (step != LODE_PB_END)
        return false;
    lode_otlp_batch_put(batch, &reading, position, origin);
    return true;
}
