/* SPDX-License-Identifier: BSD-3-Clause */
/* What functions are to rules: by the effect of their calls (kinds.def). */
#include "analysis/diagnose/calls/facts.h"

#include <string.h>

enum call_role lode_diagnose_call_role(lode_activity activity, lode_effect effect)
{
    static const unsigned char roles[LODE_EFFECT_COUNT] = {
        [LODE_EFFECT_TAKE] = ROLE_TAKE,       [LODE_EFFECT_SPIN] = ROLE_TAKE,
        [LODE_EFFECT_RELEASE] = ROLE_DROP,    [LODE_EFFECT_CONDITION] = ROLE_COND,
        [LODE_EFFECT_JOIN] = ROLE_JOIN,       [LODE_EFFECT_REAP] = ROLE_JOIN,
        [LODE_EFFECT_BARRIER] = ROLE_BARRIER, [LODE_EFFECT_ALLOCATE] = ROLE_ALLOC,
        [LODE_EFFECT_COLLECTIVE] = ROLE_ALL,  [LODE_EFFECT_REGION] = ROLE_PARALLEL,
        [LODE_EFFECT_FUTURE] = ROLE_FUTURE,   [LODE_EFFECT_SEMAPHORE] = ROLE_WORD,
        [LODE_EFFECT_WAIT] = ROLE_WORD,       [LODE_EFFECT_ONCE] = ROLE_WORD,
        [LODE_EFFECT_LOAD] = ROLE_LOAD,       [LODE_EFFECT_START_THREAD] = ROLE_SPAWN,
        [LODE_EFFECT_MAP] = ROLE_MAP,         [LODE_EFFECT_START_PROCESS] = ROLE_PROCESS,
        [LODE_EFFECT_THROW] = ROLE_THROW,     [LODE_EFFECT_PREPARE] = ROLE_PREPARE,
    };
    /* Barriers of OpenMP are part of its regions. */
    if (effect == LODE_EFFECT_BARRIER && activity != LODE_ACTIVITY_LOCK)
        return ROLE_NONE;
    return (enum call_role)roles[effect];
}

bool lode_diagnose_call_is_body(const char *name)
{
    static const char *const patterns[] = {"*._omp_fn.*", "*.omp_outlined*", "*__omp_outlined*",
                                           "*_omp_par_region*"};
    struct lode_text whole = {name ? name : "", name ? strnlen(name, LODE_NAME_COMPARED) : 0};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (lode_activity_matches(patterns[i], whole))
            return true;
    return false;
}
