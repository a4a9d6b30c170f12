/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"
#include <lode/search.h>

lode_status lode_search_run(lode_search **out, const lode_recording *recording,
                            const lode_search_options *options, lode_error *error)
{
    (void)recording;
    (void)options;
    *out = NULL;
    return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET, "recordings cannot be searched yet");
}

void lode_search_free(lode_search *search)
{
    (void)search;
}

size_t lode_search_count(const lode_search *search)
{
    (void)search;
    return 0;
}

uint64_t lode_search_found(const lode_search *search)
{
    (void)search;
    return 0;
}

const lode_search_row *lode_search_at(const lode_search *search, size_t index)
{
    (void)search;
    (void)index;
    return NULL;
}
