/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/source/sites.h"
#include "base/comm/pack.h"

void lode_hpcrun_sites_init(struct hpcrun_sites *sites)
{
    lode_array_init(&sites->firsts, sizeof(uint32_t), UINT32_MAX - 1);
    lode_array_init(&sites->routes, sizeof(struct hpcrun_site_route), UINT32_MAX - 1);
    lode_array_init(&sites->calls, sizeof(uint32_t), UINT32_MAX - 1);
}

void lode_hpcrun_sites_free(struct hpcrun_sites *sites)
{
    lode_array_free(&sites->firsts);
    lode_array_free(&sites->routes);
    lode_array_free(&sites->calls);
}

uint32_t lode_hpcrun_sites_count(const struct hpcrun_sites *sites)
{
    return sites->firsts.count > 0 ? (uint32_t)sites->firsts.count - 1 : 0;
}

static bool add_number(struct lode_array *numbers, uint32_t number)
{
    uint32_t *slot = lode_array_push(numbers);
    if (slot)
        *slot = number;
    return slot != NULL;
}

void lode_hpcrun_sites_move(struct hpcrun_sites *sites, const uint32_t *positions)
{
    for (uint32_t i = 0; i < sites->routes.count; i++) {
        struct hpcrun_site_route *route = lode_hpcrun_site_route(sites, i);
        route->final = positions[route->final];
        route->entry = positions[route->entry];
    }
}

enum {
    WANTED = 1, /* with its routes */
    CALLED = 2
};

/* Marks the sites of calls that lead to wanted ones. */
static void mark_calls(const struct hpcrun_sites *from, uint32_t *marks)
{
    uint32_t count = lode_hpcrun_sites_count(from);
    for (uint32_t site = 0; site < count; site++) {
        if (marks[site] != WANTED)
            continue;
        for (uint32_t i = lode_hpcrun_site_first(from, site); i < lode_hpcrun_site_first(from, site + 1);
             i++) {
            const struct hpcrun_site_route *route = lode_hpcrun_site_route(from, i);
            for (uint32_t k = 0; k < route->count; k++) {
                uint32_t *mark = &marks[*LODE_ARRAY_AT(&from->calls, uint32_t, route->first + k)];
                *mark = *mark == WANTED ? WANTED : CALLED;
            }
        }
    }
}

static bool copy_routes(const struct hpcrun_sites *from, uint32_t site, struct hpcrun_sites *out)
{
    for (uint32_t i = lode_hpcrun_site_first(from, site); i < lode_hpcrun_site_first(from, site + 1); i++) {
        struct hpcrun_site_route *route = lode_array_push(&out->routes);
        if (route == NULL)
            return false;
        *route = *lode_hpcrun_site_route(from, i);
        uint32_t first = (uint32_t)out->calls.count;
        for (uint32_t k = 0; k < route->count; k++)
            if (!add_number(&out->calls, *LODE_ARRAY_AT(&from->calls, uint32_t, route->first + k)))
                return false;
        route->first = first;
    }
    return true;
}

bool lode_hpcrun_sites_restrict(const struct hpcrun_sites *from, uint32_t *marks, struct hpcrun_sites *out)
{
    uint32_t count = lode_hpcrun_sites_count(from), next = 0;
    lode_hpcrun_sites_init(out);
    if (count == 0)
        return true;
    mark_calls(from, marks);
    for (uint32_t site = 0; site < count; site++) {
        if (marks[site] == 0)
            continue;
        if (!add_number(&out->firsts, (uint32_t)out->routes.count) ||
            (marks[site] == WANTED && !copy_routes(from, site, out)))
            return false;
        marks[site] = ++next;
    }
    for (size_t i = 0; i < out->calls.count; i++) {
        uint32_t *call = LODE_ARRAY_AT(&out->calls, uint32_t, i);
        *call = marks[*call] - 1;
    }
    return add_number(&out->firsts, (uint32_t)out->routes.count);
}

static bool pack_array(const struct lode_array *array, struct lode_blob *blob)
{
    return pack_number(blob, array->count) && pack_bytes(blob, array->items, array->count * array->item_size);
}

static bool unpack_array(struct lode_array *array, const unsigned char **at)
{
    size_t count = unpack_number(at);
    for (size_t i = 0; i < count; i++) {
        void *item = lode_array_push(array);
        if (item == NULL)
            return false;
        unpack_bytes(at, item, array->item_size);
    }
    return true;
}

bool lode_hpcrun_sites_pack(const struct hpcrun_sites *sites, struct lode_blob *blob)
{
    return pack_array(&sites->firsts, blob) && pack_array(&sites->routes, blob) &&
           pack_array(&sites->calls, blob);
}

bool lode_hpcrun_sites_unpack(struct hpcrun_sites *sites, const unsigned char **at)
{
    lode_hpcrun_sites_init(sites);
    return unpack_array(&sites->firsts, at) && unpack_array(&sites->routes, at) &&
           unpack_array(&sites->calls, at);
}
