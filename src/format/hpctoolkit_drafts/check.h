/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checking a database of the big-endian drafts. The metadata is checked by reading it; the rest is here. One thread does
 * it all: databases of the drafts are small.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_CHECK_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_CHECK_H

#include "format/hpctoolkit/check.h"
#include "format/hpctoolkit_drafts/binary.h"

struct drafts_check {
    struct drafts_database *db;
    struct lode_report report;
    bool meta_sound; /* it was read whole: an id that is not there is unknown */
    /* Every block or line lies inside its file and is in order. */
    bool profiles_sound, contexts_sound, traces_sound;
    bool *values, *statistics; /* by metric id: whether it is one of values, or of the summary */
    struct hpct_sum profile_sum, context_sum;
};

/* As struct drafts_layout wants it. */
lode_status lode_drafts_check(const struct drafts_meta *meta, const struct lode_folder *folder,
                              const lode_check_options *options, lode_check_result *result,
                              lode_error *error);

/* A part of a file that something takes. */
struct drafts_extent {
    uint64_t start, end;
    uint32_t index; /* of the thing */
};
/* Finds things that overlap each other, the header, or one of the parts `taken`. Sorts the extents. */
lode_status lode_drafts_check_extents(struct drafts_check *check, enum hpct_file_id file, unsigned rule,
                                      const char *what, struct drafts_extent *extents, size_t count,
                                      const struct drafts_extent taken[2]);

/* Structure. */
lode_status lode_drafts_check_profiles(struct drafts_check *check);
lode_status lode_drafts_check_contexts(struct drafts_check *check);
lode_status lode_drafts_check_traces(struct drafts_check *check);

/* Meaning; each needs the structure of what it reads to be sound. */
lode_status lode_drafts_check_trace_contexts(struct drafts_check *check);
lode_status lode_drafts_check_transpose(struct drafts_check *check);
lode_status lode_drafts_check_scopes(struct drafts_check *check);
lode_status lode_drafts_check_summary(struct drafts_check *check);

#endif
