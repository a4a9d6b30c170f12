/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of sites in a profile, shared out over the routes that are possible in it. */
#ifndef LODE_FORMAT_HPCRUN_SOURCE_SHARE_H
#define LODE_FORMAT_HPCRUN_SOURCE_SHARE_H

#include "format/hpcrun/source/source.h"

/* What a profile is made in. Between profiles, all weights are 0. */
struct hpcrun_sharing {
    struct lode_array rows;     /* struct hpcrun_row: the values; nodes are sites */
    struct lode_array shared;   /* struct hpcrun_row: the result; nodes are positions */
    struct lode_array launches; /* struct hpcrun_launch */
    struct lode_map launch_of;  /* by position of the function that a kernel begins with */
    double *weights;            /* by site */
    bool *possible;             /* by route of a site, as the next two */
    double *scales, *shares;
};

bool lode_hpcrun_sharing_open(struct hpcrun_sharing *sharing, const struct hpcrun_source *source);
void lode_hpcrun_sharing_close(struct hpcrun_sharing *sharing);
/*
 * Makes `shared` of `rows`, which it empties. `values` are those of the profile that are at
 * contexts: they tell which kernels it launched. False if out of memory.
 */
bool lode_hpcrun_share(const struct hpcrun_source *source, struct hpcrun_sharing *sharing,
                       const struct hpcrun_row *values, uint64_t count);

#endif
