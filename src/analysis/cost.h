/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs by context, and the functions that contexts belong to. */
#ifndef LODE_ANALYSIS_COST_H
#define LODE_ANALYSIS_COST_H

#include "model/context.h"
#include <lode/cost.h>

struct lode_cost {
    const lode_database *db;   /* NULL: of a call tree */
    const lode_metric *metric; /* the same */
    const struct lode_context_tree *tree;
    double *inclusive, *own; /* by index of context */
    const uint64_t *calls;   /* the same, of a call tree; else NULL */
    uint32_t profiles;
    uint64_t unlisted_contexts, unlisted_values;
};

/*
 * Whether a context begins a function of its own: it is called, or an entry point. What lies between it and the next
 * such contexts is its body.
 */
static inline bool begins_function(const lode_context *context)
{
    return context->relation != LODE_RELATION_LEXICAL || context->lexical == LODE_LEXICAL_ENTRY ||
           context->lexical == LODE_LEXICAL_FUNCTION || context->lexical == LODE_LEXICAL_GLOBAL;
}

/*
 * A number that contexts of the same function share: by function where there is one, else by address or entry point.
 * Different functions may share a number only if their modules or offsets are absurdly large.
 */
static inline uint64_t function_key(const lode_context *context)
{
    if (context->lexical == LODE_LEXICAL_ENTRY)
        return UINT64_C(1) << 62 | context->entry;
    if (context->lexical == LODE_LEXICAL_GLOBAL)
        return UINT64_C(1) << 63;
    if (context->function)
        return context->function->identity;
    if (context->module)
        return UINT64_C(3) << 62 | (uint64_t)context->module->index << 40 |
               (context->offset & UINT64_C(0xffffffffff));
    return UINT64_C(5) << 61;
}

#endif
