/* SPDX-License-Identifier: BSD-3-Clause */
/* TracesData in JSON, in all spellings that exist (doc/formats/otlp.md). */
#include "base/io/bytes.h"
#include "format/otlp/decode/decode.h"

/* ---- values ---- */

static void write_value(struct otlp_put *put, unsigned field, struct lode_json *json);

/* The array "values" of a list or map. */
static void write_values(struct otlp_put *put, struct lode_json *json, bool is_map);

static void write_scalar(struct otlp_put *put, unsigned field, struct lode_json *json)
{
    struct lode_range content;
    bool is_string;
    if (!lode_json_scalar(json, &content, &is_string)) {
        lode_json_skip(json);
        return;
    }
    switch (field) {
    case ANY_STRING:
        if (is_string)
            lode_otlp_put_text(put, field, content);
        break;
    case ANY_BOOL:
        lode_otlp_put_number(put, field, lode_json_is(content, "true"));
        break;
    case ANY_INT:
        lode_otlp_put_number(put, field, (uint64_t)lode_json_signed(content));
        break;
    case ANY_DOUBLE:
        lode_otlp_put_double(put, field, lode_otlp_real(content));
        break;
    default:
        lode_otlp_put_base64(put, field, content);
        break;
    }
}

static unsigned value_field(struct lode_range key)
{
    static const char *const names[] = {
        [ANY_STRING] = "stringValue", [ANY_BOOL] = "boolValue",   [ANY_INT] = "intValue",
        [ANY_DOUBLE] = "doubleValue", [ANY_ARRAY] = "arrayValue", [ANY_MAP] = "kvlistValue",
        [ANY_BYTES] = "bytesValue"};
    for (unsigned i = ANY_STRING; i <= ANY_BYTES; i++)
        if (lode_json_is(key, names[i]))
            return i;
    return 0;
}

/* LODE_JSON_DEPTH bounds the recursion. NOLINTBEGIN(misc-no-recursion) */

/* An AnyValue; of several values the last one counts, as in protobuf. */
static void write_value(struct otlp_put *put, unsigned field, struct lode_json *json)
{
    struct lode_range key;
    otlp_nested value = lode_otlp_put_begin(put, field);
    if (!lode_json_enter(json, '{'))
        lode_json_skip(json);
    else
        while (lode_json_key(json, &key)) {
            unsigned kind = value_field(key);
            if (kind == ANY_ARRAY || kind == ANY_MAP) {
                otlp_nested list = lode_otlp_put_begin(put, kind);
                write_values(put, json, kind == ANY_MAP);
                lode_otlp_put_end(put, list);
            } else if (kind > 0) {
                write_scalar(put, kind, json);
            } else {
                lode_json_skip(json);
            }
        }
    lode_otlp_put_end(put, value);
}

/* A KeyValue. */
static void write_pair(struct otlp_put *put, unsigned field, struct lode_json *json)
{
    struct lode_range key;
    if (!lode_json_enter(json, '{')) {
        lode_json_skip(json);
        return;
    }
    otlp_nested pair = lode_otlp_put_begin(put, field);
    while (lode_json_key(json, &key)) {
        if (lode_json_is(key, "key"))
            lode_otlp_put_text(put, PAIR_KEY, lode_otlp_json_text(json));
        else if (lode_json_is(key, "value"))
            write_value(put, PAIR_VALUE, json);
        else
            lode_json_skip(json);
    }
    lode_otlp_put_end(put, pair);
}

/* An array of pairs. */
static void write_pairs(struct otlp_put *put, unsigned field, struct lode_json *json)
{
    if (!lode_json_enter(json, '[')) {
        lode_json_skip(json);
        return;
    }
    while (lode_json_item(json))
        write_pair(put, field, json);
}

