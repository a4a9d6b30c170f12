/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From rank 0 to all, down the tree in which the trees of ranks were merged: each rank gets the
 * contexts of its nodes, of nodes that were merged into its tree, and of their ancestors.
 */
#include "base/comm/pack.h"
#include "format/hpcrun/source/source.h"
#include "model/database/description.h"
#include <stdlib.h>

void lode_hpcrun_contexts_free(struct hpcrun_contexts *contexts)
{
    free(contexts->ids);
    free(contexts->above);
    free(contexts->flags);
    *contexts = (struct hpcrun_contexts){0};
}

static bool make_contexts(struct hpcrun_contexts *contexts, uint32_t count)
{
    *contexts = (struct hpcrun_contexts){.count = count,
                                         .ids = calloc((size_t)count + 1, sizeof *contexts->ids),
                                         .above = calloc((size_t)count + 1, sizeof *contexts->above),
                                         .flags = calloc((size_t)count + 1, sizeof *contexts->flags)};
    return contexts->ids && contexts->above && contexts->flags;
}

/* Marks a position and those above it. */
static uint32_t mark(const struct hpcrun_contexts *contexts, uint32_t *marks, uint32_t position)
{
    uint32_t count = 0;
    for (; marks[position] == 0; position = contexts->above[position]) {
        marks[position] = 1;
        count++;
    }
    return count;
}

/* What a rank has: contexts, sites, and where its nodes are. */
struct part {
    struct hpcrun_contexts contexts;
    struct hpcrun_sites sites;
    struct hpcrun_place *places;
    uint32_t count; /* of places */
};

static void free_part(struct part *part)
{
    lode_hpcrun_contexts_free(&part->contexts);
    lode_hpcrun_sites_free(&part->sites);
}

/* Of the source's sites, those of the places and of calls; places get their numbers there. */
static bool restrict_sites(const struct hpcrun_source *source, struct part *part)
{
    uint32_t *marks = calloc((size_t)lode_hpcrun_sites_count(&source->sites) + 1, sizeof *marks);
    if (marks == NULL)
        return false;
    for (uint32_t i = 0; i < part->count; i++)
        if (lode_hpcrun_is_site(&part->places[i]))
            marks[part->places[i].call] = 1;
    bool done = lode_hpcrun_sites_restrict(&source->sites, marks, &part->sites);
    for (uint32_t i = 0; i < part->count && done; i++)
        if (lode_hpcrun_is_site(&part->places[i]))
            part->places[i].call = marks[part->places[i].call] - 1;
    free(marks);
    return done;
}

/* Marks what places and routes name, and what is above; returns the number. */
static uint32_t mark_part(const struct hpcrun_contexts *from, uint32_t *marks, const struct part *part)
{
    uint32_t kept = 1;
    marks[0] = 1;
    for (uint32_t i = 0; i < part->count; i++)
        if (!lode_hpcrun_is_site(&part->places[i]))
            kept += mark(from, marks, part->places[i].full) + mark(from, marks, part->places[i].call);
    for (uint32_t i = 0; i < part->sites.routes.count; i++) {
        const struct hpcrun_site_route *route = lode_hpcrun_site_route(&part->sites, i);
        kept += mark(from, marks, route->final) + mark(from, marks, route->entry);
    }
    return kept;
}

/* Of the source's contexts, those of the part and above, in their order; positions are new. */
static bool restrict_contexts(const struct hpcrun_source *source, struct part *part)
{
    const struct hpcrun_contexts *from = &source->contexts;
    struct hpcrun_contexts *out = &part->contexts;
    uint32_t *marks = calloc((size_t)from->count + 1, sizeof *marks);
    bool done = marks && restrict_sites(source, part) && make_contexts(out, mark_part(from, marks, part));
    for (uint32_t i = 0, next = 0; i < from->count && done; i++) {
        if (marks[i] == 0)
            continue;
        marks[i] = next;
        out->ids[next] = from->ids[i];
        out->above[next] = marks[from->above[i]];
        out->flags[next++] = from->flags[i];
    }
    for (uint32_t i = 0; i < part->count && done; i++)
        if (!lode_hpcrun_is_site(&part->places[i]))
            part->places[i] = (struct hpcrun_place){marks[part->places[i].full], marks[part->places[i].call]};
    if (done)
        lode_hpcrun_sites_move(&part->sites, marks);
    free(marks);
    return done;
}

