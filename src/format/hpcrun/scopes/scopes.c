/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/scopes/scopes.h"

#include "base/compare.h"
#include "base/memory/map.h"
#include "format/hpcrun/read/placeholders.h"
#include "format/hpcrun/scopes/callgraph.h"
#include <lode/context.h>
#include <stdlib.h>

/* The first answer counts. */
static const hpcrun_provider_fn providers[] = {
    lode_hpcrun_ask_logical,
    lode_hpcrun_ask_kernels,
    lode_hpcrun_ask_structures,
    lode_hpcrun_ask_binaries,
};

/* What distinguishes functions. */
struct function_key {
    uint32_t question, answer, scope, unused;
};

void lode_hpcrun_scopes_init(struct hpcrun_scopes *scopes)
{
    *scopes = (struct hpcrun_scopes){0};
    lode_array_init(&scopes->questions, sizeof(struct hpcrun_question), UINT32_MAX - 1);
    lode_strings_init(&scopes->strings);
    lode_array_init(&scopes->functions, sizeof(struct hpcrun_function), UINT32_MAX - 1);
    lode_interner_init(&scopes->function_keys, sizeof(struct function_key));
    lode_interner_init(&scopes->frames, sizeof(struct lode_frame));
    lode_array_init(&scopes->links, sizeof(uint32_t), UINT32_MAX - 1);
    lode_array_init(&scopes->chains, sizeof(struct hpcrun_chain), UINT32_MAX - 1);
    lode_array_init(&scopes->routes, sizeof(struct hpcrun_route), UINT32_MAX - 1);
    lode_array_init(&scopes->route_calls, sizeof(struct hpcrun_route_call), UINT32_MAX - 1);
    lode_array_init(&scopes->route_lists, sizeof(struct hpcrun_route_list), UINT32_MAX - 1);
}

void lode_hpcrun_scopes_free(struct hpcrun_scopes *scopes)
{
    for (size_t i = 0; i < scopes->questions.count; i++) {
        struct hpcrun_question *question = LODE_ARRAY_AT(&scopes->questions, struct hpcrun_question, i);
        free(question->offsets);
        free(question->inferred);
        free(question->chains);
        free(question->routes);
    }
    lode_array_free(&scopes->questions);
    lode_strings_free(&scopes->strings);
    lode_array_free(&scopes->functions);
    lode_interner_free(&scopes->function_keys);
    lode_interner_free(&scopes->frames);
    lode_array_free(&scopes->links);
    lode_array_free(&scopes->chains);
    lode_array_free(&scopes->routes);
    lode_array_free(&scopes->route_calls);
    lode_array_free(&scopes->route_lists);
}

bool lode_hpcrun_scopes_ask(struct hpcrun_scopes *scopes, const char *path, const char *directory,
                            const uint64_t *offsets, const bool *inferred, uint32_t count)
{
    struct hpcrun_question *question = lode_array_push(&scopes->questions);
    if (question == NULL)
        return false;
    *question = (struct hpcrun_question){.path = path,
                                         .directory = directory,
                                         .offsets = calloc((size_t)count + 1, sizeof *question->offsets),
                                         .inferred = calloc((size_t)count + 1, sizeof *question->inferred),
                                         .chains = calloc((size_t)count + 1, sizeof *question->chains),
                                         .routes = calloc((size_t)count + 1, sizeof *question->routes),
                                         .count = count};
    if (!question->offsets || !question->inferred || !question->chains || !question->routes)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        question->offsets[i] = offsets[i];
        question->inferred[i] = inferred[i];
        question->chains[i] = question->routes[i] = LODE_NO_NUMBER;
    }
    return true;
}

lode_status lode_hpcrun_ask_all(struct hpcrun_scopes *scopes, const struct hpcrun_asking *asking,
                                lode_error *error)
{
    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++)
        LODE_TRY(providers[i](scopes, asking, error));
    return LODE_OK;
}

