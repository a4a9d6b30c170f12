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
    /* Open calls are of size_t: where the attributes of each begin in `held`. */
    struct lode_timeline_thread base;
    /* Of every call, to the milliseconds of its time: ,\n{"ph":"B","pid":1,"tid":1,"ts":12 */
    char head[HEAD_MAX];
    size_t head_length, ids_at, time_at;
    uint64_t since;     /* the time that the head has */
    struct name *names; /* by index of the frame */
    size_t name_capacity;
    struct lode_wire held; /* attributes of open calls: ,"key":value... */
    struct lode_wire text;
};

static struct thread *thread_of(struct lode_timeline_thread *base)
{
    return (struct thread *)base;
}

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

static void hold(struct lode_timeline_thread *base, const char *key, size_t length,
                 const lode_argument *argument)
{
    struct thread *thread = thread_of(base);
    put_key(thread, key, length, &thread->held);
    put_value(thread, argument, &thread->held);
}

static void hold_all(struct thread *thread, const char *unnamed, bool is_numbered)
{
    const struct lode_arguments *arguments = &thread->base.arguments;
    for (size_t i = 0; i < arguments->count; i++) {
        char text[32];
        const char *key = lode_argument_key(arguments, i, unnamed, is_numbered, text, sizeof text);
        hold(&thread->base, key, strlen(key), &arguments->items[i]);
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

static uint64_t since_base(const struct lode_timeline *self, uint64_t time)
{
    return time > self->base ? time - self->base : 0;
}

/* Begins an event, without its name: {"ph":"i","s":"t","pid":1,"tid":1,"ts":0.000 */
static void begin_event(const struct lode_timeline *self, struct thread *thread, const char *head,
                        uint64_t time, struct lode_wire *out)
{
    uint8_t call[HEAD_MAX + LODE_NUMBER_SIZE];
    size_t length = (size_t)(write_call_head(thread, since_base(self, time), call) - call);
    json_text(out, head);
    wire_raw(out, call + thread->ids_at, length - thread->ids_at);
}

/* Writes the event of a call, which is one of very many; `kind` is B or E. */
static void put_call(const struct lode_timeline *self, struct thread *thread, char kind,
                     const struct name *name, uint64_t time, struct lode_wire *out)
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
static const struct name *name_of(struct lode_timeline *self, struct thread *thread,
                                  const lode_function *frame)
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
static bool put_plain(const struct lode_timeline *self, struct thread *thread, const lode_event *event,
                      struct lode_wire *out)
{
    /* Calls begin and end unpredictably: no branch depends on it. */
    struct lode_open_calls *open = &thread->base.open;
    size_t is_end = event->kind == LODE_EVENT_LEAVE, level = open->items.count - is_end;
    bool is_call = event->kind <= LODE_EVENT_LEAVE && event->flags == 0 && event->data_size == 0;
    if (!is_call || level >= open->items.capacity || open->hidden > 0 || thread->held.count > 0 ||
        (self->has_requests && level == 0) || event->function->index >= thread->name_capacity)
        return false;
    const struct name *name = &thread->names[event->function->index];
    if (name->text == NULL)
        return false;
    *OPEN_CALLS_AT(open, size_t, level) = 0;
    open->items.count = level + 1 - is_end;
    put_call(self, thread, (char)('B' + (int)is_end * ('E' - 'B')), name, event->time, out);
    return true;
}

static lode_status begin_call(struct lode_timeline *self, struct lode_timeline_thread *base,
                              const struct lode_timeline_event *given, lode_error *error)
{
    struct thread *thread = thread_of(base);
    const lode_event *event = given->event;
    bool is_request = self->has_requests && self->has_values && base->open.items.count == 0;
    const struct name *name = name_of(self, thread, event->function);
    size_t *mark = open_calls_push(&base->open);
    LODE_TRY_ALLOC(name && mark, error);
    *mark = thread->held.count;
    put_call(self, thread, 'B', name, event->time, given->out);
    reopen_event(given->out);
    if (event->kind == LODE_EVENT_SCHED_OUT)
        json_text(given->out, ",\"cat\":\"sched\"");
    hold_all(thread, "arg", true);
    if (is_request) {
        const char *id = lode_recording_track(self->job->recording, given->track)->id;
        lode_argument value = {.kind = LODE_VALUE_TEXT, .bytes = id, .length = strlen(id)};
        if (id[0])
            hold(base, "request", 7, &value);
    }
    if (event->flags & LODE_EVENT_PREEMPTED)
        json_text(&thread->held, ",\"preempted\":true");
    end_event(&thread->held, *mark, given->out);
    return LODE_OK;
}

static lode_status end_call(struct lode_timeline *self, struct lode_timeline_thread *base,
                            const struct lode_timeline_event *given, lode_error *error)
{
    struct thread *thread = thread_of(base);
    const lode_event *event = given->event;
    size_t mark = *(const size_t *)open_calls_pop(&base->open);
    const struct name *name = name_of(self, thread, event->function);
    LODE_TRY_ALLOC(name, error);
    put_call(self, thread, 'E', name, event->time, given->out);
    reopen_event(given->out);
    hold_all(thread, "result", false);
    if (self->has_values && event->kind == LODE_EVENT_LEAVE && event->flags & LODE_EVENT_FAILED)
        json_text(&thread->held, ",\"error\":true");
    end_event(&thread->held, mark, given->out);
    return LODE_OK;
}

/* Begins an instant of the thread. */
static void begin_instant(const struct lode_timeline *self, struct thread *thread, const char *name,
                          uint64_t time, struct lode_wire *out)
{
    begin_event(self, thread, ",\n{\"ph\":\"i\",\"s\":\"t\"", time, out);
    json_text(out, ",\"name\":");
    thread->text.count = 0;
    lode_wire_clean(&thread->text, name, strlen(name));
    json_clean_string(out, (const char *)thread->text.bytes, thread->text.count);
}

/* Numbers are counters of the process. */
static void put_counters(const struct lode_timeline *self, struct thread *thread, const char *name,
                         uint64_t time, struct lode_wire *out)
{
    size_t mark = thread->held.count;
    begin_event(self, thread, ",\n{\"ph\":\"C\"", time, out);
    json_text(out, ",\"name\":");
    thread->text.count = 0;
    lode_wire_clean(&thread->text, name, strlen(name));
    json_clean_string(out, (const char *)thread->text.bytes, thread->text.count);
    hold_all(thread, "value", true);
    end_event(&thread->held, mark, out);
}

static void put_exception(struct thread *thread, struct lode_wire *out)
{
    struct lode_thrown thrown = {0};
    while (lode_thrown_next(&thrown, &thread->base.arguments)) {
        put_key(thread, thrown.key, strlen(thrown.key), out);
        if (thrown.value) {
            put_value(thread, thrown.value, out);
            continue;
        }
        for (size_t i = 0; i < thrown.frame_count; i++) {
            thread->text.count = 0;
            lode_wire_frame(&thread->text, &thread->base.arguments, thrown.frame + 4 * i);
            json_text(out, i ? "," : "[");
            json_clean_string(out, (const char *)thread->text.bytes, thread->text.count);
        }
        json_text(out, "]");
    }
}

static void put_loss(const struct lode_timeline *self, struct thread *thread, const lode_event *event,
                     struct lode_wire *out)
{
    size_t mark = thread->held.count;
    begin_instant(self, thread, "records lost", event->time, out);
    json_text(out, ",\"cat\":\"event\"");
    if (event->id > 0)
        json_format(&thread->held, ",\"records\":%" PRIu64, event->id);
    end_event(&thread->held, mark, out);
}

static lode_status put_happening(struct lode_timeline *self, struct lode_timeline_thread *base,
                                 const struct lode_timeline_event *given, lode_error *error)
{
    struct thread *thread = thread_of(base);
    const lode_event *event = given->event;
    bool is_exception = given->instant == LODE_INSTANT_EXCEPTION;
    size_t mark = thread->held.count;
    (void)error;
    if (event->kind == LODE_EVENT_LOST) {
        put_loss(self, thread, event, given->out);
        return LODE_OK;
    }
    if (given->instant == LODE_INSTANT_NUMBERS && lode_timeline_is_in_call(base))
        hold_all(thread, given->name, true);
    if (given->instant == LODE_INSTANT_ATTRIBUTE || given->instant == LODE_INSTANT_NUMBERS)
        return LODE_OK;
    begin_instant(self, thread, is_exception ? "exception" : given->name, event->time, given->out);
    json_text(given->out, is_exception ? ",\"cat\":\"error\"" : ",\"cat\":\"event\"");
    if (is_exception)
        put_exception(thread, &thread->held);
    else
        hold_all(thread, "arg", true);
    end_event(&thread->held, mark, given->out);
    if (!is_exception && lode_arguments_are_numbers(&base->arguments))
        put_counters(self, thread, given->name, event->time, given->out);
    return LODE_OK;
}

/* ---- the encoder ---- */

static lode_status begin(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                         lode_error *error)
{
    const struct lode_timeline *self = user;
    struct thread *thread = state;
    (void)out, (void)error;
    if (thread->base.open.items.item_size == 0)
        open_calls_init(&thread->base.open, sizeof(size_t), CHROME_LEVELS_MAX);
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
    struct lode_timeline *self = user;
    struct thread *thread = state;
    for (size_t i = 0; i < count; i++) {
        struct lode_timeline_event event = {line, track, &events[i], out, NULL, LODE_INSTANT_OTHER};
        if (!put_plain(self, thread, &events[i], out))
            LODE_TRY(lode_timeline_put(self, &thread->base, &event, error));
    }
    return thread->held.failed || thread->text.failed ? lode_fail_memory(error) : LODE_OK;
}

static lode_status end(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                       lode_error *error)
{
    struct thread *thread = state;
    (void)line, (void)out, (void)error;
    thread->held.count = 0;
    lode_timeline_forget(user, &thread->base);
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
    lode_timeline_close(&thread->base);
}

void lode_chrome_encode(struct lode_timeline *self, struct lode_encoder *encoder)
{
    static const struct lode_timeline_calls calls = {
        .begins = begin_call, .ends = end_call, .hold = hold, .happens = put_happening};
    self->calls = &calls;
    encoder->state_size = sizeof(struct thread);
    encoder->begin = begin;
    encoder->take = take;
    encoder->end = end;
    encoder->close = close;
}
