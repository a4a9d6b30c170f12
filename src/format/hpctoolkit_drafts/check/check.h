/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks databases of the big-endian drafts, but for the metadata. One thread: they are small. */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_CHECK_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_CHECK_H

#include "base/memory/hash.h"
#include "format/hpctoolkit/check/check.h"
#include "format/hpctoolkit_drafts/binary.h"

/*
 * An order-independent sum of values: equal for the same values, and for others with a probability
 * of about 2 to the -128. It includes the hash seed, so that nobody can forge it.
 */
struct drafts_sum {
    uint64_t low, high, count;
};

static inline void drafts_sum_add(struct drafts_sum *sum, uint32_t context, uint32_t metric, uint32_t profile,
                                  uint64_t bits)
{
    uint64_t key = ((uint64_t)context << 32 | profile) ^ lode_hash_seed.bytes[1];
    uint64_t x = (bits ^ lode_hash_seed.bytes[0] ^ key * UINT64_C(0x9e3779b97f4a7c15)) +
                 metric * UINT64_C(0xd1b54a32d192ed03);
    x = (x ^ x >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
    uint64_t y = ((x ^ x >> 29) + key) * UINT64_C(0x94d049bb133111eb);
    sum->low += x ^ x >> 31;
    sum->high += y ^ y >> 30;
    sum->count++;
}

/* Sums of parts add up to the sum of the whole, in any order. */
static inline void drafts_sum_merge(struct drafts_sum *to, const struct drafts_sum *from)
{
    to->low += from->low;
    to->high += from->high;
    to->count += from->count;
}

struct drafts_check {
    struct drafts_database *db;
    struct lode_report report;
    bool meta_sound; /* it is complete: other ids are unknown */
    /* All blocks or lines are inside their file and in order. */
    bool profiles_sound, contexts_sound, traces_sound;
    bool *values, *statistics; /* by metric id: valid in profiles, or in the summary */
    struct drafts_sum profile_sum, context_sum;
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
