/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel lets perf measure here, found out by opening events, which are closed again. */
#ifndef RECORD_PERMIT_H
#define RECORD_PERMIT_H

typedef enum permit_state {
    PERMIT_ALL,  /* the kernel's part of a program, too */
    PERMIT_USER, /* the program's own code only */
    PERMIT_NONE
} permit_state;

typedef struct permit {
    permit_state state;
    int code;       /* why nothing is permitted: errno */
    int has_cycles; /* a hardware counter works */
    int has_sched;  /* switches between tasks can be recorded with their call stacks */
    int has_waking; /* and who wakes a task; on kernels before 4.3, only that it runs again */
    int paranoid;   /* kernel.perf_event_paranoid; PERMIT_UNKNOWN */
    int kptr;       /* kernel.kptr_restrict, likewise */
    int max_rate;   /* kernel.perf_event_max_sample_rate, likewise */
} permit;

#define PERMIT_UNKNOWN (-1000)

/* For a process, or 0 for the programs that this one starts. */
void permit_ask(int pid, permit *found);
/* Says on standard error what is missing, and which setting would change it. */
void permit_say(const permit *found, int wants_sched);
/* Says why perf cannot be used at all. */
void permit_say_refused(const permit *found, int pid);

#endif
