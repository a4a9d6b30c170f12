/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports progress to the caller's callback. */
#ifndef LODE_BASE_PROGRESS_H
#define LODE_BASE_PROGRESS_H

#include "base/error.h"
#include <stddef.h>

struct lode_progress {
    lode_progress_fn report; /* or NULL */
    void *user;
    const char *phase;
    uint64_t done, total;
};

/* Adds `amount`. LODE_ERR_CANCELLED if the callback cancels. Not thread-safe. */
static inline lode_status lode_progress_add(struct lode_progress *progress, uint64_t amount,
                                            lode_error *error)
{
    progress->done += amount;
    if (progress->report == NULL ||
        progress->report(progress->user, progress->phase, progress->done, progress->total) == 0)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_CANCELLED, NULL, LODE_NO_OFFSET, "cancelled during: %s",
                     progress->phase);
}

#endif
