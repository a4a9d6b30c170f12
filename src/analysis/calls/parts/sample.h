/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which parts of the tracks an estimate reads. A part is a piece of a long track, or several short
 * tracks: all are of about one size, and one of each `stride` in a row is read, so that all of the
 * tracks are represented. Which one of them does not follow any period of the data.
 */
#ifndef LODE_ANALYSIS_SAMPLE_H
#define LODE_ANALYSIS_SAMPLE_H

#include "analysis/calls/parts/pieces.h"

/*
 * Places to read: rows or, after the number of rows, pieces. Each counts in a group; where all are
 * read there are millions, and no groups. Free both.
 */
struct lode_sampled {
    uint32_t *places;
    uint8_t *groups;
    uint32_t count;
};

/*
 * Chooses among all rows and pieces; `end_of_item` gives the row after those that are read
 * together. Sets all of pass->sample. LODE_ABSENT if too much cannot be cut.
 */
lode_status lode_sample_choose(struct lode_sampled *chosen, struct lode_pass *pass,
                               const struct lode_pieces *pieces,
                               uint32_t (*end_of_item)(const struct lode_pass *, uint32_t),
                               lode_error *error);

#endif
