/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles of two databases that are the same by their id tuples, and what they cost. */
#ifndef CLI_COMPARE_SPREAD_H
#define CLI_COMPARE_SPREAD_H

#include "stores/compare_side.h"

#define PROFILE_NAME_SIZE 128

/* A profile, or a group of profiles, of one database. */
typedef struct spread_entry {
    char name[PROFILE_NAME_SIZE]; /* its ids: "rank 3 thread 0" */
    uint32_t first;               /* a profile of it */
    double value;
} spread_entry;

/* Sorted by name, each name once. */
typedef struct spread_side {
    spread_entry *entries;
    size_t count;
    uint32_t *by_profile; /* position + 1 in the entries; 0: in none */
    uint32_t profiles;    /* of the database, with the summary */
} spread_side;

/*
 * Groups by kinds of ids, such as "rank"; "profile": by all but those of the machine (nodes and
 * cores), which may be others in another run. EXIT_DONE, or EXIT_TROUBLE after a message;
 * spread_side_free is due in both cases.
 */
int spread_side_open(spread_side *side, side_run *run, const char *by);
void spread_side_free(spread_side *side);

/* The values at some contexts, or of everything if `count` is 0. */
int spread_side_values(spread_side *side, side_run *run, size_t metric, int is_inclusive,
                       const lode_context *const *contexts, size_t count);

#endif
