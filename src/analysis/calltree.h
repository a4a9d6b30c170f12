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
struct lode_calltree_node {
    uint32_t parent, function;
    uint32_t last;      /* the child that was called last; 0: none */
    uint32_t successor; /* the sibling that was called after this one the last time; 0: none */
    uint64_t calls, total;
};

/* A call that is open. */
struct lode_calltree_frame {
    uint64_t begin;
    uint32_t node;
};

/* A tree under construction: node 0 is the global context, and parents are before their children. */
struct lode_calltree_builder {
    _Alignas(LODE_WORKER_ALIGN) struct lode_calltree_node *nodes;
    uint32_t count, capacity;
    uint32_t *slots; /* nodes, hashed by parent and function; 0: free */
    uint32_t slot_count;
    struct lode_calltree_frame *frames; /* the first stands for what is outside of all calls */
    struct lode_calltree_frame *top, *last;
    uint64_t time; /* of the last event */
};

lode_status lode_calltree_builder_open(struct lode_calltree_builder *builder, lode_error *error);
void lode_calltree_builder_close(struct lode_calltree_builder *builder);
/* As take and end of struct lode_pass, for one worker. */
lode_status lode_calltree_builder_take(struct lode_calltree_builder *builder, const lode_event *events,
                                       size_t count, lode_error *error);
void lode_calltree_builder_end(struct lode_calltree_builder *builder);
/* Adds what is in `from`, which stays. */
lode_status lode_calltree_builder_add(struct lode_calltree_builder *builder,
                                      const struct lode_calltree_builder *from, lode_error *error);

/* Makes the contexts of a call tree from a builder: depth first, siblings in the canonical order of functions. */
lode_status lode_calltree_arrange(lode_calltree *tree, const struct lode_calltree_builder *builder,
                                  const lode_recording *recording, lode_error *error);

#endif
