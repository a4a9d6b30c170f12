/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds things of a database by name, the best ones of each kind. */
#include "base/error.h"
#include <lode/context.h>
#include <lode/metric.h>
#include <lode/profile.h>
#include <lode/unstable/find.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIMIT_MAX = 1000,
    LABEL_MAX = 512,
    LENGTH_MAX = 8192 /* longer names count as this long */
};

struct candidate {
    lode_found_row row;
    size_t length;
};

/* The best ones of a kind so far, in order. */
struct list {
    struct candidate *items;
    size_t listed;
    uint64_t count;
};

struct lode_found {
    size_t limit;
    struct list lists[LODE_FOUND_KINDS];
};

static bool is_before(const struct candidate *a, const struct candidate *b)
{
    if (a->row.how != b->row.how)
        return a->row.how > b->row.how;
    if (a->length != b->length)
        return a->length < b->length;
    return a->row.index < b->row.index;
}

static void add(lode_found *found, const struct candidate *candidate)
{
    struct list *list = &found->lists[candidate->row.kind];
    size_t at = list->listed;
    list->count++;
    while (at > 0 && is_before(candidate, &list->items[at - 1]))
        at--;
    if (at == found->limit)
        return;
    size_t moved = list->listed - at - (list->listed == found->limit);
    memmove(&list->items[at + 1], &list->items[at], moved * sizeof *list->items);
    list->items[at] = *candidate;
    list->listed += list->listed < found->limit;
}

static void take(lode_found *found, lode_found_kind kind, uint32_t index, lode_match how, const char *name)
{
    struct candidate candidate = {{kind, index, how}, name ? strnlen(name, LENGTH_MAX) : LENGTH_MAX};
    if (how != LODE_MATCH_NONE)
        add(found, &candidate);
}

static void take_text(lode_found *found, lode_found_kind kind, uint32_t index, const lode_matcher *matcher,
                      const char *text)
{
    if (text)
        take(found, kind, index, lode_matcher_text(matcher, text), text);
}

static void find_names(lode_found *found, const lode_database *db, const lode_matcher *matcher)
{
    uint32_t functions = lode_database_function_count(db), files = lode_database_file_count(db);
    for (uint32_t i = 0; i < functions; i++) {
        const lode_function *function = lode_database_function(db, i);
        take(found, LODE_FOUND_FUNCTION, i, lode_matcher_function(matcher, function),
             lode_function_name(function));
    }
    for (uint32_t i = 0; i < files; i++)
        take_text(found, LODE_FOUND_FILE, i, matcher, lode_file_path(lode_database_file(db, i)));
    for (uint32_t i = 0; i < lode_database_module_count(db); i++)
        take_text(found, LODE_FOUND_MODULE, i, matcher, lode_module_path(lode_database_module(db, i)));
    for (uint32_t i = 0; i < lode_database_metric_count(db); i++)
        take_text(found, LODE_FOUND_METRIC, i, matcher, lode_metric_name(lode_database_metric(db, i)));
    for (uint32_t i = 0; i < lode_database_profile_count(db); i++) {
        char label[LABEL_MAX];
        if (lode_profile_is_summary(db, i))
            continue;
        lode_profile_label(db, i, label, sizeof label);
        take_text(found, LODE_FOUND_PROFILE, i, matcher, label);
    }
}

static lode_status make_room(lode_found *found, lode_error *error)
{
    for (int kind = 0; kind < LODE_FOUND_KINDS; kind++) {
        found->lists[kind].items = calloc(found->limit + 1, sizeof *found->lists[kind].items);
        LODE_TRY_ALLOC(found->lists[kind].items, error);
    }
    return LODE_OK;
}

lode_status lode_find(lode_found **out, const lode_database *db, const char *text, lode_name_form shown,
                      size_t limit, lode_error *error)
{
    lode_matcher *matcher;
    *out = NULL;
    if (limit == 0 || limit > LIMIT_MAX)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "a limit is 1 to %d", LIMIT_MAX);
    LODE_TRY(lode_matcher_open(&matcher, text, shown, error));
    lode_found *found = calloc(1, sizeof *found);
    lode_status status = found ? LODE_OK : lode_fail_memory(error);
    if (status == LODE_OK) {
        found->limit = limit;
        status = make_room(found, error);
    }
    if (status == LODE_OK) {
        find_names(found, db, matcher);
        status = lode_matcher_status(matcher, error);
    }
    lode_matcher_close(matcher);
    if (status == LODE_OK)
        *out = found;
    else
        lode_found_free(found);
    return status;
}

void lode_found_free(lode_found *found)
{
    if (found == NULL)
        return;
    for (int kind = 0; kind < LODE_FOUND_KINDS; kind++)
        free(found->lists[kind].items);
    free(found);
}

static const struct list *list_of(const lode_found *found, lode_found_kind kind)
{
    static const struct list none;
    return (unsigned)kind < LODE_FOUND_KINDS ? &found->lists[kind] : &none;
}

uint64_t lode_found_count(const lode_found *found, lode_found_kind kind)
{
    return list_of(found, kind)->count;
}

size_t lode_found_listed(const lode_found *found, lode_found_kind kind)
{
    return list_of(found, kind)->listed;
}

const lode_found_row *lode_found_at(const lode_found *found, lode_found_kind kind, size_t index)
{
    const struct list *list = list_of(found, kind);
    return index < list->listed ? &list->items[index].row : NULL;
}
