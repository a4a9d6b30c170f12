/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of tracks that are read on many threads: kept, and passed on in one order. */
#ifndef LODE_ANALYSIS_KEPT_H
#define LODE_ANALYSIS_KEPT_H

#include "base/array.h"
#include "base/blob.h"
#include "model/recording.h"

/* Findings of one rule that are kept of one track. The rest is not, so that damage cannot fill the memory. */
#define LODE_KEPT_FINDINGS 100

/* Those of one track, or of opening one recording. */
struct lode_kept {
    struct lode_array items; /* of struct kept_finding * */
};

void lode_kept_init(struct lode_kept *kept);
void lode_kept_free(struct lode_kept *kept);
/* LODE_ERR_CANCELLED if the callback says so. */
lode_status lode_kept_pass_on(const struct lode_kept *kept, lode_finding_fn on_finding, void *user,
                              lode_error *error);

/* Puts them behind what is there; false if there is no memory. */
bool lode_kept_pack(const struct lode_kept *kept, struct lode_blob *blob);
/* As lode_kept_pass_on, for any number that were packed one behind the other. */
lode_status lode_kept_pass_packed(const unsigned char *bytes, size_t size, lode_finding_fn on_finding,
                                  void *user, lode_error *error);

/* Where the findings of the track go that a worker is at. All zero: none yet. */
struct lode_keeper {
    struct lode_kept *kept;
    struct lode_kept_count {
        const char *rule;
        uint32_t count;
    } * seen; /* rules that were met, which are few */
    size_t seen_count, room;
    bool failed; /* there was no memory */
};

void lode_keeper_free(struct lode_keeper *keeper);
/* From now on findings go to `kept`. */
void lode_keeper_begin(struct lode_keeper *keeper, struct lode_kept *kept);
/* A lode_finding_fn whose user is a struct lode_keeper. */
int lode_keeper_take(void *user, const lode_finding *finding);

#endif
