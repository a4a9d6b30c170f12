/* SPDX-License-Identifier: BSD-3-Clause */
/* The contexts that a person means by an id or by a name. */
#ifndef CLI_CONTEXT_FIND_H
#define CLI_CONTEXT_FIND_H

#include <lode/unstable.h>

typedef struct context_match {
    const lode_context *context;
    double inclusive;
} context_match;

typedef struct context_matches {
    context_match *items; /* the most expensive first */
    size_t count, capacity;
    size_t functions; /* that they are contexts of; 0: labels were searched */
} context_matches;

/* Whether the text is an id: digits only. */
int context_is_id(const char *text, uint32_t *id);

/*
 * Contexts of the functions that a name means (lode/unstable/match.h); else those whose label
 * contains the text, such as "loop at main.c:12". LODE_NOT_FOUND if there are none.
 */
lode_status context_find(context_matches *matches, const lode_cost *cost, const char *text,
                         lode_error *error);
void context_matches_free(context_matches *matches);

#endif
