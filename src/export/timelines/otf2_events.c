/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a location: calls with their arguments, results and attributes, and metrics. */
#include "base/error.h"
#include "export/timelines/otf2.h"
#include <stdio.h>

enum {
    MEMBERS_MAX = 64, /* of a metric */
    /* Of a location: memory must not grow with values. */
    TEXTS_MAX = 1024,
    TEXT_BYTES = 256
};

/* A call that is open. */
struct level {
    uint32_t region;
    uint32_t mark; /* where its attributes begin in `held` */
};

struct value {
    uint32_t attribute;
    OTF2_Type type;
    OTF2_AttributeValue value;
};

struct location {
    struct lode_timeline_thread base; /* open: struct level */
    struct otf2_location *written;
    OTF2_EvtWriter *writer;
    OTF2_AttributeList *list;
    uint64_t time;
    bool is_ready;
    uint32_t *regions; /* by index of the frame: number plus 1 */
    size_t region_capacity;
    struct lode_array used;                 /* frames, by number */
    struct lode_strings texts[OTF2_TABLES]; /* but for regions */
    struct lode_array held;
    struct lode_wire text;
    uint64_t lost_texts, lost_instants;
};

static struct location *location_of(struct lode_timeline_thread *base)
{
    return (struct location *)base;
}

/* ---- numbers of the location ---- */

static bool grow_regions(struct location *location, uint32_t index)
{
    return LODE_GROW_ZEROED(location->regions, location->region_capacity, 2 * ((size_t)index + 32));
}

/* LODE_NO_NUMBER if out of memory. */
static uint32_t region_of(struct location *location, const lode_function *frame)
{
    if (frame->index >= location->region_capacity && !grow_regions(location, frame->index))
        return LODE_NO_NUMBER;
    uint32_t *number = &location->regions[frame->index];
    if (*number == 0) {
        const lode_function **used = lode_array_push(&location->used);
        if (used == NULL)
            return LODE_NO_NUMBER;
        *used = frame;
        *number = (uint32_t)location->used.count;
    }
    return *number - 1;
}

/* The number of the text from `from` on, which is cut off; LODE_NO_NUMBER: none, or failed. */
static uint32_t take_text(struct location *location, unsigned table, size_t from)
{
    struct lode_strings *texts = &location->texts[table];
    struct lode_wire *text = &location->text;
    uint32_t number = LODE_NO_NUMBER;
    wire_raw(text, "", 1);
    if (!text->failed) {
        const char *string = (const char *)text->bytes + from;
        number = lode_strings_find(texts, string);
        if (number == LODE_NO_NUMBER && texts->items.count >= TEXTS_MAX)
            location->lost_texts++;
        else if (number == LODE_NO_NUMBER && !lode_strings_put(texts, string, &number))
            text->failed = true;
    }
    text->count = from;
    return number;
}

static char kind_of(const lode_argument *argument)
{
    switch (argument->kind) {
    case LODE_VALUE_SIGNED:
    case LODE_VALUE_CHANGE:
    case LODE_VALUE_AUTO:
        return OTF2_IS_SIGNED;
    case LODE_VALUE_UNSIGNED:
    case LODE_VALUE_HEX:
    case LODE_VALUE_OCTAL:
        return OTF2_IS_UNSIGNED;
    case LODE_VALUE_POINTER:
        return argument->label ? OTF2_IS_TEXT : OTF2_IS_UNSIGNED;
    case LODE_VALUE_REAL:
        return OTF2_IS_REAL;
    case LODE_VALUE_CHARACTER:
    case LODE_VALUE_TEXT:
    case LODE_VALUE_ENUM:
    case LODE_VALUE_BYTES:
    case LODE_VALUE_STRUCTURE:
        break;
    }
    return OTF2_IS_TEXT;
}

/* ---- attributes ---- */

/* A long text is cut at a character. */
static uint32_t value_text(struct location *location, const lode_argument *argument)
{
    struct lode_wire *text = &location->text;
    size_t from = text->count;
    lode_wire_argument(text, argument);
    if (!text->failed && text->count - from > TEXT_BYTES) {
        text->count = from + TEXT_BYTES;
        while (text->count > from && (text->bytes[text->count] & 0xC0) == 0x80)
            text->count--;
        location->lost_texts++;
    }
    return take_text(location, OTF2_STRINGS, from);
}

