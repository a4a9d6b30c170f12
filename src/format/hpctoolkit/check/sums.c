/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpctoolkit/check/sums.h"

#include "base/error.h"
#include <stdlib.h>

uint64_t lode_hpct_factor(enum hpct_factor_kind kind, uint32_t number)
{
    const uint32_t key[] = {(uint32_t)kind, number};
    return lode_hash_bytes(key, sizeof key);
}

static uint64_t *all_factors(enum hpct_factor_kind kind, uint64_t count)
{
    uint64_t *factors = malloc((size_t)(count + 1) * sizeof *factors);
    for (uint64_t i = 0; factors && i < count; i++)
        factors[i] = lode_hpct_factor(kind, (uint32_t)i);
    return factors;
}

lode_status lode_hpct_factors_open(struct hpct_factors *factors, uint64_t contexts, uint64_t profiles,
                                   lode_error *error)
{
    *factors = (struct hpct_factors){.context_count = contexts,
                                     .profile_count = profiles,
                                     .contexts = all_factors(HPCT_FACTOR_CONTEXT, contexts),
                                     .profiles = all_factors(HPCT_FACTOR_PROFILE, profiles)};
    return factors->contexts && factors->profiles ? LODE_OK : lode_fail_memory(error);
}

void lode_hpct_factors_close(struct hpct_factors *factors)
{
    free(factors->contexts);
    free(factors->profiles);
}
