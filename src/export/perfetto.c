/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Perfetto: track events in protocol buffers. Each line is a packet sequence with a clock of its
 * own that counts from the packet before, so most packets have 11 to 15 bytes.
 */
#include "base/error.h"
#include "base/intern.h"
#include "base/map.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/tracks.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

/* Fields of the messages, by number. */
enum {
    TRACE_PACKET = 1,
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_PERF_SAMPLE = 66,
    PACKET_TRACK_DESCRIPTOR = 60,
    SNAPSHOT_CLOCKS = 1,
    CLOCK_ID = 1,
    CLOCK_TIMESTAMP = 2,
    CLOCK_IS_INCREMENTAL = 3,
    DEFAULTS_TRACK_EVENT = 11,
    DEFAULTS_CLOCK_ID = 58,
    DEFAULTS_PERF_SAMPLE = 12,
    PERF_TIMEBASE = 1,
    TIMEBASE_FREQUENCY = 2,
    TIMEBASE_COUNTER = 4,
    TIMEBASE_NAME = 10,
    SAMPLE_PID = 2,
    SAMPLE_TID = 3,
    SAMPLE_CALLSTACK_ID = 4,
    INTERNED_FUNCTION_NAMES = 5,
    INTERNED_FRAMES = 6,
    INTERNED_CALLSTACKS = 7,
    FRAME_FUNCTION_ID = 2,
    CALLSTACK_FRAME_IDS = 2,
    INTERNED_CATEGORIES = 1,
    INTERNED_NAMES = 2,
    INTERNED_ANNOTATION_NAMES = 3,
    INTERNED_ID = 1,
    INTERNED_TEXT = 2,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    EVENT_CATEGORY_IDS = 3,
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
    EVENT_DOUBLE_VALUE = 44,
    ANNOTATION_NAME_ID = 1,
    ANNOTATION_BOOL = 2,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_STRING = 6,
    ANNOTATION_POINTER = 7,
    ANNOTATION_NAME = 10,
    ANNOTATION_ARRAY = 12
};

enum {
    CLOCK_REALTIME = 1,
    CLOCK_BOOTTIME = 6,
    CLOCK_OF_SEQUENCE = 64,
    STATE_CLEARED = 1, /* sequence flags */
    NEEDS_STATE = 2,
    TYPE_BEGIN = 1,
    TYPE_END = 2,
    TYPE_INSTANT = 3,
    TYPE_COUNTER = 4,
    CATEGORY_SCHED = 1,
    CATEGORY_ERROR = 2,
    CATEGORY_EVENT = 4,
    /* Deeper calls would become new outermost ones, and their ends would end others. */
    LEVELS_MAX = 512,
    PACKET_MAX = 64, /* bytes of a packet of a call without arguments and new names */
    EVENT_SIZE = 15, /* of an event, for estimates */
    SIZE_MAX_IN_BROWSER = 500 * 1000 * 1000,
    TEXTS_MAX = 4096 /* interned texts of a line, besides functions; others are repeated */
};

/* The state of one sequence. */
struct sequence {
    uint64_t time;                   /* of the last packet */
    uint64_t uuid;                   /* of the thread's track */
    uint8_t suffix[16], suffix_size; /* sequence id and flags of each packet */
    bool has_begun;
    unsigned categories; /* bits of those that were defined */
    uint32_t depth, hidden;
    uint64_t cut; /* calls that are too deep */
    /* Ids of function names, by index; and which are not 0. */
    uint32_t *ids;
    size_t id_capacity;
    struct lode_array used;
    uint32_t next_id;
    struct lode_map frames, stacks;            /* of samples: ids of both */
    struct lode_strings texts, keys, counters; /* names of instants, annotations and counters */
    uint32_t text_ids[TEXTS_MAX];
    struct lode_wire interned; /* for the next packet */
    struct lode_wire held;     /* annotations of open calls, which go out with their ends */
    size_t marks[LEVELS_MAX];  /* where those of each call begin */
    struct lode_wire text, more;
    struct lode_arguments arguments;
};

struct perfetto {
    struct lode_export *job;
    struct lode_tracks *tracks;
    struct lode_progress progress;
    bool has_requests, has_values, has_samples;
    uint64_t process_count;
    atomic_uint_fast64_t cut;
};

/* Tracks: processes have numbers from 1, then threads; counters are above all of them. */
static uint64_t thread_uuid(const struct perfetto *self, const struct lode_line *line)
{
    return self->process_count + 1 + line->index;
}

static uint64_t counter_uuid(const struct lode_line *line, uint32_t number)
{
    return ((uint64_t)line->index + 1) << 33 | number;
}

/* ---- packets ---- */

