/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of threads, as JSON. */
#include "export/timelines/chrome.h"

#include "base/error.h"
#include "base/memory/array.h"
#include "export/json.h"
#include "export/number.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    /* Milliseconds of a time are in the head of its event; six digits and a point follow. */
    MILLISECOND = 1000 * 1000,
    HEAD_MAX = 80,
    KIND_AT = 9,    /* in the head of a call */
    NAME_BLOCK = 32 /* names are copied in blocks of this size, since that is faster */
};
#define EXACT_MAX (INT64_C(1) << 53) /* integers up to this are exact in a double */

/* A name as the last member of an event: ,"name":"main"} */
struct name {
    char *text; /* has whole blocks */
    size_t length;
};

struct thread {
    /* Of every call, to the milliseconds of its time: ,\n{"ph":"B","pid":1,"tid":1,"ts":12 */
    char head[HEAD_MAX];
    size_t head_length, ids_at, time_at;
    uint64_t since; /* the time that the head has */
    uint32_t depth, hidden;
    uint64_t cut;       /* calls that are too deep */
    struct name *names; /* by index of the frame */
    size_t name_capacity;
    size_t marks[CHROME_LEVELS_MAX]; /* where the attributes of each open call begin in `held` */
    struct lode_wire held;           /* attributes of open calls: ,"key":value... */
    struct lode_wire text;
    struct lode_arguments arguments;
};

/* ---- JSON ---- */

/* What a double cannot hold, and addresses, are strings. */
static void put_value(struct thread *thread, const lode_argument *argument, struct lode_wire *out)
{
    lode_value_kind kind = argument->kind;
    int64_t value = argument->signed_value;
    bool is_signed = kind == LODE_VALUE_SIGNED || kind == LODE_VALUE_CHANGE;
    if (is_signed && value >= -EXACT_MAX && value <= EXACT_MAX) {
        json_format(out, "%" PRId64, value);
    } else if (kind == LODE_VALUE_UNSIGNED && argument->unsigned_value <= (uint64_t)EXACT_MAX) {
        json_format(out, "%" PRIu64, argument->unsigned_value);
    } else if (is_signed) {
        json_format(out, "\"%" PRId64 "\"", value);
    } else if (kind == LODE_VALUE_UNSIGNED) {
        json_format(out, "\"%" PRIu64 "\"", argument->unsigned_value);
    } else if (kind == LODE_VALUE_REAL && isfinite(argument->real)) {
        char number[LODE_NUMBER_SIZE];
        wire_raw(out, number, lode_number_f64(number, argument->real));
    } else {
        thread->text.count = 0;
        lode_wire_argument(&thread->text, argument);
        json_clean_string(out, (const char *)thread->text.bytes, thread->text.count);
    }
}

/* ,"key": */
static void put_key(struct thread *thread, const char *key, size_t length, struct lode_wire *out)
{
    thread->text.count = 0;
    lode_wire_clean(&thread->text, key, length);
    wire_raw(out, ",", 1);
    json_clean_string(out, (const char *)thread->text.bytes, thread->text.count);
    wire_raw(out, ":", 1);
}

static void put_member(struct thread *thread, const char *key, size_t length, const lode_argument *argument,
                       struct lode_wire *out)
{
    put_key(thread, key, length, out);
    put_value(thread, argument, out);
}

static void put_members(struct thread *thread, const char *unnamed, bool is_numbered, struct lode_wire *out)
{
    const struct lode_arguments *arguments = &thread->arguments;
    for (size_t i = 0; i < arguments->count; i++) {
        char name[32];
        const char *key = arguments->items[i].name;
        if (key[0] == '\0') {
            snprintf(name, sizeof name, is_numbered ? "%s%zu" : "%s", unnamed, i + 1);
            key = name;
        }
        put_member(thread, key, strlen(key), &arguments->items[i], out);
    }
}

/* ---- events ---- */

/* Writes three digits at `at`; returns what follows. */
static uint8_t *write_digits(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)('0' + value / 100);
    at[1] = (uint8_t)('0' + value / 10 % 10);
    at[2] = (uint8_t)('0' + value % 10);
    return at + 3;
}

/* Puts the milliseconds of a time into the head; 0 has no digits: see below. */
static void set_milliseconds(struct thread *thread, uint64_t milliseconds)
{
    thread->since = milliseconds * MILLISECOND;
    thread->head_length = thread->time_at;
    if (milliseconds > 0)
        thread->head_length += lode_number_u64(thread->head + thread->time_at, milliseconds);
}

/*
 * Writes the head of a call and its time, in microseconds with three decimals, at `at`, which has
 * room; returns what follows. Only the last digits of most times differ from those of the event
 * before, so the head has the others.
 */
