/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of functions: own code, MPI, threads and so on, decided by load module and name. */
#ifndef LODE_UNSTABLE_KIND_H
#define LODE_UNSTABLE_KIND_H

#include <lode/context.h>
#include <lode/name.h>

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

/* ---- effects ---- */

/* What a call does, finer than activities. Further ones may follow. */
typedef enum lode_effect {
    LODE_EFFECT_NONE, /* computes, or nothing is known */
    LODE_EFFECT_TAKE, /* a lock; waits until it is free */
    LODE_EFFECT_SPIN, /* the same, without being blocked */
    LODE_EFFECT_TRY,  /* the same, without waiting */
    LODE_EFFECT_RELEASE,
    LODE_EFFECT_CONDITION, /* releases a lock while it waits */
    LODE_EFFECT_NOTIFY,    /* wakes others */
    LODE_EFFECT_BARRIER,   /* waits for other threads to come */
    LODE_EFFECT_SEMAPHORE,
    LODE_EFFECT_FUTURE, /* waits for a result of another thread */
    LODE_EFFECT_JOIN,   /* waits for the end of a thread */
    LODE_EFFECT_REAP,   /* waits for the end of a process */
    LODE_EFFECT_ONCE,   /* runs something, or waits for who does */
    LODE_EFFECT_WAIT,   /* waits for another thread: for what is not known */
    LODE_EFFECT_YIELD,
    LODE_EFFECT_SLEEP,
    LODE_EFFECT_SIGNAL, /* waits for one */
    LODE_EFFECT_OPEN,   /* and closes, names and describes files */
    LODE_EFFECT_READ,
    LODE_EFFECT_WRITE,
    LODE_EFFECT_SYNC, /* waits for disks */
    LODE_EFFECT_NETWORK,
    LODE_EFFECT_POLL, /* waits for files or connections */
    LODE_EFFECT_START_THREAD,
    LODE_EFFECT_START_PROCESS,
    LODE_EFFECT_ALLOCATE,
    LODE_EFFECT_FREE,
    LODE_EFFECT_MAY_ALLOCATE, /* does other work that needs memory */
    LODE_EFFECT_MAP,
    LODE_EFFECT_COPY,
    LODE_EFFECT_THROW, /* and catches, and unwinds */
    LODE_EFFECT_LOAD,  /* code */
    LODE_EFFECT_SYSCALL,
    LODE_EFFECT_REGION,     /* of OpenMP */
    LODE_EFFECT_COLLECTIVE, /* of MPI; no rank leaves before all have entered */
    LODE_EFFECT_MESSAGE,    /* of MPI */
    LODE_EFFECT_PREPARE     /* what can be stored: a regular expression, a statement, a locale */
} lode_effect;
#define LODE_EFFECT_COUNT 37

/* "none", "take-lock", "join-thread"...; NULL: none. MT: any thread. */
LODE_API const char *lode_effect_name(int effect);
/* The same for people: "takes a lock". MT: any thread. */
LODE_API const char *lode_effect_title(int effect);
/* Whether the call can wait for others: threads, disks, a network, time. MT: any thread. */
LODE_API int lode_effect_waits(int effect);
/* The activity that calls with an effect usually are of. MT: any thread. */
LODE_API lode_activity lode_effect_activity(int effect);

/* Rules that a user adds to those of the library: lode_kind_rules, declared by lode/name.h. */

/*
 * Reads rules: one in a line, the first that matches decides, before those of the library.
 * ACTIVITY MODULE NAME: an activity or an effect, and patterns of the load module, its path or the
 * last component of it, and of the function, as in the file or as it is shown; "*" stands for any
 * characters, "?" for one. "#" begins a comment line.
 * LODE_ERR_ARGUMENT for others. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_kind_rules_parse(lode_kind_rules **out, const char *text, size_t size,
                                                        lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_kind_rules_free(lode_kind_rules *rules);
/* The activity of a function, as lode_kind_of; `rules` may be NULL. MT: any thread. */
LODE_API lode_activity lode_activity_of(const lode_kind_rules *rules, const char *module, const char *name);
/* The effect of its calls. MT: any thread. */
LODE_API lode_effect lode_effect_of(const lode_kind_rules *rules, const char *module, const char *name);
/*
 * The kind of the function that a context begins or is in or, if there is no context, of a
 * function; own code without both. MT: any thread.
 */
LODE_API lode_kind lode_kind_by_rules(const lode_kind_rules *rules, const lode_context *context,
                                      const lode_function *function);
/*
 * What decided about the function that a context begins or is in, for people, as in lode/name.h:
 * "name std::thread::join", "module libc.so*", "line 3: pool_*" (of the rules of the user), or "no
 * rule". `activity` and `effect` get what it is. MT: any thread.
 */
LODE_API size_t lode_kind_reason(const lode_kind_rules *rules, const lode_context *context,
                                 lode_activity *activity, lode_effect *effect, char *buffer, size_t capacity);

LODE_END_DECLS
#endif