/* An attribute for the end of the innermost call, or for the event that is next. */
static void hold(struct lode_timeline_thread *base, const char *key, size_t length,
                 const lode_argument *argument)
{
    struct location *location = location_of(base);
    char kind = kind_of(argument);
    struct value value = {.type = lode_otf2_type(kind)};
    size_t from = location->text.count;
    wire_raw(&location->text, &kind, 1);
    lode_wire_clean(&location->text, key, length);
    value.attribute = take_text(location, OTF2_ATTRIBUTES, from);
    if (kind == OTF2_IS_SIGNED)
        value.value.int64 = argument->signed_value;
    else if (kind == OTF2_IS_UNSIGNED)
        value.value.uint64 = argument->unsigned_value;
    else if (kind == OTF2_IS_REAL)
        value.value.float64 = argument->real;
    else
        value.value.stringRef = value_text(location, argument);
    bool is_whole = value.attribute != LODE_NO_NUMBER &&
                    (kind != OTF2_IS_TEXT || value.value.stringRef != LODE_NO_NUMBER);
    struct value *held = is_whole ? lode_array_push(&location->held) : NULL;
    if (held)
        *held = value;
    else if (is_whole)
        location->text.failed = true;
}

static void hold_number(struct location *location, const char *key, uint64_t number)
{
    lode_argument argument = {.kind = LODE_VALUE_UNSIGNED, .unsigned_value = number};
    hold(&location->base, key, strlen(key), &argument);
}

static void hold_all(struct location *location, const char *unnamed, bool is_numbered)
{
    const struct lode_arguments *arguments = &location->base.arguments;
    for (size_t i = 0; i < arguments->count; i++) {
        char text[64];
        const char *key = lode_argument_key(arguments, i, unnamed, is_numbered, text, sizeof text);
        hold(&location->base, key, strlen(key), &arguments->items[i]);
    }
}

/* The attributes from `mark` on; NULL: none. A key that comes twice has its last value. */
static OTF2_AttributeList *list_from(struct location *location, size_t mark)
{
    const struct value *values = location->held.items;
    if (location->held.count == mark)
        return NULL;
    for (size_t i = location->held.count; i-- > mark;)
        if (!OTF2_AttributeList_TestAttributeByID(location->list, values[i].attribute))
            OTF2_AttributeList_AddAttribute(location->list, values[i].attribute, values[i].type,
                                            values[i].value);
    location->held.count = mark;
    return location->list;
}

/* ---- calls ---- */

static void hold_request(const struct lode_timeline *timeline, struct location *location, uint32_t track)
{
    const char *id = lode_recording_track(timeline->job->recording, track)->id;
    lode_argument value = {.name = "", .kind = LODE_VALUE_TEXT, .bytes = id, .length = strlen(id)};
    if (id[0])
        hold(&location->base, "request", strlen("request"), &value);
}

static lode_status begin_call(struct lode_timeline *timeline, struct lode_timeline_thread *base,
                              const struct lode_timeline_event *given, lode_error *error)
{
    struct location *location = location_of(base);
    const lode_event *event = given->event;
    uint32_t mark = (uint32_t)location->held.count;
    uint32_t region = region_of(location, event->function);
    bool is_request = timeline->has_requests && timeline->has_values && base->open.items.count == 0;
    struct level *level = open_calls_push(&base->open);
    LODE_TRY_ALLOC(level && region != LODE_NO_NUMBER, error);
    *level = (struct level){region, mark};
    hold_all(location, "arg", true);
    if (is_request)
        hold_request(timeline, location, given->track);
    if (timeline->has_values && event->flags & LODE_EVENT_PREEMPTED && event->kind == LODE_EVENT_SCHED_OUT)
        hold_number(location, "preempted", 1);
    return lode_otf2_check(
        OTF2_EvtWriter_Enter(location->writer, list_from(location, mark), location->time, region),
        "write an event", error);
}

static lode_status end_call(struct lode_timeline *timeline, struct lode_timeline_thread *base,
                            const struct lode_timeline_event *given, lode_error *error)
{
    struct location *location = location_of(base);
    const lode_event *event = given->event;
    struct level level = *(const struct level *)open_calls_pop(&base->open);
    hold_all(location, "result", false);
    if (timeline->has_values && event->flags & LODE_EVENT_FAILED && event->kind == LODE_EVENT_LEAVE)
        hold_number(location, "error", 1);
    return lode_otf2_check(
        OTF2_EvtWriter_Leave(location->writer, list_from(location, level.mark), location->time, level.region),
        "write an event", error);
}

/* Whether it begins or ends a call in another one, and nothing else is known of it, as of most. */
static bool is_plain(const struct location *location, const lode_event *event)
{
    return event->kind <= LODE_EVENT_LEAVE && event->flags == 0 && event->data_size == 0 &&
           lode_timeline_is_in_call(&location->base) && location->held.count == 0;
}

