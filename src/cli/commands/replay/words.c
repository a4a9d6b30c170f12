/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/replay/words.h"

#include "alloc.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ARGUMENTS 16
#define FIRST_TEXT      256

void replay_words_init(replay_words *w, const lode_recording *recording, int names)
{
    *w = (replay_words){.recording = recording, .names = names, .argument_capacity = FIRST_ARGUMENTS};
    w->arguments = alloc_array(w->argument_capacity, sizeof *w->arguments);
    w->text = alloc_array(FIRST_TEXT, 1);
    w->capacity = FIRST_TEXT;
}

void replay_words_free(replay_words *w)
{
    for (size_t i = 0; i < w->made_count; i++)
        free(w->made[i]);
    free(w->made);
    free(w->arguments);
    free(w->point);
    free(w->text);
    label_free(&w->label);
}

static void make_room(replay_words *w, size_t index)
{
    size_t count = w->made_count ? w->made_count : 64;
    while (count <= index)
        count *= 2;
    char **made = alloc_array(count, sizeof *made);
    if (w->made_count)
        memcpy(made, w->made, w->made_count * sizeof *made);
    free(w->made);
    w->made = made;
    w->made_count = count;
}

static char *copy_of(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        exit(report("out of memory"));
    return copy;
}

static const char *function_name(replay_words *w, const lode_function *function)
{
    size_t index = lode_function_index(function);
    if (index >= w->made_count)
        make_room(w, index);
    if (!w->made[index])
        w->made[index] = copy_of(label_name(&w->label, function, w->names));
    return w->made[index];
}

const char *replay_name(replay_words *w, const lode_event *event)
{
    switch ((lode_event_kind)event->kind) {
    case LODE_EVENT_INSTANT:
        free(w->point);
        w->point = copy_of(lode_event_name(w->recording, event));
        return w->point;
    case LODE_EVENT_LOST:
        return "lost";
    case LODE_EVENT_ENTER:
    case LODE_EVENT_LEAVE:
    case LODE_EVENT_SCHED_OUT:
    case LODE_EVENT_SCHED_IN:
        break;
    }
    return function_name(w, event->function);
}

static void add(replay_words *w, const char *text)
{
    size_t length = strlen(text);
    w->text = alloc_grow(w->text, &w->capacity, w->used + length, 1);
    memcpy(w->text + w->used, text, length + 1);
    w->used += length;
}

static void add_value(replay_words *w, lode_argument *argument)
{
    if (argument->kind == LODE_VALUE_POINTER && argument->label)
        argument->label = label_symbol(&w->label, argument->label, w->names);
    size_t length = lode_argument_text(argument, w->text + w->used, w->capacity - w->used);
    if (length >= w->capacity - w->used) {
        w->text = alloc_grow(w->text, &w->capacity, w->used + length, 1);
        lode_argument_text(argument, w->text + w->used, w->capacity - w->used);
    }
    w->used += length;
}

/* Returns how many values the event carries; 0 if they make no sense, which a finding says. */
static size_t decode(replay_words *w, const replay_event *shown)
{
    size_t count = 0;
    if (lode_event_arguments(w->recording, shown->track, &shown->event, w->arguments, w->argument_capacity,
                             &count, NULL) != LODE_OK)
        return 0;
    if (count <= w->argument_capacity)
        return count;
    free(w->arguments);
    w->argument_capacity = count;
    w->arguments = alloc_array(count, sizeof *w->arguments);
    if (lode_event_arguments(w->recording, shown->track, &shown->event, w->arguments, count, &count, NULL) !=
        LODE_OK)
        return 0;
    return count;
}

lode_argument *replay_arguments(replay_words *w, const replay_event *shown, size_t *count)
{
    *count = shown->event.data ? decode(w, shown) : 0;
    return *count ? w->arguments : NULL;
}

const char *replay_value(replay_words *w, lode_argument *argument)
{
    w->used = 0;
    add_value(w, argument);
    return w->text;
}

const char *replay_plain(replay_words *w, lode_argument *argument)
{
    replay_value(w, argument);
    if (argument->kind != LODE_VALUE_TEXT || argument->bytes == NULL || argument->label || w->used < 2)
        return w->text;
    w->text[w->used - 1] = '\0';
    return w->text + 1;
}

/* Unspecified data of an event is shown if it is a string, such as a message or a name. */
static void add_message(replay_words *w, const lode_event *event)
{
    const char *bytes = event->data;
    size_t size = event->data_size;
    while (size > 0 && bytes[size - 1] == '\0')
        size--;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)bytes[i] < ' ' && bytes[i] != '\t')
            return;
    w->text = alloc_grow(w->text, &w->capacity, size, 1);
    memcpy(w->text, bytes, size);
    w->text[size] = '\0';
    w->used = size;
}

const char *replay_values(replay_words *w, const replay_event *shown)
{
    int is_point = shown->event.kind == LODE_EVENT_INSTANT;
    size_t count = shown->event.data ? decode(w, shown) : 0;
    w->used = 0;
    w->text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        lode_argument *argument = &w->arguments[i];
        if (i > 0)
            add(w, is_point ? " " : ", ");
        if (argument->name[0]) {
            add(w, argument->name);
            add(w, "=");
        }
        add_value(w, argument);
    }
    if (is_point && count == 0 && shown->event.data_size)
        add_message(w, &shown->event);
    return w->text;
}
