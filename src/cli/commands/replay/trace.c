/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/replay/words.h"

#include "alloc.h"
#include "commands/replay/lines.h"
#include "output/report.h"
#include "text/label.h"

#include <lode/private/call_events.h>
#include <stdlib.h>

/* A shown call, in order of begin: its times, and flags above the duration. */
typedef struct noted_call {
    uint64_t duration, self;
} noted_call;
#define CALL_OPEN     (UINT64_C(1) << 63) /* its end is not in the window */
#define CALL_FAILED   (UINT64_C(1) << 62)
#define CALL_MADE     (UINT64_C(1) << 61) /* its end is not in the recording */
#define CALL_DURATION (CALL_MADE - 1)

typedef struct open_call {
    size_t call;
    uint64_t inside; /* time of the calls in it */
} open_call;

typedef struct tracing {
    out *out;
    rec_session *session;
    replay_trace_options settings;
    replay_lines lines;
    trace_heading heading;
    int has_events, has_shown; /* of the trace, in the window */
    noted_call *calls;
    size_t call_count, call_capacity;
    open_call *open;
    size_t open_count, open_capacity;
    size_t next_call; /* when printing */
    size_t folded;    /* calls that are open and folded */
    trace_fold fold;  /* of calls side by side; none if it has no calls */
    label caller;     /* of a side track */
} tracing;

/* ---- the first time: what calls took ---- */

static void note_end(tracing *t, const replay_event *shown)
{
    const open_call *ended = &t->open[--t->open_count];
    noted_call *call = &t->calls[ended->call];
    uint64_t duration = shown->duration & CALL_DURATION;
    call->self = duration - ended->inside;
    call->duration = duration | (shown->event.flags & LODE_EVENT_FAILED ? CALL_FAILED : 0) |
                     (shown->event.flags & LODE_EVENT_MADE ? CALL_MADE : 0);
    if (t->open_count > 0)
        t->open[t->open_count - 1].inside += duration;
}

static void note(void *user, const replay_event *shown)
{
    tracing *t = user;
    t->has_shown = 1;
    if (lode_event_begins(&shown->event)) {
        t->calls = alloc_grow(t->calls, &t->call_capacity, t->call_count, sizeof *t->calls);
        t->open = alloc_grow(t->open, &t->open_capacity, t->open_count, sizeof *t->open);
        t->open[t->open_count++] = (open_call){t->call_count, 0};
        t->calls[t->call_count++] = (noted_call){CALL_OPEN, 0};
    } else if (lode_event_ends(&shown->event) && shown->has_duration && t->open_count > 0) {
        note_end(t, shown);
    }
}

/* All that is read counts for the heading, whether it is shown or not. */
static void count_event(tracing *t, const lode_event *event)
{
    trace_heading *heading = &t->heading;
    if (!t->has_events)
        heading->begin = event->time;
    t->has_events = 1;
    heading->duration = event->time - heading->begin;
    heading->calls += event->kind == LODE_EVENT_ENTER;
    heading->errors += event->kind == LODE_EVENT_LEAVE && (event->flags & LODE_EVENT_FAILED);
}

/* ---- the second time: lines ---- */

static double share_of(const tracing *t, uint64_t duration)
{
    return t->heading.duration ? (double)duration / (double)t->heading.duration : 1;
}

static void end_fold(tracing *t)
{
    if (t->fold.calls == 0)
        return;
    t->fold.share = share_of(t, t->fold.duration);
    replay_lines_fold(&t->lines, &t->fold);
    t->fold = (trace_fold){0};
}

