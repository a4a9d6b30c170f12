/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress: one line on standard error, if that is a terminal, which is removed at the end. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>
#include <time.h>

struct host;

typedef struct progress {
    struct host *host; /* is told instead; may be NULL */
    int is_wanted;
    int is_shown;
    struct timespec last;
    /* The phase that is under way, when it began, and what was done of it then. */
    char phase[64];
    struct timespec begun;
    uint64_t begun_with;
    const char *byte_phase; /* one that counts bytes, so that its rate can be shown; may be NULL */
} progress;

void progress_init(progress *p);
/* A lode_progress_fn whose `user` is a progress. */
int progress_report(void *user, const char *phase, uint64_t done, uint64_t total);
/* Takes the line away, before anything else is written to the terminal. */
void progress_clear(progress *p);

#endif
