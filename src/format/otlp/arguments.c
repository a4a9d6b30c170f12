/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of events: parts of spans in protobuf. The last field of long data may be cut off. */
#include "base/text/label.h"
#include "format/otlp/otlp.h"
#include "format/protobuf.h"
#include "model/recording/argument.h"

enum {
    DEPTH_MOST = 64 /* of nested lists and maps */
};

struct output {
    lode_argument *arguments;
    size_t capacity, count;
    const struct otlp_recording *rec;
};

/* NULL if there is no space; it is counted anyway. */
static lode_argument *add(struct output *out, const char *name)
{
    lode_argument *argument = out->count < out->capacity ? &out->arguments[out->count] : NULL;
    out->count++;
    if (argument)
        *argument = (lode_argument){.name = name, .bits = 64};
    return argument;
}

static void add_text(struct output *out, const char *name, struct lode_range text)
{
    lode_argument *argument = add(out, name);
    if (argument == NULL)
        return;
    argument->kind = LODE_VALUE_TEXT;
    argument->bytes = text.data;
    argument->length = (size_t)text.size;
}

static void add_number(struct output *out, const char *name, uint64_t number)
{
    lode_argument *argument = add(out, name);
    if (argument)
        argument->signed_value = (int64_t)number;
}

/* ---- values ---- */

static void put_value(struct lode_label *label, struct lode_range bytes, unsigned depth);

static void put_digits(const struct lode_structure *self, struct lode_label *label, const void *bytes,
                       size_t length)
{
    (void)self;
    for (size_t i = 0; i < length; i++)
        lode_label_format(label, "%02x", ((const uint8_t *)bytes)[i]);
}

/* DEPTH_MOST bounds the recursion. NOLINTBEGIN(misc-no-recursion) */

static void put_pair(struct lode_label *label, struct lode_range bytes, unsigned depth)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    struct lode_range key = {0}, value = {0};
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD) {
        key = field.number == PAIR_KEY ? field.bytes : key;
        value = field.number == PAIR_VALUE ? field.bytes : value;
    }
    lode_label_bytes(label, (const char *)key.data, (size_t)key.size);
    lode_label_text(label, ": ");
    put_value(label, value, depth);
}

static void put_list(struct lode_label *label, struct lode_range bytes, bool is_map, unsigned depth)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    bool is_first = true;
    lode_label_text(label, is_map ? "{" : "[");
    while (depth < DEPTH_MOST && lode_pb_next(&walk, &field) == LODE_PB_FIELD) {
        if (field.number != LIST_VALUES)
            continue;
        lode_label_text(label, is_first ? "" : ", ");
        is_first = false;
        if (is_map)
            put_pair(label, field.bytes, depth + 1);
        else
            put_value(label, field.bytes, depth + 1);
    }
    lode_label_text(label, is_map ? "}" : "]");
}

static double real_of(uint64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static void put_value(struct lode_label *label, struct lode_range bytes, unsigned depth)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    while (lode_pb_next(&walk, &field) == LODE_PB_FIELD) {
        if (field.number == ANY_STRING)
            lode_label_bytes(label, (const char *)field.bytes.data, (size_t)field.bytes.size);
        else if (field.number == ANY_BOOL)
            lode_label_text(label, field.value ? "true" : "false");
        else if (field.number == ANY_INT)
            lode_label_format(label, "%lld", (long long)(int64_t)field.value);
        else if (field.number == ANY_DOUBLE)
            lode_label_format(label, "%.17g", real_of(field.value));
        else if (field.number == ANY_ARRAY || field.number == ANY_MAP)
            put_list(label, field.bytes, field.number == ANY_MAP, depth);
        else if (field.number == ANY_BYTES)
            put_digits(NULL, label, field.bytes.data, (size_t)field.bytes.size);
    }
}

/* NOLINTEND(misc-no-recursion) */

static void put_structure(const struct lode_structure *self, struct lode_label *label, const void *bytes,
                          size_t length)
{
    (void)self;
    put_value(label, (struct lode_range){bytes, length}, 0);
}

static const struct lode_structure structure = {put_structure}, digits = {put_digits};

/* The next field; one that is cut off is as long as what is there. */
static bool next_field(struct lode_pb_walk *walk, struct lode_pb_field *field)
{
    enum lode_pb_step step = lode_pb_next(walk, field);
    if (step == LODE_PB_FIELD)
        return true;
    struct lode_pb_walk rest = *walk;
    if (step != LODE_PB_CUT || lode_pb_key(&rest, field) != LODE_PB_FIELD || field->type != LODE_PB_BYTES ||
        lode_pb_number(&rest, &field->value) != LODE_PB_FIELD)
        return false;
    field->bytes = (struct lode_range){rest.at, (uint64_t)(rest.end - rest.at)};
    walk->at = walk->end;
    return true;
}