static void print_begin(tracing *t, const replay_event *shown)
{
    noted_call noted = t->next_call < t->call_count ? t->calls[t->next_call] : (noted_call){CALL_OPEN, 0};
    uint64_t duration = noted.duration & CALL_DURATION;
    int is_open = (noted.duration & CALL_OPEN) != 0;
    t->next_call++;
    if (t->folded > 0 || (!is_open && share_of(t, duration) < t->settings.min_fraction)) {
        if (t->fold.calls == 0)
            t->fold = (trace_fold){.time = shown->event.time, .level = shown->level};
        if (t->folded++ == 0)
            t->fold.duration += duration;
        t->fold.calls++;
        return;
    }
    end_fold(t);
    trace_call call = {.time = shown->event.time,
                       .level = shown->level,
                       .has_duration = !is_open,
                       .duration = duration,
                       .self = noted.self,
                       .share = share_of(t, duration),
                       .has_failed = (noted.duration & CALL_FAILED) != 0,
                       .is_made = (noted.duration & CALL_MADE) != 0};
    replay_lines_call(&t->lines, &call, shown);
}

static void print_end(tracing *t, const replay_event *shown)
{
    if (t->folded > 0) {
        t->folded--;
        t->fold.errors += (shown->event.flags & LODE_EVENT_FAILED) != 0;
        return;
    }
    end_fold(t);
    if (!shown->has_duration)
        replay_lines_early(&t->lines, shown);
}

static void print(void *user, const replay_event *event)
{
    tracing *t = user;
    replay_event shown = *event;
    shown.track = t->heading.track->index;
    if (lode_event_begins(&shown.event)) {
        print_begin(t, &shown);
    } else if (lode_event_ends(&shown.event)) {
        print_end(t, &shown);
    } else if (t->folded == 0) {
        end_fold(t);
        replay_lines_point(&t->lines, &shown);
    }
}

/* ---- reading ---- */

static int is_over(const tracing *t)
{
    return out_has_failed(t->out) || replay_lines_are_full(&t->lines);
}

typedef enum reading {
    NOTING,
    PRINTING
} reading;

static lode_status read_events(tracing *t, lode_cursor *cursor, replay *r, reading what, lode_error *error)
{
    const lode_event *events;
    size_t count;
    lode_status status = LODE_OK;
    while (!is_over(t) && (status = lode_cursor_next(cursor, &events, &count, error)) == LODE_OK) {
        for (size_t i = 0; i < count; i++) {
            if (what == NOTING)
                count_event(t, &events[i]);
            replay_push(r, &events[i], 0);
        }
    }
    return status == LODE_END ? LODE_OK : status;
}

/* Findings are those of the first time. */
static lode_status read_trace(tracing *t, reading what, lode_error *error)
{
    rec_session *s = t->session;
    const lode_slice *slice = &s->slice;
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    lode_cursor *cursor;
    options.from = slice->from;
    options.to = slice->to;
    options.strict = s->shared->strict;
    options.on_finding = what == NOTING ? rec_on_finding : NULL;
    options.user = s;
    lode_status status = lode_cursor_open(&cursor, s->recording, t->heading.track->index, &options, error);
    if (status != LODE_OK)
        return status;
    replay_limits settings = {slice->from, slice->to, slice->depth, slice->min_time};
    replay *r = replay_open(1, &settings, what == NOTING ? note : print, t);
    status = read_events(t, cursor, r, what, error);
    if (status == LODE_OK && !is_over(t))
        replay_finish(r);
    replay_close(r);
    lode_cursor_close(cursor);
    return status;
}

/* Who made the calls of a side track, and how long after the begin of its request. */
static lode_status describe_side(tracing *t, uint32_t track, lode_error *error)
{
    const lode_recording *recording = t->session->recording;
    uint32_t request = lode_track_main(recording, track);
    uint64_t begin = 0, end = 0;
    size_t count = 0;
    t->heading.caller = "";
    lode_status status = lode_track_interval(recording, request, &begin, &end, error);
    t->heading.after = t->heading.begin > begin ? t->heading.begin - begin : 0;
    if (status >= 0)
        status = lode_track_callers(recording, track, NULL, 0, &count, error);
    if (status < 0 || count == 0)
        return status;
    const lode_function **callers = alloc_array(count, sizeof *callers);
    status = lode_track_callers(recording, track, callers, count, &count, error);
    if (status == LODE_OK)
        t->heading.caller = label_name(&t->caller, callers[count - 1], NAMES_FULL);
    free(callers);
    return status;
}

