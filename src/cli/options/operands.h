/* SPDX-License-Identifier: BSD-3-Clause */
/* The operands of a command: the store comes first, wherever it was given, if at all. */
#ifndef CLI_OPERANDS_H
#define CLI_OPERANDS_H

#include "command.h"

#define OPERAND_NAME_SIZE 64

/* The operands of a call, and the paths that were found for them. */
typedef struct operand_list {
    const char **items; /* room for one more than were given */
    char *found;        /* the path of the store, if it is not as given */
} operand_list;

/* Adds the store in the current directory if none is given. EXIT_DONE, or a message. */
int operands_complete(invocation *call, operand_list *list);
/* Puts the store first, and makes its path that of the store's directory. */
void operands_settle(invocation *call, operand_list *list);
/* Reports that there are too few or, first, what is wrong with a store that was given. */
int operands_missing(const invocation *call);
/* The name of an operand in the synopsis of a command, such as "STORE". */
void operand_name(const command_spec *command, size_t index, char name[OPERAND_NAME_SIZE]);

#endif