static void set_value(lode_argument *argument, const struct lode_pb_field *field, struct lode_range all)
{
    switch (field->number) {
    case ANY_BOOL:
        argument->kind = LODE_VALUE_STRUCTURE;
        argument->type = &structure;
        argument->bytes = all.data;
        argument->length = (size_t)all.size;
        break;
    case ANY_INT:
        argument->kind = LODE_VALUE_SIGNED;
        argument->signed_value = (int64_t)field->value;
        break;
    case ANY_DOUBLE:
        argument->kind = LODE_VALUE_REAL;
        argument->real = real_of(field->value);
        break;
    case ANY_ARRAY:
    case ANY_MAP:
    case ANY_BYTES:
        argument->kind = LODE_VALUE_STRUCTURE;
        argument->type = field->number == ANY_BYTES ? &digits : &structure;
        argument->bytes = field->number == ANY_BYTES ? field->bytes.data : all.data;
        argument->length = (size_t)(field->number == ANY_BYTES ? field->bytes.size : all.size);
        break;
    default:
        argument->kind = LODE_VALUE_TEXT;
        argument->bytes = field->bytes.data;
        argument->length = (size_t)field->bytes.size;
        break;
    }
}

/* An AnyValue. One without a value is a text that is none. */
static void add_value(struct output *out, const char *name, struct lode_range bytes)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    lode_argument *argument = add(out, name);
    if (argument == NULL)
        return;
    argument->kind = LODE_VALUE_TEXT;
    while (next_field(&walk, &field))
        set_value(argument, &field, bytes);
}

static void add_id(struct output *out, const char *name, struct lode_range id)
{
    lode_argument *argument = add(out, name);
    if (argument == NULL)
        return;
    argument->kind = LODE_VALUE_STRUCTURE;
    argument->type = &digits;
    argument->bytes = id.data;
    argument->length = (size_t)id.size;
}

/* ---- spans ---- */

static const char *kind_name(uint64_t kind)
{
    static const char *const names[] = {"unspecified", "internal", "server",
                                        "client",      "producer", "consumer"};
    return names[kind < OTLP_KINDS ? kind : 0];
}

static void add_begin(struct output *out, const struct lode_pb_field *field, bool is_moved)
{
    const char *kind = kind_name(field->value);
    switch (field->number) {
    case SPAN_ID:
        add_id(out, "span", field->bytes);
        break;
    case SPAN_PARENT:
        if (field->bytes.size > 0)
            add_id(out, "parent", field->bytes);
        break;
    case SPAN_KIND:
        add_text(out, "kind", (struct lode_range){(const uint8_t *)kind, strlen(kind)});
        break;
    case SPAN_TRACE_STATE:
        if (field->bytes.size > 0)
            add_text(out, "trace state", field->bytes);
        break;
    case SPAN_FLAGS:
        add_number(out, "flags", field->value);
        break;
    case SPAN_BEGIN:
        if (is_moved)
            add_number(out, "recorded begin", field->value - (uint64_t)out->rec->base.utc_offset);
        break;
    case SPAN_END:
        if (is_moved)
            add_number(out, "recorded end", field->value - (uint64_t)out->rec->base.utc_offset);
        break;
    default:
        break;
    }
}

static void add_end(struct output *out, const struct lode_pb_field *field)
{
    if (field->value == 0)
        return;
    if (field->number == SPAN_DROPPED_ATTRIBUTES)
        add_number(out, "dropped attributes", field->value);
    else if (field->number == SPAN_DROPPED_EVENTS)
        add_number(out, "dropped events", field->value);
    else if (field->number == SPAN_DROPPED_LINKS)
        add_number(out, "dropped links", field->value);
}