/* Begins a packet of a sequence at a time. */
static size_t begin_packet(struct sequence *sequence, uint64_t time, struct lode_wire *out)
{
    size_t packet = wire_begin(out, TRACE_PACKET);
    wire_uint(out, PACKET_TIMESTAMP, time - sequence->time);
    wire_raw(out, sequence->suffix, sequence->suffix_size);
    if (sequence->interned.count > 0) {
        wire_bytes(out, PACKET_INTERNED_DATA, sequence->interned.bytes, sequence->interned.count);
        sequence->interned.count = 0;
    }
    sequence->time = time;
    return packet;
}

static void put_interned(struct sequence *sequence, unsigned field, uint32_t id, const char *text,
                         size_t size)
{
    size_t entry = wire_begin(&sequence->interned, field);
    wire_uint(&sequence->interned, INTERNED_ID, id);
    wire_bytes(&sequence->interned, INTERNED_TEXT, text, size);
    wire_end(&sequence->interned, entry);
}

static void put_sample_defaults(struct lode_wire *out)
{
    static const unsigned cpu_clock = 1;
    size_t defaults = wire_begin(out, DEFAULTS_PERF_SAMPLE), timebase = wire_begin(out, PERF_TIMEBASE);
    wire_uint(out, TIMEBASE_FREQUENCY, 1);
    wire_uint(out, TIMEBASE_COUNTER, cpu_clock);
    wire_text(out, TIMEBASE_NAME, "samples");
    wire_end(out, timebase);
    wire_end(out, defaults);
}

static void begin_sequence(const struct perfetto *self, struct sequence *sequence, uint64_t time,
                           struct lode_wire *out)
{
    size_t packet = wire_begin(out, TRACE_PACKET);
    sequence->has_begun = true;
    sequence->time = time;
    /* The suffix without its last byte, which is the flags. */
    wire_raw(out, sequence->suffix, sequence->suffix_size - 1U);
    wire_varint(out, STATE_CLEARED | NEEDS_STATE);
    size_t snapshot = wire_begin(out, PACKET_CLOCK_SNAPSHOT);
    size_t clock = wire_begin(out, SNAPSHOT_CLOCKS);
    wire_uint(out, CLOCK_ID, CLOCK_BOOTTIME);
    wire_uint(out, CLOCK_TIMESTAMP, time);
    wire_end(out, clock);
    clock = wire_begin(out, SNAPSHOT_CLOCKS);
    wire_uint(out, CLOCK_ID, CLOCK_OF_SEQUENCE);
    wire_uint(out, CLOCK_TIMESTAMP, time);
    wire_uint(out, CLOCK_IS_INCREMENTAL, 1);
    wire_end(out, clock);
    wire_end(out, snapshot);
    size_t defaults = wire_begin(out, PACKET_DEFAULTS);
    wire_uint(out, DEFAULTS_CLOCK_ID, CLOCK_OF_SEQUENCE);
    size_t event = wire_begin(out, DEFAULTS_TRACK_EVENT);
    wire_uint(out, EVENT_TRACK_UUID, sequence->uuid);
    wire_end(out, event);
    if (self->has_samples)
        put_sample_defaults(out);
    wire_end(out, defaults);
    wire_end(out, packet);
}

/* ---- names ---- */

/* The id of a function's name; its text goes into the next packet if it is new. 0: no memory. */
static uint32_t id_of(struct perfetto *self, struct sequence *sequence, const lode_function *frame)
{
    if (frame->index < sequence->id_capacity && sequence->ids[frame->index] > 0)
        return sequence->ids[frame->index];
    if (frame->index >= sequence->id_capacity) {
        size_t capacity = 2 * ((size_t)frame->index + 32);
        uint32_t *ids = realloc(sequence->ids, capacity * sizeof *ids);
        if (ids == NULL)
            return 0;
        memset(ids + sequence->id_capacity, 0, (capacity - sequence->id_capacity) * sizeof *ids);
        sequence->ids = ids;
        sequence->id_capacity = capacity;
    }
    const struct lode_frame_name *name = lode_tracks_name(self->tracks, frame);
    uint32_t *used = lode_array_push(&sequence->used);
    if (name == NULL || used == NULL)
        return 0;
    *used = frame->index;
    sequence->ids[frame->index] = ++sequence->next_id;
    put_interned(sequence, INTERNED_NAMES, sequence->next_id, name->text, name->length);
    return sequence->next_id;
}

/* The number of a text among those of its kind, from 1; 0: it is not interned. */
static uint32_t number_of(struct lode_strings *texts, const char *text, bool *is_new)
{
    uint32_t known = (uint32_t)texts->items.count;
    uint32_t number = known < TEXTS_MAX ? lode_strings_add(texts, text) : lode_strings_find(texts, text);
    *is_new = number != LODE_NO_NUMBER && number == known;
    return number == LODE_NO_NUMBER ? 0 : number + 1;
}