static uint8_t *write_call_head(struct thread *thread, uint64_t since, uint8_t *at)
{
    if (since - thread->since >= MILLISECOND)
        set_milliseconds(thread, since / MILLISECOND);
    uint32_t rest = (uint32_t)(since - thread->since);
    memcpy(at, thread->head, HEAD_MAX); /* of a fixed size, since that is faster */
    at += thread->head_length;
    at = thread->since > 0 ? write_digits(at, rest / 1000) : at + lode_number_u64((char *)at, rest / 1000);
    *at++ = '.';
    return write_digits(at, rest % 1000);
}

static uint64_t since_base(const struct chrome *self, uint64_t time)
{
    return time > self->base ? time - self->base : 0;
}

/* Begins an event, without its name: {"ph":"i","s":"t","pid":1,"tid":1,"ts":0.000 */
static void begin_event(const struct chrome *self, struct thread *thread, const char *head, uint64_t time,
                        struct lode_wire *out)
{
    uint8_t call[HEAD_MAX + LODE_NUMBER_SIZE];
    size_t length = (size_t)(write_call_head(thread, since_base(self, time), call) - call);
    json_text(out, head);
    wire_raw(out, call + thread->ids_at, length - thread->ids_at);
}

/* Writes the event of a call, which is one of very many; `kind` is B or E. */
static void put_call(const struct chrome *self, struct thread *thread, char kind, const struct name *name,
                     uint64_t time, struct lode_wire *out)
{
    if (!wire_reserve(out, HEAD_MAX + LODE_NUMBER_SIZE + name->length + NAME_BLOCK))
        return;
    uint8_t *at = out->bytes + out->count;
    uint8_t *end = write_call_head(thread, since_base(self, time), at);
    at[KIND_AT] = (uint8_t)kind;
    for (size_t i = 0; i < name->length; i += NAME_BLOCK)
        memcpy(end + i, name->text + i, NAME_BLOCK);
    out->count = (size_t)(end + name->length - out->bytes);
}

/* Takes back the end of an event, so that members can follow. */
static void reopen_event(struct lode_wire *out)
{
    if (!out->failed)
        out->count--;
}

/* Ends it, with what `members` has from `from` on, which begins with a comma. */
static void end_event(struct lode_wire *members, size_t from, struct lode_wire *out)
{
    if (members->count > from) {
        json_text(out, ",\"args\":{");
        wire_raw(out, members->bytes + from + 1, members->count - from - 1);
        json_text(out, "}");
        members->count = from;
    }
    json_text(out, "}");
}

static bool grow_names(struct thread *thread, uint32_t index)
{
    return LODE_GROW_ZEROED(thread->names, thread->name_capacity, 2 * ((size_t)index + 32));
}

/* The name of a frame, made once for each thread state. */
static const struct name *name_of(struct chrome *self, struct thread *thread, const lode_function *frame)
{
    if (frame->index >= thread->name_capacity && !grow_names(thread, frame->index))
        return NULL;
    struct name *name = &thread->names[frame->index];
    if (name->text)
        return name;
    const struct lode_frame_name *known = lode_tracks_name(self->tracks, frame);
    struct lode_wire text = {0};
    if (known) {
        json_text(&text, ",\"name\":");
        json_clean_string(&text, known->text, known->length);
        json_text(&text, "}");
    }
    if (known == NULL || !wire_reserve(&text, NAME_BLOCK)) {
        wire_free(&text);
        return NULL;
    }
    memset(text.bytes + text.count, 0, NAME_BLOCK); /* of the last block */
    *name = (struct name){(char *)text.bytes, text.count};
    return name;
}

/* Writes a call that has nothing but a known name, as most; false: it is another event. */
static bool put_plain(const struct chrome *self, struct thread *thread, const lode_event *event,
                      struct lode_wire *out)
{
    /* Calls begin and end unpredictably: no branch depends on it. */
    uint32_t is_end = event->kind == LODE_EVENT_LEAVE, level = thread->depth - is_end;
    bool is_call = event->kind <= LODE_EVENT_LEAVE && event->flags == 0 && event->data_size == 0;
    if (!is_call || level >= CHROME_LEVELS_MAX || thread->hidden > 0 || thread->held.count > 0 ||
        (self->has_requests && level == 0) || event->function->index >= thread->name_capacity)
        return false;
    const struct name *name = &thread->names[event->function->index];
    if (name->text == NULL)
        return false;
    thread->marks[level] = 0;
    thread->depth = level + 1 - is_end;
    put_call(self, thread, (char)('B' + is_end * ('E' - 'B')), name, event->time, out);
    return true;
}

static lode_status arguments_of(const struct chrome *self, struct thread *thread, uint32_t track,
                                const lode_event *event, lode_error *error)
{
    thread->arguments.count = 0;
    if (!self->has_values || event->data_size == 0)
        return LODE_OK;
    return lode_tracks_arguments(self->tracks, track, event, &thread->arguments, error);
}

