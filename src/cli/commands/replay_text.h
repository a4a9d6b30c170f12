/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls in the order of time, as a program text. */
#ifndef CLI_REPLAY_TEXT_H
#define CLI_REPLAY_TEXT_H

#include "commands/replay_words.h"

typedef struct replay_text replay_text;

/* `origin` is the time that times count from; LODE_NO_OFFSET: none are shown. `limit` is of lines; 0: none. */
replay_text *replay_text_open(out *o, replay_words *words, uint64_t origin, uint64_t limit);
/* A replay_sink whose `user` is a replay_text. */
void replay_text_add(void *user, const replay_event *shown);
/* Writes what is held back. */
void replay_text_finish(replay_text *t);
void replay_text_close(replay_text *t);

/* How many lines were written, and whether these are as many as may be. */
uint64_t replay_text_lines(const replay_text *t);
int replay_text_is_full(const replay_text *t);

#endif
