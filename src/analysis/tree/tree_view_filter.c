/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/tree/tree_view_filter.h"

#include "analysis/cost/key.h"
#include "base/error.h"
#include "model/names/filter.h"
#include <stdlib.h>

enum {
    IS_KNOWN = 128 /* of a verdict */
};

static unsigned char judge(const lode_filter *filter, const lode_context *context)
{
    bool included = !lode_filter_has_include(filter) || lode_filter_includes(filter, context);
    bool excluded = lode_filter_excludes(filter, context);
    return (unsigned char)((included ? LODE_PATH_INCLUDED : 0) | (excluded ? LODE_PATH_EXCLUDED : 0));
}

/* Contexts of a function share a verdict. */
static unsigned char flags_of(const lode_filter *filter, const lode_context *context, unsigned char *verdicts)
{
    const lode_function *function = lode_context_function(context);
    if (function == NULL)
        return judge(filter, context);
    unsigned char *verdict = &verdicts[function_identity(function)->index];
    if (*verdict == 0)
        *verdict = IS_KNOWN | judge(filter, context);
    return *verdict & (LODE_PATH_INCLUDED | LODE_PATH_EXCLUDED);
}

/* To contexts below, and to contexts above those that have costs. */
static void spread_flags(unsigned char *flags, const struct lode_context_tree *tree, const double *sizes,
                         const uint64_t *calls)
{
    /* The global context is on no path: its row is beside those of entry points, not above them. */
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t parent = i > 0 ? tree->nodes[i].parent : 0;
        if ((flags[i] & LODE_PATH_INCLUDED) || (parent > 0 && flags[parent] & LODE_PATH_ABOVE))
            flags[i] |= LODE_PATH_ABOVE;
    }
    for (uint32_t i = tree->count; i-- > 0;) {
        bool has_row = sizes[i] > 0.0 || (calls && calls[i] > 0);
        if (flags[i] & LODE_PATH_INCLUDED && has_row)
            flags[i] |= LODE_PATH_BELOW;
        if (i > 0 && flags[i] & LODE_PATH_BELOW)
            flags[tree->nodes[i].parent] |= LODE_PATH_BELOW;
    }
}

lode_status lode_path_flags(unsigned char **out, const struct lode_context_tree *tree,
                            const lode_filter *filter, const double *sizes, const uint64_t *calls,
                            lode_error *error)
{
    uint32_t functions = 0;
    *out = calloc(tree->count, 1);
    for (uint32_t i = 1; i < tree->count; i++) {
        const lode_function *function = lode_context_function(&tree->nodes[i]);
        if (function && function->index >= functions)
            functions = function->index + 1;
    }
    unsigned char *verdicts = calloc((size_t)functions + 1, 1);
    if (*out == NULL || verdicts == NULL) {
        free(verdicts);
        return lode_fail_memory(error);
    }
    for (uint32_t i = 0; i < tree->count; i++)
        if (begins_function(&tree->nodes[i]))
            (*out)[i] = flags_of(filter, &tree->nodes[i], verdicts);
    free(verdicts);
    spread_flags(*out, tree, sizes, calls);
    return lode_filter_status(filter, error);
}
