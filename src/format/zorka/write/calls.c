/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of other recordings: outermost calls begin traces, values become attributes. */
#include "base/compare.h"
#include "base/error.h"
#include "base/io/bytes.h"
#include "format/zorka/write/origin.h"
#include <inttypes.h>
#include <lode/name.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NAME_SIZE = 8192, /* longer names are cut off */
    TEXT_SIZE = 1024, /* of a value that is no string */
    VALUES_MAX = 64
};
#define STAMP_UNIT 1000000 /* nanoseconds of a millisecond */

enum key {
    KEY_PROCESS,
    KEY_THREAD,
    KEY_THREAD_NAME,
    KEY_HOST,
    KEY_COMMAND,
    KEY_COUNT
};

static struct zor_entry *make_string(const struct zor_origin *source, const char *text)
{
    return lode_zor_string(source->dictionary, ZOR_MARK_NONE, zor_range(text));
}

static const char *find_fact(const lode_recording *recording, const char *key)
{
    for (size_t i = 0; i < recording->fact_count; i++)
        if (strcmp(recording->facts[i].key, key) == 0)
            return recording->facts[i].value;
    return "";
}

lode_status lode_zor_calls_open(struct zor_origin *source, uint32_t encoders, lode_error *error)
{
    static const char *const keys[KEY_COUNT] = {"process.pid", "thread.id", "thread.name", "host.name",
                                                "process.command_line"};
    source->uses = calloc(encoders, sizeof *source->uses);
    source->use_count = source->uses ? encoders : 0;
    source->host = make_string(source, find_fact(source->recording, "host"));
    source->command = make_string(source, find_fact(source->recording, "command line"));
    bool has_memory = source->uses && source->host && source->command;
    for (unsigned i = 0; i < KEY_COUNT; i++) {
        source->keys[i] = make_string(source, keys[i]);
        has_memory = has_memory && source->keys[i];
    }
    return has_memory ? LODE_OK : lode_fail_memory(error);
}

void lode_zor_calls_close(struct zor_origin *source)
{
    for (uint32_t i = 0; i < source->use_count; i++)
        free(source->uses[i].firsts);
    free(source->uses);
    free(source->methods);
}

/* ---- functions ---- */

static bool grow_uses(struct zor_uses *uses, uint32_t index)
{
    uint32_t count = 2 * index + 64;
    uint64_t *firsts = realloc(uses->firsts, count * sizeof *firsts);
    if (firsts == NULL)
        return false;
    memset(firsts + uses->count, 0xff, (count - uses->count) * sizeof *firsts);
    uses->firsts = firsts;
    uses->count = count;
    return true;
}

/* The method of a function. While strings are noted, notes this use and returns NULL. */
static lode_status find_method(struct zor_origin *source, struct zor_encoder *encoder,
                               const lode_function *function, struct zor_entry **method, lode_error *error)
{
    uint32_t index = function->index;
    struct zor_uses *uses = &source->uses[encoder->number];
    *method = NULL;
    if (!encoder->is_noting) {
        if (index < source->method_count)
            *method = source->methods[index];
        return *method ? LODE_OK
                       : lode_fail(error, LODE_ERR_IO, NULL, LODE_NO_OFFSET,
                                   "the recording changed while it was read");
    }
    if (index >= uses->count && !grow_uses(uses, index))
        return lode_fail_memory(error);
    uint64_t here = lode_zor_here(encoder);
    uses->firsts[index] = here < uses->firsts[index] ? here : uses->firsts[index];
    return LODE_OK;
}

/* A function and its first use. */
struct use {
    uint64_t first;
    const lode_function *function;
};

LODE_COMPARE_BY(compare_uses, struct use, first);

static struct zor_entry *make_method(struct zor_origin *source, const lode_function *function, bool is_taken)
{
    char name[NAME_SIZE], longer[NAME_SIZE + 64];
    const char *module = function->module ? lode_path_tail(function->module->path) : "";
    if (function->name)
        lode_demangle(function->name, name, sizeof name);
    else
        lode_function_label(function, name, sizeof name);
    /* Names of other languages are not split. */
    bool has_parts = function->name && (strcmp(name, function->name) != 0 || strstr(name, "::"));
    struct lode_range parts[3] = {zor_range(module[0] ? module : "<unknown>"), zor_range(name),
                                  zor_range("()")};
    if (has_parts)
        lode_zor_split_name(name, parts);
    if (is_taken) {
        snprintf(longer, sizeof longer, "%.*s@%.48s+0x%" PRIx64, (int)parts[1].size,
                 (const char *)parts[1].data, module, function->offset);
        parts[1] = zor_range(longer);
    }
    return lode_zor_method(source->dictionary, parts[0], parts[1], parts[2]);
}

