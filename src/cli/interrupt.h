/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP clean up and end the program by the same signal. Signals that were
 * ignored at start stay ignored. SIGPIPE and SIGXFSZ become errors of the write that caused them.
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

/* Call this first. Opens /dev/null for closed standard streams: no file takes their numbers. */
void interrupt_init(void);

/* Signals are only recorded from now on: poll interrupt_is_due. A second SIGINT ends it all. */
void interrupt_hold(void);
/* Whether work that is held should end. */
int interrupt_is_due(void);
/* When all is cleared away: ends the program if a signal was noted, else returns the status. */
int interrupt_leave(int status);

/* A file to remove if a signal or exit() ends the program; NULL: none. Blocks signals meanwhile. */
int interrupt_create(int folder, char *name, int (*create)(int folder, char *name));
void interrupt_keep(void);

#endif
