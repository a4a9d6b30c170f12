/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call chains that are not in the field of that name: user stacks that must be unwound, and branch
 * stacks of the processor that have calls only (--call-graph lbr).
 */
#ifndef LODE_FORMAT_PERF_CHAINS_H
#define LODE_FORMAT_PERF_CHAINS_H

#include "format/perf/source/collect.h"

/*
 * The sample with its whole chain, which the worker holds; false: it has none but its own. A user
 * stack that is lost is counted.
 */
bool lode_perf_complete(struct perf_worker *worker, const struct perf_event *event,
                        const struct perf_sample *sample, const struct perf_moment *moment,
                        struct perf_sample *out);

/* Whether branches of an event are the calls that are open, not the last ones that were taken. */
static inline bool perf_branches_are_calls(const struct perf_event *event)
{
    return event->attr.branch_type >> PERF_BRANCH_CALL_STACK & 1;
}

#endif
