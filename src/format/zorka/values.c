/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of methods and events, and the data of events. */
#include "base/text/label.h"
#include "format/zorka/zorka.h"
#include "model/recording/argument.h"
#include <string.h>

enum {
    NAME_MAX_SIZE = 2048, /* longer names are cut off */
    CAUSES_MAX = 16,      /* nested causes of an exception: they might be cyclic */
    STACK_MAX = 1024
};
#define UNKNOWN_METHOD UINT64_C(1)

/* ---- methods ---- */

static void put(char *buffer, size_t capacity, size_t *length, const struct zor_text *text)
{
    struct lode_range bytes = text ? lode_zor_plain(text) : (struct lode_range){(const uint8_t *)"?", 1};
    for (uint64_t i = 0; i < bytes.size && *length + 1 < capacity; i++)
        buffer[(*length)++] = (char)(bytes.data[i] ? bytes.data[i] : '?');
}

size_t lode_zor_method_name(const struct zor_strings *strings, uint64_t method, char *buffer, size_t capacity)
{
    uint64_t ids[3] = {0};
    size_t length = 0;
    const struct zor_text *text = lode_zor_text(strings, method);
    if (text == NULL || lode_zor_mark(text) != ZOR_MARK_METHOD || lode_zor_ids(text, ids, 3) < 3)
        return 0;
    put(buffer, capacity, &length, lode_zor_text(strings, ids[0]));
    if (length + 1 < capacity)
        buffer[length++] = '.';
    put(buffer, capacity, &length, lode_zor_text(strings, ids[1]));
    put(buffer, capacity, &length, lode_zor_text(strings, ids[2]));
    buffer[length] = '\0';
    return length;
}

static bool make_function(struct lode_function_table *table, lode_function *function, void *user)
{
    const char *name = user;
    size_t size = strlen(name) + 1;
    char *copy = lode_arena_alloc(&table->names, size, 1);
    if (copy == NULL)
        return false;
    memcpy(copy, name, size);
    function->name = copy;
    return true;
}

/*
 * Methods have no addresses. A hash of the name replaces them, the same in all stores and
 * processes. Collisions are easy to construct, so it does not identify a method.
 */
static uint64_t offset_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++) {
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
    }
    return hash | 2;
}

const lode_function *lode_zor_function(const struct zor_recording *rec, uint32_t store, uint64_t method,
                                       bool *is_known)
{
    /* The function table and its cache in strings are the only parts that grow after opening. */
    struct lode_function_table *table =
        (struct lode_function_table *)(uintptr_t)&rec->base.functions; // NOLINT(performance-no-int-to-ptr)
    const struct zor_strings *strings = &rec->stores[store].strings;
    struct zor_text *text = lode_zor_text(strings, method);
    char name[NAME_MAX_SIZE];
    const lode_function *function = text ? atomic_load_explicit(&text->function, memory_order_acquire) : NULL;
    *is_known = true;
    if (function)
        return function;
    *is_known = lode_zor_method_name(strings, method, name, sizeof name) > 0;
    if (!*is_known) {
        static const char unknown[] = "<unknown method>";
        memcpy(name, unknown, sizeof unknown);
        return lode_function_table_find(table, &(struct lode_function_place){.offset = UNKNOWN_METHOD},
                                        make_function, name);
    }
    struct lode_function_place place = {.offset = offset_of(name), .name = name};
    function = lode_function_table_find(table, &place, make_function, name);
    if (text)
        atomic_store_explicit(&text->function, function, memory_order_release);
    return function;
}

lode_instant lode_zor_point(const lode_recording *recording, uint64_t id)
{
    (void)recording;
    if (!(id & ZOR_POINT_SPECIAL) || (uint32_t)id == ZOR_POINT_NAMELESS)
        return LODE_INSTANT_ATTRIBUTE;
    return (uint32_t)id == ZOR_POINT_THROWN ? LODE_INSTANT_EXCEPTION : LODE_INSTANT_NUMBERS;
}

const char *lode_zor_event_name(const lode_recording *recording, uint64_t id)
{
    const struct zor_recording *rec = zor_of(recording);
    uint32_t store = (uint32_t)(id >> 32) & 0xffffff, number = (uint32_t)id;
    if (id & ZOR_POINT_SPECIAL)
        return number == ZOR_POINT_THROWN ? "exception" : number == ZOR_POINT_INFO ? "info" : "attribute";
    const struct zor_text *text =
        store < rec->store_count ? lode_zor_text(&rec->stores[store].strings, number) : NULL;
    return text ? text->text : "unknown attribute";
}

/* ---- arguments ---- */

