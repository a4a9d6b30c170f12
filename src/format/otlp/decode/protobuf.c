/* SPDX-License-Identifier: BSD-3-Clause */
/* TracesData in protobuf: spans are used as they are in the file. */
#include "format/protobuf.h"
#include "format/otlp/decode/decode.h"

/* The last occurrence of a field in a message; empty if there is none. */
static struct lode_range find(struct lode_range message, uint64_t number)
{
    struct lode_pb_walk walk = lode_pb_walk_of(message);
    struct lode_pb_field field;
    struct lode_range found = {0};
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD)
        if (field.number == number && field.type == LODE_PB_BYTES)
            found = field.bytes;
    return found;
}

/*
 * A scope comes before its spans, as a rule: one pass is enough. If one comes after them, it is
 * that of those before, too.
 */
static bool read_scope(struct otlp_batch *batch, struct lode_range message, struct lode_range resource)
{
    struct lode_range scope = {0};
    uint32_t origin = LODE_NO_NUMBER;
    size_t first = batch->spans.count;
    bool is_late = false;
    struct lode_pb_walk walk = lode_pb_walk_of(message);
    struct lode_pb_field field;
    enum lode_pb_step step = LODE_PB_END;
    while (!batch->has_failed && (step = lode_pb_next(&walk, &field)) == LODE_PB_FIELD) {
        if (field.type != LODE_PB_BYTES)
            continue;
        if (field.number == SCOPE_SPANS_SCOPE) {
            scope = find(field.bytes, SCOPE_NAME);
            origin = LODE_NO_NUMBER;
            is_late = batch->spans.count > first;
        } else if (field.number == SCOPE_SPANS_SPANS) {
            if (origin == LODE_NO_NUMBER)
                origin = lode_otlp_batch_origin(batch, resource, scope);
            if (!lode_otlp_batch_add(batch, field.bytes, field.start, origin))
                return false;
        }
    }
    if (origin == LODE_NO_NUMBER)
        origin = lode_otlp_batch_origin(batch, resource, scope);
    for (size_t i = first; is_late && i < batch->spans.count; i++)
        LODE_ARRAY_AT(&batch->spans, struct otlp_span, i)->origin = origin;
    return step == LODE_PB_END;
}

static bool read_resource(struct otlp_batch *batch, struct lode_range message)
{
    /* It may come after the spans. */
    struct lode_range resource = find(message, RESOURCE_SPANS_RESOURCE);
    struct lode_pb_walk walk = lode_pb_walk_of(message);
    struct lode_pb_field field;
    enum lode_pb_step step;
    while ((step = lode_pb_next(&walk, &field)) == LODE_PB_FIELD)
        if ((field.number == RESOURCE_SPANS_SCOPES || field.number == RESOURCE_SPANS_LIBRARIES) &&
            field.type == LODE_PB_BYTES && !read_scope(batch, field.bytes, resource))
            return false;
    return step == LODE_PB_END;
}

static bool read_message(struct otlp_batch *batch, struct lode_range message)
{
    struct lode_pb_walk walk = lode_pb_walk_of(message);
    struct lode_pb_field field;
    enum lode_pb_step step;
    while ((step = lode_pb_next(&walk, &field)) == LODE_PB_FIELD)
        if (field.number != TRACES_RESOURCE_SPANS || field.type != LODE_PB_BYTES ||
            !read_resource(batch, field.bytes))
            return false;
    return step == LODE_PB_END;
}

const struct otlp_codec lode_otlp_protobuf = {"OTLP protobuf", read_message, NULL, NULL};
