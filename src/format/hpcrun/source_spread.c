/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From rank 0 to all, down the tree in which the trees of ranks were merged: each rank gets the
 * contexts of its nodes, of nodes that were merged into its tree, and of their ancestors.
 */
#include "base/pack.h"
#include "format/hpcrun/source.h"
#include "model/description.h"
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

/* Of `from`, those of the given places and above, in their order; places become positions there. */
static bool restrict_contexts(const struct hpcrun_contexts *from, struct hpcrun_place *places, uint32_t count,
                              struct hpcrun_contexts *out)
{
    uint32_t *marks = calloc((size_t)from->count + 1, sizeof *marks), kept = 1;
    *out = (struct hpcrun_contexts){0};
    if (marks == NULL)
        return false;
    marks[0] = 1;
    for (uint32_t i = 0; i < count; i++)
        kept += mark(from, marks, places[i].full) + mark(from, marks, places[i].call);
    bool done = make_contexts(out, kept);
    for (uint32_t i = 0, next = 0; i < from->count && done; i++) {
        if (marks[i] == 0)
            continue;
        marks[i] = next;
        out->ids[next] = from->ids[i];
        out->above[next] = marks[from->above[i]];
        out->flags[next++] = from->flags[i];
    }
    for (uint32_t i = 0; i < count && done; i++)
        places[i] = (struct hpcrun_place){marks[places[i].full], marks[places[i].call]};
    free(marks);
    return done;
}

static bool pack_part(const struct hpcrun_contexts *contexts, const struct hpcrun_place *places,
                      uint32_t count, struct lode_blob *blob)
{
    return pack_number(blob, contexts->count) &&
           pack_bytes(blob, contexts->ids, contexts->count * sizeof *contexts->ids) &&
           pack_bytes(blob, contexts->above, contexts->count * sizeof *contexts->above) &&
           pack_bytes(blob, contexts->flags, contexts->count * sizeof *contexts->flags) &&
           pack_bytes(blob, places, count * sizeof *places);
}

/* What a rank that was merged into this one needs. */
static lode_status hand_down(struct hpcrun_source *source, unsigned level, lode_error *error)
{
    struct hpcrun_branch *branch = &source->branches[level];
    struct hpcrun_contexts part = {0};
    struct lode_blob blob = {0};
    if (branch->map == NULL)
        return LODE_OK;
    struct hpcrun_place *places = calloc((size_t)branch->count + 1, sizeof *places);
    for (uint32_t i = 0; places && i < branch->count; i++)
        places[i] = source->places[branch->map[i]];
    bool done = places && restrict_contexts(&source->contexts, places, branch->count, &part) &&
                pack_part(&part, places, branch->count, &blob);
    lode_status status =
        done ? lode_comm_send_blob(source->comm, source->comm->place.rank + (UINT32_C(1) << level), &blob,
                                   error)
             : lode_fail_memory(error);
    lode_hpcrun_contexts_free(&part);
    lode_blob_free(&blob);
    free(places);
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
    struct hpcrun_contexts own;
    if (source->comm->place.rank == 0)
        number_contexts(source, sealed);
    else
        LODE_TRY(take(source, error));
    source->base.counts.contexts = source->contexts.count - 1;
    for (unsigned level = LODE_COMM_LEVELS; level-- > 0;)
        LODE_TRY(hand_down(source, level, error));
    lode_hpcrun_raw_free(&source->raw);
    bool done = restrict_contexts(&source->contexts, source->places, source->own_nodes, &own);
    lode_hpcrun_contexts_free(&source->contexts);
    source->contexts = own;
    LODE_TRY_ALLOC(done, error);
    return LODE_OK;
}
