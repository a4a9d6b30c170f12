/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/callgraph.h"

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

struct sharing {
    const struct hpcrun_paths *paths;
    const bool *possible;
    hpcrun_weight_fn weight;
    const void *user;
    double *shares;
};

/* The call of a path at a depth, counted from the last one; false beyond the first. */
static bool call_at(const struct sharing *sharing, uint32_t number, uint32_t depth, uint64_t *call)
{
    const struct hpcrun_path *path = LODE_ARRAY_AT(&sharing->paths->paths, struct hpcrun_path, number);
    if (depth >= path->count)
        return false;
    *call = *LODE_ARRAY_AT(&sharing->paths->calls, uint64_t, path->first + path->count - 1 - depth);
    return true;
}

/* The next path in [from, past) that is possible. */
static uint32_t next_possible(const struct sharing *sharing, uint32_t from, uint32_t past)
{
    while (from < past && !sharing->possible[from])
        from++;
    return from;
}

/* Paths that have the same call as the one at `from`; they stand together. */
static uint32_t end_of_group(const struct sharing *sharing, uint32_t from, uint32_t past, uint32_t depth)
{
    uint64_t call = 0, other = 0;
    uint32_t end = from;
    call_at(sharing, from, depth, &call);
    do
        end = next_possible(sharing, end + 1, past);
    while (end < past && call_at(sharing, end, depth, &other) && other == call);
    return end;
}

/* All possible paths in [from, past) have the same last `depth` calls. */
static void divide(const struct sharing *sharing, uint32_t from, uint32_t past, uint32_t depth, double share)
{
    uint64_t call;
    double total = 0;
    uint32_t groups = 0;
    if (next_possible(sharing, from + 1, past) == past || !call_at(sharing, from, depth, &call)) {
        for (uint32_t i = from; i < past; i = next_possible(sharing, i + 1, past))
            sharing->shares[i] = share;
        return;
    }
    for (uint32_t i = from; i < past; i = end_of_group(sharing, i, past, depth), groups++)
        if (call_at(sharing, i, depth, &call))
            total += sharing->weight(sharing->user, call);
    for (uint32_t i = from; i < past;) {
        uint32_t end = end_of_group(sharing, i, past, depth);
        double part = 1.0 / groups;
        if (total > 0 && call_at(sharing, i, depth, &call))
            part = sharing->weight(sharing->user, call) / total;
        divide(sharing, i, end, depth + 1, share * part);
        i = end;
    }
}

void lode_hpcrun_paths_share(const struct hpcrun_paths *paths, const bool *possible, hpcrun_weight_fn weight,
                             const void *user, double *shares)
{
    struct sharing sharing = {paths, possible, weight, user, shares};
    uint32_t count = (uint32_t)paths->paths.count;
    for (uint32_t i = 0; i < count; i++)
        shares[i] = 0;
    uint32_t first = next_possible(&sharing, 0, count);
    if (first < count)
        divide(&sharing, first, count, 0, 1);
}
