/* SPDX-License-Identifier: BSD-3-Clause */
/* Values and samples of a database with the numbers of another one. */
#ifndef LODE_TRANSFORM_RENUMBER_H
#define LODE_TRANSFORM_RENUMBER_H

#include "analysis/cost/window.h"
#include "base/memory/map.h"
#include "model/database/block_builder.h"
#include "model/database/database.h"
#include "model/database/description.h"
#include <stdatomic.h>

/* All of it is borrowed. */
struct lode_renumbering {
    const lode_database *db;
    const struct lode_description *about; /* of the new database, sealed */
    const uint32_t *contexts;             /* by index: the new id */
    const struct lode_map *unlisted;      /* by id: the new one */
    const uint16_t *value_ids;            /* by id: the new one; LODE_BLOCK_NO_ID: not listed */
    double divisor;                       /* of values */
    struct lode_window window;            /* of samples */
    uint64_t shift;                       /* subtracted from times */
    _Atomic uint64_t *dropped;            /* counts values that are left out */
};

/* Adds the values of a profile. */
lode_status lode_renumber_values(const struct lode_renumbering *self, uint32_t profile,
                                 const lode_block *block, struct lode_block_builder *builder,
                                 lode_error *error);
/* Adds the samples of a trace line that are in the window. */
lode_status lode_renumber_samples(const struct lode_renumbering *self, const lode_trace_line *line,
                                  struct lode_blob *out, lode_error *error);
/* How many these are; 0 if they cannot be renumbered. */
uint64_t lode_renumber_count_samples(const struct lode_renumbering *self, const lode_trace_line *line);

#endif
