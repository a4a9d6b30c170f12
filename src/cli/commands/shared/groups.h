/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of all contexts or of one function, by profile or by groups of profiles. */
#ifndef CLI_GROUPS_H
#define CLI_GROUPS_H

#include "command.h"
#include "commands/shared/plots.h"

typedef struct groups_question {
    const char *function; /* NULL: everything */
    const char *by;       /* kinds of ids, such as "rank"; NULL: every profile */
    lode_profile_order sort;
    const plot_options *plot; /* of profiles; NULL: none */
} groups_question;

/* Answers it about a database. EXIT_DONE, or EXIT_TROUBLE after a message. */
int groups_database(const invocation *call, const groups_question *question);

#endif
