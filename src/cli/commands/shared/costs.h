/* SPDX-License-Identifier: BSD-3-Clause */
/* What every answer that rests on costs says about them. */
#ifndef CLI_COSTS_H
#define CLI_COSTS_H

#include "output/out.h"
#include "stores/session.h"

/* Which metric, how much of it, from how many profiles. */
void costs_heading(out *o, const session *s, const lode_cost *cost);
/* What is included though the metadata does not list it. */
void costs_footing(out *o, const session *s, const lode_cost *cost);

#endif
