/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs what has different keys: simple names, and loops in the order of their lines. */
#ifndef LODE_ANALYSIS_COMPARE_ALIGN_H
#define LODE_ANALYSIS_COMPARE_ALIGN_H

#include "analysis/compare/pair.h"

/* Nodes of one key in the pool of a pair. */
struct lode_slot {
    uint32_t key;
    uint32_t members[LODE_SIDES]; /* the first node of a side; LODE_NO_NUMBER: none */
    uint32_t samples[LODE_SIDES]; /* the first that came */
    uint32_t paired_in;           /* round, of a slot of both sides */
    uint32_t joined;              /* of a dead one: the slot that has its nodes */
    uint32_t pair;                /* a pair that it became */
    uint32_t pairs;               /* of one side: how many pairs it became */
    uint32_t below;               /* of one side: the pair directly below the pair in question */
    uint32_t renamed;             /* slot of the other side that looks alike, or LODE_NO_NUMBER */
    bool is_dead, is_simple;
    bool is_through; /* its nodes are looked through */
    bool is_target;  /* something inside others would pair with it */
};

static inline bool lode_slot_is_left(const struct lode_slot *slot)
{
    return !slot->is_dead && (slot->members[0] == LODE_NO_NUMBER) != (slot->members[1] == LODE_NO_NUMBER);
}

struct lode_aligner {
    struct lode_pairing *pairing;
    struct lode_array *slots; /* struct lode_slot */
    uint32_t round;
    uint32_t *left; /* by side: slots of that side only */
};

/* An order of keys that does not depend on numbers. */
int lode_tree_keys_compare(const struct lode_pairing *pairing, uint32_t a, uint32_t b);
/* Joins slots that are left. */
lode_status lode_align(const struct lode_aligner *self, lode_error *error);
/* Sets `renamed` of slots that are left and have the same file and callees. */
lode_status lode_find_renamed(const struct lode_aligner *self, lode_error *error);

#endif
