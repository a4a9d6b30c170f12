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

/* ---- activities ---- */

/* What functions do, finer than kinds. Further ones may follow. */
typedef enum lode_activity {
    LODE_ACTIVITY_OWN, /* whatever no rule knows */
    LODE_ACTIVITY_MPI,
    LODE_ACTIVITY_MPI_STARTUP, /* MPI_Init and MPI_Finalize */
    LODE_ACTIVITY_OMP,         /* the runtime of OpenMP */
    LODE_ACTIVITY_OMP_WAIT,
    LODE_ACTIVITY_OMP_IDLE,
    LODE_ACTIVITY_LOCK, /* and conditions, barriers, joins */
    LODE_ACTIVITY_THREAD,
    LODE_ACTIVITY_ALLOC,
    LODE_ACTIVITY_COPY,
    LODE_ACTIVITY_PAGES, /* the kernel provides memory */
    LODE_ACTIVITY_FILE,
    LODE_ACTIVITY_NET,
    LODE_ACTIVITY_SLEEP,
    LODE_ACTIVITY_OFF_CPU, /* not running */
    LODE_ACTIVITY_LIB,     /* passes time on to its caller */
    LODE_ACTIVITY_LOADER,
    LODE_ACTIVITY_MATH,
    LODE_ACTIVITY_TOOL,
    LODE_ACTIVITY_KERNEL,
    LODE_ACTIVITY_GPU /* its runtime, and work on the device */
} lode_activity;
#define LODE_ACTIVITY_COUNT 21

/* "own", "mpi", "mpi-startup"...; NULL: none. MT: any thread. */
LODE_API const char *lode_activity_name(int activity);
/* The same for people. MT: any thread. */
LODE_API const char *lode_activity_title(int activity);
/* The kind that an activity is part of. MT: any thread. */
LODE_API lode_kind lode_activity_kind(int activity);

/* Rules that a user adds to those of the library. */
typedef struct lode_kind_rules lode_kind_rules;

/*
 * Reads rules: one in a line, the first that matches decides, before those of the library.
 * ACTIVITY MODULE NAME: patterns of the load module, its path or the last component of it, and of
 * the function; "*" stands for any characters, "?" for one. "#" begins a comment line.
 * LODE_ERR_ARGUMENT for others. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_kind_rules_parse(lode_kind_rules **out, const char *text, size_t size,
                                                        lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_kind_rules_free(lode_kind_rules *rules);
/* The activity of a function, as lode_kind_of; `rules` may be NULL. MT: any thread. */
LODE_API lode_activity lode_activity_of(const lode_kind_rules *rules, const char *module, const char *name);

LODE_END_DECLS
#endif
