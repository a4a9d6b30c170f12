/* SPDX-License-Identifier: BSD-3-Clause */
/* Which contexts of a tree lie on call paths that a filter shows. */
#ifndef LODE_ANALYSIS_TREE_VIEW_FILTER_H
#define LODE_ANALYSIS_TREE_VIEW_FILTER_H

#include "model/database/context.h"
#include <lode/unstable/match.h>

/* Flags of a context. */
enum {
    LODE_PATH_INCLUDED = 1, /* it begins a function to include */
    LODE_PATH_EXCLUDED = 2, /* it begins a function to exclude */
    LODE_PATH_ABOVE = 4,    /* it, or a context above it but the global one, is included */
    LODE_PATH_BELOW = 8     /* it, or a context below it, is included and has a row of its own */
};

/*
 * Flags by context, for free(). Without patterns to include, all contexts are included. Contexts
 * without costs (`sizes`) and calls, which may be NULL, have no rows.
 */
lode_status lode_path_flags(unsigned char **out, const struct lode_context_tree *tree,
                            const lode_filter *filter, const double *sizes, const uint64_t *calls,
                            lode_error *error);

#endif
