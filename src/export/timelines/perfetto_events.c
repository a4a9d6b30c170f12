/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a line as packets of its sequence: calls, instants, counters and samples. */
#include "base/error.h"
#include "export/timelines/perfetto.h"
#include <stdio.h>

enum {
    PACKET_MAX = 64, /* bytes of a packet of a call that has nothing but a known name */
    TAILS_FIRST = 64
};

static uint64_t counter_uuid(const struct lode_line *line, uint32_t number)
{
    return ((uint64_t)line->index + 1) << 33 | number;
}

static struct perfetto *perfetto_of(struct lode_timeline *base)
{
    return (struct perfetto *)base;
}

static struct sequence *sequence_of(struct lode_timeline_thread *base)
{
    return (struct sequence *)base;
}

/*
 * Writes the packet of a plain call, and more bytes that the next one overwrites. Most times have
 * one or two bytes, unpredictably: no branch depends on which.
 */
static inline uint8_t *put_packet(uint8_t *at, uint64_t time, const struct packet_tail *tail)
{
    unsigned has_more = time >= 1 << 7;
    uint8_t *end = at + 4 + has_more;
    at[0] = TRACE_PACKET << 3 | WIRE_BYTES;
    at[2] = PACKET_TIMESTAMP << 3 | WIRE_VARINT;
    at[3] = (uint8_t)(time | has_more << 7);
    at[4] = (uint8_t)(time >> 7);
    if (time >= 1 << 14)
        end = wire_put_varint(at + 3, time);
    memcpy(end, tail, sizeof *tail);
    end += tail->size;
    at[1] = (uint8_t)(end - at - 2);
    return end;
}

/*
 * Writes calls as long as they have nothing but a known name, as most, and returns how many. Calls
 * begin and end unpredictably, so no branch depends on that: both kinds of packets are a time and
 * bytes that were made before.
 */
static size_t put_plain(const struct perfetto *self, struct sequence *sequence, const lode_event *events,
                        size_t count, struct lode_wire *out)
{
    struct lode_open_calls *open = &sequence->base.open;
    const struct packet_tail *tails = sequence->tails;
    const uint32_t *ids = sequence->ids;
    const size_t lowest = self->base.has_requests, capacity = open->items.capacity;
    const size_t levels = capacity > lowest ? capacity - lowest : 0, known = sequence->id_capacity;
    size_t *marks = open->items.items, depth = open->items.count, done = 0;
    uint64_t time = sequence->time;
    if (open->hidden + sequence->held.count + sequence->interned.count > 0 ||
        !wire_reserve(out, count * PACKET_MAX))
        return 0;
    uint8_t *at = out->bytes + out->count;
    for (const lode_event *event = events; done < count; event++, done++) {
        size_t is_end = event->kind, level = depth - is_end;
        if (event->kind > LODE_EVENT_LEAVE || event->flags > 0 || event->data_size > 0 ||
            level - lowest >= levels || event->function->index >= known)
            break;
        uint32_t id = ids[event->function->index];
        const struct packet_tail *tail = &tails[id & (is_end - 1)];
        if (id == 0 || tail->size == 0)
            break;
        at = put_packet(at, event->time - time, tail);
        marks[level] = 0;
        depth = level + 1 - is_end;
        time = event->time;
    }
    open->items.count = depth;
    sequence->time = time;
    out->count = (size_t)(at - out->bytes);
    return done;
}

static lode_status begin_call(struct lode_timeline *timeline, struct lode_timeline_thread *base,
                              const struct lode_timeline_event *given, lode_error *error)
{
    struct sequence *sequence = sequence_of(base);
    const lode_event *event = given->event;
    bool is_off = event->kind == LODE_EVENT_SCHED_OUT,
         is_request = timeline->has_requests && base->open.items.count == 0;
    uint32_t id = lode_perfetto_name_id(perfetto_of(timeline), sequence, event->function);
    size_t *mark = open_calls_push(&base->open);
    LODE_TRY_ALLOC(id > 0 && mark, error);
    *mark = sequence->held.count;
    sequence->more.count = 0;
    lode_perfetto_annotate_all(sequence, "arg", &sequence->more);
    if (is_request && timeline->has_values) {
        const lode_track *known = lode_recording_track(timeline->job->recording, given->track);
        if (known->id[0])
            lode_perfetto_annotate_text(sequence, "request", known->id, &sequence->more);
    }
    if (is_off) {
        lode_perfetto_categorize(sequence, CATEGORY_SCHED, "sched");
        if (event->flags & LODE_EVENT_PREEMPTED)
            lode_perfetto_annotate_flag(sequence, "preempted", &sequence->more);
    }
    lode_perfetto_put_event(sequence, event->time, TYPE_BEGIN, id, is_off ? CATEGORY_SCHED : 0, given->out);
    return LODE_OK;
}