uint32_t lode_hpcrun_scopes_placeholder(struct hpcrun_scopes *scopes, uint64_t code)
{
    struct function_key key = {LODE_NO_NUMBER, (uint32_t)(code >> 32), (uint32_t)code, 0};
    char name[HPCRUN_PLACEHOLDER_NAME];
    bool added;
    uint32_t number = lode_interner_add(&scopes->function_keys, &key, &added);
    if (number == LODE_NO_NUMBER || !added)
        return number;
    struct hpcrun_function *function = lode_array_push(&scopes->functions);
    if (function == NULL)
        return LODE_NO_NUMBER;
    lode_hpcrun_placeholder_name(code, name);
    *function = (struct hpcrun_function){.file = LODE_NO_NUMBER,
                                         .question = LODE_NO_NUMBER,
                                         .module = LODE_NO_NUMBER,
                                         .answer = key.answer,
                                         .scope = key.scope};
    return lode_strings_put(&scopes->strings, name, &function->name) ? number : LODE_NO_NUMBER;
}

/* ---- answers ---- */

struct answering {
    struct hpcrun_scopes *scopes;
    uint32_t question;
    const struct hpcrun_answer *answer;
    uint32_t module;           /* a string, or LODE_NO_NUMBER */
    struct lode_map chain_of;  /* by scope of the answer */
    struct lode_map routes_of; /* by function of the answer: a list */
    lode_error *error;
};

static const struct hpcstruct_scope *scope_at(const struct answering *self, uint32_t number)
{
    return LODE_ARRAY_AT(&self->answer->code->scopes, struct hpcstruct_scope, number);
}

/* A string of the answer as one of the scopes. */
static lode_status keep_string(const struct answering *self, uint32_t from, uint32_t *out)
{
    const char *text = lode_strings_at(self->answer->code->strings, from);
    *out = LODE_NO_NUMBER;
    LODE_TRY_ALLOC(text == NULL || lode_strings_put(&self->scopes->strings, text, out), self->error);
    return LODE_OK;
}

static lode_status keep_function(const struct answering *self, uint32_t scope, uint32_t *out)
{
    const struct hpcstruct_scope *from = scope_at(self, scope);
    struct hpcrun_scopes *scopes = self->scopes;
    /* Entries of debug information that are instances of one function are that function. */
    uint32_t first = from->same_as > 0 ? from->same_as - 1 : scope;
    struct function_key key = {self->question, scopes->answers, first, 0};
    bool added;
    *out = lode_interner_add(&scopes->function_keys, &key, &added);
    LODE_TRY_ALLOC(*out != LODE_NO_NUMBER, self->error);
    if (!added)
        return LODE_OK;
    struct hpcrun_function *function = lode_array_push(&scopes->functions);
    LODE_TRY_ALLOC(function, self->error);
    *function = (struct hpcrun_function){.address = from->kind == HPCSTRUCT_INLINED ? 0 : from->address,
                                         .question = self->question,
                                         .module = self->module,
                                         .answer = scopes->answers,
                                         .scope = scope};
    LODE_TRY(keep_string(self, from->name, &function->name));
    LODE_TRY(keep_string(self, from->file, &function->file));
    function->line = function->file == LODE_NO_NUMBER ? 0 : from->line;
    return LODE_OK;
}

/* The frame of a scope. The outermost one is called. */
static lode_status keep_frame(const struct answering *self, uint32_t scope, uint32_t *out)
{
    static const uint16_t kinds[] = {[HPCSTRUCT_FUNCTION] = LODE_LEXICAL_FUNCTION,
                                     [HPCSTRUCT_INLINED] = LODE_LEXICAL_FUNCTION,
                                     [HPCSTRUCT_LOOP] = LODE_LEXICAL_LOOP,
                                     [HPCSTRUCT_LINE] = LODE_LEXICAL_LINE,
                                     [HPCSTRUCT_UNKNOWN] = LODE_LEXICAL_FUNCTION};
    const struct hpcstruct_scope *from = scope_at(self, scope);
    bool is_function = from->kind == HPCSTRUCT_FUNCTION || from->kind == HPCSTRUCT_INLINED;
    struct lode_frame frame = {.function = LODE_NO_NUMBER,
                               .file = LODE_NO_NUMBER,
                               .module = LODE_NO_NUMBER,
                               .kind = kinds[from->kind],
                               .relation = from->parent == LODE_NO_NUMBER    ? LODE_RELATION_CALL
                                           : from->kind == HPCSTRUCT_INLINED ? LODE_RELATION_INLINED
                                                                             : LODE_RELATION_LEXICAL};
    if (is_function)
        LODE_TRY(keep_function(self, scope, &frame.function));
    if (from->kind == HPCSTRUCT_LOOP || from->kind == HPCSTRUCT_LINE) {
        LODE_TRY(keep_string(self, from->file, &frame.file));
        frame.line = from->line;
    }
    if (from->kind == HPCSTRUCT_LOOP) {
        frame.module = self->question;
        frame.offset = from->address;
    }
    *out = lode_interner_add(&self->scopes->frames, &frame, NULL);
    LODE_TRY_ALLOC(*out != LODE_NO_NUMBER, self->error);
    return LODE_OK;
}

