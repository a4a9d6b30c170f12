/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends context ids from rank 0 to the ranks that have nodes for them, down the merge tree. */
#include "base/error.h"
#include "transform/build/build.h"
#include <stdlib.h>

/* The ids of the nodes of a rank that was merged into this one. */
static lode_status hand_down(struct lode_build *build, unsigned level, lode_error *error)
{
    struct lode_build_branch *branch = &build->branches[level];
    uint32_t to = build->comm->place.rank + (UINT32_C(1) << level);
    if (branch->map == NULL)
        return LODE_OK;
    for (uint32_t i = 0; i < branch->count; i++)
        branch->map[i] = build->final[branch->map[i]];
    LODE_TRY(lode_comm_send(build->comm, to, branch->map, branch->count * sizeof *branch->map, error));
    free(branch->map);
    branch->map = NULL;
    return LODE_OK;
}

static lode_status pass_ids(struct lode_build *build, lode_error *error)
{
    uint32_t rank = build->comm->place.rank, count = build->tree.count;
    if (rank > 0) {
        build->final = calloc(count, sizeof *build->final);
        if (build->final == NULL)
            return lode_fail_memory(error);
        LODE_TRY(lode_comm_receive(build->comm, rank & (rank - 1), build->final, count * sizeof *build->final,
                                   error));
    }
    for (unsigned level = LODE_COMM_LEVELS; level-- > 0;)
        LODE_TRY(hand_down(build, level, error));
    return LODE_OK;
}

/* Puts the rank's own nodes into the order of their ids; `place_of` is by node. */
static void order_nodes(struct lode_build *build, uint32_t id_count, uint32_t *node_at, uint32_t *place_of)
{
    for (uint32_t i = 0; i < build->own_nodes; i++)
        if (build->final[i] != LODE_NONE)
            node_at[build->final[i]] = i + 1;
    for (uint32_t id = 0; id < id_count; id++) {
        if (node_at[id] == 0)
            continue;
        uint32_t node = node_at[id] - 1;
        place_of[node] = build->place_count;
        build->ids[build->place_count] = id;
        /* Parents have smaller ids. */
        build->above[build->place_count++] = place_of[lode_tree_node(&build->tree, node)->parent];
    }
}

static lode_status find_places(struct lode_build *build, uint32_t id_count, lode_error *error)
{
    uint32_t *node_at = calloc(id_count, sizeof *node_at);
    uint32_t *place_of = calloc(build->own_nodes, sizeof *place_of);
    build->ids = calloc(build->own_nodes, sizeof *build->ids);
    build->above = calloc(build->own_nodes, sizeof *build->above);
    lode_status status = LODE_OK;
    if (node_at && place_of && build->ids && build->above) {
        order_nodes(build, id_count, node_at, place_of);
        for (unsigned worker = 0; worker < build->threads; worker++)
            for (uint32_t i = 0; i < build->node_counts[worker]; i++)
                build->nodes[worker][i] = place_of[build->nodes[worker][i]];
    } else {
        status = lode_fail_memory(error);
    }
    free(node_at);
    free(place_of);
    return status;
}

lode_status lode_build_spread(struct lode_build *build, uint32_t id_count, lode_error *error)
{
    LODE_TRY(pass_ids(build, error));
    LODE_TRY(find_places(build, id_count, error));
    lode_content_tree_close(&build->tree);
    lode_frames_free(&build->frames);
    free(build->final);
    build->final = NULL;
    return LODE_OK;
}
