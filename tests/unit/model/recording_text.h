/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a track as text, a line each. */
#ifndef LODE_TESTS_RECORDING_TEXT_H
#define LODE_TESTS_RECORDING_TEXT_H

#include "minirec.h"
#include "unit.h"
#include <lode/event.h>

enum {
    TEXT_MAX = 1 << 16
};

struct text {
    char bytes[TEXT_MAX];
    size_t size;
};

__attribute__((format(printf, 2, 3))) static inline void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->bytes + text->size, TEXT_MAX - text->size, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < TEXT_MAX - text->size);
    text->size += (size_t)length;
}

static inline void add_values(struct text *text, const lode_recording *recording, uint32_t track,
                              const lode_event *event)
{
    lode_argument values[8];
    char value[64];
    size_t count;
    assert_int_equal(lode_event_arguments(recording, track, event, values, 8, &count, NULL), LODE_OK);
    for (size_t i = 0; i < count; i++) {
        lode_argument_text(&values[i], value, sizeof value);
        add(text, "%s%s", i ? ", " : " ", value);
    }
}

/* Such as "110 > work 42, "hello"": time after the start, kind, name, and data. */
static inline void add_event(struct text *text, const lode_recording *recording, uint32_t track,
                             const lode_event *event)
{
    static const char *const kinds[] = {">", "<", "[", "]", "!", "?"};
    add(text, "%llu %s ", (unsigned long long)(event->time - MINIREC_START), kinds[event->kind]);
    if (event->kind == LODE_EVENT_INSTANT)
        add(text, "%s", lode_event_name(recording, event));
    else if (event->kind == LODE_EVENT_LOST)
        add(text, "%llu", (unsigned long long)event->id);
    else
        add(text, "%s", lode_function_name(event->function));
    add_values(text, recording, track, event);
    add(text, "%s%s\n", event->flags & LODE_EVENT_MADE ? " made" : "",
        event->flags & LODE_EVENT_MOVED ? " moved" : "");
}

static inline void read_text(struct text *text, const lode_recording *recording, uint32_t track,
                             const lode_cursor_options *options)
{
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    lode_status status;
    text->size = 0;
    text->bytes[0] = '\0';
    assert_int_equal(lode_cursor_open(&cursor, recording, track, options, NULL), LODE_OK);
    while ((status = lode_cursor_next(cursor, &events, &count, NULL)) == LODE_OK) {
        assert_true(count > 0);
        for (size_t i = 0; i < count; i++)
            add_event(text, recording, track, &events[i]);
    }
    assert_int_equal(status, LODE_END);
    /* It stays at the end. */
    assert_int_equal(lode_cursor_next(cursor, &events, &count, NULL), LODE_END);
    lode_cursor_close(cursor);
}

#endif
