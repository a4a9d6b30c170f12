/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/replay/words.h"

#include "alloc.h"
#include "text/line.h"

#include <lode/private/call_events.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT    2
#define TID_WIDTH 6

struct replay_text {
    out *out;
    replay_words *words;
    uint64_t origin, limit, lines;
    int tid_width;
    char **tids; /* by track, as they are shown; NULL where none was yet */
    int is_full;
    int is_held;
    kept_event held; /* a beginning, until it is known whether its end comes next */
    line line;
};

/* As wide as the largest number of a task. */
static int width_of_tids(const lode_recording *recording)
{
    int width = TID_WIDTH;
    for (uint32_t i = 0; i < lode_recording_track_count(recording); i++) {
        int length = snprintf(NULL, 0, "%d", (int)lode_recording_track(recording, i)->tid);
        width = length > width ? length : width;
    }
    return width;
}

replay_text *replay_text_open(out *o, replay_words *words, uint64_t origin, uint64_t limit)
{
    replay_text *t = alloc_array(1, sizeof *t);
    *t = (replay_text){.out = o, .words = words, .origin = origin, .limit = limit};
    t->tid_width = width_of_tids(words->recording);
    t->tids = alloc_array(lode_recording_track_count(words->recording), sizeof *t->tids);
    if (origin != LODE_NO_OFFSET)
        out_print(o, "#      TIME (s) ");
    out_print(o, "%s DURATION  %*sTID%*s   FUNCTION\n", origin == LODE_NO_OFFSET ? "#" : " ",
              t->tid_width / 2, "", t->tid_width - t->tid_width / 2 - 1, "");
    return t;
}

void replay_text_close(replay_text *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < lode_recording_track_count(t->words->recording); i++)
        free(t->tids[i]);
    free(t->tids);
    free(t->held.bytes);
    line_free(&t->line);
    free(t);
}

uint64_t replay_text_lines(const replay_text *t)
{
    return t->lines;
}

int replay_text_is_full(const replay_text *t)
{
    return t->is_full;
}

typedef enum duration_mark {
    DURATION_NONE,
    DURATION_KNOWN,
    DURATION_EARLY /* it began before the window */
} duration_mark;

static void add_tid(replay_text *t, uint32_t track)
{
    if (track == LODE_NO_TRACK) {
        line_add_blanks(&t->line, (size_t)t->tid_width + 3);
        return;
    }
    if (!t->tids[track]) {
        size_t size = (size_t)t->tid_width + sizeof " []";
        t->tids[track] = alloc_array(size, 1);
        snprintf(t->tids[track], size, " [%*d]", t->tid_width,
                 (int)lode_recording_track(t->words->recording, track)->tid);
    }
    line_add_bytes(&t->line, t->tids[track], (size_t)t->tid_width + 3);
}

/* The columns in front: when, how long, who, how deep. */
static void begin_line(replay_text *t, const replay_event *shown, duration_mark mark, uint64_t duration)
{
    line *l = &t->line;
    l->used = 0;
    if (t->origin != LODE_NO_OFFSET)
        line_add_time(l, shown->event.time, t->origin);
    if (mark == DURATION_KNOWN)
        line_add_duration(l, duration);
    else
        line_add(l, mark == DURATION_EARLY ? "   (before)" : "           ");
    add_tid(t, shown->track);
    line_add(l, " | ");
    line_add_blanks(l, (size_t)shown->level * INDENT);
}

/* Writes the line, followed by a comment, if there is one. */
static void end_line(replay_text *t, const char *comment)
{
    out_write(t->out, t->line.text, t->line.used);
    if (comment)
        out_styled(t->out, STYLE_DIM, comment, strlen(comment));
    out_gap(t->out);
    t->lines++;
    t->is_full = t->limit && t->lines >= t->limit;
}

/* The comment is made after the line's text, in the same memory. */
static const char *comment(replay_text *t, const char *name, const char *values, const char *mark)
{
    line *l = &t->line;
    size_t before = l->used;
    line_add(l, "/* ");
    line_add(l, name);
    if (values && values[0]) {
        line_add(l, " (");
        line_add(l, values);
        line_add(l, ")");
    }
    line_add(l, mark);
    line_add_bytes(l, " */", sizeof " */");
    l->used = before;
    return l->text + before;
}

static void add_call(replay_text *t, const replay_event *shown)
{
    line_add(&t->line, replay_name(t->words, &shown->event));
    line_add(&t->line, "(");
    line_add(&t->line, replay_values(t->words, shown));
    line_add(&t->line, ")");
}

