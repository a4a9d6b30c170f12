/* SPDX-License-Identifier: BSD-3-Clause */
/* Synthetic spans as protobuf. Messages are nested from the inside out: lengths are known then. */
#include "base/io/bytes.h"
#include "format/otlp/decode/put.h"
#include "format/otlp/span.h"
#include "format/otlp/synth/synth.h"

enum {
    LENGTH_SIZE = 4
};

static const uint8_t kinds[OTLP_ROLES] = {OTLP_SERVER, OTLP_INTERNAL, OTLP_CLIENT, OTLP_CLIENT};

static struct lode_range range_of(const char *text)
{
    return (struct lode_range){(const uint8_t *)text, strlen(text)};
}

static struct lode_range content_of(const struct lode_blob *blob)
{
    return (struct lode_range){blob->bytes, blob->size};
}

/* A nested message; false if out of memory. */
static bool nest(struct lode_blob *outer, unsigned field, const struct otlp_put *inner)
{
    struct otlp_put put = {outer, inner->has_failed};
    lode_otlp_put_bytes(&put, field, content_of(inner->blob));
    return !put.has_failed;
}

static void put_pair(struct otlp_put *put, unsigned field, const struct otlp_made_attribute *attribute,
                     struct otlp_made_buffers *buffers)
{
    struct otlp_put value = {&buffers->value, false}, pair = {&buffers->pair, false};
    buffers->value.size = buffers->pair.size = 0;
    if (attribute->text)
        lode_otlp_put_bytes(&value, ANY_STRING, range_of(attribute->text));
    else
        lode_otlp_put_number(&value, ANY_INT, attribute->number);
    lode_otlp_put_bytes(&pair, PAIR_KEY, range_of(attribute->key));
    pair.has_failed |= !nest(pair.blob, PAIR_VALUE, &value);
    put->has_failed |= !nest(put->blob, field, &pair);
}

static void put_id(struct otlp_put *put, unsigned field, const uint64_t *words, size_t count)
{
    uint8_t bytes[2 * sizeof *words];
    for (size_t i = 0; i < count; i++)
        put_u64be(bytes + i * sizeof *words, words[i]);
    lode_otlp_put_bytes(put, field, (struct lode_range){bytes, count * sizeof *words});
}

/* A statement that failed has an exception. */
static void put_exception(struct otlp_put *put, const struct otlp_made_span *span,
                          struct otlp_made_buffers *buffers)
{
    static const struct otlp_made_attribute parts[] = {{"exception.type", MADE_EXCEPTION, 0},
                                                       {"exception.message", MADE_MESSAGE, 0},
                                                       {"exception.stacktrace", MADE_STACK, 0}};
    struct otlp_put inner = {&buffers->event, false};
    buffers->event.size = 0;
    lode_otlp_put_fixed(&inner, EVENT_TIME, span->end);
    lode_otlp_put_bytes(&inner, EVENT_NAME, range_of("exception"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        put_pair(&inner, EVENT_ATTRIBUTES, &parts[i], buffers);
    put->has_failed |= !nest(put->blob, SPAN_EVENTS, &inner);
}

static void put_failure(struct otlp_put *put, const struct otlp_made_span *span,
                        struct otlp_made_buffers *buffers)
{
    bool is_cause = span->role == OTLP_ROLE_QUERY;
    struct otlp_put inner = {&buffers->event, false};
    if (is_cause)
        put_exception(put, span, buffers);
    buffers->event.size = 0;
    if (is_cause)
        lode_otlp_put_bytes(&inner, STATUS_MESSAGE, range_of(MADE_MESSAGE));
    lode_otlp_put_number(&inner, STATUS_CODE, OTLP_STATUS_ERROR);
    put->has_failed |= !nest(put->blob, SPAN_STATUS, &inner);
}

static bool put_span(const struct otlp_world *world, const struct otlp_made_span *span,
                     struct otlp_made_buffers *buffers)
{
    struct otlp_made_attribute attributes[MADE_ATTRIBUTES];
    char text[MADE_TEXT];
    struct otlp_put put = {&buffers->span, false};
    unsigned count = lode_otlp_made_attributes(world, span, attributes, text);
    buffers->span.size = 0;
    put_id(&put, SPAN_TRACE_ID, span->trace, 2);
    put_id(&put, SPAN_ID, &span->id, 1);
    if (span->parent_id)
        put_id(&put, SPAN_PARENT, &span->parent_id, 1);
    lode_otlp_put_bytes(&put, SPAN_NAME, range_of(world->all[span->operation].names[span->role]));
    lode_otlp_put_number(&put, SPAN_KIND, kinds[span->role]);
    lode_otlp_put_fixed(&put, SPAN_BEGIN, span->begin);
    lode_otlp_put_fixed(&put, SPAN_END, span->end);
    for (unsigned i = 0; i < count; i++)
        put_pair(&put, SPAN_ATTRIBUTES, &attributes[i], buffers);
    if (span->has_failed)
        put_failure(&put, span, buffers);
    return nest(&buffers->scope, SCOPE_SPANS_SPANS, &put);
}

/* The process and its library. */
static bool begin_service(const struct otlp_world *world, uint32_t service, struct otlp_made_buffers *buffers)
{
    const struct otlp_made_attribute resource[] = {{"service.name", world->names[service], 0},
                                                   {"service.version", MADE_VERSION, 0},
                                                   {"process.pid", NULL, UINT64_C(100) + service}};
    struct otlp_put put = {&buffers->event, false};
    buffers->service.size = buffers->scope.size = buffers->event.size = 0;
    for (size_t i = 0; i < sizeof resource / sizeof *resource; i++)
        put_pair(&put, RESOURCE_ATTRIBUTES, &resource[i], buffers);
    bool done = nest(&buffers->service, RESOURCE_SPANS_RESOURCE, &put);
    buffers->event.size = 0;
    lode_otlp_put_bytes(&put, SCOPE_NAME, range_of(MADE_SCOPE));
    return nest(&buffers->scope, SCOPE_SPANS_SCOPE, &put) && done;
}

static bool put_service(const struct otlp_world *world, const struct otlp_made_span *spans, size_t count,
                        uint32_t service, struct otlp_made_buffers *buffers, struct lode_blob *message)
{
    bool done = begin_service(world, service, buffers), has_spans = false;
    for (size_t i = 0; done && i < count; i++) {
        if (otlp_made_service(world, &spans[i]) != service)
            continue;
        done = put_span(world, &spans[i], buffers);
        has_spans = true;
    }
    if (!done || !has_spans)
        return done;
    struct otlp_put scope = {&buffers->scope, false}, all = {&buffers->service, false};
    return nest(&buffers->service, RESOURCE_SPANS_SCOPES, &scope) &&
           nest(message, TRACES_RESOURCE_SPANS, &all);
}

bool lode_otlp_form_bare(const struct otlp_world *world, const struct otlp_made_span *spans, size_t count,
                         struct otlp_made_buffers *buffers, struct lode_blob *message)
{
    bool done = true;
    for (uint32_t service = 0; done && service < world->services; service++)
        done = put_service(world, spans, count, service, buffers, message);
    return done;
}

bool lode_otlp_form_framed(const struct otlp_world *world, const struct otlp_made_span *spans, size_t count,
                           struct otlp_made_buffers *buffers, struct lode_blob *message)
{
    size_t begin = lode_blob_extend(message, LENGTH_SIZE);
    if (begin == LODE_BLOB_FULL || !lode_otlp_form_bare(world, spans, count, buffers, message))
        return false;
    put_u32be(message->bytes + begin, (uint32_t)(message->size - begin - LENGTH_SIZE));
    return true;
}
