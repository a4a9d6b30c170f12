/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes of a site are ordered by their calls, the last call first: those that end alike stand together. */
#include "format/hpcrun/sites.h"

struct sharing {
    const struct hpcrun_sites *sites;
    uint32_t first; /* route of the site */
    const bool *possible;
    const double *weights;
    double *shares;
};

/* The call of a route at a depth, counted from the last one; LODE_NO_NUMBER beyond the first. */
static uint32_t call_at(const struct sharing *self, uint32_t number, uint32_t depth)
{
    const struct hpcrun_site_route *route = lode_hpcrun_site_route(self->sites, self->first + number);
    if (depth >= route->count)
        return LODE_NO_NUMBER;
    return *LODE_ARRAY_AT(&self->sites->calls, uint32_t, route->first + route->count - 1 - depth);
}

/* The next route in [from, past) that is possible. */
static uint32_t next_possible(const struct sharing *self, uint32_t from, uint32_t past)
{
    while (from < past && !self->possible[from])
        from++;
    return from;
}

/* The end of the routes that have the same call as the one at `from`. */
static uint32_t end_of_group(const struct sharing *self, uint32_t from, uint32_t past, uint32_t depth)
{
    uint32_t call = call_at(self, from, depth), end = from;
    do
        end = next_possible(self, end + 1, past);
    while (end < past && call_at(self, end, depth) == call);
    return end;
}

static double weight_at(const struct sharing *self, uint32_t number, uint32_t depth)
{
    uint32_t call = call_at(self, number, depth);
    return call == LODE_NO_NUMBER ? 0 : self->weights[call];
}

/* All possible routes in [from, past) have the same last `depth` calls; the first one is possible. */
static void divide(const struct sharing *self, uint32_t from, uint32_t past, uint32_t depth, double share)
{
    double total = 0;
    uint32_t groups = 0;
    if (next_possible(self, from + 1, past) == past || call_at(self, from, depth) == LODE_NO_NUMBER) {
        for (uint32_t i = from; i < past; i = next_possible(self, i + 1, past))
            self->shares[i] = share;
        return;
    }
    for (uint32_t i = from; i < past; i = end_of_group(self, i, past, depth), groups++)
        total += weight_at(self, i, depth);
    for (uint32_t i = from, end; i < past; i = end) {
        end = end_of_group(self, i, past, depth);
        double part = total > 0 ? weight_at(self, i, depth) / total : 1.0 / groups;
        divide(self, i, end, depth + 1, share * part);
    }
}

void lode_hpcrun_site_share(const struct hpcrun_sites *sites, uint32_t site, const bool *possible,
                            const double *weights, double *shares)
{
    struct sharing self = {sites, lode_hpcrun_site_first(sites, site), possible, weights, shares};
    uint32_t count = lode_hpcrun_site_first(sites, site + 1) - self.first;
    for (uint32_t i = 0; i < count; i++)
        shares[i] = 0;
    uint32_t first = next_possible(&self, 0, count);
    if (first < count)
        divide(&self, first, count, 0, 1);
}
