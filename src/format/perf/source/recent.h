/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call chains that were seen lately, and where they led: programs do the same again and again, so
 * that most samples need one look here instead of one for each address. The table is of a fixed
 * size and forgets; a chain that is not in it is walked as if it was new.
 */
#ifndef LODE_FORMAT_PERF_RECENT_H
#define LODE_FORMAT_PERF_RECENT_H

#include "base/io/range.h"
#include <stdbool.h>
#include <stdint.h>

/* What a chain's meaning depends on besides its words. */
struct perf_recent_key {
    uint32_t entry;        /* the node that it begins at */
    uint32_t root, kernel; /* of mappings */
    uint32_t most;         /* frames that the kernel permits */
};

struct perf_recent {
    struct perf_recent_key key;
    uint32_t hash;
    uint32_t words, at; /* how many, and the first one */
    uint32_t node;      /* that it leads to; 0: the slot is free */
    bool is_cut;        /* outermost frames are missing */
    uint32_t lane, row; /* where its costs were counted last; LODE_NONE: nowhere */
};

struct perf_recents;
/* For a recording of so many bytes. NULL if out of memory. */
struct perf_recents *lode_perf_recents_new(uint64_t bytes);
void lode_perf_recents_free(struct perf_recents *recents);

/* A chain with its hash. Words are compared as they stand in the file. */
struct perf_recent_query {
    struct perf_recent_key key;
    struct lode_range chain;
    uint32_t hash;
};

/* The chain if it is known, or NULL. Valid until one is added. Sets the hash. */
struct perf_recent *lode_perf_recent_find(struct perf_recents *recents, struct perf_recent_query *query);
/* Adds a chain that was looked for and is not known; NULL if it is too long. */
struct perf_recent *lode_perf_recent_add(struct perf_recents *recents, const struct perf_recent_query *query,
                                         uint32_t node, bool is_cut);

#endif
