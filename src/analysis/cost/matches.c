/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cost/matches.h"

#include "analysis/cost/cost.h"
#include "analysis/search/near.h"
#include "base/error.h"
#include "base/getter.h"
#include <stdlib.h>

struct search {
    const struct lode_context_tree *tree;
    lode_matcher *matcher;
    unsigned char *verdicts; /* by index of function: 0 if not compared, else the match plus 1 */
    uint32_t functions;      /* indices are below this */
    struct lode_keys keys;   /* of functions found */
    lode_matches *result;
    lode_error *error;
};

static lode_status make_room(struct search *self)
{
    for (uint32_t i = 1; i < self->tree->count; i++) {
        const lode_function *function = lode_context_function(&self->tree->nodes[i]);
        if (function && function->index >= self->functions)
            self->functions = function->index + 1;
    }
    self->verdicts = calloc((size_t)self->functions + 1, 1);
    self->result->has = calloc(self->tree->count, 1);
    LODE_TRY_ALLOC(self->verdicts && self->result->has, self->error);
    return LODE_OK;
}

/* Contexts of a function share a verdict; others have labels of their own. */
static lode_match match(const struct search *self, const lode_context *context)
{
    const lode_function *function = lode_context_function(context);
    if (function == NULL || context->lexical != LODE_LEXICAL_FUNCTION)
        return lode_matcher_context(self->matcher, context);
    unsigned char *verdict = &self->verdicts[function_identity(function)->index];
    if (*verdict == 0)
        *verdict = (unsigned char)(1 + lode_matcher_function(self->matcher, function));
    return (lode_match)(*verdict - 1);
}

/* Leaves the match of each context in `has`. */
static void compare_all(struct search *self)
{
    lode_matches *result = self->result;
    for (uint32_t i = 1; i < self->tree->count; i++) {
        if (!begins_function(&self->tree->nodes[i]))
            continue;
        lode_match found = match(self, &self->tree->nodes[i]);
        result->has[i] = (unsigned char)found;
        result->how = found > result->how ? found : result->how;
    }
}

static lode_status collect(struct search *self)
{
    lode_matches *result = self->result;
    size_t capacity = 0;
    for (uint32_t i = 1; i < self->tree->count; i++) {
        bool added;
        result->has[i] = result->has[i] == result->how;
        if (!result->has[i])
            continue;
        struct lode_key key = lode_key_of_function(&self->tree->nodes[i]);
        if (lode_keys_add(&self->keys, &key, &added) == LODE_NO_INDEX)
            return lode_fail_memory(self->error);
        if (!added)
            continue;
        if (result->count == capacity) {
            LODE_TRY_ALLOC(LODE_GROW(result->samples, capacity, capacity ? 2 * capacity : 16), self->error);
        }
        result->samples[result->count++] = &self->tree->nodes[i];
    }
    return LODE_OK;
}

static lode_status find(struct search *self, const char *text)
{
    LODE_TRY(make_room(self));
    compare_all(self);
    LODE_TRY(lode_matcher_status(self->matcher, self->error));
    if (self->result->how != LODE_MATCH_NONE)
        return collect(self);
    char similar[LODE_NEAR_SIZE];
    lode_near_names(self->tree, text, similar);
    return lode_fail(self->error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET, "no function matches '%.*s'%s%s",
                     LODE_NEAR_WORD, text, similar[0] ? "; similar names: " : "", similar);
}

lode_status lode_matches_of(lode_matches **out, const struct lode_context_tree *tree, const char *text,
                            lode_name_form shown, lode_error *error)
{
    *out = NULL;
    struct search self = {.tree = tree, .result = calloc(1, sizeof *self.result), .error = error};
    LODE_TRY_ALLOC(self.result, error);
    self.result->tree = tree;
    lode_keys_init(&self.keys);
    lode_status status = lode_matcher_open(&self.matcher, text, shown, error);
    if (status == LODE_OK)
        status = find(&self, text);
    lode_matcher_close(self.matcher);
    lode_keys_free(&self.keys);
    free(self.verdicts);
    if (status == LODE_OK)
        *out = self.result;
    else
        lode_matches_free(self.result);
    return status;
}

lode_status lode_matches_find(lode_matches **out, const lode_cost *cost, const char *text,
                              lode_name_form shown, lode_error *error)
{
    return lode_matches_of(out, cost->tree, text, shown, error);
}

void lode_matches_free(lode_matches *matches)
{
    if (matches == NULL)
        return;
    free(matches->has);
    free(matches->samples);
    free(matches);
}

LODE_GETTER(lode_match, lode_matches_how, lode_matches, how);
LODE_GETTER(size_t, lode_matches_count, lode_matches, count);

const lode_context *lode_matches_at(const lode_matches *matches, size_t index)
{
    return index < matches->count ? matches->samples[index] : NULL;
}

int lode_matches_has(const lode_matches *matches, const lode_context *context)
{
    return matches->has[context->index];
}
