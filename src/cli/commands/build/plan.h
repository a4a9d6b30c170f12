/* SPDX-License-Identifier: BSD-3-Clause */
/* What 'lode build --dry-run' says: what would be built from measurements. */
#ifndef CLI_BUILD_PLAN_H
#define CLI_BUILD_PLAN_H

#include "command.h"

typedef struct build_plan {
    const text_list *programs;   /* whose profiles are built; none: all */
    const text_list *structures; /* files that the user named */
    int ignores_structures;      /* those of the measurements */
    int reads_binaries;          /* where there is no structure file */
    int is_verbose;              /* name each module with contexts */
} build_plan;

/* Reads the measurements, and writes nothing but text. EXIT_TROUBLE after a message. */
int build_print_plan(const invocation *call, const build_plan *plan);

#endif