static void write_values(struct otlp_put *put, struct lode_json *json, bool is_map)
{
    struct lode_range key;
    if (!lode_json_enter(json, '{')) {
        lode_json_skip(json);
        return;
    }
    while (lode_json_key(json, &key)) {
        if (!lode_json_is(key, "values") || lode_json_peek(json) != '[') {
            lode_json_skip(json);
        } else if (is_map) {
            write_pairs(put, LIST_VALUES, json);
        } else {
            lode_json_enter(json, '[');
            while (lode_json_item(json))
                write_value(put, LIST_VALUES, json);
        }
    }
}

/* NOLINTEND(misc-no-recursion) */

/* ---- spans ---- */

/* An enumeration as a number, or as its name after a prefix. */
static uint64_t read_enum(struct lode_json *json, const char *const *names, unsigned count)
{
    struct lode_range content;
    bool is_string;
    if (!lode_json_scalar(json, &content, &is_string)) {
        lode_json_skip(json);
        return 0;
    }
    for (unsigned i = 0; is_string && i < count; i++)
        if (lode_json_is(content, names[i]))
            return i;
    return lode_json_unsigned(content);
}

static uint64_t read_code(struct lode_json *json)
{
    static const char *const codes[] = {"STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"};
    return read_enum(json, codes, 3);
}

static void write_status(struct otlp_put *put, struct lode_json *json)
{
    struct lode_range key;
    if (!lode_json_enter(json, '{')) {
        lode_json_skip(json);
        return;
    }
    otlp_nested status = lode_otlp_put_begin(put, SPAN_STATUS);
    while (lode_json_key(json, &key)) {
        if (lode_json_is(key, "code"))
            lode_otlp_put_number(put, STATUS_CODE, read_code(json));
        else if (lode_json_is(key, "message"))
            lode_otlp_put_text(put, STATUS_MESSAGE, lode_otlp_json_text(json));
        else
            lode_json_skip(json);
    }
    lode_otlp_put_end(put, status);
}

static void write_event(struct otlp_put *put, struct lode_json *json)
{
    struct lode_range key;
    otlp_nested event = lode_otlp_put_begin(put, SPAN_EVENTS);
    while (lode_json_key(json, &key)) {
        if (lode_json_is(key, "timeUnixNano"))
            lode_otlp_put_fixed(put, EVENT_TIME, lode_otlp_json_unsigned(json));
        else if (lode_json_is(key, "name"))
            lode_otlp_put_text(put, EVENT_NAME, lode_otlp_json_text(json));
        else if (lode_json_is(key, "attributes"))
            write_pairs(put, EVENT_ATTRIBUTES, json);
        else
            lode_json_skip(json);
    }
    lode_otlp_put_end(put, event);
}

static void write_link(struct otlp_put *put, struct lode_json *json)
{
    struct lode_range key;
    otlp_nested link = lode_otlp_put_begin(put, SPAN_LINKS);
    while (lode_json_key(json, &key)) {
        if (lode_json_is(key, "traceId"))
            lode_otlp_put_id(put, LINK_TRACE_ID, lode_otlp_json_text(json), 16);
        else if (lode_json_is(key, "spanId"))
            lode_otlp_put_id(put, LINK_SPAN_ID, lode_otlp_json_text(json), 8);
        else if (lode_json_is(key, "attributes"))
            write_pairs(put, LINK_ATTRIBUTES, json);
        else
            lode_json_skip(json);
    }
    lode_otlp_put_end(put, link);
}

/* An array of events or of links. */
static void write_list(struct otlp_put *put, struct lode_json *json,
                       void (*write)(struct otlp_put *, struct lode_json *))
{
    if (!lode_json_enter(json, '[')) {
        lode_json_skip(json);
        return;
    }
    while (lode_json_item(json)) {
        if (lode_json_enter(json, '{'))
            write(put, json);
        else
            lode_json_skip(json);
    }
}

enum member {
    M_TRACE_ID,
    M_SPAN_ID,
    M_PARENT,
    M_NAME,
    M_KIND,
    M_BEGIN,
    M_END,
    M_STATUS,
    M_FLAGS,
    M_DROPPED_ATTRIBUTES,
    M_DROPPED_EVENTS,
    M_DROPPED_LINKS,
    M_ATTRIBUTES,
    M_EVENTS,
    M_LINKS,
    M_TRACE_STATE,
    M_OTHER
};

