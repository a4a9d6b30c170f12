/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers findings of tracks that are read by many threads, and passes them on in order. */
#ifndef LODE_ANALYSIS_FINDING_LIST_H
#define LODE_ANALYSIS_FINDING_LIST_H

#include "base/memory/array.h"
#include "base/memory/blob.h"
#include "model/recording/recording.h"

/* Limit per rule and track, so that damage cannot exhaust memory. */
#define LODE_KEPT_FINDINGS 100

/* Findings of one track, or of opening one recording. */
struct lode_finding_list {
    struct lode_array items; /* of struct listed_finding * */
};

void lode_finding_list_init(struct lode_finding_list *kept);
void lode_finding_list_free(struct lode_finding_list *kept);
/* LODE_ERR_CANCELLED if the callback cancels. */
lode_status lode_finding_list_pass_on(const struct lode_finding_list *kept, lode_finding_fn on_finding,
                                      void *user, lode_error *error);

/* Appends them to the blob; false if out of memory. */
bool lode_finding_list_pack(const struct lode_finding_list *kept, struct lode_blob *blob);
/* Like lode_finding_list_pass_on, for any number of contiguous packed lists. */
lode_status lode_finding_list_pass_packed(const unsigned char *bytes, size_t size, lode_finding_fn on_finding,
                                          void *user, lode_error *error);

/* Collects the findings of a worker's current track. All zero: none yet. */
struct lode_finding_buffer {
    struct lode_finding_list *kept;
    struct lode_finding_list_count {
        const char *rule;
        uint32_t count;
    } * seen; /* rules that occurred, which are few */
    size_t seen_count, room;
    bool failed; /* out of memory */
};

void lode_finding_buffer_free(struct lode_finding_buffer *buffer);
/* Redirects findings to `kept`. */
void lode_finding_buffer_begin(struct lode_finding_buffer *buffer, struct lode_finding_list *kept);
/* A lode_finding_fn whose user is a struct lode_finding_buffer. */
int lode_finding_buffer_take(void *user, const lode_finding *finding);

#endif
