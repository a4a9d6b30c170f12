/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the plug-ins are, and whether they can be trusted.
 *
 * LODE_PLUGINS names the only directory that is searched. Without it: the directory at its place
 * relative to the program, wherever the program is, and then the one of the configured prefix.
 */
#ifndef CLI_PLUGIN_H
#define CLI_PLUGIN_H

#include <limits.h>
#include <stddef.h>

typedef enum plugin_state {
    PLUGIN_FOUND,
    PLUGIN_MISSING,
    PLUGIN_REFUSED /* it is there, but somebody else can change it */
} plugin_state;

typedef struct plugin {
    plugin_state state;
    /* Absolute, without links. Of a missing plug-in, where it is looked for first. */
    char path[PATH_MAX];
    char reason[2 * PATH_MAX]; /* why it is refused */
} plugin;

/* Whether this program can load plug-ins at all: a static one cannot. */
int plugin_is_possible(void);
/* lode-NAME.so. */
void plugin_find(const char *name, plugin *found);
/* The program lode-NAME, in the same places. */
void plugin_find_program(const char *name, plugin *found);
/* `name` as in job_choices. */
void plugin_find_mpi(const char *name, plugin *found);
/* The directories that are searched, in this order; 0 past the last. */
int plugin_directory(size_t index, char directory[PATH_MAX]);
/* The path of this program, without links; 0 if the system does not say. */
int plugin_program(char path[PATH_MAX]);

#endif