/* The name of an instant, in `sequence->text`; its id, or 0. */
static uint32_t instant_id(struct sequence *sequence, const char *name)
{
    bool is_new;
    uint32_t number = number_of(&sequence->texts, name, &is_new);
    sequence->text.count = 0;
    lode_wire_clean(&sequence->text, name, strlen(name));
    if (number == 0)
        return 0;
    if (is_new) {
        sequence->text_ids[number - 1] = ++sequence->next_id;
        put_interned(sequence, INTERNED_NAMES, sequence->next_id, (const char *)sequence->text.bytes,
                     sequence->text.count);
    }
    return sequence->text_ids[number - 1];
}

static void put_category(struct sequence *sequence, unsigned category, const char *name)
{
    if (sequence->categories & category)
        return;
    sequence->categories |= category;
    put_interned(sequence, INTERNED_CATEGORIES, category, name, strlen(name));
}

/* ---- annotations ---- */

static void put_key(struct sequence *sequence, const char *key, size_t length, struct lode_wire *out)
{
    char text[128];
    bool is_new = false;
    sequence->text.count = 0;
    lode_wire_clean(&sequence->text, key, length);
    size_t size = sequence->text.count;
    uint32_t number = 0;
    if (size < sizeof text) {
        if (size > 0)
            memcpy(text, sequence->text.bytes, size);
        text[size] = '\0';
        number = number_of(&sequence->keys, text, &is_new);
    }
    if (is_new)
        put_interned(sequence, INTERNED_ANNOTATION_NAMES, number, text, size);
    if (number > 0)
        wire_uint(out, ANNOTATION_NAME_ID, number);
    else
        wire_bytes(out, ANNOTATION_NAME, sequence->text.bytes, size);
}

static void put_value(struct sequence *sequence, const lode_argument *argument, struct lode_wire *out)
{
    lode_value_kind kind = argument->kind;
    if (kind == LODE_VALUE_SIGNED || kind == LODE_VALUE_CHANGE) {
        wire_int(out, ANNOTATION_INT, argument->signed_value);
    } else if (kind == LODE_VALUE_UNSIGNED) {
        wire_uint(out, ANNOTATION_UINT, argument->unsigned_value);
    } else if (kind == LODE_VALUE_HEX || (kind == LODE_VALUE_POINTER && argument->label == NULL)) {
        wire_uint(out, ANNOTATION_POINTER, argument->unsigned_value);
    } else if (kind == LODE_VALUE_REAL) {
        wire_double(out, ANNOTATION_DOUBLE, argument->real);
    } else {
        sequence->text.count = 0;
        lode_wire_argument(&sequence->text, argument);
        wire_bytes(out, ANNOTATION_STRING, sequence->text.bytes, sequence->text.count);
    }
}

/* An annotation of an event or of a held list; both have the same form. */
static void put_annotation(struct sequence *sequence, const char *key, size_t length,
                           const lode_argument *argument, struct lode_wire *out)
{
    size_t annotation = wire_begin(out, EVENT_ANNOTATIONS);
    put_key(sequence, key, length, out);
    put_value(sequence, argument, out);
    wire_end(out, annotation);
}

static void put_annotations(struct sequence *sequence, const char *unnamed, struct lode_wire *out)
{
    const struct lode_arguments *arguments = &sequence->arguments;
    for (size_t i = 0; i < arguments->count; i++) {
        char name[32];
        const char *key = arguments->items[i].name;
        if (key[0] == '\0') {
            snprintf(name, sizeof name, arguments->count > 1 || unnamed[0] == 'a' ? "%s%zu" : "%s", unnamed,
                     i + 1);
            key = name;
        }
        put_annotation(sequence, key, strlen(key), &arguments->items[i], out);
    }
}

static void put_flag(struct sequence *sequence, const char *key, struct lode_wire *out)
{
    size_t annotation = wire_begin(out, EVENT_ANNOTATIONS);
    put_key(sequence, key, strlen(key), out);
    wire_uint(out, ANNOTATION_BOOL, 1);
    wire_end(out, annotation);
}

static void put_string(struct sequence *sequence, const char *key, const char *text, struct lode_wire *out)
{
    lode_argument value = {.kind = LODE_VALUE_TEXT, .bytes = text, .length = strlen(text)};
    put_annotation(sequence, key, strlen(key), &value, out);
}

/* ---- exceptions ---- */

static void put_stack(struct sequence *sequence, const struct lode_thrown *thrown, struct lode_wire *out)
{
    size_t annotation = wire_begin(out, EVENT_ANNOTATIONS);
    put_key(sequence, thrown->key, strlen(thrown->key), out);
    for (size_t i = 0; i < thrown->frame_count; i++) {
        sequence->text.count = 0;
        lode_wire_frame(&sequence->text, &sequence->arguments, thrown->frame + 4 * i);
        size_t value = wire_begin(out, ANNOTATION_ARRAY);
        wire_bytes(out, ANNOTATION_STRING, sequence->text.bytes, sequence->text.count);
        wire_end(out, value);
    }
    wire_end(out, annotation);
}