static bool pack_part(const struct part *part, struct lode_blob *blob)
{
    const struct hpcrun_contexts *contexts = &part->contexts;
    return pack_number(blob, contexts->count) &&
           pack_bytes(blob, contexts->ids, contexts->count * sizeof *contexts->ids) &&
           pack_bytes(blob, contexts->above, contexts->count * sizeof *contexts->above) &&
           pack_bytes(blob, contexts->flags, contexts->count * sizeof *contexts->flags) &&
           pack_bytes(blob, part->places, part->count * sizeof *part->places) &&
           lode_hpcrun_sites_pack(&part->sites, blob);
}

/* What a rank that was merged into this one needs. */
static lode_status hand_down(struct hpcrun_source *source, unsigned level, lode_error *error)
{
    struct hpcrun_branch *branch = &source->branches[level];
    struct part part = {.count = branch->count};
    struct lode_blob blob = {0};
    if (branch->map == NULL)
        return LODE_OK;
    part.places = calloc((size_t)branch->count + 1, sizeof *part.places);
    for (uint32_t i = 0; part.places && i < branch->count; i++)
        part.places[i] = source->places[branch->map[i]];
    bool done = part.places && restrict_contexts(source, &part) && pack_part(&part, &blob);
    lode_status status =
        done ? lode_comm_send_blob(source->comm, source->comm->place.rank + (UINT32_C(1) << level), &blob,
                                   error)
             : lode_fail_memory(error);
    free_part(&part);
    lode_blob_free(&blob);
    free(part.places);
    free(branch->map);
    branch->map = NULL;
    return status;
}

static lode_status take(struct hpcrun_source *source, lode_error *error)
{
    unsigned char *bytes;
    uint64_t size;
    lode_status status =
        lode_comm_receive_blob(source->comm, lode_comm_parent(source->comm), &bytes, &size, error);
    if (status == LODE_OK) {
        const unsigned char *at = bytes;
        uint32_t nodes = source->raw.tree.count, count = (uint32_t)unpack_number(&at);
        source->places = calloc((size_t)nodes + 1, sizeof *source->places);
        if (source->places && make_contexts(&source->contexts, count)) {
            unpack_bytes(&at, source->contexts.ids, count * sizeof *source->contexts.ids);
            unpack_bytes(&at, source->contexts.above, count * sizeof *source->contexts.above);
            unpack_bytes(&at, source->contexts.flags, count * sizeof *source->contexts.flags);
            unpack_bytes(&at, source->places, nodes * sizeof *source->places);
            if (!lode_hpcrun_sites_unpack(&source->sites, &at))
                status = lode_fail_memory(error);
        } else {
            status = lode_fail_memory(error);
        }
    }
    free(bytes);
    return status;
}

/* From handles to ids, on rank 0. */
static void number_contexts(struct hpcrun_source *source, const struct lode_description *sealed)
{
    for (uint32_t i = 0; i < source->contexts.count; i++)
        source->contexts.ids[i] = i == 0 ? 0 : description_id(sealed, source->handles[i]);
    free(source->handles);
    source->handles = NULL;
}

lode_status lode_hpcrun_spread(struct hpcrun_source *source, const struct lode_description *sealed,
                               lode_error *error)
{
    if (source->comm->place.rank == 0)
        number_contexts(source, sealed);
    else
        LODE_TRY(take(source, error));
    source->base.counts.contexts = source->contexts.count - 1;
    for (unsigned level = LODE_COMM_LEVELS; level-- > 0;)
        LODE_TRY(hand_down(source, level, error));
    lode_hpcrun_raw_free(&source->raw);
    struct part own = {.places = source->places, .count = source->own_nodes};
    bool done = restrict_contexts(source, &own);
    lode_hpcrun_contexts_free(&source->contexts);
    lode_hpcrun_sites_free(&source->sites);
    source->contexts = own.contexts;
    source->sites = own.sites;
    LODE_TRY_ALLOC(done, error);
    return LODE_OK;
}