static lode_status add_chain(struct hpcrun_scopes *scopes, struct hpcrun_chain **out, lode_error *error)
{
    *out = lode_array_push(&scopes->chains);
    LODE_TRY_ALLOC(*out, error);
    **out = (struct hpcrun_chain){.first = (uint32_t)scopes->links.count};
    return LODE_OK;
}

/* The chain of scopes around a range, from the innermost scope outwards and then turned. */
static lode_status make_chain(const struct answering *self, uint32_t scope)
{
    struct hpcrun_scopes *scopes = self->scopes;
    struct hpcrun_chain *chain;
    LODE_TRY(add_chain(scopes, &chain, self->error));
    chain->hides_point = self->answer->hides_points;
    for (uint32_t at = scope; at != LODE_NO_NUMBER; at = scope_at(self, at)->parent) {
        uint32_t *link = lode_array_push(&scopes->links), frame;
        LODE_TRY_ALLOC(link, self->error);
        LODE_TRY(keep_frame(self, at, &frame));
        *link = frame;
        chain->count++;
    }
    uint32_t *links = LODE_ARRAY_AT(&scopes->links, uint32_t, chain->first);
    for (uint32_t i = 0, j = chain->count; i + 1 < j; i++) {
        uint32_t swapped = links[i];
        links[i] = links[--j];
        links[j] = swapped;
    }
    return LODE_OK;
}

static lode_status chain_of(struct answering *self, uint32_t scope, uint32_t *out)
{
    bool added;
    const uint32_t *known =
        lode_map_add(&self->chain_of, scope, (uint32_t)self->scopes->chains.count, &added);
    LODE_TRY_ALLOC(known, self->error);
    *out = *known;
    return added ? make_chain(self, scope) : LODE_OK;
}

/* The range that an offset is in, or NULL. */
static const struct hpcstruct_range *find_range(const struct hpcstruct_module *code, uint64_t offset)
{
    size_t low = 0, high = code->ranges.count;
    const struct hpcstruct_range *ranges = code->ranges.items;
    LODE_BISECT(low, high, ranges[middle].start <= offset);
    return low > 0 && offset < ranges[low - 1].end ? &ranges[low - 1] : NULL;
}

static lode_status answer_offsets(struct answering *self, uint32_t nothing)
{
    for (uint32_t i = 0;; i++) {
        struct hpcrun_question *question =
            LODE_ARRAY_AT(&self->scopes->questions, struct hpcrun_question, self->question);
        if (i >= question->count)
            return LODE_OK;
        if (question->chains[i] != LODE_NO_NUMBER)
            continue;
        const struct hpcstruct_range *range = find_range(self->answer->code, question->offsets[i]);
        if (range)
            LODE_TRY(chain_of(self, range->scope, &question->chains[i]));
        else if (self->answer->is_complete)
            question->chains[i] = nothing;
    }
}

/* ---- routes ---- */

static lode_status keep_call(struct answering *self, uint64_t offset)
{
    const struct hpcstruct_range *range = find_range(self->answer->code, offset);
    struct hpcrun_route_call *call = lode_array_push(&self->scopes->route_calls);
    LODE_TRY_ALLOC(call, self->error);
    *call = (struct hpcrun_route_call){.offset = offset};
    return range ? chain_of(self, range->scope, &call->chain) : LODE_OK;
}

