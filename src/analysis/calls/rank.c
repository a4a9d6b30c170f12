/* SPDX-License-Identifier: BSD-3-Clause */
/* The canonical order of functions. */
#include "analysis/calls/calls.h"
#include "base/error.h"
#include "base/memory/arena.h"
#include <lode/name.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABEL_MAX = 512 /* the rest is not compared */
};

struct named {
    const lode_function *function;
    const char *label;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_named(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    const lode_module *m = a->function->module, *n = b->function->module;
    int order = strcmp(a->label, b->label);
    if (order == 0)
        order = strcmp(m ? m->path : "", n ? n->path : "");
    if (order == 0)
        order = compare_numbers(a->function->offset, b->function->offset);
    /* Two modules may have the same path. */
    if (order == 0)
        order = compare_numbers(m ? m->index + UINT64_C(1) : 0, n ? n->index + UINT64_C(1) : 0);
    return order;
}

static bool name_function(struct named *named, const lode_function *function, struct lode_arena *arena)
{
    char label[LABEL_MAX];
    lode_function_label(function, label, sizeof label);
    size_t size = strlen(label) + 1;
    char *kept = lode_arena_alloc(arena, size, 1);
    if (kept == NULL)
        return false;
    *named = (struct named){function, memcpy(kept, label, size)};
    return true;
}

lode_status lode_rank_functions(const lode_function *const *functions, size_t count, uint32_t *ranks,
                                lode_error *error)
{
    struct lode_arena labels;
    struct named *named = calloc(count + 1, sizeof *named);
    bool done = named != NULL;
    lode_arena_init(&labels, SIZE_MAX);
    for (size_t i = 0; i < count && done; i++)
        done = name_function(&named[i], functions[i], &labels);
    if (done) {
        qsort(named, count, sizeof *named, compare_named);
        for (size_t i = 0; i < count; i++)
            ranks[named[i].function->index] = (uint32_t)i;
    }
    free(named);
    lode_arena_free(&labels);
    return done ? LODE_OK : lode_fail_memory(error);
}
