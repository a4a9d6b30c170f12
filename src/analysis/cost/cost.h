/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs by context. */
#ifndef LODE_ANALYSIS_COST_H
#define LODE_ANALYSIS_COST_H

#include "model/database/context.h"
#include <lode/cost.h>

struct lode_cost {
    const lode_database *db;   /* NULL: call tree */
    const lode_metric *metric; /* NULL: call tree */
    const struct lode_context_tree *tree;
    double *inclusive, *own; /* by index of context */
    const uint64_t *calls;   /* by index of context, for call trees; else NULL */
    uint32_t profiles;
    uint64_t unlisted_contexts, unlisted_values;
    uint64_t samples; /* of trace lines */
    double idle;      /* of trace lines: time when threads did not run */
};

/* A cost of zero everywhere; lode_cost_free frees it. */
lode_status lode_cost_make(lode_cost **out, const lode_database *db, lode_error *error);

#endif