static void put_exception(struct sequence *sequence, struct lode_wire *out)
{
    struct lode_thrown thrown = {0};
    while (lode_thrown_next(&thrown, &sequence->arguments))
        if (thrown.value)
            put_annotation(sequence, thrown.key, strlen(thrown.key), thrown.value, out);
        else
            put_stack(sequence, &thrown, out);
}

/* ---- events ---- */

/* Puts an event that is more than a call; takes its annotations from `sequence->more`. */
static void put_event(struct sequence *sequence, uint64_t time, unsigned type, uint32_t id, unsigned category,
                      struct lode_wire *out)
{
    size_t packet = begin_packet(sequence, time, out);
    size_t event = wire_begin(out, PACKET_TRACK_EVENT);
    wire_uint(out, EVENT_TYPE, type);
    if (id > 0)
        wire_uint(out, EVENT_NAME_ID, id);
    else if (type == TYPE_INSTANT)
        wire_bytes(out, EVENT_NAME, sequence->text.bytes, sequence->text.count);
    if (category > 0)
        wire_uint(out, EVENT_CATEGORY_IDS, category);
    wire_raw(out, sequence->more.bytes, sequence->more.count);
    wire_end(out, event);
    wire_end(out, packet);
}

static lode_status arguments_of(const struct perfetto *self, struct sequence *sequence, uint32_t track,
                                const lode_event *event, lode_error *error)
{
    sequence->arguments.count = 0;
    sequence->more.count = 0;
    if (!self->has_values)
        return LODE_OK;
    return lode_tracks_arguments(self->tracks, track, event, &sequence->arguments, error);
}

/* Writes a number at `at`. Most have one or two bytes, unpredictably: no branch depends on it. */
static inline uint8_t *put_short(uint8_t *at, uint64_t value)
{
    if (value >= 1 << 14)
        return wire_put_varint(at, value);
    unsigned has_more = value >= 1 << 7;
    at[0] = (uint8_t)(value | has_more << 7);
    at[1] = (uint8_t)(value >> 7);
    return at + 1 + has_more;
}

/*
 * Writes calls as long as they have nothing but a known name, as most, and returns how many. Calls
 * begin and end unpredictably, so no branch depends on that: both kinds of packets are the same but
 * for the type and the name, which is always written, and then counted or not.
 */
static size_t put_plain(const struct perfetto *self, struct sequence *sequence, const lode_event *events,
                        size_t count, struct lode_wire *out)
{
    const uint32_t lowest = self->has_requests, levels = LEVELS_MAX - lowest;
    const size_t suffix = sequence->suffix_size;
    uint32_t depth = sequence->depth;
    uint64_t time = sequence->time;
    size_t done = 0;
    if (sequence->hidden + sequence->held.count + sequence->interned.count > 0 ||
        !wire_reserve(out, count * PACKET_MAX))
        return 0;
    uint8_t *at = out->bytes + out->count;
    for (const lode_event *event = events; done < count; event++, done++) {
        uint32_t is_end = event->kind, level = depth - is_end;
        if (event->kind > LODE_EVENT_LEAVE || event->flags > 0 || event->data_size > 0 ||
            level - lowest >= levels || event->function->index >= sequence->id_capacity)
            break;
        uint32_t id = sequence->ids[event->function->index];
        if (id == 0)
            break;
        uint8_t *packet = at;
        packet[0] = TRACE_PACKET << 3 | WIRE_BYTES;
        packet[2] = PACKET_TIMESTAMP << 3 | WIRE_VARINT;
        at = put_short(packet + 3, event->time - time);
        memcpy(at, sequence->suffix, sizeof sequence->suffix);
        at += suffix;
        at[0] = PACKET_TRACK_EVENT << 3 | WIRE_BYTES;
        at[2] = EVENT_TYPE << 3 | WIRE_VARINT;
        at[3] = (uint8_t)(TYPE_BEGIN + is_end);
        at[4] = EVENT_NAME_ID << 3 | WIRE_VARINT;
        size_t size = 2 + (size_t)(put_short(at + 5, id) - (at + 4)) * (1 - is_end);
        at[1] = (uint8_t)size;
        at += 2 + size;
        packet[1] = (uint8_t)(at - packet - 2);
        sequence->marks[level] = 0;
        depth = level + 1 - is_end;
        time = event->time;
    }
    sequence->depth = depth;
    sequence->time = time;
    out->count = (size_t)(at - out->bytes);
    return done;
}

