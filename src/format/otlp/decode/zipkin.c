/* SPDX-License-Identifier: BSD-3-Clause */
/* Zipkin v2 JSON: arrays of spans, or of arrays of spans. Times are microseconds. */
#include "format/otlp/decode/decode.h"

enum {
    MICRO = 1000,
    TRACE_ID_SIZE = 16,
    SPAN_ID_SIZE = 8
};

/* What tags say of their span. */
struct meaning {
    bool has_failed;
};

/* Tags are strings; `put` may be NULL. */
static void read_tags(struct lode_json *json, struct otlp_put *put, struct meaning *meaning)
{
    struct lode_range key, value;
    bool is_string;
    if (!lode_json_enter(json, '{')) {
        lode_json_skip(json);
        return;
    }
    while (lode_json_key(json, &key)) {
        if (!lode_json_scalar(json, &value, &is_string)) {
            lode_json_skip(json);
            continue;
        }
        /* The tag "error" means an error, whatever its value. */
        meaning->has_failed |= lode_json_is(key, "error") ||
                               (lode_json_is(key, "otel.status_code") && lode_json_is(value, "ERROR"));
        if (put == NULL)
            continue;
        otlp_nested pair = lode_otlp_put_begin(put, SPAN_ATTRIBUTES);
        lode_otlp_put_text(put, PAIR_KEY, key);
        otlp_nested any = lode_otlp_put_begin(put, PAIR_VALUE);
        lode_otlp_put_text(put, ANY_STRING, value);
        lode_otlp_put_end(put, any);
        lode_otlp_put_end(put, pair);
    }
}

static void write_annotations(struct lode_json *json, struct otlp_put *put)
{
    struct lode_range key;
    if (!lode_json_enter(json, '[')) {
        lode_json_skip(json);
        return;
    }
    while (lode_json_item(json)) {
        if (!lode_json_enter(json, '{')) {
            lode_json_skip(json);
            continue;
        }
        otlp_nested event = lode_otlp_put_begin(put, SPAN_EVENTS);
        while (lode_json_key(json, &key)) {
            if (lode_json_is(key, "timestamp"))
                lode_otlp_put_fixed(put, EVENT_TIME, lode_otlp_json_unsigned(json) * MICRO);
            else if (lode_json_is(key, "value"))
                lode_otlp_put_text(put, EVENT_NAME, lode_otlp_json_text(json));
            else
                lode_json_skip(json);
        }
        lode_otlp_put_end(put, event);
    }
}

/* The other side, which may have no tracer. */
static void write_remote(struct lode_json *json, struct otlp_put *put)
{
    static const char *const names[][2] = {{"serviceName", "remote.service"},
                                           {"ipv4", "remote.ipv4"},
                                           {"ipv6", "remote.ipv6"},
                                           {"port", "remote.port"}};
    struct lode_range key, value;
    bool is_string;
    if (!lode_json_enter(json, '{')) {
        lode_json_skip(json);
        return;
    }
    while (lode_json_key(json, &key)) {
        unsigned i = 0;
        while (i < 4 && !lode_json_is(key, names[i][0]))
            i++;
        if (i < 4 && lode_json_scalar(json, &value, &is_string))
            lode_otlp_put_pair(put, SPAN_ATTRIBUTES, names[i][1], value);
        else if (i == 4)
            lode_json_skip(json);
    }
}

static uint64_t read_kind(struct lode_json *json)
{
    static const char *const kinds[] = {[OTLP_INTERNAL] = "-",
                                        [OTLP_SERVER] = "SERVER",
                                        [OTLP_CLIENT] = "CLIENT",
                                        [OTLP_PRODUCER] = "PRODUCER",
                                        [OTLP_CONSUMER] = "CONSUMER"};
    struct lode_range text = lode_otlp_json_text(json);
    for (unsigned i = OTLP_SERVER; i < OTLP_KINDS; i++)
        if (lode_json_is(text, kinds[i]))
            return i;
    return OTLP_INTERNAL;
}

struct span {
    uint64_t begin, duration, kind;
    bool is_shared;
    struct meaning meaning;
};