static lode_status begin_call(struct chrome *self, struct thread *thread, uint32_t track,
                              const lode_event *event, struct lode_wire *out, lode_error *error)
{
    if (thread->depth >= CHROME_LEVELS_MAX) {
        thread->hidden++;
        thread->cut++;
        return LODE_OK;
    }
    const struct name *name = name_of(self, thread, event->function);
    LODE_TRY_ALLOC(name, error);
    LODE_TRY(arguments_of(self, thread, track, event, error));
    bool is_request = self->has_requests && self->has_values && thread->depth == 0;
    size_t mark = thread->held.count;
    put_call(self, thread, 'B', name, event->time, out);
    reopen_event(out);
    if (event->kind == LODE_EVENT_SCHED_OUT)
        json_text(out, ",\"cat\":\"sched\"");
    put_members(thread, "arg", true, &thread->held);
    if (is_request) {
        const char *id = lode_recording_track(self->job->recording, track)->id;
        lode_argument value = {.kind = LODE_VALUE_TEXT, .bytes = id, .length = strlen(id)};
        if (id[0])
            put_member(thread, "request", 7, &value, &thread->held);
    }
    if (event->flags & LODE_EVENT_PREEMPTED)
        json_text(&thread->held, ",\"preempted\":true");
    end_event(&thread->held, mark, out);
    thread->marks[thread->depth++] = mark;
    return LODE_OK;
}

static lode_status end_call(struct chrome *self, struct thread *thread, uint32_t track,
                            const lode_event *event, struct lode_wire *out, lode_error *error)
{
    if (thread->hidden > 0) {
        thread->hidden--;
        return LODE_OK;
    }
    if (thread->depth == 0)
        return LODE_OK;
    size_t mark = thread->marks[--thread->depth];
    const struct name *name = name_of(self, thread, event->function);
    LODE_TRY_ALLOC(name, error);
    LODE_TRY(arguments_of(self, thread, track, event, error));
    put_call(self, thread, 'E', name, event->time, out);
    reopen_event(out);
    put_members(thread, "result", false, &thread->held);
    if (self->has_values && event->kind == LODE_EVENT_LEAVE && event->flags & LODE_EVENT_FAILED)
        json_text(&thread->held, ",\"error\":true");
    end_event(&thread->held, mark, out);
    return LODE_OK;
}

/* Begins an instant of the thread. */
static void begin_instant(const struct chrome *self, struct thread *thread, const char *name, uint64_t time,
                          struct lode_wire *out)
{
    begin_event(self, thread, ",\n{\"ph\":\"i\",\"s\":\"t\"", time, out);
    json_text(out, ",\"name\":");
    thread->text.count = 0;
    lode_wire_clean(&thread->text, name, strlen(name));
    json_clean_string(out, (const char *)thread->text.bytes, thread->text.count);
}

/* Numbers are counters of the process. */
static void put_counters(const struct chrome *self, struct thread *thread, const char *name, uint64_t time,
                         struct lode_wire *out)
{
    size_t mark = thread->held.count;
    begin_event(self, thread, ",\n{\"ph\":\"C\"", time, out);
    json_text(out, ",\"name\":");
    thread->text.count = 0;
    lode_wire_clean(&thread->text, name, strlen(name));
    json_clean_string(out, (const char *)thread->text.bytes, thread->text.count);
    put_members(thread, "value", true, &thread->held);
    end_event(&thread->held, mark, out);
}

static void put_exception(struct thread *thread, struct lode_wire *out)
{
    struct lode_thrown thrown = {0};
    while (lode_thrown_next(&thrown, &thread->arguments)) {
        put_key(thread, thrown.key, strlen(thrown.key), out);
        if (thrown.value) {
            put_value(thread, thrown.value, out);
            continue;
        }
        for (size_t i = 0; i < thrown.frame_count; i++) {
            thread->text.count = 0;
            lode_wire_frame(&thread->text, &thread->arguments, thrown.frame + 4 * i);
            json_text(out, i ? "," : "[");
            json_clean_string(out, (const char *)thread->text.bytes, thread->text.count);
        }
        json_text(out, "]");
    }
}

/* An attribute of the innermost call, whose end will have it. */
static void hold_attribute(struct thread *thread, const char *name)
{
    const struct lode_arguments *arguments = &thread->arguments;
    if (arguments->count == 1) {
        put_member(thread, name, strlen(name), &arguments->items[0], &thread->held);
    } else if (arguments->count > 1) {
        /* The key is a value too. */
        struct lode_wire key = {0};
        lode_wire_argument(&key, &arguments->items[0]);
        put_member(thread, (const char *)key.bytes, key.count, &arguments->items[1], &thread->held);
        thread->held.failed |= key.failed;
        wire_free(&key);
    }
}