static lode_status put_plain(struct location *location, const lode_event *event, lode_error *error)
{
    struct lode_open_calls *open = &location->base.open;
    if (event->kind == LODE_EVENT_LEAVE) {
        const struct level *level = open_calls_pop(open);
        return lode_otf2_check(OTF2_EvtWriter_Leave(location->writer, NULL, location->time, level->region),
                               "write an event", error);
    }
    uint32_t region = region_of(location, event->function);
    struct level *level = open_calls_push(open);
    LODE_TRY_ALLOC(level && region != LODE_NO_NUMBER, error);
    *level = (struct level){region, 0};
    return lode_otf2_check(OTF2_EvtWriter_Enter(location->writer, NULL, location->time, region),
                           "write an event", error);
}

/* ---- what happens in calls ---- */

/* Numbers with names are a metric: its text is the event, then each member. */
static lode_status put_metric(struct location *location, const char *name, lode_error *error)
{
    const struct lode_arguments *arguments = &location->base.arguments;
    OTF2_Type types[MEMBERS_MAX];
    OTF2_MetricValue values[MEMBERS_MAX];
    size_t count = arguments->count < MEMBERS_MAX ? arguments->count : MEMBERS_MAX;
    size_t from = location->text.count;
    lode_wire_clean(&location->text, name, strlen(name));
    for (size_t i = 0; i < count; i++) {
        const lode_argument *argument = &arguments->items[i];
        char kind = kind_of(argument);
        wire_raw(&location->text, OTF2_MEMBER, 1);
        wire_raw(&location->text, &kind, 1);
        lode_wire_clean(&location->text, argument->name, strlen(argument->name));
        types[i] = lode_otf2_type(kind);
        if (kind == OTF2_IS_REAL)
            values[i].floating_point = argument->real;
        else
            values[i].signed_int = argument->signed_value; /* or the unsigned one: the same bits */
    }
    uint32_t metric = take_text(location, OTF2_METRICS, from);
    if (metric == LODE_NO_NUMBER)
        return LODE_OK;
    return lode_otf2_check(
        OTF2_EvtWriter_Metric(location->writer, NULL, location->time, metric, (uint8_t)count, types, values),
        "write an event", error);
}

/* Classes and messages of an exception and of its causes; frames are many texts. */
static void hold_exception(struct location *location)
{
    struct lode_thrown thrown = {0};
    while (lode_thrown_next(&thrown, &location->base.arguments)) {
        char key[64];
        int length = snprintf(key, sizeof key, "exception %s", thrown.key);
        if (thrown.value)
            hold(&location->base, key, (size_t)length, thrown.value);
    }
}

static lode_status put_happening(struct lode_timeline *timeline, struct lode_timeline_thread *base,
                                 const struct lode_timeline_event *given, lode_error *error)
{
    struct location *location = location_of(base);
    bool is_in_call = lode_timeline_is_in_call(base), is_loss = given->event->kind == LODE_EVENT_LOST;
    (void)timeline;
    if (!is_loss && given->instant == LODE_INSTANT_NUMBERS && is_in_call)
        hold_all(location, given->name, true);
    else if (!is_loss && given->instant == LODE_INSTANT_EXCEPTION && is_in_call)
        hold_exception(location);
    else if (!is_loss && given->instant == LODE_INSTANT_OTHER && lode_arguments_are_numbers(&base->arguments))
        return put_metric(location, given->name, error);
    else
        location->lost_instants++;
    return LODE_OK;
}

/* ---- the encoder ---- */

static lode_status begin(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                         lode_error *error)
{
    const struct otf2 *self = user;
    struct location *location = state;
    (void)out;
    if (!location->is_ready) {
        lode_array_init(&location->used, sizeof(const lode_function *), UINT32_MAX - 1);
        open_calls_init(&location->base.open, sizeof(struct level), UINT32_MAX);
        lode_array_init(&location->held, sizeof(struct value), UINT32_MAX);
        location->list = OTF2_AttributeList_New();
        location->is_ready = true;
        LODE_TRY_ALLOC(location->list, error);
    }
    for (unsigned i = 0; i < OTF2_TABLES; i++)
        lode_strings_init(&location->texts[i]);
    location->written = &self->locations[line->index];
    location->time = 0;
    location->writer = OTF2_Archive_GetEvtWriter(self->archive, line->index);
    if (location->writer == NULL)
        return lode_fail(error, LODE_ERR_IO, NULL, LODE_NO_OFFSET, "libotf2 cannot write a location");
    return LODE_OK;
}

