/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks and traces by what people call them. */
#ifndef CLI_REC_TASKS_H
#define CLI_REC_TASKS_H

#include "rec_session.h"

/*
 * Restricts the slice to the tasks and traces that the options name, "TID,pid=PID,NAME" and "NUMBER,ID". EXIT_DONE, or EXIT_TROUBLE after
 * a message.
 */
int rec_choose_tracks(rec_session *s);

#endif
