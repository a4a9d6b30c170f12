/* SPDX-License-Identifier: BSD-3-Clause */
#include "made_recording.h"

#include "base/error.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MODULES_MAX = 16,
    KEYS_MAX = 64,
    DEPTH_MAX = 1024
};

/* Kinds of instant events. */
enum {
    ID_OTHER = 7,
    ID_EXCEPTION,
    ID_ATTRIBUTE = 1000 /* and the index of its key */
};

struct made_finding {
    size_t event;
    const char *text;
};

struct made_track {
    struct lode_array events, findings;
    const lode_function *stack[DEPTH_MAX];
    uint32_t depth;
    char name[32];
};

struct made {
    lode_recording base;
    struct made_track *tracks;
    struct lode_array messages;
    size_t batch;
    uint32_t opened, open_now;
    const char *keys[KEYS_MAX]; /* of attributes */
    size_t key_count;
};

struct made_cursor {
    lode_cursor base;
    lode_cursor_options options;
    struct made *made;
    struct made_track *track;
    size_t next, finding;
    lode_event *given;
    void **payloads;
    size_t given_count;
};

static const lode_rule made_rules[] = {
    {"made-repair", LODE_WARNING, LODE_CHECK_FULL, "A finding that a test asked for."}};

static struct made *made_of(const lode_recording *recording)
{
    /* The tests own it. */
    union {
        const lode_recording *from;
        struct made *to;
    } cast = {recording};
    return cast.to;
}

static const lode_event *event_at(const struct made_track *track, size_t index)
{
    return LODE_ARRAY_AT(&track->events, lode_event, index);
}

/* ---- what a format provides ---- */

static lode_status track_interval(const lode_recording *recording, uint32_t track, uint64_t *begin,
                                  uint64_t *end, lode_error *error)
{
    const struct made_track *made = &made_of(recording)->tracks[track];
    (void)error;
    if (made->events.count == 0)
        return LODE_ABSENT;
    *begin = event_at(made, 0)->time;
    *end = event_at(made, made->events.count - 1)->time;
    return LODE_OK;
}

static lode_status cursor_open(lode_cursor **out, const lode_recording *recording, uint32_t track,
                               const lode_cursor_options *options, lode_error *error)
{
    struct made *made = made_of(recording);
    struct made_cursor *cursor = calloc(1, sizeof *cursor);
    (void)error;
    assert(cursor);
    cursor->base.recording = recording;
    cursor->options = *options;
    cursor->made = made;
    cursor->track = &made->tracks[track];
    while (cursor->next < cursor->track->events.count &&
           event_at(cursor->track, cursor->next)->time < options->from)
        cursor->next++;
    __atomic_add_fetch(&made->opened, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&made->open_now, 1, __ATOMIC_RELAXED);
    *out = &cursor->base;
    return LODE_OK;
}

/* Frees what was given, so that a sanitizer sees who still reads it. */
static void take_back(struct made_cursor *cursor)
{
    for (size_t i = 0; i < cursor->given_count; i++)
        free(cursor->payloads[i]);
    free(cursor->payloads);
    free(cursor->given);
    cursor->given = NULL;
    cursor->payloads = NULL;
    cursor->given_count = 0;
}

static lode_status report_findings(struct made_cursor *cursor, lode_error *error)
{
    const struct lode_array *findings = &cursor->track->findings;
    for (; cursor->finding < findings->count; cursor->finding++) {
        const struct made_finding *made = LODE_ARRAY_AT(findings, struct made_finding, cursor->finding);
        if (made->event > cursor->next)
            break;
        cursor->base.repairs++;
        lode_finding finding = {made_rules[0].id, LODE_WARNING, cursor->track->name, made->event, made->text};
        if (cursor->options.strict)
            return lode_fail(error, LODE_ERR_CORRUPT, finding.file, made->event, "%s", made->text);
        if (cursor->options.on_finding && cursor->options.on_finding(cursor->options.user, &finding) != 0)
            return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled");
    }
    return LODE_OK;
}

static void give(struct made_cursor *cursor, const lode_event *event)
{
    size_t i = cursor->given_count++;
    cursor->given[i] = *event;
    if (event->data_size == 0)
        return;
    cursor->payloads[i] = malloc(event->data_size);
    assert(cursor->payloads[i]);
    cursor->given[i].data = memcpy(cursor->payloads[i], event->data, event->data_size);
}

