/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a replay: names of functions, kept once they are made, and values as text. */
#ifndef CLI_REPLAY_WORDS_H
#define CLI_REPLAY_WORDS_H

#include "commands/replay.h"
#include "output/out.h"
#include "text/label.h"

typedef struct replay_words {
    const lode_recording *recording;
    int names;   /* NAMES_... */
    char **made; /* by index of the function */
    size_t made_count;
    label label;
    char *point; /* the name of one */
    lode_argument *arguments;
    size_t argument_capacity;
    char *text;
    size_t used, capacity;
} replay_words;

void replay_words_init(replay_words *w, const lode_recording *recording, int names);
void replay_words_free(replay_words *w);

/* What is called, or what happened, without control characters. Of a function, valid until the words are freed; else until the next call. */
const char *replay_name(replay_words *w, const lode_event *event);
/* What an event carries, such as `5, "text"` or, of a point, `major=0 minor=3`; "" if that is nothing. Valid until the next call. */
const char *replay_values(replay_words *w, const replay_event *shown);

/* The values that an event carries, one by one; NULL if there are none. Valid until the next call of this or replay_values. */
lode_argument *replay_arguments(replay_words *w, const replay_event *shown, size_t *count);
/* One of them as text. Valid until the next call. */
const char *replay_value(replay_words *w, lode_argument *argument);
/* The same, of a text without quotes. */
const char *replay_plain(replay_words *w, lode_argument *argument);

#endif
