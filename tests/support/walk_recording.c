/* SPDX-License-Identifier: BSD-3-Clause */
#include "walk_recording.h"

#include <lode/unstable.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARGUMENTS = 16, /* fewer than a record may have: the rest must be cut off */
    WINDOWS = 4
};

/* State of walking one recording. */
struct walker {
    struct recording_walk *walk;
    const lode_recording *recording;
    uint64_t enters, outs; /* of all tracks */
};

static void mix(struct recording_walk *walk, uint64_t number)
{
    walk->hash = (walk->hash ^ number) * UINT64_C(0x100000001b3);
    walk->hash ^= walk->hash >> 29;
}

static void mix_bytes(struct recording_walk *walk, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        mix(walk, ((const unsigned char *)bytes)[i]);
}

static void mix_text(struct recording_walk *walk, const char *text)
{
    mix_bytes(walk, text, strnlen(text, 256));
}

/* Keeps the first problem. Returns false, for the caller to return. */
__attribute__((format(printf, 2, 3))) static bool wrong(struct recording_walk *walk, const char *format, ...)
{
    va_list arguments;
    if (walk->problem[0] != '\0')
        return false;
    va_start(arguments, format);
    vsnprintf(walk->problem, sizeof walk->problem, format, arguments);
    va_end(arguments);
    return false;
}

static int count_finding(void *user, const lode_finding *finding)
{
    lode_check_result *counts = user;
    counts->errors += finding->severity == LODE_ERROR;
    counts->warnings += finding->severity == LODE_WARNING;
    counts->notes += finding->severity == LODE_NOTE;
    return finding->text[0] == '\0'; /* each finding has a message */
}

/* ---- events ---- */

/* The calls that are open, as the events say. */
struct nesting {
    lode_event *stack;
    size_t count, capacity;
    const lode_function *out; /* the state of an off-CPU thread */
    uint64_t first, last, events, enters, outs;
};

static bool push(struct nesting *nesting, const lode_event *event)
{
    if (nesting->count == nesting->capacity) {
        nesting->capacity = nesting->capacity ? nesting->capacity * 2 : 64;
        lode_event *stack = realloc(nesting->stack, nesting->capacity * sizeof *stack);
        if (stack == NULL)
            abort();
        nesting->stack = stack;
    }
    nesting->stack[nesting->count++] = *event;
    return true;
}

static bool enter(struct recording_walk *walk, struct nesting *nesting, const lode_event *event)
{
    const lode_event *caller = nesting->count ? &nesting->stack[nesting->count - 1] : NULL;
    nesting->enters++;
    if (nesting->out)
        return wrong(walk, "a call begins while the thread is off its processor");
    if (caller && event->depth <= caller->depth)
        return wrong(walk, "a call at depth %u is inside of one at depth %u", event->depth, caller->depth);
    return push(nesting, event);
}

static bool leave(struct recording_walk *walk, struct nesting *nesting, const lode_event *event)
{
    if (nesting->out)
        return wrong(walk, "a call ends while the thread is off its processor");
    if (nesting->count == 0)
        return wrong(walk, "a call ends that never began");
    const lode_event *begun = &nesting->stack[--nesting->count];
    if (begun->function != event->function || begun->depth != event->depth)
        return wrong(walk, "a call ends with another function or depth than it began with");
    return true;
}

static bool go(struct recording_walk *walk, struct nesting *nesting, const lode_event *event)
{
    bool is_out = event->kind == LODE_EVENT_SCHED_OUT;
    nesting->outs += is_out;
    if (is_out ? nesting->out != NULL : nesting->out != event->function)
        return wrong(walk, "a thread goes off its processor twice, or comes back from nowhere");
    nesting->out = is_out ? event->function : NULL;
    return event->function != NULL || wrong(walk, "a state has no function");
}

static bool is_nested(struct recording_walk *walk, struct nesting *nesting, const lode_event *event)
{
    switch (event->kind) {
    case LODE_EVENT_ENTER:
        return enter(walk, nesting, event);
    case LODE_EVENT_LEAVE:
        return leave(walk, nesting, event);
    case LODE_EVENT_SCHED_OUT:
    case LODE_EVENT_SCHED_IN:
        return go(walk, nesting, event);
    case LODE_EVENT_INSTANT:
    case LODE_EVENT_LOST:
        return true;
    default:
        return wrong(walk, "there is no kind %u of events", event->kind);
    }
}

