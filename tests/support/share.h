/* SPDX-License-Identifier: BSD-3-Clause */
/* Which part of a long list of cases a run covers. */
#ifndef LODE_TESTS_SHARE_H
#define LODE_TESTS_SHARE_H

#include "unit.h"
#include <stdbool.h>
#include <stdlib.h>

/*
 * LODE_SHARE=K/N in the environment selects the K-th of N parts; without it, a run covers all
 * cases. The parts are disjoint, the same on every machine, and together they are all cases.
 */
struct share {
    unsigned part, parts; /* part < parts */
};

static inline struct share share_from_environment(void)
{
    struct share share = {0, 1};
    const char *text = getenv("LODE_SHARE");
    if (text == NULL || text[0] == '\0')
        return share;
    char *slash = NULL, *end = NULL;
    unsigned long part = strtoul(text, &slash, 10);
    unsigned long parts = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    if (part == 0 || part > parts || parts > UINT32_MAX || *end != '\0')
        fail_msg("LODE_SHARE is not K/N: %s", text);
    share = (struct share){(unsigned)part - 1, (unsigned)parts};
    print_message("# part %lu of %lu of the cases\n", part, parts);
    return share;
}

/* Numbers are mixed first: neighbours and equal bits of bytes spread over all parts. */
static inline bool share_has(struct share share, uint64_t number)
{
    return (number * UINT64_C(0x9e3779b97f4a7c15) >> 32) % share.parts == share.part;
}

#endif
