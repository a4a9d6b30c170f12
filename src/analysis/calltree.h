/* SPDX-License-Identifier: BSD-3-Clause */
/* Call trees: as they grow, one for each worker, and as they come out, in canonical order. */
#ifndef LODE_ANALYSIS_CALLTREE_H
#define LODE_ANALYSIS_CALLTREE_H

#include "analysis/calls.h"
#include "analysis/cost.h"
#include "model/recording.h"
#include <lode/calltree.h>

struct lode_calltree {
    struct lode_cost cost;
    struct lode_context_tree contexts;
    /* By context, exact. Those of the global context are the sums of the outermost calls. */
    uint64_t *calls, *total, *self;
};

/* A context while the tree grows. */
struct lode_sprout {
    uint32_t parent, function;
    uint32_t last;      /* the child that was called last; 0: none */
    uint32_t successor; /* the sibling that was called after this one the last time; 0: none */
    uint64_t calls, total;
};

/* A call that is open. */
struct lode_sprout_frame {
    uint64_t begin;
    uint32_t sprout;
};

/* A growing tree: sprout 0 is the global context, and parents are before their children. */
struct lode_growth {
    _Alignas(LODE_WORKER_ALIGN) struct lode_sprout *sprouts;
    uint32_t count, capacity;
    uint32_t *slots; /* sprouts, hashed by parent and function; 0: free */
    uint32_t slot_count;
    struct lode_sprout_frame *frames; /* the first stands for what is outside of all calls */
    struct lode_sprout_frame *top, *last;
    uint64_t time; /* of the last event */
};

lode_status lode_growth_open(struct lode_growth *growth, lode_error *error);
void lode_growth_close(struct lode_growth *growth);
/* As take and end of struct lode_pass, for one worker. */
lode_status lode_growth_take(struct lode_growth *growth, const lode_event *events, size_t count,
                             lode_error *error);
void lode_growth_end(struct lode_growth *growth);
/* Adds what is in `from`, which stays. */
lode_status lode_growth_add(struct lode_growth *growth, const struct lode_growth *from, lode_error *error);

/* Makes the contexts of a call tree from a growth: depth first, siblings in the canonical order of functions. */
lode_status lode_calltree_arrange(lode_calltree *tree, const struct lode_growth *growth,
                                  const lode_recording *recording, lode_error *error);

#endif
