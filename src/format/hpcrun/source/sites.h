/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples inside GPU kernels have no call path. A site is an instruction below the context of a
 * kernel launch; its routes are the call paths that can lead to it. The values of a site are shared
 * out over its routes, separately for each profile.
 */
#ifndef LODE_FORMAT_HPCRUN_SITES_H
#define LODE_FORMAT_HPCRUN_SITES_H

#include "base/memory/blob.h"
#include "format/hpcrun/read/raw.h"

struct hpcrun_site_route {
    uint32_t final;        /* position of the instruction's context */
    uint32_t entry;        /* position of the function that the kernel begins with */
    uint32_t first, count; /* in `calls`, outermost first */
};

struct hpcrun_sites {
    struct lode_array firsts; /* uint32_t by site: its first route; one more ends the last */
    struct lode_array routes; /* struct hpcrun_site_route */
    struct lode_array calls;  /* uint32_t: sites of the call instructions */
};

void lode_hpcrun_sites_init(struct hpcrun_sites *sites);
void lode_hpcrun_sites_free(struct hpcrun_sites *sites);
/* Number of sites. */
uint32_t lode_hpcrun_sites_count(const struct hpcrun_sites *sites);

static inline uint32_t lode_hpcrun_site_first(const struct hpcrun_sites *sites, uint32_t site)
{
    return *LODE_ARRAY_AT(&sites->firsts, uint32_t, site);
}

static inline struct hpcrun_site_route *lode_hpcrun_site_route(const struct hpcrun_sites *sites,
                                                               uint32_t number)
{
    return LODE_ARRAY_AT(&sites->routes, struct hpcrun_site_route, number);
}

/* Replaces positions by those of a table. */
void lode_hpcrun_sites_move(struct hpcrun_sites *sites, const uint32_t *positions);
/*
 * Of `from`, the sites with a mark, in their order, with their routes; and those of their calls,
 * without routes. Marks become the new numbers, from 1. False if out of memory.
 */
bool lode_hpcrun_sites_restrict(const struct hpcrun_sites *from, uint32_t *marks, struct hpcrun_sites *out);
/*
 * Divides 1 among the routes of a site that are possible: by the weights of their last calls and,
 * among routes with the same last call, by those of the calls before. Without weights the shares
 * are equal. `possible` and `shares` are by route of the site, `weights` by site.
 */
void lode_hpcrun_site_share(const struct hpcrun_sites *sites, uint32_t site, const bool *possible,
                            const double *weights, double *shares);
/* For another process; unpacks into empty ones. */
bool lode_hpcrun_sites_pack(const struct hpcrun_sites *sites, struct lode_blob *blob);
bool lode_hpcrun_sites_unpack(struct hpcrun_sites *sites, const unsigned char **at);

#endif
