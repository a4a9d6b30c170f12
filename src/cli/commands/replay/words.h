/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a replay: names of functions, kept once they are made, and values as text. */
#ifndef CLI_REPLAY_WORDS_H
#define CLI_REPLAY_WORDS_H

#include "commands/replay/replay.h"
#include "output/out.h"
#include "stores/rec_session.h"
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

/* The printable name of an event. Valid until the next call; of a function, as long as words. */
const char *replay_name(replay_words *w, const lode_event *event);
/* The data of an event, such as `5, "text"` or `major=0`; "" if none. Until the next call. */
const char *replay_values(replay_words *w, const replay_event *shown);

/* The values of an event; NULL if none. Valid until the next call of this or replay_values. */
lode_argument *replay_arguments(replay_words *w, const replay_event *shown, size_t *count);
/* One of them as text. Valid until the next call. */
const char *replay_value(replay_words *w, lode_argument *argument);
/* A member "arguments" of the row that is under way, for JSON: values with names and types. */
void replay_write_arguments(out *o, replay_words *w, const replay_event *shown);
/* The same, of a text without quotes. */
const char *replay_plain(replay_words *w, lode_argument *argument);

/* Calls in chronological order, as program text. */
typedef struct replay_text replay_text;

/* `origin`: zero of times; LODE_NO_OFFSET: no times. `limit`: number of lines; 0: none. */
replay_text *replay_text_open(out *o, replay_words *words, uint64_t origin, uint64_t limit);
/* A replay_sink whose `user` is a replay_text. */
void replay_text_add(void *user, const replay_event *shown);
/* Writes what is held back. */
void replay_text_finish(replay_text *t);
void replay_text_close(replay_text *t);

/* How many lines were written, and whether these are as many as may be. */
uint64_t replay_text_lines(const replay_text *t);
int replay_text_is_full(const replay_text *t);

/*
 * `lode replay` of requests as text: each as a call tree with shares, attributes and exceptions.
 *
 * The line of a call has its duration, which is known when it ends. So a request is read twice:
 * first to record times, 16 bytes per visible call, then to print.
 */
typedef struct replay_trace_options {
    double min_fraction; /* calls with a smaller share of their trace are folded; 0: none are */
    int shows_times;
    uint64_t limit; /* of lines; 0: none */
} replay_trace_options;

int replay_traces(out *o, rec_session *s, replay_words *words, const replay_trace_options *settings);

#endif
