/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections of metadata. Writers differ in what they write here, and so does damage: a section that
 * cannot be read costs its content, never samples.
 */
#include "base/error.h"
#include "base/text/utf8.h"
#include "format/perf/read/store.h"
#include <lode/private/utf8.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NAME_MOST = 1 << 16, /* bytes of a name; the rest is cut off */
    CLOCK_SIZE = 24
};

/* ---- strings ---- */

static size_t end_of(struct lode_range bytes)
{
    const uint8_t *nul = bytes.size > 0 ? memchr(bytes.data, 0, (size_t)bytes.size) : NULL;
    size_t size = nul ? (size_t)(nul - bytes.data) : (size_t)bytes.size;
    return size < NAME_MOST ? size : NAME_MOST;
}

/* Copies text; bytes that are not UTF-8 become U+FFFD. */
static size_t clean(char *to, const char *from, size_t size, bool *is_changed)
{
    size_t length = 0;
    for (size_t at = 0; at < size;) {
        uint32_t character;
        size_t step = lode_utf8_decode(from + at, size - at, &character);
        if (step == 0) {
            *is_changed = true;
            memcpy(to + length, "\xef\xbf\xbd", 3);
            length += 3;
            at++;
            continue;
        }
        memcpy(to + length, from + at, step);
        length += step;
        at += step;
    }
    to[length] = '\0';
    return length;
}

lode_status lode_perf_string(struct perf_store *store, struct lode_range bytes, uint32_t *number)
{
    size_t size = end_of(bytes);
    bool is_changed = false;
    char *text = malloc(size * 3 + 1);
    LODE_TRY_ALLOC(text, store->report->error);
    clean(text, (const char *)bytes.data, size, &is_changed);
    *number = lode_strings_add(&store->strings, text);
    free(text);
    LODE_TRY_ALLOC(*number != LODE_NO_NUMBER, store->report->error);
    if (!is_changed || store->name_changes++ > 0)
        return LODE_OK;
    return perf_finding(store, PERF_RULE_NAME, perf_part_at(store, 0)->name, LODE_NO_OFFSET,
                        "a name is not UTF-8");
}

/* ---- reading ---- */

/* What is left of a section. */
struct walk {
    struct perf_store *store;
    struct lode_range left;
    bool is_bad;
};

static const uint8_t *take(struct walk *walk, uint64_t size)
{
    struct lode_range part;
    if (walk->is_bad || !lode_range_part(walk->left, 0, size, &part)) {
        walk->is_bad = true;
        return NULL;
    }
    walk->left = (struct lode_range){part.data + size, walk->left.size - size};
    return part.data;
}

static uint32_t take_u32(struct walk *walk)
{
    const uint8_t *bytes = take(walk, sizeof(uint32_t));
    return bytes ? perf_u32(walk->store->is_big, bytes) : 0;
}

static uint64_t take_u64(struct walk *walk)
{
    const uint8_t *bytes = take(walk, sizeof(uint64_t));
    return bytes ? perf_u64(walk->store->is_big, bytes) : 0;
}

/* A string with its length before it; NULL if it is not whole. */
static lode_status take_string(struct walk *walk, const char **out)
{
    uint32_t size = take_u32(walk), number;
    const uint8_t *bytes = take(walk, size);
    *out = NULL;
    if (bytes == NULL)
        return LODE_OK;
    LODE_TRY(lode_perf_string(walk->store, (struct lode_range){bytes, size}, &number));
    *out = lode_strings_at(&walk->store->strings, number);
    return LODE_OK;
}

/* ---- sections ---- */

/* The words of a command, with blanks between them. */
static lode_status read_command(struct walk *walk)
{
    struct perf_store *store = walk->store;
    uint32_t count = take_u32(walk);
    size_t length = 0;
    char *whole = lode_arena_alloc(&store->arena, (size_t)walk->left.size + 1, 3);
    LODE_TRY_ALLOC(whole, store->report->error);
    for (uint32_t i = 0; i < count && !walk->is_bad; i++) {
        const char *word;
        LODE_TRY(take_string(walk, &word));
        size_t size = word ? strlen(word) : 0;
        if (length > 0)
            whole[length++] = ' ';
        if (size > 0)
            memcpy(whole + length, word, size);
        length += size;
    }
    if (!walk->is_bad && length > 0)
        store->command = whole;
    return LODE_OK;
}

