/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes of a site are ordered from their last calls: those that end alike stand together. */
#include "format/hpcrun/scopes/callgraph.h"
#include "format/hpcrun/source/sites.h"

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

/* Routes that have the same last calls, as many as the number of the level, and are divided. */
struct level {
    uint32_t past;
    uint32_t groups; /* by the call before */
    double share;
    double total; /* weight of the groups */
};

/* Routes from `from` get a share: false if they are now divided further, at `level`. */
static bool settle(const struct sharing *self, uint32_t from, uint32_t depth, struct level *level)
{
    uint32_t past = level->past;
    if (next_possible(self, from + 1, past) == past || call_at(self, from, depth) == LODE_NO_NUMBER) {
        for (uint32_t i = from; i < past; i = next_possible(self, i + 1, past))
            self->shares[i] = level->share;
        return true;
    }
    level->total = 0;
    level->groups = 0;
    for (uint32_t i = from; i < past; i = end_of_group(self, i, past, depth), level->groups++)
        level->total += weight_at(self, i, depth);
    return false;
}

static void divide(const struct sharing *self, uint32_t first, uint32_t past)
{
    struct level levels[HPCRUN_CALLS_MOST + 2];
    uint32_t depth = 0;
    levels[0] = (struct level){.past = past, .share = 1};
    if (settle(self, first, 0, &levels[0]))
        return;
    for (uint32_t i = first; i < past;) {
        while (i >= levels[depth].past)
            depth--;
        const struct level *above = &levels[depth];
        double weight = weight_at(self, i, depth),
               part = above->total > 0 ? weight / above->total : 1.0 / above->groups;
        struct level *level = &levels[depth + 1];
        *level =
            (struct level){.past = end_of_group(self, i, above->past, depth), .share = above->share * part};
        if (settle(self, i, depth + 1, level))
            i = level->past;
        else
            depth++;
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
        divide(&self, first, count);
}