/* The location distinguishes functions of one name; the first one used has the plain name. */
static lode_status name_uses(struct zor_origin *source, const struct use *uses, size_t count,
                             lode_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct zor_entry *method = make_method(source, uses[i].function, false);
        if (method && method->owner == source)
            method = make_method(source, uses[i].function, true);
        LODE_TRY_ALLOC(method, error);
        method->owner = source;
        uint64_t first = atomic_load_explicit(&method->first, memory_order_relaxed);
        if (uses[i].first < first)
            atomic_store_explicit(&method->first, uses[i].first, memory_order_relaxed);
        source->methods[uses[i].function->index] = method;
    }
    return LODE_OK;
}

static uint64_t first_use(const struct zor_origin *source, uint32_t index)
{
    uint64_t first = ZOR_NEVER;
    for (uint32_t i = 0; i < source->use_count; i++)
        if (index < source->uses[i].count && source->uses[i].firsts[index] < first)
            first = source->uses[i].firsts[index];
    return first;
}

lode_status lode_zor_calls_name(struct zor_origin *source, lode_error *error)
{
    const struct lode_function_table *table = &source->recording->functions;
    size_t count = 0;
    source->method_count = table->count;
    source->methods = calloc((size_t)table->count + 1, sizeof(struct zor_entry *));
    struct use *uses = calloc((size_t)table->count + 1, sizeof *uses);
    if (source->methods == NULL || uses == NULL) {
        free(uses);
        return lode_fail_memory(error);
    }
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t first = first_use(source, i);
        if (first < ZOR_NEVER)
            uses[count++] = (struct use){first, lode_function_table_at(table, i)};
    }
    qsort(uses, count, sizeof *uses, compare_uses);
    lode_status status = name_uses(source, uses, count, error);
    free(uses);
    return status;
}

/* ---- values ---- */

static struct zor_entry *make_text(struct zor_origin *source, const lode_argument *value)
{
    char text[TEXT_SIZE];
    if (value->kind == LODE_VALUE_TEXT && value->bytes)
        return lode_zor_string(source->dictionary, ZOR_MARK_NONE,
                               (struct lode_range){value->bytes, value->length});
    lode_argument_text(value, text, sizeof text);
    return make_string(source, text);
}

static lode_status put_value(struct zor_origin *source, struct zor_encoder *encoder,
                             const lode_argument *value, const char *name, lode_error *error)
{
    struct zor_entry *key = make_string(source, name), *text = NULL;
    bool is_number = value->kind == LODE_VALUE_SIGNED || value->kind == LODE_VALUE_UNSIGNED;
    if (key && !is_number)
        text = make_text(source, value);
    if (key == NULL || (!is_number && text == NULL))
        return lode_fail_memory(error);
    LODE_TRY(lode_zor_more(encoder, error));
    if (text) {
        lode_zor_attribute_text(encoder, key, text);
    } else if (value->kind == LODE_VALUE_SIGNED) {
        lode_zor_attribute_number(encoder, key, value->signed_value);
    } else {
        lode_zor_attribute(encoder, key, false);
        lode_zor_put_head(encoder, ZOR_UNSIGNED, value->unsigned_value);
    }
    return LODE_OK;
}

static lode_status put_values(struct zor_origin *source, struct zor_encoder *encoder, uint32_t track,
                              const lode_event *event, lode_error *error)
{
    lode_argument values[VALUES_MAX];
    size_t count;
    if (event->data == NULL)
        return LODE_OK;
    LODE_TRY(lode_event_arguments(source->recording, track, event, values, VALUES_MAX, &count, error));
    for (size_t i = 0; i < count && i < VALUES_MAX; i++) {
        char number[32] = "result";
        if (event->kind == LODE_EVENT_ENTER)
            snprintf(number, sizeof number, "arg%zu", i + 1);
        const char *name = values[i].name && values[i].name[0] ? values[i].name : number;
        LODE_TRY(put_value(source, encoder, &values[i], name, error));
    }
    return LODE_OK;
}

/* ---- traces ---- */

static uint64_t mix(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}

/* Hashes what is unique to a call: the host, the thread and the time. */
static struct zor_id make_id(const struct zor_origin *source, const lode_track *track, uint64_t stamp,
                             uint64_t time)
{
    struct zor_id id = {UINT64_C(0x6c6f6465), UINT64_C(0x7a6f726b61)};
    for (uint64_t i = 0; i < source->host->bytes.size; i++) {
        id.high = mix(id.high, source->host->bytes.data[i]);
        id.low = mix(id.low, id.high);
    }
    id.high = mix(mix(mix(id.high, (uint32_t)track->pid), (uint32_t)track->tid), stamp);
    id.low = mix(mix(mix(id.low, id.high), time), track->index) | 1;
    return id;
}

