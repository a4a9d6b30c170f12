/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/search/search.h"

#include <stdlib.h>

/* Below 0: `a` comes first. No two are equal, so the order of addition does not matter. */
static int compare(const struct lode_found *a, const struct lode_found *b)
{
    if (a->method != b->method)
        return a->method > b->method ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

static int compare_items(const void *left, const void *right)
{
    return compare(left, right);
}

static struct lode_found *at(const struct lode_best *best, size_t index)
{
    return LODE_ARRAY_AT(&best->items, struct lode_found, index);
}

void lode_best_init(struct lode_best *best, uint64_t limit)
{
    best->limit = limit;
    lode_array_init(&best->items, sizeof(struct lode_found), SIZE_MAX);
}

void lode_best_free(struct lode_best *best)
{
    for (size_t i = 0; i < best->items.count; i++)
        free(at(best, i)->hit);
    lode_array_free(&best->items);
}

static bool is_full(const struct lode_best *best)
{
    return best->limit > 0 && best->items.count >= best->limit;
}

bool lode_best_admits(const struct lode_best *best, const struct lode_found *found)
{
    return !is_full(best) || compare(found, at(best, 0)) < 0;
}

/* Sifts up. */
static void sift_up(struct lode_best *best, size_t index)
{
    struct lode_found moving = *at(best, index);
    while (index > 0 && compare(&moving, at(best, (index - 1) / 2)) > 0) {
        *at(best, index) = *at(best, (index - 1) / 2);
        index = (index - 1) / 2;
    }
    *at(best, index) = moving;
}

/* Sifts down from the top. */
static void sift_down(struct lode_best *best)
{
    struct lode_found moving = *at(best, 0);
    size_t index = 0, child;
    while ((child = 2 * index + 1) < best->items.count) {
        if (child + 1 < best->items.count && compare(at(best, child + 1), at(best, child)) > 0)
            child++;
        if (compare(&moving, at(best, child)) >= 0)
            break;
        *at(best, index) = *at(best, child);
        index = child;
    }
    *at(best, index) = moving;
}

bool lode_best_add(struct lode_best *best, const struct lode_found *found)
{
    if (is_full(best)) {
        free(at(best, 0)->hit);
        *at(best, 0) = *found;
        sift_down(best);
        return true;
    }
    struct lode_found *added = lode_array_push(&best->items);
    if (added == NULL)
        return false;
    *added = *found;
    /* Without a limit nothing is dropped, so no heap is needed. */
    if (best->limit > 0)
        sift_up(best, best->items.count - 1);
    return true;
}

void lode_best_keep_methods(struct lode_best *best)
{
    lode_match most = LODE_MATCH_NONE;
    size_t kept = 0;
    for (size_t i = 0; i < best->items.count; i++)
        most = at(best, i)->method > most ? at(best, i)->method : most;
    for (size_t i = 0; i < best->items.count; i++) {
        if (at(best, i)->method == most)
            *at(best, kept++) = *at(best, i);
        else
            free(at(best, i)->hit);
    }
    best->items.count = kept;
}

void lode_best_sort(struct lode_best *best)
{
    if (best->items.count > 0)
        qsort(best->items.items, best->items.count, sizeof(struct lode_found), compare_items);
}
