/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics/default.yaml: how viewers present the metrics, as hpcrun describes them. */
#ifndef LODE_FORMAT_HPCRUN_TAXONOMY_H
#define LODE_FORMAT_HPCRUN_TAXONOMY_H

#include "format/hpcrun/source/source.h"

/* Statistics that are wanted; the default is the sum. */
static inline unsigned hpcrun_statistics(const lode_build_options *options)
{
    return options->statistics ? options->statistics : LODE_STATISTIC_SUM;
}

/* Sets the text of the description. `sorted` has the metrics of the rank in their order. */
lode_status lode_hpcrun_taxonomy(struct hpcrun_source *source, const uint32_t *sorted, lode_error *error);

#endif
