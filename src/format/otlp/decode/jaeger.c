/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jaeger JSON, as its query service, its page and its storage in Elasticsearch write it. Times are
 * microseconds. Processes come after the spans that name them.
 */
#include "format/otlp/decode/decode.h"

enum {
    MICRO = 1000,
    TRACE_ID_SIZE = 16,
    SPAN_ID_SIZE = 8
};

/* ---- tags ---- */

struct tag {
    struct lode_range key, type, value;
    bool is_string;
};

/* One of the array; false if it is no object. */
static bool read_tag(struct lode_json *json, struct tag *tag)
{
    struct lode_range key;
    *tag = (struct tag){0};
    if (!lode_json_enter(json, '{')) {
        lode_json_skip(json);
        return false;
    }
    while (lode_json_key(json, &key)) {
        if (lode_json_is(key, "key"))
            tag->key = lode_otlp_json_text(json);
        else if (lode_json_is(key, "type"))
            tag->type = lode_otlp_json_text(json);
        else if (!lode_json_is(key, "value") || !lode_json_scalar(json, &tag->value, &tag->is_string))
            lode_json_skip(json);
    }
    return true;
}

static void write_tag(struct otlp_put *put, unsigned field, const struct tag *tag)
{
    otlp_nested pair = lode_otlp_put_begin(put, field);
    lode_otlp_put_text(put, PAIR_KEY, tag->key);
    otlp_nested value = lode_otlp_put_begin(put, PAIR_VALUE);
    if (lode_json_is(tag->type, "int64"))
        lode_otlp_put_number(put, ANY_INT, (uint64_t)lode_json_signed(tag->value));
    else if (lode_json_is(tag->type, "float64"))
        lode_otlp_put_double(put, ANY_DOUBLE, lode_otlp_real(tag->value));
    else if (lode_json_is(tag->type, "bool"))
        lode_otlp_put_number(put, ANY_BOOL, lode_json_is(tag->value, "true"));
    else if (lode_json_is(tag->type, "binary"))
        lode_otlp_put_base64(put, ANY_BYTES, tag->value);
    else
        lode_otlp_put_text(put, ANY_STRING, tag->value);
    lode_otlp_put_end(put, value);
    lode_otlp_put_end(put, pair);
}

/* What tags say of their span. */
struct meaning {
    uint64_t kind;
    bool has_failed;
    struct lode_range description;
};

static void understand(struct meaning *meaning, const struct tag *tag)
{
    static const char *const kinds[] = {"", "internal", "server", "client", "producer", "consumer"};
    if (lode_json_is(tag->key, "span.kind"))
        for (unsigned i = OTLP_INTERNAL; i < OTLP_KINDS; i++)
            meaning->kind = lode_json_is(tag->value, kinds[i]) ? i : meaning->kind;
    else if (lode_json_is(tag->key, "error"))
        meaning->has_failed |= lode_json_is(tag->value, "true");
    else if (lode_json_is(tag->key, "otel.status_code"))
        meaning->has_failed |= lode_json_is(tag->value, "ERROR");
    else if (lode_json_is(tag->key, "otel.status_description"))
        meaning->description = tag->value;
}

/* `meaning` may be NULL, and `put` too. */
static void read_tags(struct lode_json *json, struct otlp_put *put, unsigned field, struct meaning *meaning)
{
    struct tag tag;
    if (!lode_json_enter(json, '[')) {
        lode_json_skip(json);
        return;
    }
    while (lode_json_item(json)) {
        if (!read_tag(json, &tag))
            continue;
        if (meaning)
            understand(meaning, &tag);
        if (put)
            write_tag(put, field, &tag);
    }
}

/* ---- logs ---- */

/* The field "event" is the name; others are attributes. */
static void write_log(struct otlp_put *put, struct lode_json *json)
{
    struct lode_range key;
    struct tag tag;
    otlp_nested event = lode_otlp_put_begin(put, SPAN_EVENTS);
    while (lode_json_key(json, &key)) {
        if (lode_json_is(key, "timestamp")) {
            lode_otlp_put_fixed(put, EVENT_TIME, lode_otlp_json_unsigned(json) * MICRO);
        } else if (lode_json_is(key, "fields") && lode_json_enter(json, '[')) {
            while (lode_json_item(json)) {
                if (!read_tag(json, &tag))
                    continue;
                if (lode_json_is(tag.key, "event"))
                    lode_otlp_put_text(put, EVENT_NAME, tag.value);
                else
                    write_tag(put, EVENT_ATTRIBUTES, &tag);
            }
        } else {
            lode_json_skip(json);
        }
    }
    lode_otlp_put_end(put, event);
}

