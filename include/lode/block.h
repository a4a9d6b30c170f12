/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks: planes of the sparse tensor profile x context x metric, read in place.
 *
 * A block holds groups in ascending order of their key, and each group holds values in ascending
 * order of theirs: of one profile: groups are contexts (by id), values are (metric id, value) of
 * one context: groups are metrics (by id), values are (profile, value)
 */
#ifndef LODE_BLOCK_H
#define LODE_BLOCK_H

#include <lode/database.h>

LODE_BEGIN_DECLS

/*
 * A view that the caller owns and that needs no closing. Only the library knows what is in it;
 * copies of it work.
 */
#ifdef LODE_INTERNAL
#include "model/contents.h"
#else
typedef struct lode_block {
    uint64_t opaque[6];
} lode_block;
#endif

typedef struct lode_group {
    uint32_t key; /* context id or metric id */
    uint64_t first;
    uint64_t count;
} lode_group;

typedef struct lode_value {
    uint32_t key; /* metric id or profile index */
    double value;
} lode_value;

/*
 * The values of one profile. Metric ids are those of lode_metric_scope, or of lode_metric_statistic
 * in a summary. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_profile_block(const lode_database *db, uint32_t profile,
                                                     lode_block *out, lode_error *error);

/*
 * The values of one context over all profiles. LODE_ABSENT if the database has no values by
 * context, LODE_NOT_FOUND if the id is beyond those listed. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_context_block(const lode_database *db, uint32_t context_id,
                                                     lode_block *out, lode_error *error);
/* How many contexts have a block: ids from 0 to this - 1. 0 if there are none. MT: any thread. */
LODE_API uint32_t lode_database_context_block_count(const lode_database *db);

/* Counts. MT: any thread. */
LODE_API uint64_t lode_block_value_count(const lode_block *block);
LODE_API uint32_t lode_block_group_count(const lode_block *block);
/* Group by position. LODE_END past the last. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_block_group(const lode_block *block, uint32_t index, lode_group *out,
                                                   lode_error *error);
/*
 * Group by key: binary search. LODE_NOT_FOUND, without an error text, if the key has no values. MT:
 * any thread.
 */
LODE_API LODE_CHECKED lode_status lode_block_find(const lode_block *block, uint32_t key, lode_group *out,
                                                  lode_error *error);
/*
 * Copies the values first .. first + count - 1; the range must lie inside the block. MT: any
 * thread.
 */
LODE_API LODE_CHECKED lode_status lode_block_read(const lode_block *block, uint64_t first, uint64_t count,
                                                  lode_value *out);
/*
 * The values of a block where they are, in the mapped file or in memory of the database, until that
 * closes: pairs of a key of `key_size` bytes and, directly after it, a double, both in the byte
 * order of this machine. A pair has `stride` bytes and need not be aligned. LODE_ABSENT if the file
 * has another layout: lode_block_read copies any. The groups are the same with a 64-bit number, the
 * index of the first value of the group, which is not checked here. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_block_view(const lode_block *block, const void **bytes, size_t *stride,
                                                  size_t *key_size, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_block_groups_view(const lode_block *block, const void **bytes,
                                                         size_t *stride, size_t *key_size, lode_error *error);
/*
 * One number: two binary searches. LODE_NOT_FOUND, without an error text, and 0.0 where it is zero.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_block_lookup(const lode_block *block, uint32_t group_key,
                                                    uint32_t value_key, double *out, lode_error *error);

LODE_END_DECLS
#endif