/* Milliseconds since the epoch, or since the start of the clock if that is unknown. */
static uint64_t stamp_of(const lode_recording *recording, uint64_t time)
{
    uint64_t moved;
    if (__builtin_add_overflow(time, recording->utc_offset, &moved))
        moved = time;
    moved /= STAMP_UNIT;
    return moved == 0 ? 1 : moved < ZOR_STAMPS_END ? moved : ZOR_STAMPS_END - 1;
}

/* Attributes of the track, at each trace. */
static lode_status put_track(struct zor_origin *source, struct zor_encoder *encoder, const lode_track *track,
                             lode_error *error)
{
    struct zor_entry *name = make_string(source, track->name);
    LODE_TRY_ALLOC(name, error);
    lode_zor_attribute_number(encoder, source->keys[KEY_PROCESS], track->pid);
    lode_zor_attribute_number(encoder, source->keys[KEY_THREAD], track->tid);
    lode_zor_attribute_text(encoder, source->keys[KEY_THREAD_NAME], name);
    if (source->host->bytes.size > 0)
        lode_zor_attribute_text(encoder, source->keys[KEY_HOST], source->host);
    if (source->command->bytes.size > 0)
        lode_zor_attribute_text(encoder, source->keys[KEY_COMMAND], source->command);
    return LODE_OK;
}

/* Ticks count from the beginning of the trace. */
static uint64_t tick_of(const struct zor_encoder *encoder, uint64_t time)
{
    return (time - encoder->trace.begin) >> ZOR_TICK_SHIFT;
}

static lode_status enter(struct zor_origin *source, struct zor_encoder *encoder, const lode_track *track,
                         const lode_event *event, lode_error *error)
{
    bool is_outermost = zor_depth(encoder) == 0;
    struct zor_entry *method;
    LODE_TRY(find_method(source, encoder, event->function, &method, error));
    if (is_outermost) {
        uint64_t stamp = stamp_of(source->recording, event->time);
        lode_zor_begin_trace(encoder, make_id(source, track, stamp, event->time), stamp);
        encoder->trace.begin = event->time;
    }
    LODE_TRY(lode_zor_enter(encoder, tick_of(encoder, event->time), method, error));
    if (encoder->calls.hidden > 0)
        return LODE_OK;
    if (is_outermost) {
        lode_zor_number(encoder, ZOR_KEY_STAMP, encoder->trace.stamp);
        lode_zor_put_ids(encoder);
        LODE_TRY(put_track(source, encoder, track, error));
    }
    return put_values(source, encoder, track->index, event, error);
}

static lode_status leave(struct zor_origin *source, struct zor_encoder *encoder, uint32_t track,
                         const lode_event *event, lode_error *error)
{
    if (encoder->calls.hidden == 0)
        LODE_TRY(put_values(source, encoder, track, event, error));
    LODE_TRY(lode_zor_more(encoder, error));
    if (encoder->calls.hidden == 0 && (event->flags & LODE_EVENT_FAILED)) {
        lode_zor_number(encoder, ZOR_KEY_FLAGS, ZOR_FLAG_ERROR);
        lode_zor_failed(encoder);
    }
    return lode_zor_leave(encoder, tick_of(encoder, event->time), error);
}

/* Attributes of a call, such as those of spans. */
static lode_status put_attribute(struct zor_origin *source, struct zor_encoder *encoder, uint32_t track,
                                 const lode_event *event, lode_error *error)
{
    lode_argument value;
    size_t count;
    LODE_TRY(lode_event_arguments(source->recording, track, event, &value, 1, &count, error));
    if (count != 1) {
        encoder->left_out++;
        return LODE_OK;
    }
    return put_value(source, encoder, &value, lode_event_name(source->recording, event), error);
}

lode_status lode_zor_take_call(struct zor_origin *source, struct zor_encoder *encoder, uint32_t track,
                               const lode_event *event, lode_error *error)
{
    if (lode_event_begins(event))
        return enter(source, encoder, &source->recording->tracks[track], event, error);
    if (lode_event_ends(event))
        return leave(source, encoder, track, event, error);
    bool is_attribute = event->kind == LODE_EVENT_INSTANT && zor_depth(encoder) > 0 &&
                        encoder->calls.hidden == 0 &&
                        lode_event_instant(source->recording, event) == LODE_INSTANT_ATTRIBUTE;
    if (is_attribute)
        return put_attribute(source, encoder, track, event, error);
    encoder->left_out++;
    return LODE_OK;
}
