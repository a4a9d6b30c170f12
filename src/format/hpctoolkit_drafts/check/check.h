/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks databases of the big-endian drafts, but for the metadata. One thread: they are small. */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_CHECK_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_CHECK_H

#include "format/hpctoolkit/check/check.h"
#include "format/hpctoolkit_drafts/binary.h"

struct drafts_check {
    struct drafts_database *db;
    struct lode_report report;
    bool meta_sound; /* it is complete: other ids are unknown */
    /* All blocks or lines are inside their file and in order. */
    bool profiles_sound, contexts_sound, traces_sound;
    bool *values, *statistics; /* by metric id: valid in profiles, or in the summary */
    struct hpct_sum profile_sum, context_sum;
};

/* Checks a database; for struct drafts_layout. */
lode_status lode_drafts_check(const struct drafts_meta *meta, const struct lode_folder *folder,
                              const lode_check_options *options, lode_check_result *result,
                              lode_error *error);

/* A byte range of a file in use. */
struct drafts_extent {
    uint64_t start, end;
    uint32_t index; /* of its owner */
};
/* Finds overlaps of extents, with each other, the header, or the ranges `taken`. Sorts them. */
lode_status lode_drafts_check_extents(struct drafts_check *check, enum hpct_file_id file, unsigned rule,
                                      const char *what, struct drafts_extent *extents, size_t count,
                                      const struct drafts_extent taken[2]);

/* Structure. */
lode_status lode_drafts_check_profiles(struct drafts_check *check);
lode_status lode_drafts_check_contexts(struct drafts_check *check);
lode_status lode_drafts_check_traces(struct drafts_check *check);

/* Consistency; each requires that the structure of its input is valid. */
lode_status lode_drafts_check_trace_contexts(struct drafts_check *check);
lode_status lode_drafts_check_transpose(struct drafts_check *check);
lode_status lode_drafts_check_scopes(struct drafts_check *check);
lode_status lode_drafts_check_summary(struct drafts_check *check);

#endif
