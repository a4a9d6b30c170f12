/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a program as if the shell had started it: it has our terminal, our standard streams and our
 * process group. There is no shell in between.
 */
#ifndef RECORD_LAUNCH_H
#define RECORD_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

/* Who gets a signal that somebody sends to us, or that ends the recording after its time. */
typedef enum launch_target {
    TARGET_TOOL,   /* the tool, which ends the program, or is it */
    TARGET_PROGRAM /* the program that the tool has started: the tool would leave it alone */
} launch_target;

typedef struct launch_settings {
    uint64_t nanoseconds; /* after which it is ended; 0: never */
    launch_target target;
    int is_message; /* standard output goes where messages go */
} launch_settings;

typedef struct launch_result {
    int code;         /* why nothing was started: errno; 0: it was */
    int status;       /* as shells have it: 128 + N for signal N */
    int is_timed_out; /* ended after its time */
    int signal;       /* that was sent to us, or to our process group; 0: none */
} launch_result;

void launch_run(char *const *arguments, const launch_settings *settings, launch_result *result);

/* The first line that a program prints, without its end; 0 if it fails. Messages are dropped. */
int launch_read(char *const *arguments, char *line, size_t size);
/* The exit status of a program that prints nothing; -1 if it cannot be started. */
int launch_status(char *const *arguments);

#endif