/* Events are distinguished by their ids or, without ids, by their attributes. */
static struct perf_event *find_event(const struct perf_store *store, const struct perf_event *like,
                                     struct lode_range ids)
{
    if (ids.size > 0) {
        const uint32_t *number = lode_map_get(&store->event_of, perf_u64(store->is_big, ids.data));
        return number ? perf_event_at(store, *number) : NULL;
    }
    for (size_t i = 0; i < store->events.count; i++) {
        struct perf_event *event = perf_event_at(store, i);
        if (event->name == NULL && event->attr.type == like->attr.type &&
            event->attr.config == like->attr.config && event->attr.sample_type == like->attr.sample_type)
            return event;
    }
    return NULL;
}

static lode_status read_events(struct walk *walk)
{
    struct perf_store *store = walk->store;
    uint32_t count = take_u32(walk), size = take_u32(walk);
    if (size < PERF_ATTR_LEAST)
        walk->is_bad = true;
    for (uint32_t i = 0; i < count && !walk->is_bad; i++) {
        struct perf_event like = {0};
        const uint8_t *attr = take(walk, size);
        uint32_t ids = take_u32(walk);
        const char *name;
        LODE_TRY(take_string(walk, &name));
        const uint8_t *first = take(walk, (uint64_t)ids * sizeof(uint64_t));
        if (attr == NULL || first == NULL || name == NULL)
            break;
        lode_perf_event_read(&like, (struct lode_range){attr, size}, store->is_big);
        struct perf_event *event =
            find_event(store, &like, (struct lode_range){first, (uint64_t)ids * sizeof(uint64_t)});
        if (event && event->name == NULL)
            event->name = name;
    }
    return LODE_OK;
}

lode_status lode_perf_add_build_id(struct perf_store *store, struct lode_range record)
{
    enum {
        AT_ID = 12,
        AT_SIZE = 32,
        AT_NAME = 36
    };
    if (record.size < AT_NAME)
        return LODE_OK;
    uint16_t misc = perf_u16(store->is_big, record.data + 4);
    uint8_t size = misc & PERF_MISC_ID_SIZE ? record.data[AT_SIZE] : PERF_BUILD_ID;
    struct perf_named_id *slot = lode_array_push(&store->build_ids);
    LODE_TRY_ALLOC(slot, store->report->error);
    slot->id.size = size < PERF_BUILD_ID ? size : PERF_BUILD_ID;
    memcpy(slot->id.bytes, record.data + AT_ID, slot->id.size);
    uint32_t name;
    LODE_TRY(
        lode_perf_string(store, (struct lode_range){record.data + AT_NAME, record.size - AT_NAME}, &name));
    LODE_ARRAY_AT(&store->build_ids, struct perf_named_id, store->build_ids.count - 1)->name = name;
    return LODE_OK;
}

static lode_status read_build_ids(struct walk *walk)
{
    while (walk->left.size >= PERF_RECORD_HEADER && !walk->is_bad) {
        uint16_t size = perf_u16(walk->store->is_big, walk->left.data + 6);
        const uint8_t *record = size >= PERF_RECORD_HEADER ? take(walk, size) : NULL;
        walk->is_bad |= record == NULL;
        if (record)
            LODE_TRY(lode_perf_add_build_id(walk->store, (struct lode_range){record, size}));
    }
    return LODE_OK;
}

static lode_status read_clock(struct walk *walk)
{
    struct perf_store *store = walk->store;
    uint32_t version = take_u32(walk);
    (void)take_u32(walk); /* which clock it is: that of the events */
    store->wall = take_u64(walk);
    store->clock = take_u64(walk);
    store->has_clock = version == 1 && !walk->is_bad;
    return LODE_OK;
}

static lode_status read_text(struct walk *walk, const char **out)
{
    const char *text;
    LODE_TRY(take_string(walk, &text));
    *out = text && text[0] ? text : *out;
    return LODE_OK;
}

