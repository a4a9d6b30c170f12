/* SPDX-License-Identifier: BSD-3-Clause */
/* From the trees of the workers to one. */
#include "base/error.h"
#include "build/build.h"
#include <stdlib.h>
#include <string.h>

static lode_status merge_tree(struct lode_build *build, unsigned worker, lode_error *error)
{
    struct lode_build_tree *from = &build->growers[worker].tree;
    build->nodes[worker] = calloc(from->count, sizeof *build->nodes[worker]);
    build->parents[worker] = calloc(from->count, sizeof *build->parents[worker]);
    if (build->nodes[worker] == NULL || build->parents[worker] == NULL)
        return lode_fail_memory(error);
    build->node_counts[worker] = from->count;
    for (uint32_t i = 0; i < from->count; i++)
        build->parents[worker][i] = from->nodes[i].parent;
    if (worker > 0) {
        LODE_TRY(lode_build_tree_merge(&build->tree, from, build->nodes[worker], error));
        lode_build_tree_close(from);
        return LODE_OK;
    }
    /* The first tree becomes that of all. */
    for (uint32_t i = 0; i < from->count; i++)
        build->nodes[worker][i] = i;
    build->tree = *from;
    *from = (struct lode_build_tree){0};
    return LODE_OK;
}

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* All names of changes, sorted, so that it does not matter who met them first. */
static lode_status join_changes(struct lode_build *build, lode_error *error)
{
    struct lode_array names;
    bool done = true;
    lode_array_init(&names, sizeof(const char *), SIZE_MAX);
    for (unsigned worker = 0; worker < build->threads; worker++) {
        const struct lode_build_texts *texts = &build->growers[worker].changes.metrics;
        for (uint32_t i = 0; i < texts->items.count && done; i++) {
            const char **name = lode_array_push(&names);
            done = name != NULL;
            if (done)
                *name = lode_build_text(texts, i);
        }
    }
    if (names.count > 1)
        qsort(names.items, names.count, sizeof(const char *), compare_texts);
    for (size_t i = 0; i < names.count && done; i++)
        done = lode_build_texts_add(&build->changes, *LODE_ARRAY_AT(&names, const char *, i)) != LODE_NONE;
    lode_array_free(&names);
    return done ? LODE_OK : lode_fail_memory(error);
}

static lode_status map_changes(struct lode_build *build, unsigned worker, lode_error *error)
{
    const struct lode_build_texts *texts = &build->growers[worker].changes.metrics;
    uint32_t *map = build->metrics[worker] = calloc(texts->items.count + 1, sizeof *map);
    if (map == NULL)
        return lode_fail_memory(error);
    for (uint32_t i = 0; i < texts->items.count; i++) {
        uint32_t number = lode_build_texts_add(&build->changes, lode_build_text(texts, i));
        if (number == LODE_NONE)
            return lode_fail_memory(error);
        map[i] = LODE_BUILD_METRICS + number;
    }
    return LODE_OK;
}

lode_status lode_build_merge(struct lode_build *build, lode_error *error)
{
    build->nodes = calloc(build->threads, sizeof *build->nodes);
    build->metrics = calloc(build->threads, sizeof *build->metrics);
    build->node_counts = calloc(build->threads, sizeof *build->node_counts);
    build->parents = calloc(build->threads, sizeof *build->parents);
    if (!build->nodes || !build->metrics || !build->node_counts || !build->parents)
        return lode_fail_memory(error);
    for (unsigned i = 0; i < build->threads; i++)
        LODE_TRY(merge_tree(build, i, error));
    LODE_TRY(join_changes(build, error));
    for (unsigned i = 0; i < build->threads; i++)
        LODE_TRY(map_changes(build, i, error));
    build->metric_count = LODE_BUILD_METRICS + (uint32_t)build->changes.items.count;
    build->result.functions = build->tree.names.functions.count;
    build->result.contexts = build->tree.count - LODE_BUILD_FIRST;
    build->result.metrics = build->metric_count;
    return LODE_OK;
}