static lode_status begin_call(struct perfetto *self, struct sequence *sequence, uint32_t track,
                              const lode_event *event, struct lode_wire *out, lode_error *error)
{
    if (sequence->depth >= LEVELS_MAX) {
        sequence->hidden++;
        sequence->cut++;
        return LODE_OK;
    }
    bool is_off = event->kind == LODE_EVENT_SCHED_OUT,
         is_request = self->has_requests && sequence->depth == 0;
    uint32_t id = id_of(self, sequence, event->function);
    LODE_TRY_ALLOC(id > 0, error);
    sequence->marks[sequence->depth++] = sequence->held.count;
    LODE_TRY(arguments_of(self, sequence, track, event, error));
    put_annotations(sequence, "arg", &sequence->more);
    if (is_request && self->has_values) {
        const lode_track *known = lode_recording_track(self->job->recording, track);
        if (known->id[0])
            put_string(sequence, "request", known->id, &sequence->more);
    }
    if (is_off) {
        put_category(sequence, CATEGORY_SCHED, "sched");
        if (event->flags & LODE_EVENT_PREEMPTED)
            put_flag(sequence, "preempted", &sequence->more);
    }
    put_event(sequence, event->time, TYPE_BEGIN, id, is_off ? CATEGORY_SCHED : 0, out);
    return LODE_OK;
}

static lode_status end_call(struct perfetto *self, struct sequence *sequence, uint32_t track,
                            const lode_event *event, struct lode_wire *out, lode_error *error)
{
    if (sequence->hidden > 0) {
        sequence->hidden--;
        return LODE_OK;
    }
    if (sequence->depth == 0)
        return LODE_OK;
    size_t mark = sequence->marks[--sequence->depth];
    bool has_failed = (event->flags & LODE_EVENT_FAILED) != 0 && event->kind == LODE_EVENT_LEAVE;
    LODE_TRY(arguments_of(self, sequence, track, event, error));
    if (sequence->held.count > mark)
        wire_raw(&sequence->more, sequence->held.bytes + mark, sequence->held.count - mark);
    sequence->held.count = mark;
    put_annotations(sequence, "result", &sequence->more);
    if (has_failed && self->has_values)
        put_flag(sequence, "error", &sequence->more);
    put_event(sequence, event->time, TYPE_END, 0, 0, out);
    return LODE_OK;
}

/* Each number is a counter track below the thread's. */
static void put_counter(struct sequence *sequence, const struct lode_line *line, const char *event,
                        const lode_argument *value, uint64_t time, struct lode_wire *out)
{
    char name[256];
    bool is_new;
    snprintf(name, sizeof name, "%s %s", event, value->name);
    uint32_t number = number_of(&sequence->counters, name, &is_new);
    if (number == 0)
        return;
    uint64_t uuid = counter_uuid(line, number);
    if (is_new) {
        size_t packet = begin_packet(sequence, time, out);
        size_t track = wire_begin(out, PACKET_TRACK_DESCRIPTOR);
        sequence->text.count = 0;
        lode_wire_clean(&sequence->text, name, strlen(name));
        wire_uint(out, TRACK_UUID, uuid);
        wire_bytes(out, TRACK_NAME, sequence->text.bytes, sequence->text.count);
        wire_uint(out, TRACK_PARENT, sequence->uuid);
        wire_bytes(out, TRACK_COUNTER, NULL, 0);
        wire_end(out, track);
        wire_end(out, packet);
    }
    sequence->more.count = 0;
    wire_uint(&sequence->more, EVENT_TRACK_UUID, uuid);
    if (value->kind == LODE_VALUE_REAL)
        wire_double(&sequence->more, EVENT_DOUBLE_VALUE, value->real);
    else
        wire_int(&sequence->more, EVENT_COUNTER_VALUE, value->signed_value);
    put_event(sequence, time, TYPE_COUNTER, 0, 0, out);
}

/* Something happened: an instant with its values; numbers are counters too. */
static void put_instant(struct sequence *sequence, const struct lode_line *line, const char *name,
                        uint64_t time, struct lode_wire *out)
{
    put_annotations(sequence, "arg", &sequence->more);
    put_category(sequence, CATEGORY_EVENT, "event");
    uint32_t id = instant_id(sequence, name);
    put_event(sequence, time, TYPE_INSTANT, id, CATEGORY_EVENT, out);
    if (!lode_arguments_are_numbers(&sequence->arguments))
        return;
    for (size_t i = 0; i < sequence->arguments.count; i++)
        put_counter(sequence, line, name, &sequence->arguments.items[i], time, out);
}

/* An attribute of the innermost call, whose end will have it. */
static void hold_attribute(struct sequence *sequence, const char *name)
{
    const struct lode_arguments *arguments = &sequence->arguments;
    if (sequence->depth == 0 || sequence->hidden > 0 || arguments->count == 0)
        return;
    if (arguments->count == 1) {
        put_annotation(sequence, name, strlen(name), &arguments->items[0], &sequence->held);
        return;
    }
    /* The key is a value too. */
    sequence->more.count = 0;
    lode_wire_argument(&sequence->more, &arguments->items[0]);
    put_annotation(sequence, (const char *)sequence->more.bytes, sequence->more.count, &arguments->items[1],
                   &sequence->held);
}