/* The member of a key: every key of every span comes here. */
static enum member member_of(struct lode_range key)
{
    static const struct {
        const char *name;
        enum member member;
    } members[][3] = {[4] = {{"name", M_NAME}, {"kind", M_KIND}},
                      [5] = {{"flags", M_FLAGS}, {"links", M_LINKS}},
                      [6] = {{"spanId", M_SPAN_ID}, {"status", M_STATUS}, {"events", M_EVENTS}},
                      [7] = {{"traceId", M_TRACE_ID}},
                      [10] = {{"attributes", M_ATTRIBUTES}, {"traceState", M_TRACE_STATE}},
                      [12] = {{"parentSpanId", M_PARENT}},
                      [15] = {{"endTimeUnixNano", M_END}},
                      [17] = {{"startTimeUnixNano", M_BEGIN}, {"droppedLinksCount", M_DROPPED_LINKS}},
                      [18] = {{"droppedEventsCount", M_DROPPED_EVENTS}},
                      [22] = {{"droppedAttributesCount", M_DROPPED_ATTRIBUTES}}};
    if (key.size >= sizeof members / sizeof *members)
        return M_OTHER;
    for (unsigned i = 0; i < 3 && members[key.size][i].name; i++)
        if (memcmp(members[key.size][i].name, key.data, (size_t)key.size) == 0)
            return members[key.size][i].member;
    return M_OTHER;
}

static void write_counts(struct otlp_put *put, struct lode_json *json, enum member member)
{
    static const unsigned fields[] = {[M_FLAGS] = SPAN_FLAGS,
                                      [M_DROPPED_ATTRIBUTES] = SPAN_DROPPED_ATTRIBUTES,
                                      [M_DROPPED_EVENTS] = SPAN_DROPPED_EVENTS,
                                      [M_DROPPED_LINKS] = SPAN_DROPPED_LINKS};
    uint64_t number = lode_otlp_json_unsigned(json);
    if (number > 0)
        lode_otlp_put_number(put, fields[member], number);
}

static uint64_t read_kind(struct lode_json *json)
{
    static const char *const kinds[] = {"SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL", "SPAN_KIND_SERVER",
                                        "SPAN_KIND_CLIENT",      "SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER"};
    return read_enum(json, kinds, OTLP_KINDS);
}

static void write_member(struct otlp_put *put, struct lode_json *json, enum member member)
{
    switch (member) {
    case M_TRACE_ID:
        lode_otlp_put_id(put, SPAN_TRACE_ID, lode_otlp_json_text(json), 16);
        break;
    case M_SPAN_ID:
        lode_otlp_put_id(put, SPAN_ID, lode_otlp_json_text(json), 8);
        break;
    case M_PARENT:
        lode_otlp_put_id(put, SPAN_PARENT, lode_otlp_json_text(json), 8);
        break;
    case M_KIND:
        lode_otlp_put_number(put, SPAN_KIND, read_kind(json));
        break;
    case M_BEGIN:
        lode_otlp_put_fixed(put, SPAN_BEGIN, lode_otlp_json_unsigned(json));
        break;
    case M_END:
        lode_otlp_put_fixed(put, SPAN_END, lode_otlp_json_unsigned(json));
        break;
    case M_STATUS:
        write_status(put, json);
        break;
    case M_FLAGS:
    case M_DROPPED_ATTRIBUTES:
    case M_DROPPED_EVENTS:
    case M_DROPPED_LINKS:
        write_counts(put, json, member);
        break;
    case M_NAME:
    case M_TRACE_STATE:
        lode_otlp_put_text(put, member == M_NAME ? SPAN_NAME : SPAN_TRACE_STATE, lode_otlp_json_text(json));
        break;
    case M_ATTRIBUTES:
        write_pairs(put, SPAN_ATTRIBUTES, json);
        break;
    case M_EVENTS:
        write_list(put, json, write_event);
        break;
    case M_LINKS:
        write_list(put, json, write_link);
        break;
    case M_OTHER:
        lode_json_skip(json);
        break;
    }
}

