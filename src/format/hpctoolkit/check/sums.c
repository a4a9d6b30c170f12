/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpctoolkit/check/sums.h"

#include "base/error.h"
#include <stdlib.h>

lode_status lode_hpct_key_draw(struct hpct_key *key, struct lode_comm *comm, lode_error *error)
{
    for (uint64_t i = 0; i < 2; i++)
        key->words[i] = lode_hash_bytes(&i, sizeof i);
    return comm ? lode_comm_broadcast(comm, key->words, sizeof key->words, error) : LODE_OK;
}

uint64_t lode_hpct_factor(const struct hpct_key *key, enum hpct_factor_kind kind, uint32_t number)
{
    const uint32_t hashed[] = {(uint32_t)kind, number};
    return lode_hash_keyed(key->words, hashed, sizeof hashed);
}

static uint64_t *all_factors(const struct hpct_key *key, enum hpct_factor_kind kind, uint64_t count)
{
    uint64_t *factors = malloc((size_t)(count + 1) * sizeof *factors);
    for (uint64_t i = 0; factors && i < count; i++)
        factors[i] = lode_hpct_factor(key, kind, (uint32_t)i);
    return factors;
}

lode_status lode_hpct_factors_open(struct hpct_factors *factors, const struct hpct_key *key,
                                   uint64_t contexts, uint64_t profiles, lode_error *error)
{
    *factors = (struct hpct_factors){.key = *key,
                                     .context_count = contexts,
                                     .profile_count = profiles,
                                     .contexts = all_factors(key, HPCT_FACTOR_CONTEXT, contexts),
                                     .profiles = all_factors(key, HPCT_FACTOR_PROFILE, profiles)};
    return factors->contexts && factors->profiles ? LODE_OK : lode_fail_memory(error);
}

/* Sums of halves of numbers do not overflow. */
lode_status lode_hpct_sum_all(struct hpct_sum *sum, struct lode_comm *comm, lode_error *error)
{
    uint64_t numbers[] = {(uint32_t)sum->sum, sum->sum >> 32, sum->count, sum->vague};
    if (comm == NULL)
        return LODE_OK;
    LODE_TRY(lode_comm_allreduce(comm, numbers, 4, LODE_COMM_SUM, error));
    *sum = (struct hpct_sum){.sum = hpct_fold(((lode_hash_wide)numbers[1] << 32) + numbers[0]),
                             .count = numbers[2],
                             .vague = numbers[3] > 0};
    return LODE_OK;
}

void lode_hpct_factors_close(struct hpct_factors *factors)
{
    free(factors->contexts);
    free(factors->profiles);
}