static lode_status put_happening(struct perfetto *self, struct sequence *sequence,
                                 const struct lode_line *line, uint32_t track, const lode_event *event,
                                 struct lode_wire *out, lode_error *error)
{
    const lode_recording *recording = self->job->recording;
    LODE_TRY(arguments_of(self, sequence, track, event, error));
    const char *name = lode_event_name(recording, event);
    switch (lode_event_instant(recording, event)) {
    case LODE_INSTANT_ATTRIBUTE:
        hold_attribute(sequence, name);
        break;
    case LODE_INSTANT_NUMBERS:
        if (sequence->depth > 0 && sequence->hidden == 0)
            put_annotations(sequence, name, &sequence->held);
        break;
    case LODE_INSTANT_EXCEPTION:
        put_category(sequence, CATEGORY_ERROR, "error");
        put_exception(sequence, &sequence->more);
        put_event(sequence, event->time, TYPE_INSTANT, instant_id(sequence, "exception"), CATEGORY_ERROR,
                  out);
        break;
    case LODE_INSTANT_OTHER:
        put_instant(sequence, line, name, event->time, out);
        break;
    }
    return LODE_OK;
}

static void put_loss(struct sequence *sequence, const lode_event *event, struct lode_wire *out)
{
    lode_argument count = {.name = "records", .kind = LODE_VALUE_UNSIGNED, .unsigned_value = event->id};
    sequence->more.count = 0;
    if (event->id > 0)
        put_annotation(sequence, "records", 7, &count, &sequence->more);
    put_category(sequence, CATEGORY_EVENT, "event");
    uint32_t id = instant_id(sequence, "records lost");
    put_event(sequence, event->time, TYPE_INSTANT, id, CATEGORY_EVENT, out);
}

/* ---- samples ---- */

/* The id of a frame of a call stack. 0 if out of memory. */
static uint32_t sample_frame(struct perfetto *self, struct sequence *sequence, const lode_function *frame)
{
    bool added;
    uint32_t *id =
        lode_map_add(&sequence->frames, frame->index, (uint32_t)sequence->frames.count + 1, &added);
    const struct lode_frame_name *name = id && added ? lode_tracks_name(self->tracks, frame) : NULL;
    if (id == NULL || (added && name == NULL))
        return 0;
    if (added) {
        put_interned(sequence, INTERNED_FUNCTION_NAMES, *id, name->text, name->length);
        size_t entry = wire_begin(&sequence->interned, INTERNED_FRAMES);
        wire_uint(&sequence->interned, INTERNED_ID, *id);
        wire_uint(&sequence->interned, FRAME_FUNCTION_ID, *id);
        wire_end(&sequence->interned, entry);
    }
    return *id;
}

/* Defines a call stack: its frames, the outermost first, which are collected from the other end. */
static bool put_callstack(struct perfetto *self, struct sequence *sequence, uint32_t stack, uint32_t id)
{
    uint32_t ids[LEVELS_MAX], count = 0;
    while (stack > 0 && count < LEVELS_MAX) {
        ids[count] = sample_frame(self, sequence, lode_tracks_stack(self->tracks, stack, &stack));
        if (ids[count++] == 0)
            return false;
    }
    size_t entry = wire_begin(&sequence->interned, INTERNED_CALLSTACKS);
    wire_uint(&sequence->interned, INTERNED_ID, id);
    while (count > 0)
        wire_uint(&sequence->interned, CALLSTACK_FRAME_IDS, ids[--count]);
    wire_end(&sequence->interned, entry);
    return true;
}

static lode_status put_sample(struct perfetto *self, struct sequence *sequence, const struct lode_line *line,
                              const lode_event *event, struct lode_wire *out, lode_error *error)
{
    bool added;
    uint32_t *id = lode_map_add(&sequence->stacks, event->id, (uint32_t)sequence->stacks.count + 1, &added);
    LODE_TRY_ALLOC(id, error);
    if (added)
        LODE_TRY_ALLOC(put_callstack(self, sequence, (uint32_t)event->id, *id), error);
    size_t packet = begin_packet(sequence, event->time, out);
    size_t sample = wire_begin(out, PACKET_PERF_SAMPLE);
    wire_int(out, SAMPLE_PID, lode_tracks_process(self->tracks, line->process)->pid);
    wire_int(out, SAMPLE_TID, line->tid);
    wire_uint(out, SAMPLE_CALLSTACK_ID, *id);
    wire_end(out, sample);
    wire_end(out, packet);
    return LODE_OK;
}

/* ---- all of them ---- */