/* In one order, whatever that in the file is. */
static void add_span(struct output *out, struct lode_range bytes, const lode_event *event)
{
    static const unsigned order[] = {SPAN_ID,
                                     SPAN_PARENT,
                                     SPAN_KIND,
                                     SPAN_TRACE_STATE,
                                     SPAN_FLAGS,
                                     SPAN_BEGIN,
                                     SPAN_END,
                                     SPAN_DROPPED_ATTRIBUTES,
                                     SPAN_DROPPED_EVENTS,
                                     SPAN_DROPPED_LINKS};
    struct lode_pb_field field;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct lode_pb_walk walk = lode_pb_walk_of(bytes);
        while (lode_pb_next(&walk, &field) == LODE_PB_FIELD) {
            if (field.number != order[i])
                continue;
            if (event->kind == LODE_EVENT_ENTER)
                add_begin(out, &field, (event->flags & LODE_EVENT_MOVED) != 0);
            else if (event->kind == LODE_EVENT_LEAVE)
                add_end(out, &field);
        }
    }
}

/* ---- instant events ---- */

static bool read_pair(struct lode_range bytes, struct lode_range *key, struct lode_range *value)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    *key = *value = (struct lode_range){0};
    while (next_field(&walk, &field)) {
        if (field.number == PAIR_KEY)
            *key = field.bytes;
        else if (field.number == PAIR_VALUE)
            *value = field.bytes;
    }
    return true;
}

/* Names of arguments must outlive the event. */
static const char *key_name(const struct output *out, struct lode_range key)
{
    uint32_t number = lode_otlp_name(out->rec, key);
    return number == LODE_NO_NUMBER ? "" : lode_otlp_event_name(&out->rec->base, number);
}

static void add_pairs(struct output *out, struct lode_range bytes, uint64_t number)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    struct lode_range key, value;
    while (next_field(&walk, &field))
        if (field.number == number && read_pair(field.bytes, &key, &value))
            add_value(out, key_name(out, key), value);
}

static void add_link(struct output *out, struct lode_range bytes)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    while (next_field(&walk, &field)) {
        if (field.number == LINK_TRACE_ID)
            add_id(out, "trace", field.bytes);
        else if (field.number == LINK_SPAN_ID)
            add_id(out, "span", field.bytes);
    }
    add_pairs(out, bytes, LINK_ATTRIBUTES);
}

static void add_message(struct output *out, struct lode_range bytes)
{
    struct lode_pb_walk walk = lode_pb_walk_of(bytes);
    struct lode_pb_field field;
    while (next_field(&walk, &field))
        if (field.number == STATUS_MESSAGE)
            add_text(out, "", field.bytes);
}

/* The text of an attribute of an event; empty if there is none. */
static struct lode_range find_text(struct lode_range event, const char *wanted)
{
    struct lode_pb_walk walk = lode_pb_walk_of(event);
    struct lode_pb_field field;
    struct lode_range key, value;
    while (next_field(&walk, &field)) {
        if (field.number != EVENT_ATTRIBUTES || !read_pair(field.bytes, &key, &value) ||
            !lode_json_is(key, wanted))
            continue;
        struct lode_pb_walk inner = lode_pb_walk_of(value);
        if (next_field(&inner, &field) && field.number == ANY_STRING)
            return field.bytes;
    }
    return (struct lode_range){(const uint8_t *)"", 0};
}

static void add_exception(struct output *out, struct lode_range bytes)
{
    struct lode_range stack = find_text(bytes, "exception.stacktrace");
    struct otlp_frame frame;
    add_text(out, "class", find_text(bytes, "exception.type"));
    add_text(out, "message", find_text(bytes, "exception.message"));
    while (lode_otlp_next_frame(&stack, &frame)) {
        add_text(out, "at", frame.type);
        add_text(out, "method", frame.method);
        add_text(out, "file", frame.file);
        add_number(out, "line", frame.line);
    }
}

lode_status lode_otlp_arguments(const lode_recording *recording, uint32_t track, const lode_event *event,
                                lode_argument *arguments, size_t capacity, size_t *count, lode_error *error)
{
    struct output out = {arguments, capacity, 0, otlp_of(recording)};
    struct lode_range bytes = {event->data, event->data_size};
    (void)track;
    (void)error;
    if (event->kind != LODE_EVENT_INSTANT) {
        add_span(&out, bytes, event);
    } else {
        switch ((enum otlp_instant)(event->id >> 32)) {
        case OTLP_ATTRIBUTE:
            add_value(&out, "", bytes);
            break;
        case OTLP_STATUS:
            add_message(&out, bytes);
            break;
        case OTLP_EVENT:
            add_pairs(&out, bytes, EVENT_ATTRIBUTES);
            break;
        case OTLP_EXCEPTION:
            add_exception(&out, bytes);
            break;
        case OTLP_LINK:
            add_link(&out, bytes);
            break;
        }
    }
    *count = out.count;
    return LODE_OK;
}
