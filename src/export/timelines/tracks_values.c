/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of events, and text for files. */
#include "base/error.h"
#include "base/text/utf8.h"
#include "export/timelines/tracks.h"
#include "export/timelines/tracks_parts.h"
#include <lode/private/utf8.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ARGUMENTS = 16
};

static bool reserve(struct lode_arguments *out, size_t count)
{
    return count <= out->capacity || LODE_GROW(out->items, out->capacity, count);
}

lode_status lode_tracks_arguments(const struct lode_tracks *tracks, uint32_t track, const lode_event *event,
                                  struct lode_arguments *out, lode_error *error)
{
    const lode_recording *recording = tracks->options.recording;
    size_t count = 0;
    out->count = 0;
    if (recording == NULL || event->data_size == 0)
        return LODE_OK;
    LODE_TRY_ALLOC(reserve(out, FIRST_ARGUMENTS), error);
    LODE_TRY(lode_event_arguments(recording, track, event, out->items, out->capacity, &count, error));
    if (count > out->capacity) {
        LODE_TRY_ALLOC(reserve(out, count), error);
        LODE_TRY(lode_event_arguments(recording, track, event, out->items, out->capacity, &count, error));
    }
    out->count = count < out->capacity ? count : out->capacity;
    return LODE_OK;
}

static bool is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return true;
}

void lode_wire_clean(struct lode_wire *out, const char *text, size_t length)
{
    if (is_plain(text, length)) {
        wire_raw(out, text, length);
        return;
    }
    for (size_t i = 0; i < length;) {
        uint32_t character;
        size_t size = lode_utf8_decode(text + i, length - i, &character);
        if (size == 0)
            wire_raw(out, "\xef\xbf\xbd", 3);
        else if (lode_utf8_is_control(character))
            wire_raw(out, " ", 1);
        else
            wire_raw(out, text + i, size);
        i += size ? size : 1;
    }
}

void lode_wire_argument(struct lode_wire *out, const lode_argument *argument)
{
    if (argument->kind == LODE_VALUE_TEXT && argument->bytes) {
        lode_wire_clean(out, argument->bytes, argument->length);
        return;
    }
    size_t length = lode_argument_text(argument, NULL, 0);
    if (!wire_reserve(out, length + 1))
        return;
    lode_argument_text(argument, (char *)out->bytes + out->count, length + 1);
    out->count += length;
}

static bool is_number(lode_value_kind kind)
{
    return kind == LODE_VALUE_SIGNED || kind == LODE_VALUE_UNSIGNED || kind == LODE_VALUE_AUTO ||
           kind == LODE_VALUE_REAL;
}

bool lode_arguments_are_numbers(const struct lode_arguments *arguments)
{
    for (size_t i = 0; i < arguments->count; i++)
        if (!is_number(arguments->items[i].kind) || arguments->items[i].name[0] == '\0')
            return false;
    return arguments->count > 0;
}

/* ---- exceptions ---- */

static bool is_named(const struct lode_arguments *arguments, size_t i, const char *name)
{
    return i < arguments->count && strcmp(arguments->items[i].name, name) == 0;
}

bool lode_thrown_next(struct lode_thrown *thrown, const struct lode_arguments *arguments)
{
    size_t i = thrown->next;
    if (i >= arguments->count)
        return false;
    const char *name = arguments->items[i].name;
    bool is_stack = is_named(arguments, i, "at"), is_cause = is_named(arguments, i, "cause");
    thrown->causes += is_cause;
    thrown->value = is_stack ? NULL : &arguments->items[i];
    thrown->frame = i;
    thrown->frame_count = 0;
    while (is_named(arguments, i + 4 * thrown->frame_count, "at"))
        thrown->frame_count++;
    thrown->next = is_stack ? i + 4 * thrown->frame_count : i + 1;
    const char *what = is_stack ? "stack" : (is_cause ? "" : name);
    if (thrown->causes == 0)
        snprintf(thrown->key, sizeof thrown->key, "%s", what);
    else if (thrown->causes == 1)
        snprintf(thrown->key, sizeof thrown->key, "cause%s%s", what[0] ? " " : "", what);
    else
        snprintf(thrown->key, sizeof thrown->key, "cause %u%s%s", thrown->causes, what[0] ? " " : "", what);
    return true;
}

static void put_part(struct lode_wire *out, const char *before, const struct lode_arguments *arguments,
                     size_t i)
{
    wire_raw(out, before, strlen(before));
    if (i < arguments->count)
        lode_wire_argument(out, &arguments->items[i]);
}

void lode_wire_frame(struct lode_wire *out, const struct lode_arguments *arguments, size_t frame)
{
    put_part(out, "", arguments, frame);
    put_part(out, ".", arguments, frame + 1);
    put_part(out, "(", arguments, frame + 2);
    put_part(out, ":", arguments, frame + 3);
    wire_raw(out, ")", 1);
}
