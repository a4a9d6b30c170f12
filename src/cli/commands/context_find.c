/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/context_find.h"

#include "alloc.h"
#include "text/label.h"

#include <errno.h>
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

static int is_named(const lode_function *function, const char *text, int is_exact, label *l)
{
    const char *symbol = lode_function_name(function), *name = label_function(l, function);
    if (is_exact)
        return strcmp(name, text) == 0 || (symbol && strcmp(symbol, text) == 0);
    return strcasestr(name, text) || (symbol && strcasestr(symbol, text));
}

static void find_by_function(context_matches *matches, const lode_cost *cost, const char *text, int is_exact)
{
    const lode_database *db = lode_cost_database(cost);
    uint32_t function_count = lode_database_function_count(db);
    unsigned char *is_match = alloc_array(function_count, 1);
    label l = {0};
    for (uint32_t i = 0; i < function_count; i++)
        is_match[i] = (unsigned char)(is_named(lode_database_function(db, i), text, is_exact, &l) != 0);
    for (uint32_t i = 0; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        const lode_function *function = lode_context_function(context);
        if (function && is_match[lode_function_index(function)])
            add(matches, cost, context);
    }
    label_free(&l);
    free(is_match);
}

static void find_by_label(context_matches *matches, const lode_cost *cost, const char *text)
{
    const lode_database *db = lode_cost_database(cost);
    label l = {0};
    for (uint32_t i = 0; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        if (strcasestr(label_context(&l, context), text))
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

void context_find(context_matches *matches, const lode_cost *cost, const char *text)
{
    find_by_function(matches, cost, text, 1);
    if (matches->count == 0)
        find_by_function(matches, cost, text, 0);
    if (matches->count == 0)
        find_by_label(matches, cost, text);
    if (matches->count)
        qsort(matches->items, matches->count, sizeof *matches->items, compare_matches);
}

void context_matches_free(context_matches *matches)
{
    free(matches->items);
}
