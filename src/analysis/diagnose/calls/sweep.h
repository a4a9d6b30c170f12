/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who works and who waits at each moment, and what processors that are idle are lost to. Times are
 * in nanoseconds of processors: a loss is at most processors x run time, and losses add up to it.
 */
#ifndef LODE_ANALYSIS_DIAGNOSE_CALLS_SWEEP_H
#define LODE_ANALYSIS_DIAGNOSE_CALLS_SWEEP_H

#include "analysis/diagnose/calls/facts.h"

/* A time in which one thread works, and no other could. */
struct call_alone {
    uint64_t from, to;
    uint32_t track; /* index in facts->tracks */
};

/* A loss to waits of one function of the application in one library function. */
struct call_loss {
    uint32_t holder, entry; /* as in pairs */
    unsigned char why;
    double lost;
};

struct call_blame {
    double capacity;          /* processors that threads can use: at most one for each worker */
    double whole;             /* capacity x run time */
    double lost[WHY_COUNT];   /* to threads that wait; WHY_JOIN, WHY_IDLE: none */
    double serial;            /* a thread that started others works alone */
    double tail;              /* others have ended, or wait for the end of those that work */
    double nobody;            /* no thread works, and none can be blamed */
    double crowded;           /* run time in which threads want 4 times as many processors */
    double wanted;            /* threads that want to run, on average in that time */
    double *waited_for;       /* by track: lost[WHY_COND] while this thread works alone */
    double *lockstep;         /* by track: others wait for a condition while it alone is active */
    struct call_alone *alone; /* serial times, in order */
    size_t alone_count;
    struct call_alone *tails; /* times of `tail` in which one thread works, in order */
    size_t tail_count;
    struct call_loss *losses; /* the largest first */
    size_t loss_count;
};

lode_status lode_diagnose_call_sweep(struct lode_diagnosis *d, lode_error *error);
void lode_diagnose_call_blame_free(struct call_blame *blame);

/* A loss as a share of what processors could do. */
double lode_diagnose_call_lost(const struct lode_diagnosis *d, double time);
/* The share that is lost because threads wait for each other, or nobody is there to work. */
double lode_diagnose_call_unused(const struct lode_diagnosis *d);
/* The largest loss to a kind of waiting; NULL: none. */
const struct call_loss *lode_diagnose_call_loss(const struct lode_diagnosis *d, enum call_why why);
/* What a thread does in the serial times: a path of functions, such as "main > read > parse". */
const char *lode_diagnose_call_alone_path(struct lode_diagnosis *d, uint32_t *innermost);

#endif
