/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/context/find.h"

#include "alloc.h"
#include "options/option.h"
#include "text/label.h"

#include <errno.h>
#include <lode/private/usual_names.h>
#include <stdlib.h>
#include <string.h>

int context_is_id(const char *text, uint32_t *id)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return 0;
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    if (errno || value > UINT32_MAX)
        return 0;
    *id = (uint32_t)value;
    return 1;
}

static void add(context_matches *matches, const lode_cost *cost, const lode_context *context)
{
    matches->items = alloc_grow(matches->items, &matches->capacity, matches->count, sizeof *matches->items);
    matches->items[matches->count++] = (context_match){context, lode_cost_inclusive(cost, context)};
}

static void add_functions(context_matches *matches, const lode_cost *cost, const lode_matches *found)
{
    const lode_database *db = lode_cost_database(cost);
    matches->functions = lode_matches_count(found);
    for (uint32_t i = 0; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        if (lode_matches_has(found, context))
            add(matches, cost, context);
    }
}

static void find_by_label(context_matches *matches, const lode_cost *cost, const char *text)
{
    const lode_database *db = lode_cost_database(cost);
    int names = names_of_database(db, NAMES_BY_STORE);
    label l = {0};
    for (uint32_t i = 0; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        if (strcasestr(label_context_as(&l, context, names), text))
            add(matches, cost, context);
    }
    label_free(&l);
}

static int compare_matches(const void *left, const void *right)
{
    const context_match *a = left, *b = right;
    uint32_t x = lode_context_index(a->context), y = lode_context_index(b->context);
    if (a->inclusive != b->inclusive)
        return a->inclusive > b->inclusive ? -1 : 1;
    return x < y ? -1 : x > y;
}

lode_status context_find(context_matches *matches, const lode_cost *cost, const char *text, lode_error *error)
{
    lode_matches *found = NULL;
    lode_status status =
        lode_matches_find(&found, cost, text, lode_database_usual_names(lode_cost_database(cost)), error);
    if (status == LODE_OK)
        add_functions(matches, cost, found);
    else if (status == LODE_NOT_FOUND)
        find_by_label(matches, cost, text);
    lode_matches_free(found);
    if (matches->count == 0)
        return status;
    qsort(matches->items, matches->count, sizeof *matches->items, compare_matches);
    return LODE_OK;
}

void context_matches_free(context_matches *matches)
{
    free(matches->items);
}
