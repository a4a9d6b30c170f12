/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks by what people call them. */
#ifndef CLI_REC_TASKS_H
#define CLI_REC_TASKS_H

#include "rec_session.h"

/* Restricts the slice to a list of tasks, "TID,pid=PID,NAME". EXIT_DONE, or EXIT_TROUBLE after a message. */
int rec_find_tasks(rec_session *s, const char *list);

#endif