static void walk_arguments(struct walker *self, uint32_t track, const lode_event *event)
{
    lode_argument arguments[ARGUMENTS];
    size_t count = 0;
    char text[64];
    lode_status status =
        lode_event_arguments(self->recording, track, event, arguments, ARGUMENTS, &count, NULL);
    mix(self->walk, (uint64_t)status + count);
    for (size_t i = 0; status == LODE_OK && i < count && i < ARGUMENTS; i++) {
        mix_text(self->walk, arguments[i].name);
        mix(self->walk, lode_argument_text(&arguments[i], text, sizeof text));
        mix_text(self->walk, text);
    }
}

static void walk_event(struct walker *self, uint32_t track, const lode_event *event)
{
    char label[128];
    mix(self->walk, event->time);
    mix(self->walk, event->depth + ((uint64_t)event->kind << 32) + ((uint64_t)event->flags << 40));
    if (event->kind == LODE_EVENT_INSTANT) {
        mix_text(self->walk, lode_event_name(self->recording, event));
    } else if (event->kind != LODE_EVENT_LOST) {
        lode_function_label(event->function, label, sizeof label);
        mix_text(self->walk, label);
    }
    mix_bytes(self->walk, event->data, event->data_size);
    walk_arguments(self, track, event);
}

/* ---- tracks ---- */

static bool take_events(struct walker *self, uint32_t track, struct nesting *nesting,
                        const lode_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (events[i].time < nesting->last)
            return wrong(self->walk, "time goes back from %llu to %llu", (unsigned long long)nesting->last,
                         (unsigned long long)events[i].time);
        nesting->last = events[i].time;
        nesting->first = nesting->events + i ? nesting->first : events[i].time;
        if (!is_nested(self->walk, nesting, &events[i]))
            return false;
        walk_event(self, track, &events[i]);
    }
    nesting->events += count;
    return true;
}

/* Reads a whole track, and counts what was found. */
static bool read_track(struct walker *self, uint32_t track, struct nesting *nesting, lode_check_result *found)
{
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    bool goes_on = true;
    options.on_finding = count_finding;
    options.user = found;
    lode_status status = lode_cursor_open(&cursor, self->recording, track, &options, NULL);
    while (goes_on && status == LODE_OK) {
        status = lode_cursor_next(cursor, &events, &count, NULL);
        if (status == LODE_OK)
            goes_on = take_events(self, track, nesting, events, count);
    }
    lode_cursor_close(cursor);
    if (goes_on && status != LODE_END)
        return wrong(self->walk, "track %u cannot be read: status %d", track, status);
    if (goes_on && (nesting->count > 0 || nesting->out))
        return wrong(self->walk, "track %u ends with open calls", track);
    return goes_on;
}

static bool read_strictly(struct walker *self, uint32_t track, uint64_t errors, uint64_t expected)
{
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    uint64_t seen = 0;
    options.strict = 1;
    lode_status status = lode_cursor_open(&cursor, self->recording, track, &options, NULL);
    while (status == LODE_OK) {
        status = lode_cursor_next(cursor, &events, &count, NULL);
        seen += status == LODE_OK ? count : 0;
    }
    lode_cursor_close(cursor);
    if (status != (errors ? LODE_ERR_CORRUPT : LODE_END))
        return wrong(self->walk, "track %u has %llu errors; read strictly, status %d", track,
                     (unsigned long long)errors, status);
    if (errors == 0 && seen != expected)
        return wrong(self->walk, "track %u has %llu events, but %llu if it is read strictly", track,
                     (unsigned long long)expected, (unsigned long long)seen);
    return true;
}

static bool read_window(struct walker *self, uint32_t track, uint64_t from, uint64_t to)
{
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    uint64_t last = from;
    bool is_inside = true;
    options.from = from;
    options.to = to;
    options.buffer = 256;
    lode_status status = lode_cursor_open(&cursor, self->recording, track, &options, NULL);
    while (status == LODE_OK && is_inside) {
        status = lode_cursor_next(cursor, &events, &count, NULL);
        for (size_t i = 0; status == LODE_OK && i < count; i++) {
            is_inside = is_inside && events[i].time >= last && (to == 0 || events[i].time < to);
            last = events[i].time;
            walk_event(self, track, &events[i]);
        }
    }
    lode_cursor_close(cursor);
    if (!is_inside)
        return wrong(self->walk, "an event at %llu is not in the window of %llu to %llu, or out of order",
                     (unsigned long long)last, (unsigned long long)from, (unsigned long long)to);
    return status == LODE_END || wrong(self->walk, "a window cannot be read: status %d", status);
}

