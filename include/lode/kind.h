/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of functions: own code, MPI, threads and so on, decided by load module and name. */
#ifndef LODE_KIND_H
#define LODE_KIND_H

#include <lode/context.h>

LODE_BEGIN_DECLS

typedef enum lode_kind {
    LODE_KIND_OWN, /* whatever no rule knows: the program and libraries of its own */
    LODE_KIND_MPI, /* with the libraries that carry its messages */
    LODE_KIND_THREADS,
    LODE_KIND_MEMORY,
    LODE_KIND_IO,
    LODE_KIND_SYSTEM,
    LODE_KIND_GPU,
    LODE_KIND_IDLE /* not running */
} lode_kind;
#define LODE_KIND_COUNT 8

/* "own", "mpi", "threads", "memory", "io", "system", "gpu", "idle"; NULL: none. MT: any thread. */
LODE_API const char *lode_kind_name(int kind);
/* The same for people: "own code", "MPI", "threads and OpenMP"... MT: any thread. */
LODE_API const char *lode_kind_title(int kind);

/*
 * The kind of a function, by the path of its load module first and its name second; either may be
 * NULL. Names are as in the files or demangled. MT: any thread.
 */
LODE_API lode_kind lode_kind_of(const char *module, const char *name);
/* MT: any thread. */
LODE_API lode_kind lode_kind_of_function(const lode_function *function);
/* The kind of the function that a context begins or is in. MT: any thread. */
LODE_API lode_kind lode_kind_of_context(const lode_context *context);

LODE_END_DECLS
#endif
