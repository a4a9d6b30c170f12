/* SPDX-License-Identifier: BSD-3-Clause */
/* How costs were sampled. */
#ifndef LODE_PRIVATE_SAMPLING_H
#define LODE_PRIVATE_SAMPLING_H

#include <lode/cost.h>

LODE_BEGIN_DECLS

/*
 * About what one sample of a sampled metric costs, guessed from its values: many contexts have one
 * sample. 0 if too few values tell. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_cost_period(const lode_cost *cost, double *period, lode_error *error);

LODE_END_DECLS
#endif
