/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/format.h"
#include "format/hpctoolkit/hpctoolkit.h"
#include "format/hpctoolkit_drafts/drafts.h"
#include "format/uftrace/uftrace.h"
#include "format/zorka/zorka.h"
#include <string.h>

const struct lode_format *const lode_formats[] = {&lode_format_hpctoolkit, &lode_format_hpctoolkit_drafts,
                                                  &lode_format_uftrace, &lode_format_zorka};
const size_t lode_format_count = sizeof lode_formats / sizeof *lode_formats;

const struct lode_format *lode_format_of(const struct lode_folder *folder)
{
    /* Drafts are recognized by the content of their files, 4.0 by file names alone. */
    if (lode_format_hpctoolkit_drafts.probe(folder))
        return &lode_format_hpctoolkit_drafts;
    for (size_t i = 0; i < lode_format_count; i++)
        if (lode_formats[i]->probe(folder))
            return lode_formats[i];
    return NULL;
}

const struct lode_target *lode_target_of_databases(const char *name)
{
    for (size_t i = 0; i < lode_format_count; i++)
        for (size_t k = 0; k < lode_formats[i]->target_count; k++) {
            const struct lode_target *target = &lode_formats[i]->targets[k];
            if (target->sink && (name == NULL || strcmp(target->name, name) == 0))
                return target;
        }
    return NULL;
}