static void write_logs(struct otlp_put *put, struct lode_json *json)
{
    if (!lode_json_enter(json, '[')) {
        lode_json_skip(json);
        return;
    }
    while (lode_json_item(json)) {
        if (lode_json_enter(json, '{'))
            write_log(put, json);
        else
            lode_json_skip(json);
    }
}

/* ---- references ---- */

struct reference {
    struct lode_range trace, span, type;
};

static bool read_reference(struct lode_json *json, struct reference *reference)
{
    struct lode_range key;
    *reference = (struct reference){0};
    if (!lode_json_enter(json, '{')) {
        lode_json_skip(json);
        return false;
    }
    while (lode_json_key(json, &key)) {
        if (lode_json_is(key, "traceID"))
            reference->trace = lode_otlp_json_text(json);
        else if (lode_json_is(key, "spanID"))
            reference->span = lode_otlp_json_text(json);
        else if (lode_json_is(key, "refType"))
            reference->type = lode_otlp_json_text(json);
        else
            lode_json_skip(json);
    }
    return true;
}

/* Without leading zeros, which some versions omit. */
static struct lode_range trim(struct lode_range id)
{
    while (id.size > 0 && *id.data == '0')
        id = (struct lode_range){id.data + 1, id.size - 1};
    return id;
}

static bool is_same_id(struct lode_range a, struct lode_range b)
{
    a = trim(a);
    b = trim(b);
    for (uint64_t i = 0; a.size == b.size && i < a.size; i++)
        if ((a.data[i] | 0x20) != (b.data[i] | 0x20))
            return false;
    return a.size == b.size;
}

/* The first parent in the same trace; if there is none, the first span that it follows. */
static const uint8_t *find_parent(struct lode_json json, struct lode_range trace, struct lode_range *parent)
{
    struct reference reference;
    const uint8_t *found = NULL;
    bool is_certain = false;
    if (!lode_json_enter(&json, '['))
        return NULL;
    while (lode_json_item(&json)) {
        const uint8_t *at = json.at;
        if (!read_reference(&json, &reference) || !is_same_id(reference.trace, trace) || is_certain)
            continue;
        is_certain = lode_json_is(reference.type, "CHILD_OF");
        if (!is_certain && (found || !lode_json_is(reference.type, "FOLLOWS_FROM")))
            continue;
        found = at;
        *parent = reference.span;
    }
    return found;
}

/* All references but the parent are links. */
static void write_links(struct otlp_put *put, struct lode_json json, const uint8_t *parent)
{
    struct reference reference;
    if (!lode_json_enter(&json, '['))
        return;
    while (lode_json_item(&json)) {
        const uint8_t *at = json.at;
        if (!read_reference(&json, &reference) || at == parent)
            continue;
        otlp_nested link = lode_otlp_put_begin(put, SPAN_LINKS);
        lode_otlp_put_id(put, LINK_TRACE_ID, reference.trace, TRACE_ID_SIZE);
        lode_otlp_put_id(put, LINK_SPAN_ID, reference.span, SPAN_ID_SIZE);
        lode_otlp_put_end(put, link);
    }
}

/* ---- spans ---- */

/* Members that need others. */
struct span {
    struct lode_range trace, parent;
    struct lode_json references;
    bool has_references, is_adjusted, has_duration;
    uint64_t begin, duration;
    struct meaning meaning;
};

/* Texts of the server; one says that it moved the span. */
static bool read_warnings(struct lode_json *json)
{
    static const char moved[] = "timestamps were adjusted";
    bool is_adjusted = false;
    if (!lode_json_enter(json, '[')) {
        lode_json_skip(json);
        return false;
    }
    while (lode_json_item(json)) {
        struct lode_range text = lode_otlp_json_text(json);
        is_adjusted |= memmem(text.data, (size_t)text.size, moved, sizeof moved - 1) != NULL;
    }
    return is_adjusted;
}

