/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of a tree comparison. */
#ifndef LODE_ANALYSIS_COMPARE_TREE_H
#define LODE_ANALYSIS_COMPARE_TREE_H

#include "analysis/compare/pair.h"

/* Costs of a pair, by side. */
struct lode_pair_cost {
    double own[LODE_SIDES], inclusive[LODE_SIDES], calls[LODE_SIDES];
    double gross;
};

struct lode_compared_tree {
    struct lode_normalizer names;
    struct lode_interner keys; /* struct lode_tree_key */
    struct lode_side sides[LODE_SIDES];
    struct lode_pairing pairing;
    struct lode_pair_cost *costs; /* by pair */
    uint32_t *children;           /* by first_child of a pair */
    double matched[LODE_SIDES];
};

#endif
