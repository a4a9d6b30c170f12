/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether costs contradict themselves, where a check of the whole database would take too long. */
#ifndef LODE_PRIVATE_COST_CHECK_H
#define LODE_PRIVATE_COST_CHECK_H

#include <lode/check.h>
#include <lode/cost.h>

LODE_BEGIN_DECLS

/*
 * Reports contexts, 100 at most, whose inclusive cost in the summary is not its parts added up: its
 * point value, and the inclusive costs of its children. The costs are those of all profiles. Time
 * grows with the number of contexts. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_cost_check(const lode_cost *cost, lode_finding_fn on_finding,
                                                  void *user, lode_error *error);

LODE_END_DECLS
#endif
