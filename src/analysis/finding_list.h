/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of tracks that are read on many threads: kept, and passed on in one order. */
#ifndef LODE_ANALYSIS_FINDING_LIST_H
#define LODE_ANALYSIS_FINDING_LIST_H

#include "base/array.h"
#include "base/blob.h"
#include "model/recording.h"

/* Findings of one rule that are kept of one track. The rest is not, so that damage cannot fill the memory. */
#define LODE_KEPT_FINDINGS 100

/* Those of one track, or of opening one recording. */
struct lode_finding_list {
    struct lode_array items; /* of struct listed_finding * */
};

void lode_finding_list_init(struct lode_finding_list *kept);
void lode_finding_list_free(struct lode_finding_list *kept);
/* LODE_ERR_CANCELLED if the callback says so. */
lode_status lode_finding_list_pass_on(const struct lode_finding_list *kept, lode_finding_fn on_finding,
                                      void *user, lode_error *error);

/* Puts them behind what is there; false if there is no memory. */
bool lode_finding_list_pack(const struct lode_finding_list *kept, struct lode_blob *blob);
/* As lode_finding_list_pass_on, for any number that were packed one behind the other. */
lode_status lode_finding_list_pass_packed(const unsigned char *bytes, size_t size, lode_finding_fn on_finding,
                                          void *user, lode_error *error);

/* Where the findings of the track go that a worker is at. All zero: none yet. */
struct lode_finding_buffer {
    struct lode_finding_list *kept;
    struct lode_finding_list_count {
        const char *rule;
        uint32_t count;
    } * seen; /* rules that were met, which are few */
    size_t seen_count, room;
    bool failed; /* there was no memory */
};

void lode_finding_buffer_free(struct lode_finding_buffer *buffer);
/* From now on findings go to `kept`. */
void lode_finding_buffer_begin(struct lode_finding_buffer *buffer, struct lode_finding_list *kept);
/* A lode_finding_fn whose user is a struct lode_finding_buffer. */
int lode_finding_buffer_take(void *user, const lode_finding *finding);

#endif