static void read_member(struct span *span, struct lode_range key, struct lode_json *json,
                        enum otlp_detail detail, struct otlp_put *put)
{
    bool is_whole = detail == OTLP_WHOLE;
    if (lode_json_is(key, "traceID")) {
        span->trace = lode_otlp_json_text(json);
    } else if (lode_json_is(key, "spanID")) {
        lode_otlp_put_id(put, SPAN_ID, lode_otlp_json_text(json), SPAN_ID_SIZE);
    } else if (lode_json_is(key, "parentSpanID")) {
        span->parent = lode_otlp_json_text(json);
    } else if (lode_json_is(key, "startTime")) {
        span->begin = lode_otlp_json_unsigned(json);
    } else if (lode_json_is(key, "duration")) {
        span->duration = lode_otlp_json_unsigned(json);
        span->has_duration = true;
    } else if (lode_json_is(key, "tags")) {
        read_tags(json, is_whole ? put : NULL, SPAN_ATTRIBUTES, &span->meaning);
    } else if (lode_json_is(key, "references")) {
        span->references = *json;
        span->has_references = true;
        lode_json_skip(json);
    } else if (lode_json_is(key, "warnings")) {
        span->is_adjusted = read_warnings(json);
    } else if (is_whole && lode_json_is(key, "operationName")) {
        lode_otlp_put_text(put, SPAN_NAME, lode_otlp_json_text(json));
    } else if (is_whole && lode_json_is(key, "logs")) {
        write_logs(put, json);
    } else {
        lode_json_skip(json);
    }
}

static void finish_span(struct span *span, enum otlp_detail detail, struct otlp_put *put)
{
    const uint8_t *parent = NULL;
    if (span->has_references)
        parent = find_parent(span->references, span->trace, &span->parent);
    if (span->has_references && detail == OTLP_WHOLE)
        write_links(put, span->references, parent);
    lode_otlp_put_id(put, SPAN_TRACE_ID, span->trace, TRACE_ID_SIZE);
    if (trim(span->parent).size > 0)
        lode_otlp_put_id(put, SPAN_PARENT, span->parent, SPAN_ID_SIZE);
    lode_otlp_put_number(put, SPAN_KIND, span->meaning.kind);
    lode_otlp_put_fixed(put, SPAN_BEGIN, span->begin * MICRO);
    lode_otlp_put_fixed(put, SPAN_END, span->has_duration ? (span->begin + span->duration) * MICRO : 0);
    if (span->meaning.has_failed) {
        otlp_nested status = lode_otlp_put_begin(put, SPAN_STATUS);
        lode_otlp_put_number(put, STATUS_CODE, OTLP_STATUS_ERROR);
        lode_otlp_put_end(put, status);
    }
    if (span->is_adjusted)
        lode_otlp_put_number(put, SPAN_NOTES, OTLP_SPAN_ADJUSTED);
}

static bool write_span(struct lode_json *json, enum otlp_detail detail, struct otlp_put *put)
{
    struct lode_range key;
    struct span span = {0};
    if (!lode_json_enter(json, '{'))
        return false;
    while (lode_json_key(json, &key))
        read_member(&span, key, json, detail, put);
    finish_span(&span, detail, put);
    return !json->has_failed;
}

/* ---- processes ---- */

/* Adds a process as a resource; returns its origin. */
static uint32_t read_process(struct otlp_batch *batch, struct lode_json *json)
{
    struct lode_range key;
    struct otlp_put put = {&batch->scratch, false};
    batch->scratch.size = 0;
    if (lode_json_enter(json, '{'))
        while (lode_json_key(json, &key)) {
            if (lode_json_is(key, "serviceName"))
                lode_otlp_put_pair(&put, RESOURCE_ATTRIBUTES, "service.name", lode_otlp_json_text(json));
            else if (lode_json_is(key, "tags"))
                read_tags(json, &put, RESOURCE_ATTRIBUTES, NULL);
            else
                lode_json_skip(json);
        }
    else
        lode_json_skip(json);
    batch->has_failed |= put.has_failed;
    struct lode_range resource = {batch->scratch.bytes, batch->scratch.size};
    return lode_otlp_batch_origin(batch, resource, (struct lode_range){0});
}

