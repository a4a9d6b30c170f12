/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates from a part of the events: lode_calls_options.parts. Functions that are rare may be
 * missing, and what single calls have is 0: mean, deviation, min, max and percentiles.
 */
#ifndef LODE_UNSTABLE_ESTIMATE_H
#define LODE_UNSTABLE_ESTIMATE_H

#include <lode/calltree.h>

LODE_BEGIN_DECLS

/* How much of the recording was read. */
typedef struct lode_calls_sample {
    uint64_t parts, parts_read;
    uint64_t bytes, bytes_read;
} lode_calls_sample;

/*
 * The exact value is within so many nanoseconds of the estimate in about 95 of 100 cases, for the
 * functions with most time; in 60 to 80 for those that are rare, or whose time is in few calls.
 */
typedef struct lode_call_margin {
    double self, total;
} lode_call_margin;

/* NULL: all was read, and the calls are exact. MT: any thread. */
LODE_API const lode_calls_sample *lode_calls_estimate(const lode_calls *calls);
LODE_API const lode_calls_sample *lode_calltree_estimate(const lode_calltree *tree);
/* Of a row; NULL: the calls are exact. MT: any thread. */
LODE_API const lode_call_margin *lode_calls_margin(const lode_calls *calls, size_t index);

LODE_END_DECLS
#endif
