/* SPDX-License-Identifier: BSD-3-Clause */
/* Structure and scopes of profiles without a defect, in one pass. */
#ifndef LODE_FORMAT_HPCTOOLKIT_CHECK_DENSE_H
#define LODE_FORMAT_HPCTOOLKIT_CHECK_DENSE_H

#include "format/hpctoolkit/check/check.h"

struct lode_hpct_dense;

/* What a pass over a profile without a defect of its structure found. */
struct hpct_dense_result {
    struct hpct_parts parts; /* of its groups */
    uint64_t unlisted_values;
    bool adds_up; /* the check of scopes would find nothing */
};

/* `check->meta_sound` and `check->factors` must be set. */
lode_status lode_hpct_dense_open(const struct hpct_check *check, struct lode_hpct_dense **dense);
void lode_hpct_dense_close(struct lode_hpct_dense *dense);

/*
 * False if the profile has to be read by other passes. `block` is inside its file, no summary's.
 * Each worker reads by one thread at a time.
 */
bool lode_hpct_dense_read(struct lode_hpct_dense *dense, unsigned worker, const lode_block *block,
                          struct hpct_dense_result *result);

#endif