static bool write_span(struct lode_json *json, enum otlp_detail detail, struct otlp_put *put)
{
    struct lode_range key;
    if (!lode_json_enter(json, '{'))
        return false;
    (void)detail; /* brief ones are read without a detour */
    while (lode_json_key(json, &key))
        write_member(put, json, member_of(key));
    return !json->has_failed;
}

/* ---- brief spans ---- */

/* An id of 8 or 16 bytes; one that is not valid changes nothing. */
static void read_id(struct lode_json *json, size_t size, uint64_t *words)
{
    uint8_t id[OTLP_ID_MOST];
    if (!lode_otlp_read_id(lode_otlp_json_text(json), size, id))
        return;
    for (size_t i = 0; i < size / sizeof *words; i++)
        words[i] = get_u64be(id + i * sizeof *words);
}

static void read_status(struct lode_json *json, struct otlp_span *span)
{
    struct lode_range key;
    if (!lode_json_enter(json, '{')) {
        lode_json_skip(json);
        return;
    }
    while (lode_json_key(json, &key)) {
        if (!lode_json_is(key, "code"))
            lode_json_skip(json);
        else if (read_code(json) == OTLP_STATUS_ERROR)
            span->flags |= OTLP_SPAN_FAILED;
    }
}

static void read_member(struct lode_json *json, struct otlp_reading *reading, enum member member)
{
    struct otlp_span *span = &reading->span;
    uint64_t number;
    switch (member) {
    case M_TRACE_ID:
        read_id(json, sizeof span->trace, span->trace);
        break;
    case M_SPAN_ID:
        read_id(json, sizeof span->id, &span->id);
        break;
    case M_PARENT:
        read_id(json, sizeof span->parent_id, &span->parent_id);
        break;
    case M_KIND:
        number = read_kind(json);
        span->kind = number < OTLP_KINDS ? (uint8_t)number : OTLP_UNSPECIFIED;
        break;
    case M_BEGIN:
        span->begin = lode_otlp_json_unsigned(json);
        break;
    case M_END:
        span->end = lode_otlp_json_unsigned(json);
        break;
    case M_STATUS:
        read_status(json, span);
        break;
    case M_FLAGS:
        otlp_reading_flags(reading, lode_otlp_json_unsigned(json));
        break;
    case M_DROPPED_ATTRIBUTES:
    case M_DROPPED_EVENTS:
    case M_DROPPED_LINKS:
        number = lode_otlp_json_unsigned(json);
        if (number > 0)
            reading->dropped[member - M_DROPPED_ATTRIBUTES] = number;
        break;
    case M_NAME:
    case M_ATTRIBUTES:
    case M_EVENTS:
    case M_LINKS:
    case M_TRACE_STATE:
    case M_OTHER:
        lode_json_skip(json);
        break;
    }
}

static bool read_brief(struct lode_json *json, struct otlp_reading *reading)
{
    struct lode_range key;
    if (!lode_json_enter(json, '{'))
        return false;
    while (lode_json_key(json, &key))
        read_member(json, reading, member_of(key));
    return !json->has_failed;
}

/* ---- messages ---- */

/* The value of a key that may come after others that need it. */
static bool find_key(struct lode_json json, const char *first, const char *second, struct lode_json *value)
{
    struct lode_range key;
    if (!lode_json_enter(&json, '{'))
        return false;
    while (lode_json_key(&json, &key)) {
        if (lode_json_is(key, first) || lode_json_is(key, second)) {
            *value = json;
            return true;
        }
        lode_json_skip(&json);
    }
    return false;
}

