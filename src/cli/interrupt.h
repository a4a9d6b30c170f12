/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP leave nothing half done behind, and the program ends by the signal that it got. One that was ignored when the
 * program started stays ignored. SIGPIPE and SIGXFSZ are errors of the write that caused them.
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

/* Before anything else. Standard streams that are closed become /dev/null, so that no file takes their numbers. */
void interrupt_init(void);

/* From now on a signal is only noted: who is told by interrupt_is_due gives up and clears away. A second one ends the program. */
void interrupt_hold(void);
/* Whether work that is held should end. */
int interrupt_is_due(void);
/* When all is cleared away: ends the program if a signal was noted, else returns the status. */
int interrupt_leave(int status);

/* A file in a directory that is open, to be removed if a signal or exit() ends the program; NULL: none. Signals that come meanwhile wait. */
int interrupt_create(int folder, char *name, int (*create)(int folder, char *name));
void interrupt_keep(void);

#endif