static void add_result(replay_text *t, const replay_event *shown)
{
    const char *values = replay_values(t->words, shown);
    if (values[0]) {
        line_add(&t->line, " = ");
        line_add(&t->line, values);
    }
}

static const char *made_mark(const lode_event *event, const char *words)
{
    return event->flags & LODE_EVENT_MADE ? words : "";
}

/* Beginning and end on one line. */
static void write_leaf(replay_text *t, const replay_event *begin, const replay_event *end)
{
    begin_line(t, begin, DURATION_KNOWN, end->duration);
    if (begin->event.kind == LODE_EVENT_SCHED_OUT) {
        int is_preempted = begin->event.flags & LODE_EVENT_PREEMPTED;
        end_line(t, comment(t, is_preempted ? "linux:schedule (pre-empted)" : "linux:schedule", NULL,
                            made_mark(&end->event, ", end not recorded")));
        return;
    }
    add_call(t, begin);
    add_result(t, end);
    line_add(&t->line, ";");
    if (end->event.flags & LODE_EVENT_MADE) {
        line_add(&t->line, " ");
        end_line(t, comment(t, "end not recorded", NULL, ""));
    } else {
        end_line(t, NULL);
    }
}

static void write_begin(replay_text *t, const replay_event *shown)
{
    begin_line(t, shown, DURATION_NONE, 0);
    if (shown->event.kind == LODE_EVENT_SCHED_OUT) {
        int is_preempted = shown->event.flags & LODE_EVENT_PREEMPTED;
        end_line(t, comment(t, is_preempted ? "linux:sched-out (pre-empted)" : "linux:sched-out", NULL,
                            made_mark(&shown->event, ", not recorded")));
        return;
    }
    add_call(t, shown);
    line_add(&t->line, " {");
    if (shown->event.flags & LODE_EVENT_MADE) {
        line_add(&t->line, " ");
        end_line(t, comment(t, "beginning not recorded", NULL, ""));
    } else {
        end_line(t, NULL);
    }
}

static void write_end(replay_text *t, const replay_event *shown)
{
    begin_line(t, shown, shown->has_duration ? DURATION_KNOWN : DURATION_EARLY, shown->duration);
    const char *mark = made_mark(&shown->event, ", end not recorded");
    if (shown->event.kind == LODE_EVENT_SCHED_IN) {
        end_line(t, comment(t, "linux:sched-in", NULL, made_mark(&shown->event, ", not recorded")));
        return;
    }
    line_add(&t->line, "}");
    size_t before = t->line.used;
    add_result(t, shown);
    line_add(&t->line, t->line.used > before ? "; " : " ");
    end_line(t, comment(t, replay_name(t->words, &shown->event), NULL, mark));
}

static void write_point(replay_text *t, const replay_event *shown)
{
    const char *values = replay_values(t->words, shown);
    begin_line(t, shown, DURATION_NONE, 0);
    end_line(t, comment(t, replay_name(t->words, &shown->event), values, ""));
}

static void write_loss(replay_text *t, const replay_event *shown)
{
    char words[64];
    begin_line(t, shown, DURATION_NONE, 0);
    if (shown->event.id)
        snprintf(words, sizeof words, "%s lost", COUNTED(shown->event.id, "record", "records"));
    else
        snprintf(words, sizeof words, "records lost");
    end_line(t, comment(t, words, NULL, ""));
}

/* Whether an event is the end of the beginning that came just before it. */
static int is_its_end(const replay_event *begin, const replay_event *shown)
{
    int end = begin->event.kind == LODE_EVENT_ENTER ? LODE_EVENT_LEAVE : LODE_EVENT_SCHED_IN;
    return shown->event.kind == end && shown->track == begin->track && shown->level == begin->level;
}

void replay_text_finish(replay_text *t)
{
    if (t->is_held && !t->is_full)
        write_begin(t, &t->held.shown);
    t->is_held = 0;
}

void replay_text_add(void *user, const replay_event *shown)
{
    replay_text *t = user;
    if (t->is_full)
        return;
    if (t->is_held && is_its_end(&t->held.shown, shown)) {
        write_leaf(t, &t->held.shown, shown);
        t->is_held = 0;
        return;
    }
    replay_text_finish(t);
    if (t->is_full)
        return;
    if (lode_event_begins(&shown->event)) {
        kept_event_set(&t->held, shown);
        t->is_held = 1;
    } else if (shown->event.kind == LODE_EVENT_INSTANT) {
        write_point(t, shown);
    } else if (shown->event.kind == LODE_EVENT_LOST) {
        write_loss(t, shown);
    } else {
        write_end(t, shown);
    }
}