static struct lode_range read_scope_name(struct lode_json json)
{
    struct lode_json value, name;
    struct lode_range none = {(const uint8_t *)"", 0};
    if (!find_key(json, "scope", "instrumentationLibrary", &value) || !find_key(value, "name", "name", &name))
        return none;
    return lode_otlp_json_text(&name);
}

static void read_scope(struct otlp_batch *batch, struct lode_json *json, struct lode_range resource)
{
    struct lode_range key, scope = read_scope_name(*json);
    uint32_t origin = LODE_NO_NUMBER;
    if (!lode_json_enter(json, '{')) {
        lode_json_skip(json);
        return;
    }
    while (!batch->has_failed && lode_json_key(json, &key)) {
        if (!lode_json_is(key, "spans") || !lode_json_enter(json, '[')) {
            lode_json_skip(json);
            continue;
        }
        if (origin == LODE_NO_NUMBER)
            origin = lode_otlp_batch_origin(batch, resource, scope);
        while (!batch->has_failed && lode_json_item(json))
            if (!lode_otlp_json_add(batch, json, &lode_otlp_json, origin))
                json->has_failed = true;
    }
}

/* The protobuf form of the resource of an object, in the table of resources. */
static struct lode_range read_resource(struct otlp_batch *batch, struct lode_json json)
{
    struct lode_json value, attributes;
    struct otlp_put put = {&batch->scratch, false};
    batch->scratch.size = 0;
    if (find_key(json, "resource", "resource", &value) &&
        find_key(value, "attributes", "attributes", &attributes))
        write_pairs(&put, RESOURCE_ATTRIBUTES, &attributes);
    uint32_t number = lode_otlp_table_add(&batch->resources,
                                          (struct lode_range){batch->scratch.bytes, batch->scratch.size});
    batch->has_failed |= put.has_failed || number == LODE_NO_NUMBER;
    return batch->has_failed ? (struct lode_range){0} : otlp_table_at(&batch->resources, number);
}

static void read_resource_spans(struct otlp_batch *batch, struct lode_json *json)
{
    struct lode_range key, resource = read_resource(batch, *json);
    if (!lode_json_enter(json, '{')) {
        lode_json_skip(json);
        return;
    }
    while (!batch->has_failed && lode_json_key(json, &key)) {
        bool is_scopes = lode_json_is(key, "scopeSpans") || lode_json_is(key, "scope_spans") ||
                         lode_json_is(key, "instrumentationLibrarySpans");
        if (!is_scopes || !lode_json_enter(json, '[')) {
            lode_json_skip(json);
            continue;
        }
        while (!batch->has_failed && lode_json_item(json))
            read_scope(batch, json, resource);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than LODE_JSON_DEPTH */
static void read_traces(struct otlp_batch *batch, struct lode_json *json)
{
    struct lode_range key;
    if (!lode_json_enter(json, '{')) {
        lode_json_skip(json);
        return;
    }
    while (!batch->has_failed && lode_json_key(json, &key)) {
        bool is_traces = lode_json_is(key, "resourceSpans") || lode_json_is(key, "resource_spans");
        if (lode_json_is(key, "result") && lode_json_peek(json) == '{') {
            read_traces(batch, json); /* of Jaeger's query service */
        } else if (is_traces && lode_json_enter(json, '[')) {
            while (!batch->has_failed && lode_json_item(json))
                read_resource_spans(batch, json);
        } else {
            batch->counts[OTLP_COUNT_SIGNAL] += lode_json_is(key, "resourceMetrics") ||
                                                lode_json_is(key, "resourceLogs") ||
                                                lode_json_is(key, "resourceProfiles");
            lode_json_skip(json);
        }
    }
}

static bool read_message(struct otlp_batch *batch, struct lode_range message)
{
    struct lode_json json = lode_json_of(message);
    read_traces(batch, &json);
    return !json.has_failed && lode_json_peek(&json) == '\0';
}

const struct otlp_codec lode_otlp_json = {"OTLP JSON", read_message, write_span, read_brief};
