/* SPDX-License-Identifier: BSD-3-Clause */
/* lode export --list: the formats, and what each can hold. */
#ifndef CLI_EXPORT_LIST_H
#define CLI_EXPORT_LIST_H

#include "output/out.h"

enum {
    EXPORT_NAME_SIZE = 64
};

/* Choices of --compression: lode_compression. */
extern const char *const export_compressions[];

/* Takes the next pattern off the usual file names of a format; 0: there are no more. */
int export_next_name(const char **names, char pattern[EXPORT_NAME_SIZE]);
/* Returns the exit status. */
int export_list(out *o);

#endif