static lode_status show_trace(tracing *t, uint32_t track, lode_error *error)
{
    const lode_recording *recording = t->session->recording;
    t->heading = (trace_heading){.track = lode_recording_track(recording, track)};
    t->heading.request = lode_track_number(recording, lode_track_main(recording, track)) + 1;
    t->has_events = t->has_shown = 0;
    t->call_count = t->open_count = t->next_call = t->folded = 0;
    lode_status status = read_trace(t, NOTING, error);
    if (status != LODE_OK || !t->has_shown)
        return status;
    t->heading.has_utc = rec_utc(t->session, t->heading.begin, &t->heading.utc);
    if (lode_track_main(t->session->recording, track) != track)
        status = describe_side(t, track, error);
    if (status < 0)
        return status;
    replay_lines_heading(&t->lines, &t->heading);
    status = read_trace(t, PRINTING, error);
    end_fold(t);
    return status;
}

/* ---- all traces ---- */

typedef struct placed {
    uint64_t begin;
    uint32_t request, track; /* the main track first */
} placed;

static uint32_t slice_size(const rec_session *s)
{
    return s->slice.tracks ? s->slice.track_count : lode_recording_track_count(s->recording);
}

static int compare_begins(const void *left, const void *right)
{
    const placed *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->request != b->request)
        return a->request < b->request ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

/* The tracks of the slice in its time window, by the begin of their requests. */
static lode_status place_traces(const rec_session *s, placed *traces, uint32_t *count, lode_error *error)
{
    *count = 0;
    for (uint32_t i = 0; i < slice_size(s); i++) {
        uint32_t track = s->slice.tracks ? s->slice.tracks[i] : i;
        uint32_t request = lode_track_main(s->recording, track);
        uint64_t begin, end, first = 0, last;
        lode_status status = lode_track_interval(s->recording, track, &begin, &end, error);
        if (status == LODE_OK)
            status = lode_track_interval(s->recording, request, &first, &last, error);
        if (status < 0)
            return status;
        if (status == LODE_OK && end >= s->slice.from && (s->slice.to == 0 || begin < s->slice.to))
            traces[(*count)++] = (placed){first, request, track};
    }
    qsort(traces, *count, sizeof *traces, compare_begins);
    return LODE_OK;
}

static lode_status show_traces(tracing *t, lode_error *error)
{
    rec_session *s = t->session;
    placed *traces = alloc_array((size_t)slice_size(s) + 1, sizeof *traces);
    uint32_t count;
    lode_status status = place_traces(s, traces, &count, error);
    for (uint32_t i = 0; i < count && status == LODE_OK && !is_over(t); i++) {
        if (!out_is_terminal(t->out))
            rec_on_progress(s, "replay", i, count);
        status = show_trace(t, traces[i].track, error);
    }
    progress_clear(&s->progress);
    free(traces);
    return status;
}

int replay_traces(out *o, rec_session *s, replay_words *words, const replay_trace_options *settings)
{
    tracing t = {.out = o, .session = s, .settings = *settings};
    lode_error error = {0};
    t.lines = (replay_lines){.out = o,
                             .words = words,
                             .origin = settings->shows_times ? s->begin : LODE_NO_OFFSET,
                             .limit = settings->limit};
    lode_status status = show_traces(&t, &error);
    int is_cut = replay_lines_are_full(&t.lines);
    if (status == LODE_OK && t.lines.count == 0)
        out_say(o, "No events.");
    if (is_cut)
        out_say(o, "\nshowing %s; there are more (--limit 0 shows all)",
                COUNTED(settings->limit, "line", "lines"));
    replay_lines_free(&t.lines);
    label_free(&t.caller);
    free(t.calls);
    free(t.open);
    if (status < 0)
        return rec_error(s, &error);
    return EXIT_DONE;
}