static bool walk_windows(struct walker *self, uint32_t track, const struct nesting *nesting)
{
    uint64_t begin, end;
    lode_status status = lode_track_interval(self->recording, track, &begin, &end, NULL);
    if (status == LODE_ABSENT)
        return nesting->events == 0 || wrong(self->walk, "a track with events has no span");
    if (status != LODE_OK || begin > end || (nesting->events > 0 && begin > nesting->first))
        return wrong(self->walk, "the span of track %u cannot be told, or begins behind its first event",
                     track);
    mix(self->walk, begin);
    mix(self->walk, end);
    uint64_t third = (end - begin) / 3;
    const uint64_t windows[WINDOWS][2] = {
        {begin + third, begin + 2 * third + 1}, {begin, begin + third + 1}, {end, 0}, {begin + third, 0}};
    for (unsigned i = 0; i < WINDOWS; i++)
        if (!read_window(self, track, windows[i][0], windows[i][1]))
            return false;
    return true;
}

static bool walk_track(struct walker *self, uint32_t track, lode_check_result *total)
{
    struct nesting nesting = {0};
    lode_check_result found = {0};
    const lode_track *known = lode_recording_track(self->recording, track);
    mix_text(self->walk, known->name);
    mix_text(self->walk, known->program);
    bool is_sound = read_track(self, track, &nesting, &found) &&
                    read_strictly(self, track, found.errors, nesting.events) &&
                    walk_windows(self, track, &nesting);
    free(nesting.stack);
    total->errors += found.errors;
    total->warnings += found.warnings;
    self->walk->events += nesting.events;
    self->enters += nesting.enters;
    self->outs += nesting.outs;
    return is_sound;
}

/* ---- all tracks ---- */

static bool walk_merge(struct walker *self)
{
    lode_merge *merge;
    const lode_event *event;
    uint32_t track;
    uint64_t last = 0, seen = 0;
    bool is_ordered = true;
    lode_status status = lode_merge_open(&merge, self->recording, NULL, NULL, NULL);
    while (status == LODE_OK) {
        status = lode_merge_next(merge, &event, &track, NULL);
        if (status != LODE_OK)
            break;
        is_ordered = is_ordered && event->time >= last;
        last = event->time;
        seen += track != LODE_NO_TRACK;
        if (track == LODE_NO_TRACK)
            walk_event(self, track, event);
    }
    lode_merge_close(merge);
    if (status != LODE_END || !is_ordered || seen != self->walk->events)
        return wrong(self->walk, "merged, there are %llu events of %llu, status %d", (unsigned long long)seen,
                     (unsigned long long)self->walk->events, status);
    return true;
}

static bool walk_calls(struct walker *self)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_calls *calls;
    uint64_t entered = 0, events = 0, by_function = 0;
    options.threads = 1;
    lode_status status = lode_calls_compute(&calls, self->recording, NULL, &options, NULL);
    if (status != LODE_OK)
        return wrong(self->walk, "calls cannot be added up: status %d", status);
    for (uint32_t i = 0; i < lode_calls_track_count(calls); i++) {
        entered += lode_calls_track(calls, i)->calls;
        events += lode_calls_track(calls, i)->events;
    }
    for (size_t i = 0; i < lode_calls_count(calls); i++) {
        const lode_call_row *row = lode_calls_at(calls, i);
        by_function += row->calls;
        mix(self->walk, row->total ^ row->p50 ^ row->p95 ^ row->p99);
        mix(self->walk, lode_calls_percentile(calls, i, 0.9));
        if (row->min > row->max)
            wrong(self->walk, "the shortest call of a function is longer than the longest");
    }
    lode_calls_free(calls);
    if (entered != self->enters || events != self->walk->events || by_function != entered + self->outs)
        return wrong(self->walk, "%llu calls were added up, and %llu events; there are %llu and %llu",
                     (unsigned long long)entered, (unsigned long long)events,
                     (unsigned long long)self->enters, (unsigned long long)self->walk->events);
    return self->walk->problem[0] == '\0';
}

static bool walk_calltree(struct walker *self)
{
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    lode_calltree *tree;
    options.threads = 1;
    lode_status status = lode_calltree_compute(&tree, self->recording, NULL, &options, NULL);
    if (status != LODE_OK)
        return wrong(self->walk, "the call tree cannot be made: status %d", status);
    mix(self->walk, lode_calltree_context_count(tree));
    lode_calltree_free(tree);
    return true;
}