static lode_status put_happening(struct chrome *self, struct thread *thread, uint32_t track,
                                 const lode_event *event, struct lode_wire *out, lode_error *error)
{
    const lode_recording *recording = self->job->recording;
    const char *name = lode_event_name(recording, event);
    lode_instant kind = lode_event_instant(recording, event);
    bool is_in_call = thread->depth > 0 && thread->hidden == 0;
    LODE_TRY(arguments_of(self, thread, track, event, error));
    if (kind == LODE_INSTANT_ATTRIBUTE && is_in_call)
        hold_attribute(thread, name);
    if (kind == LODE_INSTANT_NUMBERS && is_in_call)
        put_members(thread, name, true, &thread->held);
    if (kind == LODE_INSTANT_ATTRIBUTE || kind == LODE_INSTANT_NUMBERS)
        return LODE_OK;
    size_t mark = thread->held.count;
    bool is_exception = kind == LODE_INSTANT_EXCEPTION;
    begin_instant(self, thread, is_exception ? "exception" : name, event->time, out);
    json_text(out, is_exception ? ",\"cat\":\"error\"" : ",\"cat\":\"event\"");
    if (is_exception) {
        put_exception(thread, &thread->held);
    } else {
        put_members(thread, "arg", true, &thread->held);
    }
    end_event(&thread->held, mark, out);
    if (kind == LODE_INSTANT_OTHER && lode_arguments_are_numbers(&thread->arguments))
        put_counters(self, thread, name, event->time, out);
    return LODE_OK;
}

static void put_loss(const struct chrome *self, struct thread *thread, const lode_event *event,
                     struct lode_wire *out)
{
    size_t mark = thread->held.count;
    begin_instant(self, thread, "records lost", event->time, out);
    json_text(out, ",\"cat\":\"event\"");
    if (event->id > 0)
        json_format(&thread->held, ",\"records\":%" PRIu64, event->id);
    end_event(&thread->held, mark, out);
}

static lode_status put(struct chrome *self, struct thread *thread, uint32_t track, const lode_event *event,
                       struct lode_wire *out, lode_error *error)
{
    switch (event->kind) {
    case LODE_EVENT_ENTER:
    case LODE_EVENT_SCHED_OUT:
        return begin_call(self, thread, track, event, out, error);
    case LODE_EVENT_LEAVE:
    case LODE_EVENT_SCHED_IN:
        return end_call(self, thread, track, event, out, error);
    case LODE_EVENT_LOST:
        put_loss(self, thread, event, out);
        return LODE_OK;
    default:
        return put_happening(self, thread, track, event, out, error);
    }
}

/* ---- the encoder ---- */

static lode_status begin(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                         lode_error *error)
{
    const struct chrome *self = user;
    struct thread *thread = state;
    (void)out, (void)error;
    static const char call[] = ",\n{\"ph\":\"B\"";
    static const char longest[] = ",\"pid\":-2147483648,\"tid\":-2147483648,\"ts\":18446744073709";
    _Static_assert(sizeof call + sizeof longest <= HEAD_MAX, "");
    int length = snprintf(thread->head, sizeof thread->head,
                          "%s,\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"ts\":", call,
                          lode_tracks_process(self->tracks, line->process)->pid, line->tid);
    thread->head_length = thread->time_at = (size_t)length;
    thread->since = 0;
    thread->ids_at = sizeof call - 1;
    return LODE_OK;
}

static lode_status take(void *user, void *state, const struct lode_line *line, uint32_t track,
                        const lode_event *events, size_t count, struct lode_wire *out, lode_error *error)
{
    struct chrome *self = user;
    struct thread *thread = state;
    (void)line;
    for (size_t i = 0; i < count; i++)
        if (!put_plain(self, thread, &events[i], out))
            LODE_TRY(put(self, thread, track, &events[i], out, error));
    return thread->held.failed || thread->text.failed ? lode_fail_memory(error) : LODE_OK;
}

static lode_status end(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                       lode_error *error)
{
    struct chrome *self = user;
    struct thread *thread = state;
    (void)line, (void)out, (void)error;
    thread->held.count = 0;
    thread->depth = thread->hidden = 0;
    atomic_fetch_add(&self->cut, thread->cut);
    thread->cut = 0;
    return LODE_OK;
}

static void close(void *user, void *state)
{
    struct thread *thread = state;
    (void)user;
    for (size_t i = 0; i < thread->name_capacity; i++)
        free(thread->names[i].text);
    free(thread->names);
    wire_free(&thread->held);
    wire_free(&thread->text);
    free(thread->arguments.items);
}

void lode_chrome_encode(struct lode_encoder *encoder)
{
    encoder->state_size = sizeof(struct thread);
    encoder->begin = begin;
    encoder->take = take;
    encoder->end = end;
    encoder->close = close;
}
