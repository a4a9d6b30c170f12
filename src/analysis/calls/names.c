/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/calls/names.h"

#include "base/error.h"
#include "base/memory/hash.h"
#include "model/names/functions.h"
#include <lode/name.h>
#include <lode/unstable/match.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABEL_SIZE = 8192 /* functions with longer names are not merged */
};

lode_status lode_call_names_init(struct lode_call_names *names, const lode_recording *recording,
                                 const lode_calls_options *options, lode_error *error)
{
    *names = (struct lode_call_names){.recording = recording,
                                      .merges = options->merge != 0,
                                      .form = options->names,
                                      .filter = options->filter,
                                      .label = malloc(LABEL_SIZE),
                                      .other = malloc(LABEL_SIZE)};
    pthread_mutex_init(&names->lock, NULL);
    lode_array_init(&names->items, sizeof(struct lode_diagnose_call_name), LODE_FUNCTIONS_MAX);
    return names->label && names->other ? LODE_OK : lode_fail_memory(error);
}

void lode_call_names_free(struct lode_call_names *names)
{
    lode_index_free(&names->index);
    lode_array_free(&names->items);
    free(names->label);
    free(names->other);
    pthread_mutex_destroy(&names->lock);
}

static bool name_function(const struct lode_call_names *names, const lode_function *function, char *label)
{
    if (function->name && strnlen(function->name, LABEL_SIZE) == LABEL_SIZE)
        return false;
    return lode_function_label_as(function, names->form, label, LABEL_SIZE) < LABEL_SIZE;
}

/* The index of the function that stands for the name; LODE_NO_NUMBER if out of memory. */
static uint32_t find_group(struct lode_call_names *names, const lode_function *function)
{
    if (!names->merges || !name_function(names, function, names->label))
        return function->index;
    uint64_t hash = lode_hash_text(names->label);
    struct lode_index_probe probe = lode_index_begin(&names->index, hash);
    for (uint32_t number; lode_index_next(&probe, &number);) {
        const lode_function *known = lode_function_table_at(recording_functions(names->recording), number);
        if (name_function(names, known, names->other) && strcmp(names->label, names->other) == 0)
            return number;
    }
    if (!lode_index_reserve(&names->index))
        return LODE_NO_NUMBER;
    lode_index_put(&names->index, hash, function->index);
    return function->index;
}

static uint32_t group_of(struct lode_call_names *names, const lode_function *function)
{
    while (names->items.count <= function->index)
        if (lode_array_push(&names->items) == NULL)
            return 0;
    struct lode_diagnose_call_name *item =
        LODE_ARRAY_AT(&names->items, struct lode_diagnose_call_name, function->index);
    if (item->group > 0)
        return item->group;
    /* A hidden function takes nothing from the row of its name, and adds nothing to it. */
    item->is_hidden = !lode_filter_shows_function(names->filter, function);
    uint32_t group = item->is_hidden ? function->index : find_group(names, function);
    item->group = group == LODE_NO_NUMBER ? 0 : group + 1;
    return item->group;
}

uint32_t lode_call_names_group(struct lode_call_names *names, const lode_function *function)
{
    pthread_mutex_lock(&names->lock);
    uint32_t group = group_of(names, function);
    pthread_mutex_unlock(&names->lock);
    return group;
}
