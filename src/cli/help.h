/* SPDX-License-Identifier: BSD-3-Clause */
/* Help strings and manual pages, generated from the tables of commands and options. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "command.h"

/* All return EXIT_DONE. */
int help_overview(out *o);
int help_command(out *o, const command_spec *command);

/* Manual pages in troff: of the program, if `command` is NULL, or of one command. */
int man_page(out *o, const command_spec *command);

/* Options under a heading: those for every store, and those for one kind only. */
typedef struct help_group {
    const char *title;
    unsigned stores;
} help_group;
#define HELP_GROUP_COUNT 3

/* The groups that a command has. Returns how many. */
int help_option_groups(const command_spec *command, help_group groups[HELP_GROUP_COUNT]);
int help_is_in_group(const command_spec *command, const option_entry *entry, const help_group *group);

/* Paragraphs about the program as a whole, the last one NULL. */
extern const char *const help_about[];

typedef struct help_term {
    const char *term; /* NULL ends a table */
    const char *meaning;
} help_term;
extern const help_term help_exit_statuses[];
extern const help_term help_environment[];

#endif