static lode_status put(struct perfetto *self, struct sequence *sequence, const struct lode_line *line,
                       uint32_t track, const lode_event *event, struct lode_wire *out, lode_error *error)
{
    switch (event->kind) {
    case LODE_EVENT_ENTER:
    case LODE_EVENT_SCHED_OUT:
        return begin_call(self, sequence, track, event, out, error);
    case LODE_EVENT_LEAVE:
    case LODE_EVENT_SCHED_IN:
        return end_call(self, sequence, track, event, out, error);
    case LODE_EVENT_LOST:
        put_loss(sequence, event, out);
        return LODE_OK;
    default:
        if (self->has_samples)
            return put_sample(self, sequence, line, event, out, error);
        return put_happening(self, sequence, line, track, event, out, error);
    }
}

/* ---- the encoder ---- */

static lode_status begin(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                         lode_error *error)
{
    const struct perfetto *self = user;
    struct sequence *sequence = state;
    (void)out, (void)error;
    if (sequence->used.item_size == 0) {
        lode_array_init(&sequence->used, sizeof(uint32_t), SIZE_MAX);
        lode_strings_init(&sequence->texts);
        lode_strings_init(&sequence->keys);
        lode_strings_init(&sequence->counters);
        lode_map_init(&sequence->frames);
        lode_map_init(&sequence->stacks);
    }
    sequence->uuid = thread_uuid(self, line);
    uint8_t *at = sequence->suffix;
    *at++ = PACKET_SEQUENCE_ID << 3 | WIRE_VARINT;
    at = wire_put_varint(at, (uint64_t)line->index + 1);
    *at++ = PACKET_SEQUENCE_FLAGS << 3 | WIRE_VARINT;
    *at++ = NEEDS_STATE;
    sequence->suffix_size = (uint8_t)(at - sequence->suffix);
    return LODE_OK;
}

static lode_status take(void *user, void *state, const struct lode_line *line, uint32_t track,
                        const lode_event *events, size_t count, struct lode_wire *out, lode_error *error)
{
    struct perfetto *self = user;
    struct sequence *sequence = state;
    if (!sequence->has_begun)
        begin_sequence(self, sequence, events[0].time, out);
    for (size_t i = 0; i < count; i++) {
        i += put_plain(self, sequence, events + i, count - i, out);
        if (i < count)
            LODE_TRY(put(self, sequence, line, track, &events[i], out, error));
    }
    bool failed =
        sequence->interned.failed || sequence->held.failed || sequence->text.failed || sequence->more.failed;
    return failed ? lode_fail_memory(error) : LODE_OK;
}

/* Makes the state ready for another line; memory stays. */
static lode_status end(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                       lode_error *error)
{
    struct perfetto *self = user;
    struct sequence *sequence = state;
    (void)line, (void)out, (void)error;
    for (size_t i = 0; i < sequence->used.count; i++)
        sequence->ids[*LODE_ARRAY_AT(&sequence->used, uint32_t, i)] = 0;
    sequence->used.count = 0;
    sequence->next_id = 0;
    lode_strings_free(&sequence->texts);
    lode_strings_free(&sequence->keys);
    lode_strings_free(&sequence->counters);
    lode_strings_init(&sequence->texts);
    lode_strings_init(&sequence->keys);
    lode_strings_init(&sequence->counters);
    lode_map_clear(&sequence->frames);
    lode_map_clear(&sequence->stacks);
    sequence->has_begun = false;
    sequence->categories = 0;
    sequence->interned.count = sequence->held.count = 0;
    sequence->depth = sequence->hidden = 0;
    atomic_fetch_add(&self->cut, sequence->cut);
    sequence->cut = 0;
    return LODE_OK;
}

static void close(void *user, void *state)
{
    struct sequence *sequence = state;
    (void)user;
    free(sequence->ids);
    lode_array_free(&sequence->used);
    if (sequence->used.item_size > 0) {
        lode_strings_free(&sequence->texts);
        lode_strings_free(&sequence->keys);
        lode_strings_free(&sequence->counters);
        lode_map_free(&sequence->frames);
        lode_map_free(&sequence->stacks);
    }
    wire_free(&sequence->interned);
    wire_free(&sequence->held);
    wire_free(&sequence->text);
    wire_free(&sequence->more);
    free(sequence->arguments.items);
}

static lode_status write(void *user, const void *bytes, size_t size, lode_error *error)
{
    struct perfetto *self = user;
    return lode_export_write(self->job->file, bytes, size, error);
}

static lode_status progress(void *user, uint64_t done, uint64_t total, lode_error *error)
{
    struct perfetto *self = user;
    (void)total;
    return lode_progress_add(&self->progress, done - self->progress.done, error);
}

/* ---- the file ---- */

static void put_clocks(uint64_t time, int64_t offset, struct lode_wire *out)
{
    uint64_t real = time + (uint64_t)offset;
    bool is_known = offset >= 0 || (uint64_t)-offset <= time;
    size_t packet = wire_begin(out, TRACE_PACKET);
    size_t snapshot = wire_begin(out, PACKET_CLOCK_SNAPSHOT);
    size_t clock = wire_begin(out, SNAPSHOT_CLOCKS);
    wire_uint(out, CLOCK_ID, CLOCK_BOOTTIME);
    wire_uint(out, CLOCK_TIMESTAMP, time);
    wire_end(out, clock);
    clock = wire_begin(out, SNAPSHOT_CLOCKS);
    wire_uint(out, CLOCK_ID, CLOCK_REALTIME);
    wire_uint(out, CLOCK_TIMESTAMP, is_known ? real : time);
    wire_end(out, clock);
    wire_end(out, snapshot);
    wire_end(out, packet);
}

