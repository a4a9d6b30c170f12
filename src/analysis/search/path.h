/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path of one request. */
#ifndef LODE_ANALYSIS_PATH_H
#define LODE_ANALYSIS_PATH_H

#include "analysis/search/request.h"
#include <lode/unstable/search.h>

/* Of a function, on the tracks of a worker. At index 0: no call; else index of the function + 1. */
struct lode_path_tally {
    const lode_function *function;
    uint64_t requests, steps, time, max, saves;
    uint64_t now;   /* time in this request */
    size_t gain_at; /* its gain in the innermost scope that has one, plus 1 */
};

/* All zero: nothing yet. */
struct lode_path_walk {
    _Alignas(LODE_WORKER_ALIGN) const struct lode_request *request;
    struct lode_path_tally *tallies;
    uint32_t tally_count;
    uint64_t requests, time;
    struct lode_array steps;  /* lode_path_step, the last first; of the last request */
    struct lode_array frames; /* calls whose path is under way */
    struct lode_array kids;   /* callees of all frames */
    struct lode_array gains;
    size_t scope; /* where the gains of the innermost scope begin */
};

/* Adds a request to the tallies. */
lode_status lode_path_walk_take(struct lode_path_walk *walk, const struct lode_request *request,
                                lode_error *error);
void lode_path_walk_free(struct lode_path_walk *walk);

#endif
