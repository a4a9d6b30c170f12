/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of rows. */
#ifndef LODE_ANALYSIS_COMPARE_KEYS_H
#define LODE_ANALYSIS_COMPARE_KEYS_H

#include "analysis/compare/normal.h"

/* Numbers of strings of a normaliser. `name` identifies the row. */
struct lode_normal_numbers {
    uint32_t name, module, file;
};

/* Whether rows with equal keys are grouped as such; else their keys depend on complete rows. */
bool lode_normal_groups(lode_group_by by);
/* The name of a row that a context begins, for lode_normal_groups. */
lode_status lode_normal_row(struct lode_normalizer *self, const struct lode_tree_names *names,
                            lode_group_by by, const lode_context *context, const lode_hotspot *row,
                            uint32_t *number, lode_error *error);
lode_status lode_normal_key_of(struct lode_normalizer *self, const lode_hotspot *hotspot, lode_group_by by,
                               struct lode_normal_numbers *key, lode_error *error);

#endif