static lode_status cursor_next(lode_cursor *base, const lode_event **events, size_t *count, lode_error *error)
{
    struct made_cursor *cursor = (struct made_cursor *)base;
    take_back(cursor);
    cursor->given = calloc(cursor->made->batch, sizeof *cursor->given);
    cursor->payloads = calloc(cursor->made->batch, sizeof *cursor->payloads);
    assert(cursor->given && cursor->payloads);
    while (cursor->given_count < cursor->made->batch) {
        LODE_TRY(report_findings(cursor, error));
        if (cursor->next == cursor->track->events.count)
            break;
        const lode_event *event = event_at(cursor->track, cursor->next);
        if (cursor->options.to != 0 && event->time >= cursor->options.to)
            break;
        give(cursor, event);
        cursor->next++;
    }
    *events = cursor->given;
    *count = cursor->given_count;
    return *count > 0 ? LODE_OK : LODE_END;
}

static void cursor_close(lode_cursor *base)
{
    struct made_cursor *cursor = (struct made_cursor *)base;
    take_back(cursor);
    __atomic_sub_fetch(&cursor->made->open_now, 1, __ATOMIC_RELAXED);
    free(cursor);
}

static void put_text(lode_argument *values, size_t capacity, size_t *count, const char *name,
                     const char *text)
{
    if (*count < capacity)
        values[*count] = (lode_argument){
            .name = name, .kind = LODE_VALUE_TEXT, .bits = 64, .bytes = text, .length = strlen(text)};
    ++*count;
}

/* The data of an attribute: digits for a number, or a string; of an exception, pairs of strings. */
static lode_status arguments(const lode_recording *recording, uint32_t track, const lode_event *event,
                             lode_argument *values, size_t capacity, size_t *count, lode_error *error)
{
    const char *text = event->data;
    (void)recording, (void)track, (void)error;
    *count = 0;
    if (event->kind != LODE_EVENT_INSTANT || event->id == ID_OTHER)
        return LODE_OK;
    if (event->id >= ID_ATTRIBUTE) {
        put_text(values, capacity, count, "", text);
        if (capacity > 0 && text[0] && strspn(text, "0123456789") == strlen(text))
            values[0] = (lode_argument){.name = "",
                                        .kind = LODE_VALUE_SIGNED,
                                        .bits = 64,
                                        .signed_value = (int64_t)strtoull(text, NULL, 10)};
        return LODE_OK;
    }
    for (const char *end = text + event->data_size; text < end; text += strlen(text) + 1)
        put_text(values, capacity, count, *count == 0 ? "class" : *count % 2 ? "message" : "cause", text);
    return LODE_OK;
}

static const char *event_name(const lode_recording *recording, uint64_t id)
{
    if (id >= ID_ATTRIBUTE)
        return made_of(recording)->keys[id - ID_ATTRIBUTE];
    return "made:point";
}

static lode_instant point(const lode_recording *recording, uint64_t id)
{
    (void)recording;
    return id >= ID_ATTRIBUTE   ? LODE_INSTANT_ATTRIBUTE
           : id == ID_EXCEPTION ? LODE_INSTANT_EXCEPTION
                                : LODE_INSTANT_OTHER;
}

static void made_close(lode_recording *recording)
{
    struct made *made = made_of(recording);
    for (uint32_t i = 0; i < recording->track_count; i++) {
        lode_array_free(&made->tracks[i].events);
        lode_array_free(&made->tracks[i].findings);
    }
    lode_array_free(&made->messages);
    free(made->tracks);
    lode_function_table_free(&recording->functions);
    lode_arena_free(&recording->arena);
    free(made);
}

static const struct lode_recording_ops made_ops = {.track_interval = track_interval,
                                                   .cursor_open = cursor_open,
                                                   .cursor_next = cursor_next,
                                                   .cursor_close = cursor_close,
                                                   .arguments = arguments,
                                                   .event_name = event_name,
                                                   .point = point,
                                                   .close = made_close};

/* ---- making one ---- */

lode_recording *made_recording(uint32_t tracks)
{
    struct made *made = calloc(1, sizeof *made);
    assert(made);
    lode_recording *base = &made->base;
    base->ops = &made_ops;
    base->format = "made";
    base->rules = made_rules;
    base->rule_count = 1;
    lode_arena_init(&base->arena, SIZE_MAX);
    lode_function_table_init(&base->functions, sizeof(struct lode_function));
    base->modules = lode_arena_alloc(&base->arena, MODULES_MAX, sizeof *base->modules);
    base->tracks = lode_arena_alloc(&base->arena, tracks + 1, sizeof *base->tracks);
    base->track_count = tracks;
    made->tracks = calloc(tracks + 1, sizeof *made->tracks);
    made->batch = 3;
    lode_array_init(&made->messages, sizeof(lode_event), SIZE_MAX);
    assert(base->modules && base->tracks && made->tracks);
    for (uint32_t i = 0; i < tracks; i++) {
        struct made_track *track = &made->tracks[i];
        lode_array_init(&track->events, sizeof(lode_event), SIZE_MAX);
        lode_array_init(&track->findings, sizeof(struct made_finding), SIZE_MAX);
        snprintf(track->name, sizeof track->name, "track%u", i);
        base->tracks[i] = (lode_track){
            .index = i, .pid = 100, .tid = (int32_t)(100 + i), .name = track->name, .program = "", .id = ""};
    }
    return base;
}

