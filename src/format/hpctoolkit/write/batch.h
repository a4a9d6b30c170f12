/* SPDX-License-Identifier: BSD-3-Clause */
/* A batch of contexts: from pieces of profiles to its part of cct.db and of the summary. No I/O. */
#ifndef LODE_FORMAT_HPCTOOLKIT_WRITE_BATCH_H
#define LODE_FORMAT_HPCTOOLKIT_WRITE_BATCH_H

#include "base/memory/blob.h"
#include "format/hpctoolkit/write/write.h"
#include "model/database/block.h"

struct context_range {
    uint32_t first, end; /* ids of contexts */
};

/* Values of one profile: its block, or a part from another rank. */
struct batch_piece {
    lode_block block;
    uint32_t profile; /* its number in the file; the summary is 0 */
    uint32_t from;    /* the first group that may be relevant */
};

struct batch {
    struct context_range range;
    struct lode_blob region;     /* of cct.db */
    struct lode_blob infos;      /* context records; offsets are relative to the region */
    struct lode_blob statistics; /* values of the summary */
    struct lode_blob indices;    /* contexts of the summary; positions are relative to the batch */
    uint64_t statistic_count;
    uint32_t *counts;    /* [context][value id]: temporary */
    uint64_t *cursors;   /* [context][value id]: position of the next value in the region */
    uint32_t *positions; /* [scope of one metric]: temporary */
};

/* The maximal memory of a context in a batch. values_of has the counts of all profiles. */
uint64_t lode_batch_context_bytes(const struct hpct_sink *sink, uint32_t context);

/* The first value of a group, or the end after the last group. */
static inline uint64_t batch_value(const lode_block *block, uint32_t group)
{
    return group < block->group_count ? block_group_start(block, group) : block->value_count;
}

/*
 * Fills a batch of which only the range is set. Pieces are in the order of profiles. starts[i] is a
 * group of piece i, not after the batch's first; it moves there, so that batches in ascending order
 * continue where the last one ended.
 */
lode_status lode_batch_fill(struct batch *batch, const struct hpct_sink *sink,
                            const struct batch_piece *pieces, size_t piece_count, uint32_t *starts,
                            lode_error *error);
/* Frees its memory, and leaves it empty. */
void lode_batch_release(struct batch *batch);
/* Likewise, but a region of at most `keep` bytes stays for the next batch. */
void lode_batch_empty(struct batch *batch, uint64_t keep);

#endif