/* The value of a key of an object. */
static bool find_key(struct lode_json json, const char *name, struct lode_json *value)
{
    struct lode_range key;
    if (!lode_json_enter(&json, '{'))
        return false;
    while (lode_json_key(&json, &key)) {
        if (lode_json_is(key, name)) {
            *value = json;
            return true;
        }
        lode_json_skip(&json);
    }
    return false;
}

/* Processes of a trace: their names, as texts of the file, and origins. */
struct processes {
    struct lode_array items; /* struct process */
};

struct process {
    struct lode_range name;
    uint32_t origin;
};

static void read_processes(struct otlp_batch *batch, struct lode_json json, struct processes *out)
{
    struct lode_range key;
    if (!lode_json_enter(&json, '{'))
        return;
    while (!batch->has_failed && lode_json_key(&json, &key)) {
        struct process *process = lode_array_push(&out->items);
        batch->has_failed |= process == NULL;
        if (process)
            *process = (struct process){key, read_process(batch, &json)};
    }
}

static uint32_t origin_of(struct otlp_batch *batch, struct lode_json span, const struct processes *processes)
{
    struct lode_json value;
    if (find_key(span, "process", &value) && lode_json_peek(&value) == '{')
        return read_process(batch, &value);
    struct lode_range name = {0};
    if (find_key(span, "processID", &value))
        name = lode_otlp_json_text(&value);
    for (size_t i = 0; i < processes->items.count; i++) {
        const struct process *process = LODE_ARRAY_AT(&processes->items, struct process, i);
        if (process->name.size == name.size && name.size > 0 &&
            memcmp(process->name.data, name.data, (size_t)name.size) == 0)
            return process->origin;
    }
    return lode_otlp_batch_origin(batch, (struct lode_range){0}, (struct lode_range){0});
}

/* ---- traces ---- */

static void read_spans(struct otlp_batch *batch, struct lode_json *json, const struct processes *processes)
{
    if (!lode_json_enter(json, '[')) {
        lode_json_skip(json);
        return;
    }
    while (!batch->has_failed && lode_json_item(json)) {
        uint32_t origin = origin_of(batch, *json, processes);
        if (!lode_otlp_json_add(batch, json, &lode_otlp_jaeger, origin))
            json->has_failed = true;
    }
}

static void read_trace(struct otlp_batch *batch, struct lode_json *json)
{
    struct processes processes;
    struct lode_json value;
    struct lode_range key;
    if (find_key(*json, "spanID", &value)) { /* of Elasticsearch: a span by itself */
        processes = (struct processes){0};
        uint32_t origin = origin_of(batch, *json, &processes);
        (void)lode_otlp_json_add(batch, json, &lode_otlp_jaeger, origin);
        return;
    }
    lode_array_init(&processes.items, sizeof(struct process), UINT32_MAX / 2);
    if (find_key(*json, "processes", &value))
        read_processes(batch, value, &processes);
    if (lode_json_enter(json, '{'))
        while (!batch->has_failed && lode_json_key(json, &key)) {
            if (lode_json_is(key, "spans"))
                read_spans(batch, json, &processes);
            else
                lode_json_skip(json);
        }
    else
        lode_json_skip(json);
    lode_array_free(&processes.items);
}

static void read_list(struct otlp_batch *batch, struct lode_json *json)
{
    lode_json_enter(json, '[');
    while (!batch->has_failed && lode_json_item(json))
        read_trace(batch, json);
}

static bool read_message(struct otlp_batch *batch, struct lode_range message)
{
    struct lode_json json = lode_json_of(message), value;
    struct lode_range key;
    if (lode_json_peek(&json) == '[') {
        read_list(batch, &json);
    } else if (find_key(json, "data", &value)) {
        lode_json_enter(&json, '{');
        while (!batch->has_failed && lode_json_key(&json, &key)) {
            if (lode_json_is(key, "data") && lode_json_peek(&json) == '[')
                read_list(batch, &json);
            else
                lode_json_skip(&json);
        }
    } else {
        read_trace(batch, &json);
    }
    return !json.has_failed && lode_json_peek(&json) == '\0';
}

const struct otlp_codec lode_otlp_jaeger = {"Jaeger JSON", read_message, write_span, NULL};
