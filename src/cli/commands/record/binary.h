/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the file of a program offers to tools: call sites for a tracer, frame pointers for a
 * sampler, or the name of an interpreter. Reads headers and the beginnings of some functions.
 */
#ifndef RECORD_BINARY_H
#define RECORD_BINARY_H

#include <limits.h>

typedef enum call_sites {
    SITES_NONE,
    SITES_CALLS, /* functions call a tracer when they begin: -pg, -finstrument-functions */
    SITES_NOPS   /* they have space for such a call */
} call_sites;

typedef struct binary {
    int is_elf;     /* of this machine: what follows is known */
    int is_dynamic; /* a tracer can be loaded into it */
    call_sites sites;
    const char *evidence; /* of the sites, such as "mcount"; NULL: none */
    int has_frame_pointers;
    int has_unwind_tables;
    char interpreter[PATH_MAX]; /* of a script: the program in its first line; "" if it is none */
} binary;

/* Whatever is wrong with a file, it offers nothing then. */
void binary_look(const char *path, binary *found);

#endif
