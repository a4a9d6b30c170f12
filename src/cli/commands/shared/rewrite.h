/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes recordings, or the slice that the options name, as one recording. */
#ifndef CLI_COMMANDS_REWRITE_H
#define CLI_COMMANDS_REWRITE_H

#include "command.h"

typedef struct rewrite_request {
    const char *target;
    int force;
    const char *format; /* NULL: that of the first recording */
} rewrite_request;

/* The recordings are the operands of the call. EXIT_TROUBLE after a message. */
int rewrite_recordings(const invocation *call, const rewrite_request *request);

#endif
