/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/replay/lines.h"

#include <stdio.h>
#include <string.h>

#define INDENT      2
#define LEVELS_MAX  64 /* that are drawn; of deeper ones a number says how much deeper they are */
#define SHARE_WIDTH 8
#define MARK_WIDTH  2

int replay_lines_are_full(const replay_lines *t)
{
    return t->limit && t->count >= t->limit;
}

void replay_lines_free(replay_lines *t)
{
    line_free(&t->line);
}

/* Writes what is in front, then the text of the line from `text` on in a style. */
static void end_line(replay_lines *t, size_t text, out_style style)
{
    if (!replay_lines_are_full(t)) {
        out_write(t->out, t->line.text, text);
        out_styled(t->out, style, t->line.text + text, t->line.used - text);
        out_gap(t->out);
        t->count++;
    }
    t->line.used = 0;
}

static void add_indent(replay_lines *t, uint32_t level)
{
    char deeper[32];
    uint32_t drawn = level < LEVELS_MAX ? level : LEVELS_MAX;
    line_add_blanks(&t->line, (size_t)drawn * INDENT);
    if (level > drawn) {
        snprintf(deeper, sizeof deeper, "+%u ", level - drawn);
        line_add(&t->line, deeper);
    }
}

static void begin_line(replay_lines *t, uint64_t time)
{
    t->line.used = 0;
    if (t->origin != LODE_NO_OFFSET)
        line_add_time(&t->line, time, t->origin);
}

/* A line that has no numbers: what belongs to the call around it. Returns where its text begins. */
static size_t begin_note(replay_lines *t, uint64_t time, uint32_t level)
{
    begin_line(t, time);
    line_add_blanks(&t->line, SHARE_WIDTH + 2 * LINE_DURATION_WIDTH + MARK_WIDTH + 1);
    add_indent(t, level);
    return t->line.used;
}

/* ---- headings ---- */

static void add_count(line *l, const char *before, uint64_t count, const char *one, const char *many)
{
    char text[2 * COUNTED_SIZE];
    snprintf(text, sizeof text, "%s%s", before, COUNTED(count, one, many));
    line_add(l, text);
}

/* What the numbers of all lines are; no line of its own to --limit, as in other replays. */
static void write_columns(replay_lines *t)
{
    int has_times = t->origin != LODE_NO_OFFSET;
    out_print(t->out, "%s SHARE    DURATION       SELF   CALL\n", has_times ? "#     TIME (s) " : "#");
}

void replay_lines_heading(replay_lines *t, const trace_heading *heading)
{
    const lode_track *track = heading->track;
    line *l = &t->line;
    char text[NUMBER_SIZE];
    if (t->count > 0)
        out_gap(t->out);
    else
        write_columns(t);
    if (heading->caller) {
        snprintf(text, sizeof text, "Beside request %u, after ", heading->request);
        line_add(l, text);
        format_duration(text, heading->after);
        line_add(l, text);
        line_add(l, heading->caller[0] ? ", called by " : "");
        line_add(l, heading->caller);
    } else {
        snprintf(text, sizeof text, "Request %u", heading->request);
        line_add(l, text);
    }
    if (track->id[0] && !heading->caller) {
        line_add(l, ", ");
        line_add(l, track->id);
    }
    if (heading->has_utc && !heading->caller) {
        format_utc(text, heading->utc);
        line_add(l, ", ");
        line_add(l, text);
    }
    format_duration(text, heading->duration);
    line_add(l, ", ");
    line_add(l, text);
    add_count(l, ", ", heading->calls, "call", "calls");
    if (heading->errors)
        add_count(l, ", ", heading->errors, "error", "errors");
    end_line(t, 0, STYLE_HEADING);
}

/* ---- calls ---- */

static void add_share(line *l, double share)
{
    char text[NUMBER_SIZE];
    line_add_bytes(l, text, (size_t)snprintf(text, sizeof text, "%5.1f %% ", share * 100));
}

/* With the points of all lines below each other. */
static void add_duration(line *l, uint64_t duration)
{
    char text[NUMBER_SIZE], aligned[2 * NUMBER_SIZE];
    format_duration(text, duration);
    int is_second = strcmp(text + strlen(text) - 2, " s") == 0;
    snprintf(aligned, sizeof aligned, "%*s%s", LINE_DURATION_WIDTH - is_second, text, is_second ? " " : "");
    line_add(l, aligned);
}

static void add_mark(line *l, int has_failed)
{
    line_add(l, has_failed ? " ! " : "   ");
}

/* What was recorded at the begin of a call, such as its interval, except for the known time. */
static void note_values(replay_lines *t, const replay_event *begin)
{
    size_t count, noted = 0, text = begin_note(t, begin->event.time, begin->level + 1);
    lode_argument *arguments = replay_arguments(t->words, begin, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(arguments[i].name, "time stamp") == 0)
            continue;
        line_add(&t->line, noted++ ? ", " : "(");
        line_add(&t->line, arguments[i].name);
        line_add(&t->line, " ");
        line_add(&t->line, replay_plain(t->words, &arguments[i]));
    }
    if (noted == 0)
        return;
    line_add(&t->line, ")");
    end_line(t, text, STYLE_DIM);
}