static lode_status keep_routes(struct answering *self, const struct hpcrun_paths *paths)
{
    struct hpcrun_scopes *scopes = self->scopes;
    struct hpcrun_route_list *list = lode_array_push(&scopes->route_lists);
    LODE_TRY_ALLOC(list, self->error);
    *list = (struct hpcrun_route_list){(uint32_t)scopes->routes.count, (uint32_t)paths->paths.count};
    for (size_t i = 0; i < paths->paths.count; i++) {
        const struct hpcrun_path *path = LODE_ARRAY_AT(&paths->paths, struct hpcrun_path, i);
        struct hpcrun_route *route = lode_array_push(&scopes->routes);
        LODE_TRY_ALLOC(route, self->error);
        *route = (struct hpcrun_route){.first = (uint32_t)scopes->route_calls.count, .count = path->count};
        LODE_TRY(keep_frame(self, path->entry, &route->entry));
        for (uint32_t k = 0; k < path->count; k++)
            LODE_TRY(keep_call(self, *LODE_ARRAY_AT(&paths->calls, uint64_t, path->first + k)));
    }
    return LODE_OK;
}

/* The routes to an innermost scope; none if there are too many. */
static lode_status find_routes(struct answering *self, const struct hpcrun_callgraph *graph, uint32_t scope,
                               struct hpcrun_paths *paths, uint32_t *out)
{
    bool added;
    while (scope_at(self, scope)->parent != LODE_NO_NUMBER)
        scope = scope_at(self, scope)->parent;
    uint32_t *known = lode_map_add(&self->routes_of, scope, LODE_NO_NUMBER, &added);
    LODE_TRY_ALLOC(known, self->error);
    if (added) {
        lode_status status = lode_hpcrun_paths_find(graph, scope, paths, self->error);
        if (status == LODE_OK) {
            *known = (uint32_t)self->scopes->route_lists.count;
            status = keep_routes(self, paths);
        }
        if (status != LODE_ERR_LIMIT)
            LODE_TRY(status);
    }
    *out = *known;
    return LODE_OK;
}

/* Offsets outside the ranges, or in a binary without call graph, have no routes. */
static lode_status answer_routes(struct answering *self, const struct hpcrun_callgraph *graph,
                                 struct hpcrun_paths *paths)
{
    const struct hpcrun_question *question =
        LODE_ARRAY_AT(&self->scopes->questions, struct hpcrun_question, self->question);
    for (uint32_t i = 0; i < question->count; i++) {
        const struct hpcstruct_range *range = find_range(self->answer->code, question->offsets[i]);
        if (question->inferred[i] && range)
            LODE_TRY(find_routes(self, graph, range->scope, paths, &question->routes[i]));
    }
    return LODE_OK;
}

static lode_status answer_inferred(struct answering *self)
{
    const struct hpcrun_question *question =
        LODE_ARRAY_AT(&self->scopes->questions, struct hpcrun_question, self->question);
    struct hpcrun_callgraph graph;
    struct hpcrun_paths paths;
    if (question->count == 0 || memchr(question->inferred, true, question->count) == NULL)
        return LODE_OK;
    lode_status status = lode_hpcrun_callgraph_make(&graph, self->answer->code, self->error);
    if (status != LODE_OK)
        return status == LODE_ERR_MEMORY ? status : LODE_OK;
    lode_hpcrun_paths_init(&paths);
    status = answer_routes(self, &graph, &paths);
    lode_hpcrun_paths_free(&paths);
    lode_hpcrun_callgraph_free(&graph);
    return status;
}

lode_status lode_hpcrun_answer(struct hpcrun_scopes *scopes, uint32_t question,
                               const struct hpcrun_answer *answer, lode_error *error)
{
    struct answering self = {
        .scopes = scopes, .question = question, .answer = answer, .module = LODE_NO_NUMBER, .error = error};
    struct hpcrun_question *asked = LODE_ARRAY_AT(&scopes->questions, struct hpcrun_question, question);
    struct hpcrun_chain *nothing;
    if (asked->is_complete)
        return LODE_OK;
    asked->is_complete = answer->is_complete;
    if (scopes->on_answer)
        return scopes->on_answer(scopes->user, question, answer, error);
    if (scopes->chains.count == 0)
        LODE_TRY(add_chain(scopes, &nothing, error));
    LODE_TRY_ALLOC(!answer->module || lode_strings_put(&scopes->strings, answer->module, &self.module),
                   error);
    lode_map_init(&self.chain_of);
    lode_map_init(&self.routes_of);
    lode_status status = answer_offsets(&self, 0);
    if (status == LODE_OK)
        status = answer_inferred(&self);
    lode_map_free(&self.chain_of);
    lode_map_free(&self.routes_of);
    scopes->answers++;
    return status;
}
