/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads or ranks that do the same kind of work. */
#ifndef LODE_ANALYSIS_DIAGNOSE_CALLS_GROUPS_H
#define LODE_ANALYSIS_DIAGNOSE_CALLS_GROUPS_H

#include "analysis/diagnose/calls/facts.h"

struct call_member {
    const struct call_track *track; /* of a rank, its busiest thread */
    double work;                    /* useful running time, of a rank, per thread */
    double waiting;                 /* for others; without pre-emption */
    uint32_t rank;
};

enum call_group_kind {
    GROUP_RANKS,
    GROUP_OPENMP,
    GROUP_THREADS
};

struct call_group {
    enum call_group_kind kind;
    struct call_member *members;
    size_t count, longest; /* longest: the member with the most work */
    double most, mean;
    double loss; /* mean time that members wait for the longest */
};

/* The group that loses most; no members if there is none. Free its members. */
lode_status lode_diagnose_call_group_find(const struct lode_diagnosis *d, struct call_group *group,
                                          lode_error *error);

#endif
