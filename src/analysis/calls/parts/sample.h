/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which parts of the tracks an estimate reads. A part is a piece of a long track, or several short
 * tracks: all are of about one size, and one of each `stride` in a row is read, so that all of the
 * tracks are represented. Which one of them does not follow any period of the data.
 */
#ifndef LODE_ANALYSIS_SAMPLE_H
#define LODE_ANALYSIS_SAMPLE_H

#include "analysis/calls/parts/pieces.h"

/* A place to read: a row or, after the number of rows, a piece; and the group it counts in. */
struct lode_sampled {
    uint32_t place;
    uint32_t group;
};

/*
 * Chooses among all rows and pieces; `end_of_item` gives the row after those that are read
 * together. Sets all of pass->sample. LODE_ABSENT if too much cannot be cut. Free *chosen.
 */
lode_status lode_sample_choose(struct lode_sampled **chosen, uint32_t *count, struct lode_pass *pass,
                               const struct lode_pieces *pieces,
                               uint32_t (*end_of_item)(const struct lode_pass *, uint32_t),
                               lode_error *error);

#endif