/* Without a question all calls are found; a phrase that nothing has is looked for everywhere. */
static bool walk_search(struct walker *self)
{
    static const lode_search_attribute attribute = {"key", "no such value", 1};
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    lode_search *search;
    uint64_t calls = 0;
    options.threads = 1;
    lode_status status = lode_search_run(&search, self->recording, &options, NULL);
    for (size_t i = 0; status == LODE_OK && i < lode_search_count(search); i++) {
        const lode_search_row *row = lode_search_at(search, i);
        calls += row->calls;
        mix(self->walk, row->errors);
        mix_text(self->walk, row->exception);
        for (size_t k = 0; k < row->value_count; k++)
            mix_text(self->walk, row->values[k].value);
    }
    lode_search_free(search);
    if (status != LODE_OK || calls != self->enters)
        return wrong(self->walk, "a search finds %llu calls of %llu, status %d", (unsigned long long)calls,
                     (unsigned long long)self->enters, status);
    options.text = "no such phrase";
    options.attributes = &attribute;
    options.attribute_count = 1;
    status = lode_search_run(&search, self->recording, &options, NULL);
    bool is_none = status == LODE_OK && lode_search_found(search) == 0;
    lode_search_free(search);
    return is_none || wrong(self->walk, "a search for nothing finds something, or fails: status %d", status);
}

static void walk_names(struct walker *self)
{
    const lode_recording *recording = self->recording;
    mix_text(self->walk, lode_recording_format(recording));
    mix(self->walk, (uint64_t)lode_recording_utc_offset(recording));
    for (size_t i = 0; i < lode_recording_fact_count(recording); i++)
        mix_text(self->walk, lode_recording_fact(recording, i)->value);
    for (uint32_t i = 0; i < lode_recording_module_count(recording); i++)
        mix_text(self->walk, lode_module_path(lode_recording_module(recording, i)));
}

static bool walk_all(struct walker *self)
{
    lode_check_result total = self->walk->open;
    walk_names(self);
    for (uint32_t i = 0; i < lode_recording_track_count(self->recording); i++)
        if (!walk_track(self, i, &total))
            return false;
    const lode_check_result *full = &self->walk->full;
    if (total.errors != full->errors || total.warnings != full->warnings)
        return wrong(self->walk,
                     "%llu errors and %llu warnings were found while reading, %llu and %llu by the check",
                     (unsigned long long)total.errors, (unsigned long long)total.warnings,
                     (unsigned long long)full->errors, (unsigned long long)full->warnings);
    if (full->events != self->walk->events)
        return wrong(self->walk, "the check saw %llu events of %llu", (unsigned long long)full->events,
                     (unsigned long long)self->walk->events);
    return walk_merge(self) && walk_calls(self) && walk_calltree(self) && walk_search(self);
}

/* Opening finds what a quick check finds, and, to find traces, more. */
static bool open_strictly(struct recording_walk *walk, const lode_memory_file *files, size_t count,
                          bool has_requests)
{
    lode_recording_options options = LODE_RECORDING_OPTIONS_INIT;
    lode_recording *recording;
    lode_check_options quick = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result;
    options.strict = 1;
    quick.level = LODE_CHECK_QUICK;
    quick.threads = 1;
    lode_status status = lode_recording_open_memory(&recording, files, count, &options, NULL);
    lode_recording_close(recording);
    if (lode_check_memory(files, count, &quick, &result, NULL) != LODE_OK)
        return wrong(walk, "what opens cannot be checked");
    bool is_same = result.errors == walk->open.errors && result.warnings == walk->open.warnings;
    bool is_less = result.errors <= walk->open.errors && result.warnings <= walk->open.warnings;
    if (has_requests ? !is_less : !is_same)
        return wrong(walk, "a quick check finds other things than opening");
    if (status != (walk->open.errors ? LODE_ERR_CORRUPT : LODE_OK))
        return wrong(walk, "opening has %llu errors; strictly, status %d",
                     (unsigned long long)walk->open.errors, status);
    return true;
}

static bool check(struct recording_walk *walk, const lode_memory_file *files, size_t count)
{
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    options.level = LODE_CHECK_FULL;
    options.threads = 1;
    lode_status status = lode_check_memory(files, count, &options, &walk->full, NULL);
    return status == LODE_OK || wrong(walk, "the recording cannot be checked: status %d", status);
}

void walk_recording(struct recording_walk *walk, const lode_memory_file *files, size_t count)
{
    lode_recording_options options = LODE_RECORDING_OPTIONS_INIT;
    lode_recording *recording;
    *walk = (struct recording_walk){0};
    options.on_finding = count_finding;
    options.user = &walk->open;
    lode_status status = lode_recording_open_memory(&recording, files, count, &options, NULL);
    walk->is_known = status != LODE_ERR_UNSUPPORTED;
    struct walker self = {.walk = walk, .recording = recording};
    if (status == LODE_OK && open_strictly(walk, files, count, lode_recording_has_requests(recording)) &&
        check(walk, files, count))
        walk_all(&self);
    else if (walk->is_known)
        wrong(walk, "the recording does not open: status %d", status);
    lode_recording_close(recording);
}