static void read_member(struct span *span, struct lode_range key, struct lode_json *json,
                        enum otlp_detail detail, struct otlp_put *put)
{
    bool is_whole = detail == OTLP_WHOLE;
    if (lode_json_is(key, "traceId"))
        lode_otlp_put_id(put, SPAN_TRACE_ID, lode_otlp_json_text(json), TRACE_ID_SIZE);
    else if (lode_json_is(key, "id"))
        lode_otlp_put_id(put, SPAN_ID, lode_otlp_json_text(json), SPAN_ID_SIZE);
    else if (lode_json_is(key, "parentId"))
        lode_otlp_put_id(put, SPAN_PARENT, lode_otlp_json_text(json), SPAN_ID_SIZE);
    else if (lode_json_is(key, "timestamp"))
        span->begin = lode_otlp_json_unsigned(json);
    else if (lode_json_is(key, "duration"))
        span->duration = lode_otlp_json_unsigned(json);
    else if (lode_json_is(key, "kind"))
        span->kind = read_kind(json);
    else if (lode_json_is(key, "shared"))
        span->is_shared = lode_otlp_json_true(json);
    else if (lode_json_is(key, "tags"))
        read_tags(json, is_whole ? put : NULL, &span->meaning);
    else if (is_whole && lode_json_is(key, "name"))
        lode_otlp_put_text(put, SPAN_NAME, lode_otlp_json_text(json));
    else if (is_whole && lode_json_is(key, "annotations"))
        write_annotations(json, put);
    else if (is_whole && lode_json_is(key, "remoteEndpoint"))
        write_remote(json, put);
    else
        lode_json_skip(json);
}

static bool write_span(struct lode_json *json, enum otlp_detail detail, struct otlp_put *put)
{
    struct lode_range key;
    struct span span = {.kind = OTLP_INTERNAL};
    if (!lode_json_enter(json, '{'))
        return false;
    while (lode_json_key(json, &key))
        read_member(&span, key, json, detail, put);
    lode_otlp_put_number(put, SPAN_KIND, span.kind);
    lode_otlp_put_fixed(put, SPAN_BEGIN, span.begin * MICRO);
    /* A duration is at least 1; none means that the span did not end. */
    lode_otlp_put_fixed(put, SPAN_END, span.duration > 0 ? (span.begin + span.duration) * MICRO : 0);
    if (span.meaning.has_failed) {
        otlp_nested status = lode_otlp_put_begin(put, SPAN_STATUS);
        lode_otlp_put_number(put, STATUS_CODE, OTLP_STATUS_ERROR);
        lode_otlp_put_end(put, status);
    }
    if (span.is_shared && span.kind == OTLP_SERVER)
        lode_otlp_put_number(put, SPAN_NOTES, OTLP_SPAN_SHARED);
    return !json->has_failed;
}

/* The service of the span that comes next, as a resource. */
static uint32_t read_origin(struct otlp_batch *batch, struct lode_json json)
{
    struct lode_range key, name = {(const uint8_t *)"", 0};
    struct otlp_put put = {&batch->scratch, false};
    batch->scratch.size = 0;
    if (lode_json_enter(&json, '{'))
        while (lode_json_key(&json, &key)) {
            if (!lode_json_is(key, "localEndpoint") || !lode_json_enter(&json, '{')) {
                lode_json_skip(&json);
                continue;
            }
            while (lode_json_key(&json, &key)) {
                if (lode_json_is(key, "serviceName"))
                    name = lode_otlp_json_text(&json);
                else
                    lode_json_skip(&json);
            }
            break;
        }
    lode_otlp_put_pair(&put, RESOURCE_ATTRIBUTES, "service.name", name);
    batch->has_failed |= put.has_failed;
    return lode_otlp_batch_origin(batch, (struct lode_range){batch->scratch.bytes, batch->scratch.size},
                                  (struct lode_range){0});
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than LODE_JSON_DEPTH */
static void read_list(struct otlp_batch *batch, struct lode_json *json)
{
    while (!batch->has_failed && lode_json_item(json)) {
        if (lode_json_enter(json, '['))
            read_list(batch, json);
        else if (lode_json_peek(json) != '{')
            lode_json_skip(json);
        else if (!lode_otlp_json_add(batch, json, &lode_otlp_zipkin, read_origin(batch, *json)))
            json->has_failed = true;
    }
}

static bool read_message(struct otlp_batch *batch, struct lode_range message)
{
    struct lode_json json = lode_json_of(message);
    if (lode_json_enter(&json, '['))
        read_list(batch, &json);
    else if (lode_json_peek(&json) == '{') /* of Elasticsearch: a span by itself */
        json.has_failed |= !lode_otlp_json_add(batch, &json, &lode_otlp_zipkin, read_origin(batch, json));
    else
        return false;
    return !json.has_failed && lode_json_peek(&json) == '\0';
}

const struct otlp_codec lode_otlp_zipkin = {"Zipkin JSON", read_message, write_span, NULL};
