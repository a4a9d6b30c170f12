/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums by which two files are compared that have the same values in another order.
 *
 * A value v of context c, metric m and profile p contributes C(c) M(m) P(p) v, where v is the
 * number that its bits are, modulo the prime 2^64 - 59. The factors depend on a key, which follows
 * from the hash seed and nobody knows; the ranks of a job have that of rank 0. A sum is thus a
 * polynomial of degree 3 at a random point: for other values it is equal with a probability of at
 * most 3 / (2^64 - 59) (lemma of Schwartz and Zippel). Values with two factors in common need one
 * multiplication each. A few bits of NaNs are not below the prime: then a sum is vague, and values
 * are compared one by one.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_CHECK_SUMS_H
#define LODE_FORMAT_HPCTOOLKIT_CHECK_SUMS_H

#include "base/comm/comm.h"
#include "base/memory/hash.h"
#include <lode/status.h>
#include <stdbool.h>

#define HPCT_PRIME  (UINT64_MAX - 58)
#define HPCT_SQUARE (UINT64_C(59) * 59) /* 2^128, modulo the prime */

struct hpct_key {
    uint64_t words[2];
};

/* Factors of what has numbers below a limit; of others, lode_hpct_factor computes them. */
struct hpct_factors {
    struct hpct_key key;
    uint64_t *contexts, *profiles;
    uint64_t context_count, profile_count;
};

/* A sum of values, which is order-independent. */
struct hpct_sum {
    uint64_t sum, count;
    bool vague;
};

/* Values that have all but one factor in common, before they are multiplied by the others. */
struct hpct_part {
    lode_hash_wide low;
    uint64_t high; /* times 2^128 */
};

enum hpct_factor_kind {
    HPCT_FACTOR_CONTEXT,
    HPCT_FACTOR_METRIC,
    HPCT_FACTOR_PROFILE
};

/* The key of all ranks; `comm` may be NULL. */
lode_status lode_hpct_key_draw(struct hpct_key *key, struct lode_comm *comm, lode_error *error);
uint64_t lode_hpct_factor(const struct hpct_key *key, enum hpct_factor_kind kind, uint32_t number);

lode_status lode_hpct_factors_open(struct hpct_factors *factors, const struct hpct_key *key,
                                   uint64_t contexts, uint64_t profiles, lode_error *error);
void lode_hpct_factors_close(struct hpct_factors *factors);

static inline uint64_t hpct_context_factor(const struct hpct_factors *factors, uint32_t context)
{
    return context < factors->context_count ? factors->contexts[context]
                                            : lode_hpct_factor(&factors->key, HPCT_FACTOR_CONTEXT, context);
}

static inline uint64_t hpct_profile_factor(const struct hpct_factors *factors, uint32_t profile)
{
    return profile < factors->profile_count ? factors->profiles[profile]
                                            : lode_hpct_factor(&factors->key, HPCT_FACTOR_PROFILE, profile);
}

/* Modulo the prime, to any number that is equal; 2^64 is 59. */
static inline uint64_t hpct_fold(lode_hash_wide x)
{
    x = (uint64_t)x + (x >> 64) * 59; /* below 2^71 */
    x = (uint64_t)x + (x >> 64) * 59; /* below 2^64 + 2^13 */
    return (uint64_t)x + (uint64_t)(x >> 64) * 59;
}

static inline void hpct_part_add(struct hpct_part *part, uint64_t factor, uint64_t bits)
{
    part->high += __builtin_add_overflow(part->low, (lode_hash_wide)factor * bits, &part->low);
}

static inline uint64_t hpct_part_total(const struct hpct_part *part)
{
    return hpct_fold((lode_hash_wide)hpct_fold(part->low) + (lode_hash_wide)part->high * HPCT_SQUARE);
}

/* Parts of a block, each times the factor of its group; they are folded once, at the end. */
struct hpct_parts {
    struct hpct_part low, middle, high; /* times 1, 2^64, 2^128 */
    uint64_t count;
};

static inline void hpct_parts_add(struct hpct_parts *to, uint64_t factor, const struct hpct_part *part,
                                  uint64_t count)
{
    hpct_part_add(&to->low, factor, (uint64_t)part->low);
    hpct_part_add(&to->middle, factor, (uint64_t)(part->low >> 64));
    if (part->high)
        hpct_part_add(&to->high, factor, part->high);
    to->count += count;
}

static inline uint64_t hpct_times(uint64_t number, uint64_t factor)
{
    return hpct_fold((lode_hash_wide)number * factor);
}

static inline void hpct_sum_add(struct hpct_sum *sum, uint64_t number, uint64_t count)
{
    sum->sum = hpct_fold((lode_hash_wide)sum->sum + number);
    sum->count += count;
}

/* Sums of parts add up to the sum of the whole, in any order. */
static inline void hpct_sum_merge(struct hpct_sum *to, const struct hpct_sum *from)
{
    hpct_sum_add(to, from->sum, from->count);
    to->vague |= from->vague;
}

/* The sum over all ranks; `comm` may be NULL. */
lode_status lode_hpct_sum_all(struct hpct_sum *sum, struct lode_comm *comm, lode_error *error);

/* Adds the parts of a block times its factor. */
static inline void hpct_sum_add_parts(struct hpct_sum *sum, const struct hpct_parts *parts, uint64_t factor)
{
    uint64_t low = hpct_part_total(&parts->low), middle = hpct_part_total(&parts->middle),
             high = hpct_part_total(&parts->high);
    hpct_sum_add(sum, hpct_times(low, factor), parts->count);
    hpct_sum_add(sum, hpct_times(hpct_times(middle, 59), factor), 0);
    hpct_sum_add(sum, hpct_times(hpct_times(high, HPCT_SQUARE), factor), 0);
}

static inline bool hpct_sums_equal(const struct hpct_sum *a, const struct hpct_sum *b)
{
    return a->sum % HPCT_PRIME == b->sum % HPCT_PRIME && a->count == b->count && !a->vague && !b->vague;
}

#endif
