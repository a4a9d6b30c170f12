/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids, scopes and statistics as HPCToolkit writes them, for databases that Lode makes up. */
#ifndef LODE_TRANSFORM_STANDARD_H
#define LODE_TRANSFORM_STANDARD_H

#include <lode/writer.h>

enum {
    LODE_STANDARD_SCOPES = 4
};

/* Adds the kinds of ids SUMMARY, NODE, RANK and THREAD, and the scopes. */
lode_status lode_standard_begin(lode_writer *writer, uint32_t scopes[LODE_STANDARD_SCOPES],
                                lode_error *error);
/* Adds a metric with these scopes and their sums. */
lode_status lode_standard_metric(lode_writer *writer, const uint32_t scopes[LODE_STANDARD_SCOPES],
                                 const char *name, uint32_t *metric, lode_error *error);

#endif