void replay_lines_call(replay_lines *t, const trace_call *call, const replay_event *begin)
{
    line *l = &t->line;
    begin_line(t, call->time);
    if (call->has_duration) {
        add_share(l, call->share);
        add_duration(l, call->duration);
        add_duration(l, call->self);
    } else {
        line_add_blanks(l, SHARE_WIDTH + LINE_DURATION_WIDTH);
        line_add(l, "    (after)");
    }
    add_mark(l, call->has_failed);
    add_indent(t, call->level);
    size_t text = l->used;
    line_add(l, replay_name(t->words, &begin->event));
    if (call->is_made)
        line_add(l, " (end not recorded)");
    end_line(t, text, call->has_failed ? STYLE_ERROR : STYLE_PLAIN);
    note_values(t, begin);
}

void replay_lines_early(replay_lines *t, const replay_event *end)
{
    line *l = &t->line;
    int has_failed = (end->event.flags & LODE_EVENT_FAILED) != 0;
    begin_line(t, end->event.time);
    line_add_blanks(l, SHARE_WIDTH + LINE_DURATION_WIDTH);
    line_add(l, "   (before)");
    add_mark(l, has_failed);
    add_indent(t, end->level);
    size_t text = l->used;
    line_add(l, replay_name(t->words, &end->event));
    end_line(t, text, has_failed ? STYLE_ERROR : STYLE_PLAIN);
}

void replay_lines_fold(replay_lines *t, const trace_fold *fold)
{
    line *l = &t->line;
    begin_line(t, fold->time);
    add_share(l, fold->share);
    add_duration(l, fold->duration);
    line_add_blanks(l, LINE_DURATION_WIDTH);
    add_mark(l, fold->errors > 0);
    add_indent(t, fold->level);
    size_t begin = l->used;
    add_count(l, "... ", fold->calls, "call", "calls");
    if (fold->errors)
        add_count(l, ", ", fold->errors, "error", "errors");
    end_line(t, begin, fold->errors ? STYLE_ERROR : STYLE_DIM);
}

/* ---- points ---- */

/* The parts of an exception come one by one; these begin a line. */
static const char *opening(const char *name)
{
    if (strcmp(name, "class") == 0)
        return "! ";
    if (strcmp(name, "cause") == 0)
        return "! caused by ";
    return strcmp(name, "at") == 0 ? "    at " : NULL;
}

/* The others go after what is there. */
static void add_part(line *l, const char *name, const char *value)
{
    int is_line = strcmp(name, "line") == 0;
    if (!value[0] || (is_line && (value[0] == '-' || value[0] == '0' || l->text[l->used - 1] != ')')))
        return;
    if (is_line)
        l->used--; /* the bracket */
    line_add(l, strcmp(name, "message") == 0  ? ": "
                : strcmp(name, "method") == 0 ? "."
                : strcmp(name, "file") == 0   ? "("
                : is_line                     ? ":"
                                              : " ");
    line_add(l, value);
    if (is_line || strcmp(name, "file") == 0)
        line_add(l, ")");
}

static void write_exception(replay_lines *t, const replay_event *shown)
{
    size_t count, text = 0;
    lode_argument *arguments = replay_arguments(t->words, shown, &count);
    for (size_t i = 0; i < count; i++) {
        const char *words = opening(arguments[i].name);
        if (words || i == 0) {
            if (i > 0)
                end_line(t, text, STYLE_ERROR);
            text = begin_note(t, shown->event.time, shown->level);
            line_add(&t->line, words ? words : "! ");
            line_add(&t->line, replay_plain(t->words, &arguments[i]));
        } else {
            add_part(&t->line, arguments[i].name, replay_plain(t->words, &arguments[i]));
        }
    }
    if (count == 0) {
        text = begin_note(t, shown->event.time, shown->level);
        line_add(&t->line, "! unknown exception");
    }
    end_line(t, text, STYLE_ERROR);
}

static void write_attribute(replay_lines *t, const replay_event *shown)
{
    size_t text = begin_note(t, shown->event.time, shown->level);
    line_add(&t->line, replay_name(t->words, &shown->event));
    line_add(&t->line, " = ");
    line_add(&t->line, replay_values(t->words, shown));
    end_line(t, text, STYLE_PLAIN);
}

static void write_other(replay_lines *t, const replay_event *shown)
{
    int is_loss = shown->event.kind == LODE_EVENT_LOST;
    const char *values = is_loss ? "" : replay_values(t->words, shown);
    size_t text = begin_note(t, shown->event.time, shown->level);
    line_add(&t->line, "(");
    if (!is_loss && values[0] &&
        lode_event_instant(t->words->recording, &shown->event) == LODE_INSTANT_OTHER) {
        line_add(&t->line, replay_name(t->words, &shown->event));
        line_add(&t->line, ": ");
    }
    line_add(&t->line, is_loss ? "records lost" : values[0] ? values : replay_name(t->words, &shown->event));
    line_add(&t->line, ")");
    end_line(t, text, STYLE_DIM);
}

void replay_lines_point(replay_lines *t, const replay_event *shown)
{
    switch (lode_event_instant(t->words->recording, &shown->event)) {
    case LODE_INSTANT_ATTRIBUTE:
        write_attribute(t, shown);
        break;
    case LODE_INSTANT_EXCEPTION:
        write_exception(t, shown);
        break;
    case LODE_INSTANT_NUMBERS:
    case LODE_INSTANT_OTHER:
        write_other(t, shown);
        break;
    }
}
