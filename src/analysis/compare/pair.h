/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs the nodes of two trees. Every node of either side is in exactly one pair. */
#ifndef LODE_ANALYSIS_COMPARE_PAIR_H
#define LODE_ANALYSIS_COMPARE_PAIR_H

#include "analysis/compare/side.h"

/* Nodes of both sides with one meaning under one parent. */
struct lode_pair {
    uint32_t parent; /* of pairs; parents precede children */
    uint32_t key;
    uint32_t members[LODE_SIDES]; /* the first node of a side; LODE_NO_NUMBER: none */
    uint32_t first_child, child_count;
    uint32_t marks;
    uint32_t renamed; /* pair, or LODE_NO_NUMBER */
};

struct lode_pairing {
    const struct lode_side *sides; /* two */
    const struct lode_interner *keys;
    struct lode_normalizer *names;
    struct lode_array pairs;           /* struct lode_pair */
    uint32_t *next_member[LODE_SIDES]; /* by node: the next one of its pair */
    uint32_t *pair_of[LODE_SIDES];     /* by node */
    uint32_t *simple_of;               /* by key: string, or LODE_NO_NUMBER if not asked for yet */
};

static inline struct lode_pair *lode_pair_at(const struct lode_pairing *pairing, size_t index)
{
    return LODE_ARRAY_AT(&pairing->pairs, struct lode_pair, index);
}

/* The pairing must be zeroed but for sides, keys and names. */
lode_status lode_pairing_make(struct lode_pairing *pairing, lode_error *error);
void lode_pairing_free(struct lode_pairing *pairing);

#endif