static size_t begin_track(uint64_t time, uint64_t uuid, struct lode_wire *out, size_t *packet)
{
    *packet = wire_begin(out, TRACE_PACKET);
    wire_uint(out, PACKET_TIMESTAMP, time);
    size_t track = wire_begin(out, PACKET_TRACK_DESCRIPTOR);
    wire_uint(out, TRACK_UUID, uuid);
    return track;
}

static void put_process(const struct lode_tracks_process *process, uint64_t uuid, uint64_t time,
                        struct lode_wire *out)
{
    size_t packet, track = begin_track(time, uuid, out, &packet), part = wire_begin(out, TRACK_PROCESS);
    wire_int(out, PROCESS_PID, process->pid);
    wire_text(out, PROCESS_NAME, process->name);
    wire_end(out, part);
    wire_end(out, track);
    wire_end(out, packet);
}

static void put_thread(const struct perfetto *self, const struct lode_line *line, uint64_t time,
                       struct lode_wire *out)
{
    size_t packet, track = begin_track(time, thread_uuid(self, line), out, &packet);
    size_t part = wire_begin(out, TRACK_THREAD);
    wire_int(out, THREAD_PID, lode_tracks_process(self->tracks, line->process)->pid);
    wire_int(out, THREAD_TID, line->tid);
    wire_text(out, THREAD_NAME, line->name);
    wire_end(out, part);
    wire_end(out, track);
    wire_end(out, packet);
}

/* Clocks, processes and threads. */
static lode_status write_head(struct perfetto *self, lode_error *error)
{
    struct lode_wire out = {0};
    uint64_t begin, end;
    lode_tracks_bounds(self->tracks, &begin, &end);
    put_clocks(begin, lode_tracks_utc_offset(self->tracks), &out);
    for (uint32_t i = 0; i < self->process_count; i++)
        put_process(lode_tracks_process(self->tracks, i), i + UINT64_C(1), begin, &out);
    for (uint32_t i = 0; i < lode_tracks_line_count(self->tracks); i++)
        put_thread(self, lode_tracks_line(self->tracks, i), begin, &out);
    lode_status status = out.failed ? lode_fail_memory(error)
                                    : lode_export_write(self->job->file, out.bytes, out.count, error);
    wire_free(&out);
    return status;
}

static lode_status write_all(struct perfetto *self, lode_error *error)
{
    struct lode_encoder encoder = {.alternates = true,
                                   .wants_samples = self->has_samples,
                                   .state_size = sizeof(struct sequence),
                                   .user = self,
                                   .begin = begin,
                                   .take = take,
                                   .end = end,
                                   .close = close,
                                   .write = write,
                                   .progress = progress};
    struct lode_tracks_counts counts;
    self->process_count = lode_tracks_process_count(self->tracks);
    LODE_TRY(lode_tracks_warn(self->tracks, self->job, EVENT_SIZE, SIZE_MAX_IN_BROWSER,
                              "ui.perfetto.dev without trace_processor_shell", error));
    LODE_TRY(write_head(self, error));
    LODE_TRY(lode_tracks_run(self->tracks, &encoder, &counts, error));
    if (self->cut > 0)
        LODE_TRY(lode_export_lost(self->job, "depth", error,
                                  "%" PRIu64 " calls below %d levels were left out: Perfetto keeps no more",
                                  (uint64_t)self->cut, LEVELS_MAX));
    return lode_tracks_report(self->job, &counts, error);
}

static lode_status run(struct lode_export *job, lode_error *error)
{
    struct perfetto self = {.job = job,
                            .has_requests = job->recording && lode_recording_has_requests(job->recording),
                            .has_values = job->recording && !job->options->no_arguments,
                            .has_samples = job->db && job->options->samples};
    lode_status status = lode_tracks_open(&self.tracks, job, error);
    if (status == LODE_OK) {
        self.progress = lode_export_progress(job, "writing", lode_tracks_bytes(self.tracks));
        status = write_all(&self, error);
    }
    lode_tracks_close(self.tracks);
    return status;
}

const struct lode_export_format lode_export_perfetto = {
    .name = "perfetto",
    .description = "Perfetto trace: ui.perfetto.dev, trace_processor",
    .suffix = ".pftrace",
    .loses = "metrics and values; calls below 512 levels",
    .holds = LODE_EXPORT_TIMELINE,
    .compressions = 1U << LODE_COMPRESSION_GZIP,
    .run = run,
};
