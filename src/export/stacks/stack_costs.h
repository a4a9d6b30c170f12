/* SPDX-License-Identifier: BSD-3-Clause */
/* The costs of the stacks of one group after the other; private to the stacks. */
#ifndef LODE_EXPORT_STACK_COSTS_H
#define LODE_EXPORT_STACK_COSTS_H

#include "export/stacks/stack_build.h"

/* Chooses what is counted. */
lode_status lode_stack_costs_open(struct lode_stack_build *build, const struct lode_stacks *stacks,
                                  lode_error *error);
/* The costs of the next profile, track, or of all. LODE_END after the last one. */
lode_status lode_stack_costs_next(struct lode_stack_build *build, struct lode_stacks *stacks,
                                  lode_error *error);
void lode_stack_costs_free(struct lode_stack_build *build);

#endif
