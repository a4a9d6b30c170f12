/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks as rows: (key of the block, key of a group, key of a value, value). Blocks of profiles and
 * of contexts differ in which column is which only.
 */
#ifndef LODE_TABLE_BLOCKS_H
#define LODE_TABLE_BLOCKS_H

#include "model/database/block.h"
#include "table/keys.h"

/* Where a block is read. */
struct lode_block_walk {
    /* Set by the caller: */
    int block_column; /* LODE_NO_COLUMN: none */
    unsigned group_column, key_column, value_column;
    struct lode_key_set groups, keys; /* that are wanted */
    const char *what;                 /* "context" or "profile", for errors; NULL: any order */

    lode_block block;
    uint32_t id;         /* key of the block */
    uint32_t next_group; /* number */
    size_t group_at;     /* in the list of groups */
    bool is_in_group;
    uint64_t last_group; /* key plus 1; 0: none */
    lode_group group;
    uint64_t at, stop;   /* values of the group that were not looked at */
    uint64_t first, end; /* those that may be wanted by their keys, if bounds are known */
    bool is_bound;
    size_t key_at;     /* in the list of keys */
    uint64_t last_key; /* of the group, plus 1 */
};

/* Begins to read walk->block. */
void lode_block_walk_begin(struct lode_block_walk *walk, uint32_t id);
/*
 * Appends rows until as many values as the batch could hold were looked at. LODE_END after the
 * last; adds values that were passed.
 */
lode_status lode_block_walk_read(struct lode_block_walk *walk, struct lode_table_batch *batch,
                                 uint64_t *passed, lode_error *error);
/* Whether values can be passed without looking at their keys. */
bool lode_block_walk_can_pass(const struct lode_block_walk *walk);
/*
 * Passes values without reading them, and takes them off `count`: those that reading would look at,
 * or those that would become rows. LODE_END after the last. An error where reading has to tell
 * what comes.
 */
lode_status lode_block_walk_pass(struct lode_block_walk *walk, bool are_rows, uint64_t *count);

#endif
