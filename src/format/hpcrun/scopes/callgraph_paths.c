/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/scopes/callgraph.h"

void lode_hpcrun_paths_init(struct hpcrun_paths *paths)
{
    lode_array_init(&paths->paths, sizeof(struct hpcrun_path), HPCRUN_PATHS_MOST);
    lode_array_init(&paths->calls, sizeof(uint64_t), (size_t)HPCRUN_PATHS_MOST * HPCRUN_CALLS_MOST);
}

void lode_hpcrun_paths_free(struct hpcrun_paths *paths)
{
    lode_array_free(&paths->paths);
    lode_array_free(&paths->calls);
}

static lode_status too_many(lode_error *error)
{
    return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more than %d call paths, or %d calls",
                     HPCRUN_PATHS_MOST, HPCRUN_CALLS_MOST);
}

/* Stores the path that a search from callee to caller took. */
static lode_status add_path(struct hpcrun_paths *out, uint32_t entry, const uint64_t *climbed, uint32_t depth,
                            lode_error *error)
{
    if (out->paths.count == HPCRUN_PATHS_MOST)
        return too_many(error);
    struct hpcrun_path *path = lode_array_push(&out->paths);
    LODE_TRY_ALLOC(path, error);
    *path = (struct hpcrun_path){entry, (uint32_t)out->calls.count, depth};
    for (uint32_t i = depth; i-- > 0;) {
        uint64_t *call = lode_array_push(&out->calls);
        LODE_TRY_ALLOC(call, error);
        *call = climbed[i];
    }
    return LODE_OK;
}

/*
 * Callers are sorted by the address of the call, which is in one function: so paths are found in
 * their order. Each step up leads to a path, as there are no cycles.
 */
lode_status lode_hpcrun_paths_find(const struct hpcrun_callgraph *graph, uint32_t function,
                                   struct hpcrun_paths *out, lode_error *error)
{
    uint64_t climbed[HPCRUN_CALLS_MOST];
    uint32_t at[HPCRUN_CALLS_MOST + 1], next[HPCRUN_CALLS_MOST + 1], depth = 0;
    out->paths.count = out->calls.count = 0;
    at[0] = function;
    next[0] = graph->first[function];
    for (;;) {
        uint32_t here = at[depth], end = graph->first[here + 1];
        if (graph->first[here] == end)
            LODE_TRY(add_path(out, here, climbed, depth, error));
        while (next[depth] == graph->first[at[depth] + 1]) {
            if (depth == 0)
                return LODE_OK;
            depth--;
        }
        if (depth == HPCRUN_CALLS_MOST)
            return too_many(error);
        const struct hpcrun_caller *caller = &graph->callers[next[depth]++];
        climbed[depth++] = caller->call;
        at[depth] = caller->function;
        next[depth] = graph->first[caller->function];
    }
}
