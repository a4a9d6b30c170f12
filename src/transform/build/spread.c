/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends context ids from rank 0 to the ranks that have nodes for them. */
#include "base/error.h"
#include "transform/build/build.h"
#include <stdlib.h>
#include <string.h>

static size_t size_of_id(const uint8_t *answer)
{
    (void)answer;
    return sizeof(uint32_t);
}

/* On rank 0: the ids of all but the first nodes, by number. */
static bool pack_ids(const struct lode_build *build, struct lode_blob *blob)
{
    uint32_t count = build->ranks.total - LODE_BUILD_FIRST;
    if (!lode_blob_prepare(blob, count * sizeof(uint32_t) + 1))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = build->final[build->node_of[LODE_BUILD_FIRST + i]];
        memcpy(blob->bytes + i * sizeof id, &id, sizeof id);
    }
    return true;
}

/* From rank 0 to the ranks that have nodes. */
static lode_status pass_ids(struct lode_build *build, lode_error *error)
{
    uint32_t first[LODE_BUILD_FIRST];
    struct lode_blob blob = {0};
    uint8_t *answers = NULL;
    bool is_first = build->comm->place.rank == 0;
    if (build->comm->place.size == 1)
        return LODE_OK;
    if (is_first)
        memcpy(first, build->final, sizeof first);
    LODE_TRY(lode_comm_broadcast(build->comm, first, sizeof first, error));
    lode_status status = !is_first || pack_ids(build, &blob) ? LODE_OK : lode_fail_memory(error);
    if (status == LODE_OK)
        status = lode_rank_trees_answer(&build->ranks, &blob, size_of_id, &answers, error);
    lode_blob_free(&blob);
    free(build->final);
    build->final = calloc(build->tree.count, sizeof *build->final);
    if (status == LODE_OK && build->final == NULL)
        status = lode_fail_memory(error);
    if (status == LODE_OK)
        memcpy(build->final, first, sizeof first);
    for (uint32_t i = 0; i < build->ranks.count && status == LODE_OK; i++)
        memcpy(&build->final[build->ranks.order[i]], answers + i * sizeof(uint32_t), sizeof(uint32_t));
    free(answers);
    return status;
}

/* Puts the rank's own nodes into the order of their ids; `place_of` is by node. */
static void order_nodes(struct lode_build *build, uint32_t id_count, uint32_t *node_at, uint32_t *place_of)
{
    for (uint32_t i = 0; i < build->tree.count; i++)
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
    uint32_t *place_of = calloc(build->tree.count, sizeof *place_of);
    build->ids = calloc(build->tree.count, sizeof *build->ids);
    build->above = calloc(build->tree.count, sizeof *build->above);
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
    lode_content_tree_close(&build->all);
    lode_rank_trees_free(&build->ranks);
    free(build->node_of);
    build->node_of = NULL;
    lode_frames_free(&build->frames);
    free(build->final);
    build->final = NULL;
    return LODE_OK;
}