static lode_status read_section(struct walk *walk, unsigned feature)
{
    struct perf_store *store = walk->store;
    switch (feature) {
    case PERF_FEATURE_TRACING_DATA:
        store->tracing = walk->left;
        return LODE_OK;
    case PERF_FEATURE_BUILD_ID:
        return read_build_ids(walk);
    case PERF_FEATURE_HOSTNAME:
        return read_text(walk, &store->host);
    case PERF_FEATURE_OSRELEASE:
        return read_text(walk, &store->release);
    case PERF_FEATURE_VERSION:
        return read_text(walk, &store->version);
    case PERF_FEATURE_ARCH:
        return read_text(walk, &store->machine);
    case PERF_FEATURE_CPUDESC:
        return read_text(walk, &store->processor);
    case PERF_FEATURE_CMDLINE:
        return read_command(walk);
    case PERF_FEATURE_EVENT_DESC:
        return read_events(walk);
    case PERF_FEATURE_CLOCK_DATA:
        return read_clock(walk);
    default:
        return LODE_OK;
    }
}

lode_status lode_perf_feature(struct perf_store *store, unsigned feature, struct lode_range bytes,
                              const char *file, uint64_t offset)
{
    struct walk walk = {.store = store, .left = bytes};
    /* In a pipe, an empty one ends the list. */
    if (bytes.size == 0)
        return LODE_OK;
    LODE_TRY(read_section(&walk, feature));
    return walk.is_bad ? perf_finding(store, PERF_RULE_FEATURE, file, offset,
                                      "section %u of the metadata is cut off", feature)
                       : LODE_OK;
}

/* ---- tracepoints ---- */

/* Where raw data of a tracepoint have a field, "field:pid_t next_pid;\toffset:56;"; 0: nowhere. */
static uint16_t find_field(struct lode_range formats, const char *event, const char *field)
{
    char name[64];
    unsigned offset = 0;
    int length = snprintf(name, sizeof name, "name: %s\n", event);
    const char *at = memmem(formats.data, (size_t)formats.size, name, (size_t)length);
    const char *end = (const char *)formats.data + formats.size;
    length = snprintf(name, sizeof name, " %s;\toffset:", field);
    at = at ? memmem(at, (size_t)(end - at), name, (size_t)length) : NULL;
    for (at = at ? at + length : end; at < end && *at >= '0' && *at <= '9' && offset < UINT16_MAX / 10; at++)
        offset = offset * 10 + (unsigned)(*at - '0');
    return (uint16_t)offset;
}

/* Whether an event is a tracepoint of the scheduler; then where a field of it is. */
static bool is_tracepoint(const struct perf_store *store, struct perf_event *event, const char *name,
                          const char *field, uint16_t usual)
{
    static const char beginning[] = "sched:";
    size_t length = strlen(beginning);
    if (event->attr.type != PERF_TYPE_TRACEPOINT || event->name == NULL ||
        !(event->attr.sample_type & PERF_HAS_TIME) || strncmp(event->name, beginning, length) != 0 ||
        strcmp(event->name + length, name) != 0)
        return false;
    uint16_t at = store->tracing.size > 0 ? find_field(store->tracing, name, field) : 0;
    event->next_at = at ? at : usual;
    return true;
}

void lode_perf_read_formats(struct perf_store *store)
{
    enum {
        USUAL_NEXT = 56, /* on all machines of 64 bits so far */
        USUAL_WOKEN = 24
    };
    bool has_waking = false;
    for (size_t i = 0; i < store->events.count; i++) {
        struct perf_event *event = perf_event_at(store, i);
        event->is_switch = is_tracepoint(store, event, "sched_switch", "next_pid", USUAL_NEXT);
        event->is_waking = is_tracepoint(store, event, "sched_waking", "pid", USUAL_WOKEN);
        has_waking |= event->is_waking;
    }
    /* This one may be on the processor of the woken thread, where nobody knows who did it. */
    for (size_t i = 0; i < store->events.count && !has_waking; i++) {
        struct perf_event *event = perf_event_at(store, i);
        event->is_waking = is_tracepoint(store, event, "sched_wakeup", "pid", USUAL_WOKEN);
    }
}
