/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One batch of contexts: out of pieces of profiles its part of cct.db, the records of its contexts, and its part of the summary. Nothing is
 * read or written here.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_WRITE_BATCH_H
#define LODE_FORMAT_HPCTOOLKIT_WRITE_BATCH_H

#include "base/blob.h"
#include "format/hpctoolkit/write.h"
#include "model/block.h"

struct context_range {
    uint32_t first, end; /* ids of contexts */
};

/* Values of one profile: its block, or what another rank sent of it. */
struct batch_piece {
    lode_block block;
    uint32_t profile; /* its number in the file; the summary is 0 */
    uint32_t from;    /* the first group that may be of use */
};

struct batch {
    struct context_range range;
    struct lode_blob region;     /* of cct.db */
    struct lode_blob infos;      /* a record for each context; offsets are from the beginning of the region */
    struct lode_blob statistics; /* values of the summary */
    struct lode_blob indices;    /* contexts of the summary; positions are from the batch's first statistic */
    uint64_t statistic_count;
    uint32_t *counts;    /* [context][value id]: while it is worked on */
    uint64_t *cursors;   /* [context][value id]: where the next value goes in the region */
    uint32_t *positions; /* [scope of one metric]: while its profiles are counted */
};

/* What a context takes while its batch is worked on, at most. values_of has what all profiles have. */
uint64_t lode_batch_context_bytes(const struct hpct_sink *sink, uint32_t context);

/* The first value of a group, and behind the last group the end. */
static inline uint64_t batch_value(const lode_block *block, uint32_t group)
{
    return group < block->group_count ? block_group_start(block, group) : block->value_count;
}

/*
 * Fills a batch that has its range and nothing else. Pieces are in the order of profiles. starts[i] is a group of piece i that is not behind
 * the batch's first; it moves there, so that who fills batches from left to right finds each where the last one left it.
 */
lode_status lode_batch_fill(struct batch *batch, const struct hpct_sink *sink,
                            const struct batch_piece *pieces, size_t piece_count, uint32_t *starts,
                            lode_error *error);
/* Frees what it holds, and leaves it empty. */
void lode_batch_release(struct batch *batch);

#endif
