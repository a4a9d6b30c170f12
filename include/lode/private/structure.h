/* SPDX-License-Identifier: BSD-3-Clause */
/* The structure of binaries: functions, loops, inlined calls and lines, as hpcstruct writes it. */
#ifndef LODE_PRIVATE_STRUCTURE_H
#define LODE_PRIVATE_STRUCTURE_H

#include <lode/check.h>

LODE_BEGIN_DECLS

/* A loop. Strings are valid during the call. */
typedef struct lode_structure_loop {
    const char *binary;
    const char *function; /* or inlined function; NULL: it has no name */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
    uint32_t depth;       /* loops around it, and itself */
    uint64_t function_address, address;
} lode_structure_loop;

/* Other than 0 ends the search. */
typedef int (*lode_structure_loop_fn)(void *user, const lode_structure_loop *loop);

typedef struct lode_structure_options {
    const char *symbols_program; /* the path of lode-symbols */
    const char *target;          /* a structure file that is written; NULL: none */
    int force;                   /* replace it */
    uint64_t debug_size_most;    /* of files whose debug information is read; 0: 100 MiB */
    lode_finding_fn on_finding;
    lode_structure_loop_fn on_loop; /* by address of their functions; may be NULL */
    void *user;
} lode_structure_options;

typedef struct lode_structure_result {
    uint64_t functions, inlined, loops, statements;
    int lacks_lines; /* a binary has no debug information */
} lode_structure_result;

/* Analyses binaries. The file appears atomically. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_structure_write(const char *const *binaries, size_t count,
                                                       const lode_structure_options *options,
                                                       lode_structure_result *result, lode_error *error);

LODE_END_DECLS
#endif