void made_batch(lode_recording *recording, size_t events)
{
    made_of(recording)->batch = events;
}

uint32_t made_opened(const lode_recording *recording)
{
    return made_of(recording)->opened;
}

uint32_t made_open_now(const lode_recording *recording)
{
    return made_of(recording)->open_now;
}

static const lode_module *find_module(lode_recording *recording, const char *path)
{
    for (uint32_t i = 0; i < recording->module_count; i++)
        if (strcmp(recording->modules[i].path, path) == 0)
            return &recording->modules[i];
    assert(recording->module_count < MODULES_MAX);
    struct lode_module *module = &recording->modules[recording->module_count];
    *module = (struct lode_module){recording->module_count++, path};
    return module;
}

static bool make_function(struct lode_function_table *table, lode_function *function, void *user)
{
    size_t size = strlen(user) + 1;
    char *name = lode_arena_alloc(&table->names, size, 1);
    assert(name);
    function->name = memcpy(name, user, size);
    return true;
}

const lode_function *made_function(lode_recording *recording, const char *module, const char *name)
{
    char copy[256];
    uint64_t offset = 0;
    snprintf(copy, sizeof copy, "%s", name);
    for (const char *at = copy; *at; at++)
        offset = offset * 131 + (unsigned char)*at;
    struct lode_function_place place = {.module = module ? find_module(recording, module) : NULL,
                                        .offset = offset};
    return lode_function_table_find(&recording->functions, &place, make_function, copy);
}

/* ---- events ---- */

void made_event(lode_recording *recording, uint32_t index, const lode_event *event)
{
    struct made_track *track = &made_of(recording)->tracks[index];
    bool ends = event->kind == LODE_EVENT_LEAVE || event->kind == LODE_EVENT_SCHED_IN;
    bool begins = event->kind == LODE_EVENT_ENTER || event->kind == LODE_EVENT_SCHED_OUT;
    lode_event *added = lode_array_push(&track->events);
    assert(added && track->depth < DEPTH_MAX);
    *added = *event;
    track->depth -= ends && track->depth > 0;
    added->depth = track->depth;
    if (begins)
        track->stack[track->depth++] = event->function;
    recording->tracks[index].bytes += 16;
}

static void add_call_event(lode_recording *recording, uint32_t track, uint64_t time, uint8_t kind,
                           const lode_function *function)
{
    made_event(recording, track, &(lode_event){.time = time, .function = function, .kind = kind});
}

void made_enter(lode_recording *recording, uint32_t track, uint64_t time, const char *name)
{
    add_call_event(recording, track, time, LODE_EVENT_ENTER, made_function(recording, NULL, name));
}

void made_leave(lode_recording *recording, uint32_t track, uint64_t time, const char *name)
{
    add_call_event(recording, track, time, LODE_EVENT_LEAVE, made_function(recording, NULL, name));
}

void made_out(lode_recording *recording, uint32_t track, uint64_t time)
{
    add_call_event(recording, track, time, LODE_EVENT_SCHED_OUT, made_function(recording, NULL, "off"));
}

void made_in(lode_recording *recording, uint32_t track, uint64_t time)
{
    add_call_event(recording, track, time, LODE_EVENT_SCHED_IN, made_function(recording, NULL, "off"));
}

static void add_point(lode_recording *recording, uint32_t track, uint64_t time, uint64_t id,
                      const char *bytes, size_t size)
{
    char *copy = lode_arena_alloc(&recording->arena, size, 1);
    assert(copy && size <= UINT16_MAX);
    made_event(recording, track,
               &(lode_event){.time = time,
                             .id = id,
                             .kind = LODE_EVENT_INSTANT,
                             .data = memcpy(copy, bytes, size),
                             .data_size = (uint16_t)size});
}

void made_attribute(lode_recording *recording, uint32_t track, uint64_t time, const char *key,
                    const char *value)
{
    struct made *made = made_of(recording);
    size_t i = 0, size = strlen(key) + 1;
    while (i < made->key_count && strcmp(made->keys[i], key) != 0)
        i++;
    if (i == made->key_count) {
        char *copy = lode_arena_alloc(&recording->arena, size, 1);
        assert(copy && made->key_count < KEYS_MAX);
        made->keys[made->key_count++] = memcpy(copy, key, size);
    }
    add_point(recording, track, time, ID_ATTRIBUTE + i, value, strlen(value) + 1);
}

