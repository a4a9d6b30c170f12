/* SPDX-License-Identifier: BSD-3-Clause */
/* The target of a request: its path in parts, and its parameters, decoded. */
#ifndef CLI_VIEW_TARGET_H
#define CLI_VIEW_TARGET_H

#include <stddef.h>

#define TARGET_SIZE       8192
#define TARGET_PARTS      24
#define TARGET_PARAMETERS 64

typedef struct target_parameter {
    const char *name, *value;
} target_parameter;

typedef struct target {
    const char *parts[TARGET_PARTS]; /* "api", "1", "top", "0"; none for "/" */
    size_t part_count;
    target_parameter parameters[TARGET_PARAMETERS];
    size_t parameter_count;
    char text[2 * TARGET_SIZE];
} target;

/* 0, or -1: too long, too many parts, or not well formed. */
int target_parse(target *t, const char *text);

#endif