struct output {
    const struct zor_store *store;
    lode_argument *arguments;
    size_t capacity, count;
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

static void add_string(struct output *out, const char *name, uint64_t id)
{
    lode_argument *argument = add(out, name);
    if (argument)
        lode_zor_set_string(argument, &out->store->strings, id);
}

/* The next value, of any type; false at the end. */
static bool add_value(struct output *out, const char *name, struct zor_input *in, bool is_page)
{
    uint64_t begin = in->at;
    if (!lode_zor_skip(in))
        return false;
    lode_argument *argument = add(out, name);
    struct lode_range bytes = {in->data + begin, in->at - begin};
    if (argument)
        lode_zor_value(&out->store->structures[is_page], bytes, argument);
    return true;
}

static void put_digits(const struct lode_structure *self, struct lode_label *label, const void *bytes,
                       size_t length)
{
    (void)self;
    for (size_t i = 0; i < length; i++)
        lode_label_format(label, "%02x", ((const uint8_t *)bytes)[i]);
}

/* An id is bytes, and always shown as hexadecimal digits. */
static void show_as_digits(lode_argument *argument)
{
    static const struct lode_structure digits = {put_digits};
    if (argument->kind == LODE_VALUE_TEXT && argument->bytes) {
        argument->kind = LODE_VALUE_STRUCTURE;
        argument->type = &digits;
    }
}

static void add_info(struct output *out, struct zor_input *in)
{
    static const char *const names[ZOR_KEY_COUNT] = {
        "info 0", "trace id", "chunk number", "chunk offset", "chunk length", "time stamp", "duration",
        "type",   "records",  "calls",        "errors",       "flags",        "start",      "stop",
        "method", "skip",     "cleared",      "parent",       "span"};
    struct zor_item key;
    while (lode_zor_head(in, &key) &&
           add_value(out, key.value < ZOR_KEY_COUNT ? names[key.value] : "unknown", in, false))
        if (key.value == ZOR_KEY_TRACE_ID && out->count <= out->capacity)
            show_as_digits(&out->arguments[out->count - 1]);
}

static void add_stack(struct output *out, uint64_t id)
{
    uint64_t items[STACK_MAX];
    const struct zor_text *stack = lode_zor_text(&out->store->strings, id);
    if (stack == NULL || lode_zor_mark(stack) != ZOR_MARK_STACK)
        return;
    size_t count = lode_zor_ids(stack, items, STACK_MAX);
    for (size_t i = 0; i < count && i < STACK_MAX; i++) {
        uint64_t parts[4] = {0};
        const struct zor_text *item = lode_zor_text(&out->store->strings, items[i]);
        if (item == NULL || lode_zor_mark(item) != ZOR_MARK_STACK_ITEM || lode_zor_ids(item, parts, 4) < 4)
            continue;
        add_string(out, "at", parts[0]);
        add_string(out, "method", parts[1]);
        add_string(out, "file", parts[2]);
        lode_argument *line = add(out, "line");
        if (line)
            lode_zor_set_number(line, false, parts[3]);
    }
}

/* An exception and its causes, each with its stack. */
static void add_thrown(struct output *out, struct zor_input *in)
{
    struct zor_item item;
    if (!lode_zor_head(in, &item))
        return;
    uint64_t id = item.value;
    for (unsigned i = 0; i < CAUSES_MAX && id != 0; i++) {
        uint64_t parts[4] = {0};
        const struct zor_text *text = lode_zor_text(&out->store->strings, id);
        if (text == NULL || lode_zor_mark(text) != ZOR_MARK_EXCEPTION || lode_zor_ids(text, parts, 4) < 4)
            return;
        add_string(out, i == 0 ? "class" : "cause", parts[0]);
        add_string(out, "message", parts[1]);
        add_stack(out, parts[2]);
        id = parts[3];
    }
}

/* A value, preceded by its key if that is no reference. */
static void add_attribute(struct output *out, struct zor_input *in, uint64_t id)
{
    bool is_page = (id & ZOR_POINT_PAGE) != 0;
    if (id & ZOR_POINT_SPECIAL)
        add_value(out, "key", in, is_page);
    add_value(out, id & ZOR_POINT_SPECIAL ? "value" : "", in, is_page);
}

lode_status lode_zor_arguments(const lode_recording *recording, uint32_t track, const lode_event *event,
                               lode_argument *arguments, size_t capacity, size_t *count, lode_error *error)
{
    const struct zor_recording *rec = zor_of(recording);
    struct zor_input in = zor_input((struct lode_range){event->data, event->data_size});
    (void)error;
    if (track >= rec->traces.count)
        return LODE_OK;
    struct output out = {&rec->stores[zor_store_of(rec, zor_trace_at(rec, track))], arguments, capacity, 0};
    lode_instant point =
        event->kind == LODE_EVENT_INSTANT ? lode_zor_point(recording, event->id) : LODE_INSTANT_NUMBERS;
    if (point == LODE_INSTANT_EXCEPTION)
        add_thrown(&out, &in);
    else if (point == LODE_INSTANT_ATTRIBUTE)
        add_attribute(&out, &in, event->id);
    else
        add_info(&out, &in);
    *count = out.count;
    return LODE_OK;
}
