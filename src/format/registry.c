/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/format.h"
#include "format/hpctoolkit/hpctoolkit.h"
#include "format/hpctoolkit_drafts/drafts.h"
#include "format/uftrace/uftrace.h"

const struct lode_format *const lode_formats[] = {&lode_format_hpctoolkit, &lode_format_hpctoolkit_drafts,
                                                  &lode_format_uftrace};
const size_t lode_format_count = sizeof lode_formats / sizeof *lode_formats;

const struct lode_format *lode_format_of(const struct lode_folder *folder)
{
    /* Drafts are known by what is in their files, 4.0 by the names of files alone. */
    if (lode_format_hpctoolkit_drafts.probe(folder))
        return &lode_format_hpctoolkit_drafts;
    for (size_t i = 0; i < lode_format_count; i++)
        if (lode_formats[i]->probe(folder))
            return lode_formats[i];
    return NULL;
}
