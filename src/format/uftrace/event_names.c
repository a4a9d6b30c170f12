/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined events of uftrace: their names, and the numbers they carry. */
#include "base/error.h"
#include "format/uftrace/args/args_number.h"
#include "format/uftrace/args/argspec.h"

enum {
    FIELDS_MAX = 3,
    EVENT_WATCH_VARIABLE = 100012
};

struct event {
    uint64_t id;
    const char *name;
    const char *fields[FIELDS_MAX]; /* up to the first NULL */
    uint8_t size;                   /* bytes of each */
    lode_value_kind kind;
    const char *unit;
};

static const struct event events[] = {
    {100001, "read:proc/statm", {"vmsize", "vmrss", "shared"}, 8, LODE_VALUE_UNSIGNED, "KB"},
    {100002, "read:page-fault", {"major", "minor"}, 8, LODE_VALUE_SIGNED, NULL},
    {100003, "diff:proc/statm", {"vmsize", "vmrss", "shared"}, 8, LODE_VALUE_CHANGE, "KB"},
    {100004, "diff:page-fault", {"major", "minor"}, 8, LODE_VALUE_CHANGE, NULL},
    {100005, "read:pmu-cycle", {"cycles", "instructions"}, 8, LODE_VALUE_SIGNED, NULL},
    {100006, "diff:pmu-cycle", {"cycles", "instructions"}, 8, LODE_VALUE_CHANGE, NULL},
    {100007, "read:pmu-cache", {"refers", "misses"}, 8, LODE_VALUE_SIGNED, NULL},
    {100008, "diff:pmu-cache", {"refers", "misses"}, 8, LODE_VALUE_CHANGE, NULL},
    {100009, "read:pmu-branch", {"branch", "misses"}, 8, LODE_VALUE_SIGNED, NULL},
    {100010, "diff:pmu-branch", {"branch", "misses"}, 8, LODE_VALUE_CHANGE, NULL},
    {100011, "watch:cpu", {"cpu"}, 4, LODE_VALUE_SIGNED, NULL},
    {EVENT_WATCH_VARIABLE, "watch:var", {NULL}, 0, LODE_VALUE_SIGNED, NULL},
    {100013, "callsite", {"callsite"}, 8, LODE_VALUE_POINTER, NULL},
    {200001, "linux:sched-in", {NULL}, 0, LODE_VALUE_SIGNED, NULL},
    {200002, "linux:sched-out", {NULL}, 0, LODE_VALUE_SIGNED, NULL},
    {200003, "linux:schedule", {NULL}, 0, LODE_VALUE_SIGNED, NULL},
    {200004, "linux:task-new", {NULL}, 0, LODE_VALUE_SIGNED, NULL},
    {200005, "linux:task-exit", {NULL}, 0, LODE_VALUE_SIGNED, NULL},
    {200006, "linux:task-name", {NULL}, 0, LODE_VALUE_SIGNED, NULL},
    {200007, "linux:sched-out (pre-empted)", {NULL}, 0, LODE_VALUE_SIGNED, NULL},
    {200008, "linux:schedule (pre-empted)", {NULL}, 0, LODE_VALUE_SIGNED, NULL},
    {2000000, "external-data", {NULL}, 0, LODE_VALUE_SIGNED, NULL},
};

static const struct event *find_event(uint64_t id)
{
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i].id == id)
            return &events[i];
    return NULL;
}

const char *lode_uft_event_name(uint64_t id)
{
    const struct event *event = find_event(id);
    return event ? event->name : NULL;
}

/* Output of values, as far as there is space. */
struct sink {
    lode_argument *items;
    size_t capacity, count;
};

static void put(struct sink *sink, lode_argument argument)
{
    if (sink->count < sink->capacity)
        sink->items[sink->count] = argument;
    sink->count++;
}

static lode_argument number(const struct lode_uft_specs *specs, const char *name, lode_value_kind kind,
                            struct lode_range bytes)
{
    lode_argument argument = {.name = name, .kind = kind, .bits = (unsigned)bytes.size * 8};
    if (kind == LODE_VALUE_UNSIGNED || kind == LODE_VALUE_POINTER)
        argument.unsigned_value = lode_uft_number(bytes, specs->big_endian);
    else
        argument.signed_value = lode_uft_signed_number(bytes, specs->big_endian);
    return argument;
}

/* The address of a variable, then its current value. */
static bool decode_variable(const struct lode_uft_specs *specs, struct lode_range bytes, struct sink *sink)
{
    struct lode_range address, value;
    if (!lode_range_part(bytes, 0, specs->word, &address) ||
        !lode_range_part(bytes, specs->word, bytes.size - specs->word, &value))
        return false;
    put(sink, number(specs, "address", LODE_VALUE_POINTER, address));
    bool is_number = value.size == 1 || value.size == 2 || value.size == 4 || value.size == 8;
    if (is_number)
        put(sink, number(specs, "value", LODE_VALUE_SIGNED, value));
    else
        put(sink, (lode_argument){.name = "value",
                                  .kind = LODE_VALUE_BYTES,
                                  .bytes = value.data,
                                  .length = (size_t)value.size});
    return true;
}

static bool decode_fields(const struct lode_uft_specs *specs, const struct event *event,
                          struct lode_range bytes, struct sink *sink)
{
    for (size_t i = 0; i < FIELDS_MAX && event->fields[i]; i++) {
        struct lode_range part;
        if (!lode_range_part(bytes, i * event->size, event->size, &part))
            return false;
        lode_argument argument = number(specs, event->fields[i], event->kind, part);
        argument.label = event->unit;
        put(sink, argument);
    }
    return true;
}

lode_status lode_uft_event_decode(const struct lode_uft_specs *specs, uint64_t id, struct lode_range bytes,
                                  lode_argument *arguments, size_t capacity, size_t *count, lode_error *error)
{
    struct sink sink = {arguments, capacity, 0};
    const struct event *event = find_event(id);
    bool fits = true;
    *count = 0;
    if (id == EVENT_WATCH_VARIABLE)
        fits = decode_variable(specs, bytes, &sink);
    else if (event)
        fits = decode_fields(specs, event, bytes, &sink);
    if (!fits)
        return lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET,
                         "%llu bytes are too few for an event of %s", (unsigned long long)bytes.size,
                         event ? event->name : "this kind");
    *count = sink.count;
    return LODE_OK;
}
