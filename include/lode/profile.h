/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles: one per application thread or GPU stream, named by an id tuple; profile 0 is the
 * summary.
 */
#ifndef LODE_PROFILE_H
#define LODE_PROFILE_H

#include <lode/database.h>

LODE_BEGIN_DECLS

/* One element of an id tuple, such as RANK 3. */
typedef struct lode_id {
    unsigned kind;     /* lode_database_id_kind_name tells what it is */
    unsigned flags;    /* bit 0: a physical thing, named by physical_id */
    uint32_t logical;  /* dense towards 0 */
    uint64_t physical; /* a host id, a bus index; otherwise the same as logical */
} lode_id;

#define LODE_ID_PHYSICAL 1u

/* All of these: MT: any thread. */
LODE_API unsigned lode_database_id_kind_count(const lode_database *db);
/* The name of a kind of id, such as "RANK"; NULL for an unknown one. */
LODE_API const char *lode_database_id_kind_name(const lode_database *db, unsigned kind);

/* Counts the summary too. */
LODE_API uint32_t lode_database_profile_count(const lode_database *db);
/* The flags as in the file. */
LODE_API LODE_CHECKED lode_status lode_profile_flags(const lode_database *db, uint32_t profile,
                                                     uint32_t *flags, lode_error *error);
/* 1 for a profile that holds statistics over others. Profile 0 always is. */
LODE_API int lode_profile_is_summary(const lode_database *db, uint32_t profile);
/*
 * Copies up to `capacity` elements of the id tuple, outermost first, and sets `count` to how many
 * it has. A summary has none.
 */
LODE_API LODE_CHECKED lode_status lode_profile_ids(const lode_database *db, uint32_t profile, lode_id *ids,
                                                   uint32_t capacity, uint32_t *count, lode_error *error);

LODE_END_DECLS
#endif
