/* SPDX-License-Identifier: BSD-3-Clause */
/* Sites: samples inside GPU kernels, and the contexts of the routes to them. */
#include "base/compare.h"
#include "format/hpcrun/source/expand.h"

static uint32_t find_site(struct hpcrun_expanding *self, uint32_t root, uint32_t question, uint64_t offset,
                          bool *added)
{
    struct hpcrun_site_key key = {.offset = offset, .root = root, .question = question};
    return lode_interner_add(&self->site_keys, &key, added);
}

bool lode_hpcrun_expand_site(struct hpcrun_expanding *self, uint32_t parent, uint32_t frame,
                             struct hpcrun_place *out)
{
    const struct hpcrun_raw_frame *from = lode_hpcrun_raw_frame(self->raw, frame);
    bool added;
    *out = (struct hpcrun_place){.full = LODE_NO_NUMBER};
    out->call = find_site(self, parent, self->questions[from->module], from->offset, &added);
    if (out->call == LODE_NO_NUMBER || !added)
        return out->call != LODE_NO_NUMBER;
    uint32_t *list = lode_array_push(&self->site_lists);
    if (list)
        *list = self->routes[frame];
    return list != NULL;
}

/* The contexts of one route: the calls, then the site itself. */
static bool expand_route(struct hpcrun_expanding *self, const struct hpcrun_site_key *key, uint32_t chain,
                         const struct hpcrun_route *from)
{
    struct hpcrun_sites *sites = &self->source->sites;
    struct hpcrun_site_route *route = lode_array_push(&sites->routes);
    struct hpcrun_place place = {.full = key->root};
    if (route == NULL)
        return false;
    *route = (struct hpcrun_site_route){.first = (uint32_t)sites->calls.count, .count = from->count};
    for (uint32_t i = 0; i < from->count; i++) {
        struct hpcrun_route_call call =
            *LODE_ARRAY_AT(&self->scopes.route_calls, struct hpcrun_route_call, from->first + i);
        uint32_t *site = lode_array_push(&sites->calls);
        if (site == NULL)
            return false;
        *site = find_site(self, key->root, key->question, call.offset, NULL);
        if (*site == LODE_NO_NUMBER ||
            !lode_hpcrun_expand_point(self, place.full, key->question, call.offset, call.chain, &place))
            return false;
    }
    if (!lode_hpcrun_expand_point(self, place.full, key->question, key->offset, chain, &place))
        return false;
    route->final = place.full;
    route->entry = lode_content_tree_child(&self->tree, key->root, from->entry);
    return route->entry != 0;
}

/* The chain of a site's offset. */
static uint32_t chain_of(const struct hpcrun_expanding *self, const struct hpcrun_site_key *key)
{
    const struct hpcrun_question *question =
        LODE_ARRAY_AT(&self->scopes.questions, struct hpcrun_question, key->question);
    uint32_t low = 0, high = question->count;
    LODE_BISECT(low, high, question->offsets[middle] < key->offset);
    return question->chains[low];
}

static bool begin_site(struct hpcrun_sites *sites)
{
    uint32_t *first = lode_array_push(&sites->firsts);
    if (first)
        *first = (uint32_t)sites->routes.count;
    return first != NULL;
}

/* Sites with routes come first; those that are only calls on a route have none. */
lode_status lode_hpcrun_expand_routes(struct hpcrun_expanding *self)
{
    struct hpcrun_sites *sites = &self->source->sites;
    bool done = true;
    for (uint32_t i = 0; i < self->site_lists.count && done; i++) {
        struct hpcrun_site_key key = *LODE_ARRAY_AT(&self->site_keys.items, struct hpcrun_site_key, i);
        struct hpcrun_route_list list = *LODE_ARRAY_AT(&self->scopes.route_lists, struct hpcrun_route_list,
                                                       *LODE_ARRAY_AT(&self->site_lists, uint32_t, i));
        uint32_t chain = chain_of(self, &key);
        done = begin_site(sites);
        for (uint32_t k = 0; k < list.count && done; k++)
            done = expand_route(self, &key, chain,
                                LODE_ARRAY_AT(&self->scopes.routes, struct hpcrun_route, list.first + k));
    }
    for (size_t i = sites->firsts.count; i <= self->site_keys.items.count && done; i++)
        done = begin_site(sites);
    LODE_TRY_ALLOC(done, self->error);
    return LODE_OK;
}