static lode_status take(void *user, void *state, const struct lode_line *line, uint32_t track,
                        const lode_event *events, size_t count, struct lode_wire *out, lode_error *error)
{
    struct location *location = state;
    for (size_t i = 0; i < count; i++) {
        struct lode_timeline_event event = {line, track, &events[i], out, NULL, LODE_INSTANT_OTHER};
        /* The writer refuses times that fall. */
        location->time = events[i].time > location->time ? events[i].time : location->time;
        LODE_TRY(is_plain(location, event.event) ? put_plain(location, event.event, error)
                                                 : lode_timeline_put(user, &location->base, &event, error));
    }
    return location->text.failed ? lode_fail_memory(error) : LODE_OK;
}

/* Shared numbers of what the location used. */
static bool share(struct otf2 *self, struct location *location, unsigned table)
{
    struct otf2_location *written = location->written;
    size_t count = table == OTF2_REGIONS ? location->used.count : location->texts[table].items.count;
    uint32_t *numbers = malloc((count ? count : 1) * sizeof *numbers);
    if (numbers == NULL)
        return false;
    written->numbers[table] = numbers;
    written->counts[table] = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        if (table != OTF2_REGIONS) {
            const char *text = lode_strings_at(&location->texts[table], i);
            if (!lode_strings_put(&self->texts[table], text, &numbers[i]))
                return false;
            continue;
        }
        const lode_function *frame = *LODE_ARRAY_AT(&location->used, const lode_function *, i);
        numbers[i] = frame->index;
        if (frame->index >= self->frame_capacity) {
            if (!LODE_GROW(self->frames, self->frame_capacity, 2 * ((size_t)frame->index + 32)))
                return false;
        }
        self->frames[frame->index] = frame;
    }
    return true;
}

/* Makes the state ready for another line; memory stays. */
static void forget(struct lode_timeline *timeline, struct location *location)
{
    lode_timeline_forget(timeline, &location->base);
    for (size_t i = 0; i < location->used.count; i++)
        location->regions[(*LODE_ARRAY_AT(&location->used, const lode_function *, i))->index] = 0;
    location->used.count = location->held.count = 0;
    for (unsigned i = 0; i < OTF2_TABLES; i++)
        lode_strings_free(&location->texts[i]);
    location->written = NULL;
    location->writer = NULL;
}

static lode_status end(void *user, void *state, const struct lode_line *line, struct lode_wire *out,
                       lode_error *error)
{
    struct otf2 *self = user;
    struct location *location = state;
    bool is_shared = true;
    (void)line, (void)out;
    LODE_TRY(lode_otf2_check(OTF2_EvtWriter_GetNumberOfEvents(location->writer, &location->written->events),
                             "count events", error));
    OTF2_EvtWriter *writer = location->writer;
    location->writer = NULL;
    LODE_TRY(lode_otf2_check(OTF2_Archive_CloseEvtWriter(self->archive, writer), "close a location", error));
    pthread_mutex_lock(&self->lock);
    for (unsigned i = 0; i < OTF2_TABLES; i++)
        is_shared = is_shared && share(self, location, i);
    pthread_mutex_unlock(&self->lock);
    LODE_TRY_ALLOC(is_shared, error);
    atomic_fetch_add(&self->lost_texts, location->lost_texts);
    atomic_fetch_add(&self->lost_instants, location->lost_instants);
    location->lost_texts = location->lost_instants = 0;
    forget(&self->base, location);
    return LODE_OK;
}

static void close(void *user, void *state)
{
    struct otf2 *self = user;
    struct location *location = state;
    if (location->writer)
        OTF2_Archive_CloseEvtWriter(self->archive, location->writer);
    if (location->written)
        forget(&self->base, location);
    if (location->list)
        OTF2_AttributeList_Delete(location->list);
    free(location->regions);
    lode_array_free(&location->used);
    lode_array_free(&location->held);
    wire_free(&location->text);
    lode_timeline_close(&location->base);
}

lode_status lode_otf2_write_events(struct otf2 *self, lode_error *error)
{
    static const struct lode_timeline_calls calls = {
        .begins = begin_call, .ends = end_call, .hold = hold, .happens = put_happening};
    struct lode_encoder encoder = {.alternates = true,
                                   .state_size = sizeof(struct location),
                                   .user = self,
                                   .begin = begin,
                                   .take = take,
                                   .end = end,
                                   .close = close};
    struct lode_tracks_counts counts;
    self->base.calls = &calls;
    LODE_TRY(lode_tracks_run(self->base.tracks, &encoder, &counts, error));
    return lode_tracks_report(self->base.job, &counts, error);
}