static lode_status end_call(struct lode_timeline *timeline, struct lode_timeline_thread *base,
                            const struct lode_timeline_event *given, lode_error *error)
{
    struct sequence *sequence = sequence_of(base);
    const lode_event *event = given->event;
    size_t mark = *(const size_t *)open_calls_pop(&base->open);
    bool has_failed = (event->flags & LODE_EVENT_FAILED) != 0 && event->kind == LODE_EVENT_LEAVE;
    (void)error;
    sequence->more.count = 0;
    if (sequence->held.count > mark)
        wire_raw(&sequence->more, sequence->held.bytes + mark, sequence->held.count - mark);
    sequence->held.count = mark;
    lode_perfetto_annotate_all(sequence, "result", &sequence->more);
    if (has_failed && timeline->has_values)
        lode_perfetto_annotate_flag(sequence, "error", &sequence->more);
    lode_perfetto_put_event(sequence, event->time, TYPE_END, 0, 0, given->out);
    return LODE_OK;
}

/* Each number is a counter track below the thread's. */
static void put_counter(struct sequence *sequence, const struct lode_line *line, const char *event,
                        const lode_argument *value, uint64_t time, struct lode_wire *out)
{
    char name[256];
    bool is_new;
    snprintf(name, sizeof name, "%s %s", event, value->name);
    uint32_t number = lode_perfetto_text_number(&sequence->counters, name, &is_new);
    if (number == 0)
        return;
    uint64_t uuid = counter_uuid(line, number);
    if (is_new) {
        size_t packet = lode_perfetto_begin_packet(sequence, time, out);
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
    lode_perfetto_put_event(sequence, time, TYPE_COUNTER, 0, 0, out);
}

/* Something happened: an instant with its values; numbers are counters too. */
static void put_instant(struct sequence *sequence, const struct lode_line *line, const char *name,
                        uint64_t time, struct lode_wire *out)
{
    lode_perfetto_annotate_all(sequence, "arg", &sequence->more);
    lode_perfetto_categorize(sequence, CATEGORY_EVENT, "event");
    uint32_t id = lode_perfetto_instant_id(sequence, name);
    lode_perfetto_put_event(sequence, time, TYPE_INSTANT, id, CATEGORY_EVENT, out);
    if (!lode_arguments_are_numbers(&sequence->base.arguments))
        return;
    for (size_t i = 0; i < sequence->base.arguments.count; i++)
        put_counter(sequence, line, name, &sequence->base.arguments.items[i], time, out);
}

static void hold(struct lode_timeline_thread *base, const char *key, size_t length,
                 const lode_argument *value)
{
    struct sequence *sequence = sequence_of(base);
    lode_perfetto_annotate(sequence, key, length, value, &sequence->held);
}

static void put_loss(struct sequence *sequence, const lode_event *event, struct lode_wire *out)
{
    lode_argument count = {.name = "records", .kind = LODE_VALUE_UNSIGNED, .unsigned_value = event->id};
    sequence->more.count = 0;
    if (event->id > 0)
        lode_perfetto_annotate(sequence, "records", 7, &count, &sequence->more);
    lode_perfetto_categorize(sequence, CATEGORY_EVENT, "event");
    uint32_t id = lode_perfetto_instant_id(sequence, "records lost");
    lode_perfetto_put_event(sequence, event->time, TYPE_INSTANT, id, CATEGORY_EVENT, out);
}

/* ---- samples ---- */

/* The id of a frame of a call stack. 0 if out of memory. */
static uint32_t sample_frame(struct perfetto *self, struct sequence *sequence, const lode_function *frame)
{
    bool added;
    uint32_t *id =
        lode_map_add(&sequence->frames, frame->index, (uint32_t)sequence->frames.count + 1, &added);
    const struct lode_frame_name *name = id && added ? lode_tracks_name(self->base.tracks, frame) : NULL;
    if (id == NULL || (added && name == NULL))
        return 0;
    if (added) {
        lode_perfetto_intern(sequence, INTERNED_FUNCTION_NAMES, *id, name->text, name->length);
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
        ids[count] = sample_frame(self, sequence, lode_tracks_stack(self->base.tracks, stack, &stack));
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

static lode_status put_sample(struct perfetto *self, struct sequence *sequence,
                              const struct lode_timeline_event *given, lode_error *error)
{
    const lode_event *event = given->event;
    struct lode_wire *out = given->out;
    bool added;
    uint32_t *id = lode_map_add(&sequence->stacks, event->id, (uint32_t)sequence->stacks.count + 1, &added);
    LODE_TRY_ALLOC(id, error);
    if (added)
        LODE_TRY_ALLOC(put_callstack(self, sequence, (uint32_t)event->id, *id), error);
    size_t packet = lode_perfetto_begin_packet(sequence, event->time, out);
    size_t sample = wire_begin(out, PACKET_PERF_SAMPLE);
    wire_int(out, SAMPLE_PID, lode_tracks_process(self->base.tracks, given->line->process)->pid);
    wire_int(out, SAMPLE_TID, given->line->tid);
    wire_uint(out, SAMPLE_CALLSTACK_ID, *id);
    wire_end(out, sample);
    wire_end(out, packet);
    return LODE_OK;
}

/* ---- all of them ---- */

static lode_status put_happening(struct lode_timeline *timeline, struct lode_timeline_thread *base,
                                 const struct lode_timeline_event *given, lode_error *error)
{
    struct sequence *sequence = sequence_of(base);
    const lode_event *event = given->event;
    sequence->more.count = 0;
    if (event->kind == LODE_EVENT_LOST) {
        put_loss(sequence, event, given->out);
        return LODE_OK;
    }
    if (perfetto_of(timeline)->has_samples)
        return put_sample(perfetto_of(timeline), sequence, given, error);
    switch (given->instant) {
    case LODE_INSTANT_ATTRIBUTE:
        break;
    case LODE_INSTANT_NUMBERS:
        if (lode_timeline_is_in_call(base))
            lode_perfetto_annotate_all(sequence, given->name, &sequence->held);
        break;
    case LODE_INSTANT_EXCEPTION:
        lode_perfetto_categorize(sequence, CATEGORY_ERROR, "error");
        lode_perfetto_annotate_exception(sequence, &sequence->more);
        lode_perfetto_put_event(sequence, event->time, TYPE_INSTANT,
                                lode_perfetto_instant_id(sequence, "exception"), CATEGORY_ERROR, given->out);
        break;
    case LODE_INSTANT_OTHER:
        put_instant(sequence, given->line, given->name, event->time, given->out);
        break;
    }
    return LODE_OK;
}

/* ---- the encoder ---- */

static lode_status begin(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                         lode_error *error)
{
    const struct perfetto *self = user;
    struct sequence *sequence = state;
    (void)out;
    if (sequence->tail_capacity == 0)
        LODE_TRY_ALLOC(LODE_GROW(sequence->tails, sequence->tail_capacity, TAILS_FIRST), error);
    if (sequence->used.item_size == 0) {
        open_calls_init(&sequence->base.open, sizeof(size_t), LEVELS_MAX);
        lode_array_init(&sequence->used, sizeof(uint32_t), SIZE_MAX);
        lode_strings_init(&sequence->texts);
        lode_strings_init(&sequence->keys);
        lode_strings_init(&sequence->counters);
        lode_map_init(&sequence->frames);
        lode_map_init(&sequence->stacks);
    }
    sequence->uuid = perfetto_thread_uuid(self, line);
    uint8_t *at = sequence->suffix;
    *at++ = PACKET_SEQUENCE_ID << 3 | WIRE_VARINT;
    at = wire_put_varint(at, (uint64_t)line->index + 1);
    *at++ = PACKET_SEQUENCE_FLAGS << 3 | WIRE_VARINT;
    *at++ = NEEDS_STATE;
    sequence->suffix_size = (uint8_t)(at - sequence->suffix);
    lode_perfetto_make_tail(sequence, 0, &sequence->tails[0]);
    return LODE_OK;
}

static lode_status take(void *user, void *state, const struct lode_line *line, uint32_t track,
                        const lode_event *events, size_t count, struct lode_wire *out, lode_error *error)
{
    struct perfetto *self = user;
    struct sequence *sequence = state;
    if (!sequence->has_begun)
        lode_perfetto_begin_sequence(self, sequence, events[0].time, out);
    for (size_t i = 0; i < count; i++) {
        i += put_plain(self, sequence, events + i, count - i, out);
        if (i < count)
            LODE_TRY(lode_timeline_put(
                &self->base, &sequence->base,
                &(struct lode_timeline_event){line, track, &events[i], out, NULL, LODE_INSTANT_OTHER},
                error));
    }
    bool failed =
        sequence->interned.failed || sequence->held.failed || sequence->text.failed || sequence->more.failed;
    return failed ? lode_fail_memory(error) : LODE_OK;
}

/* Makes the state ready for another line; memory stays. */
static lode_status end(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                       lode_error *error)
{
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
    lode_timeline_forget(user, &sequence->base);
    return LODE_OK;
}

static void close(void *user, void *state)
{
    struct sequence *sequence = state;
    (void)user;
    free(sequence->ids);
    free(sequence->tails);
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
    lode_timeline_close(&sequence->base);
}

lode_status lode_perfetto_write_events(struct perfetto *self, struct lode_tracks_counts *counts,
                                       lode_error *error)
{
    static const struct lode_timeline_calls calls = {
        .begins = begin_call, .ends = end_call, .hold = hold, .happens = put_happening};
    struct lode_encoder encoder = {.alternates = true,
                                   .wants_samples = self->has_samples,
                                   .state_size = sizeof(struct sequence),
                                   .user = self,
                                   .begin = begin,
                                   .take = take,
                                   .end = end,
                                   .close = close};
    self->base.calls = &calls;
    return lode_tracks_run(self->base.tracks, &encoder, counts, error);
}
