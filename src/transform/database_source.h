/* SPDX-License-Identifier: BSD-3-Clause */
/* A database as a source of profiles. */
#ifndef LODE_TRANSFORM_DATABASE_SOURCE_H
#define LODE_TRANSFORM_DATABASE_SOURCE_H

#include "base/comm/comm.h"
#include "model/source.h"
#include "transform/merge/renumber.h"
#include <lode/convert.h>
#include <stdatomic.h>

struct lode_database_source {
    struct lode_profile_source base;
    const lode_database *db;
    const lode_convert_options *options; /* sources, drop_unlisted, on_finding and its user */
    struct lode_comm *comm;              /* ranks that write together; NULL: this process alone */

    const struct lode_description *about; /* NULL: ids are kept */
    struct lode_renumbering renumbering;  /* if they are not */
    struct lode_map unlisted;             /* by id: number of the context, then its new id */
    uint16_t *value_ids, *statistic_ids;  /* by the database's id: the new one */
    uint32_t *order;                      /* by new number of a profile, from 0: the database's */
    uint32_t *trace_of;                   /* by profile: its trace line, or LODE_NONE */
    uint32_t profile_count;               /* without summaries */
    struct lode_database_slot *slots;
    unsigned slot_count;
    _Atomic uint64_t dropped; /* values that were left out */
};

/* All are borrowed. LODE_ERR_CORRUPT if parts of the database overlap. Close it in every case. */
lode_status lode_database_source_open(struct lode_database_source *self, const lode_database *db,
                                      const lode_convert_options *options, struct lode_comm *comm,
                                      lode_error *error);
void lode_database_source_close(struct lode_database_source *self);

#endif