/* "Class:message", and likewise for its causes after ^. */
static void add_exception(lode_recording *recording, uint32_t track, uint64_t time, char *text)
{
    size_t size = strlen(text) + 1;
    for (char *at = text; (at = strpbrk(at, ":^")) != NULL;)
        *at++ = '\0';
    add_point(recording, track, time, ID_EXCEPTION, text, size);
}

void made_message(lode_recording *recording, uint64_t time, uint64_t id)
{
    struct made *made = made_of(recording);
    lode_event *message = lode_array_push(&made->messages);
    assert(message);
    *message = (lode_event){.time = time, .id = id, .kind = LODE_EVENT_INSTANT};
    recording->messages = made->messages.items;
    recording->message_count = made->messages.count;
}

void made_finding(lode_recording *recording, uint32_t index, const char *text)
{
    struct made_track *track = &made_of(recording)->tracks[index];
    struct made_finding *finding = lode_array_push(&track->findings);
    assert(finding);
    *finding = (struct made_finding){track->events.count, text};
}

/* ---- text ---- */

static void add_word(lode_recording *recording, uint32_t index, uint64_t *time, char *word)
{
    struct made_track *track = &made_of(recording)->tracks[index];
    size_t length = strlen(word);
    char *equals = strchr(word, '=');
    if (strcmp(word, ")") == 0 || strcmp(word, "!)") == 0) {
        assert(track->depth > 0);
        made_event(recording, index,
                   &(lode_event){.time = *time,
                                 .function = track->stack[track->depth - 1],
                                 .kind = LODE_EVENT_LEAVE,
                                 .flags = word[0] == '!' ? LODE_EVENT_FAILED : 0});
    } else if (word[0] == '^') {
        add_exception(recording, index, *time, word + 1);
    } else if (equals) {
        *equals = '\0';
        made_attribute(recording, index, *time, word, equals + 1);
    } else if (strcmp(word, "[") == 0) {
        made_out(recording, index, *time);
    } else if (strcmp(word, "]") == 0) {
        made_in(recording, index, *time);
    } else if (strcmp(word, "!") == 0 || strcmp(word, "?") == 0) {
        uint8_t kind = word[0] == '!' ? LODE_EVENT_INSTANT : LODE_EVENT_LOST;
        made_event(recording, index, &(lode_event){.time = *time, .id = ID_OTHER, .kind = kind});
    } else if (word[length - 1] == '(') {
        word[length - 1] = '\0';
        made_enter(recording, index, *time, word);
    } else {
        *time += strtoull(word, NULL, 10);
    }
}

void made_track(lode_recording *recording, uint32_t track, uint64_t time, const char *text)
{
    char *copy = strdup(text), *rest = NULL;
    assert(copy);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        add_word(recording, track, &time, word);
    free(copy);
}

static void append(char *text, size_t capacity, const char *word)
{
    size_t length = strlen(text);
    snprintf(text + length, capacity - length, "%s%s", length ? " " : "", word);
}

void made_text(char *text, size_t capacity, const lode_event *events, size_t count)
{
    static const char *const marks[] = {"(", ")", "[", "]", "!", "?"};
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const lode_event *event = &events[i];
        uint64_t passed = event->time - (i > 0 ? events[i - 1].time : 0);
        char word[128];
        snprintf(word, sizeof word, "%" PRIu64, passed);
        if (i == 0 || passed > 0)
            append(text, capacity, word);
        snprintf(word, sizeof word, "%s%s%s", event->kind == LODE_EVENT_ENTER ? event->function->name : "",
                 marks[event->kind], event->flags & LODE_EVENT_MADE ? "*" : "");
        append(text, capacity, word);
    }
}

/* ---- random events ---- */

uint64_t made_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

void made_random_track(lode_recording *recording, uint32_t track, uint64_t *seed, unsigned events)
{
    uint64_t now = made_random(seed) % 1000;
    unsigned depth = 0;
    for (unsigned i = 0; i < events; i++) {
        uint64_t dice = made_random(seed);
        now += dice % 7 == 0 ? (dice >> 8) % 100000 : (dice >> 8) % 50;
        char name[16];
        snprintf(name, sizeof name, "f%u( ", (unsigned)(dice >> 40) % 40);
        if (depth > 0 && (dice % 2 == 0 || depth > 60)) {
            made_track(recording, track, now, ")");
            depth--;
        } else if (dice % 31 == 1) {
            made_track(recording, track, now, "[ 10 ]");
            now += 10;
        } else {
            made_track(recording, track, now, name);
            depth++;
        }
    }
    while (depth-- > 0)
        made_track(recording, track, ++now, ")");
}
