/* SPDX-License-Identifier: BSD-3-Clause */
#include "story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_arguments(FILE *out, const lode_recording *recording, uint32_t track, const lode_event *event)
{
    enum {
        MOST = 64
    };
    lode_argument arguments[MOST];
    size_t count = 0;
    if (lode_event_arguments(recording, track, event, arguments, MOST, &count, NULL) != LODE_OK)
        abort();
    for (size_t i = 0; i < count && i < MOST; i++) {
        char text[1024];
        lode_argument_text(&arguments[i], text, sizeof text);
        fprintf(out, " %s%s%s", arguments[i].name, arguments[i].name[0] ? "=" : "", text);
    }
}

static void put_event(FILE *out, const lode_recording *recording, uint32_t track, const lode_event *event,
                      uint64_t begin)
{
    unsigned long long time = event->time - begin;
    fprintf(out, "%*s", 2 * (int)event->depth, "");
    if (event->kind == LODE_EVENT_INSTANT)
        fputs(lode_event_name(recording, event), out);
    else if (event->kind == LODE_EVENT_ENTER)
        fprintf(out, "%s %llu", lode_function_name(event->function), time);
    else
        fprintf(out, "%s %llu", event->kind == LODE_EVENT_LEAVE ? "end" : "lost", time);
    put_arguments(out, recording, track, event);
    static const char *const flags[] = {" made", " moved", " preempted", " failed"};
    for (unsigned i = 0; i < 4; i++)
        fputs(event->flags >> i & 1 ? flags[i] : "", out);
    fputc('\n', out);
}

char *story_of(const lode_recording *recording, uint32_t track)
{
    char *text = NULL;
    size_t size, count;
    uint64_t begin, end;
    lode_cursor *cursor;
    const lode_event *events;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL || lode_track_interval(recording, track, &begin, &end, NULL) != LODE_OK ||
        lode_cursor_open(&cursor, recording, track, NULL, NULL) != LODE_OK)
        abort();
    while (lode_cursor_next(cursor, &events, &count, NULL) == LODE_OK)
        for (size_t i = 0; i < count; i++)
            put_event(out, recording, track, &events[i], begin);
    lode_cursor_close(cursor);
    fclose(out);
    return text;
}
