/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of a tree that a typed name means. */
#ifndef LODE_ANALYSIS_MATCHES_H
#define LODE_ANALYSIS_MATCHES_H

#include "analysis/cost/key.h"
#include <lode/unstable/match.h>

struct lode_matches {
    const struct lode_context_tree *tree;
    unsigned char *has; /* by context: it begins one of the functions */
    lode_match how;
    const lode_context **samples; /* a context of each */
    size_t count;
};

/* The same for a tree without costs. */
lode_status lode_matches_of(lode_matches **out, const struct lode_context_tree *tree, const char *text,
                            lode_name_form shown, lode_error *error);

#endif
