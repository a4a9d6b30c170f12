/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/stacks/stack_build.h"

#include "base/pool.h"
#include "export/stacks/stack_costs.h"
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX /* the position of a context that is not exported */

/* Without padding: compared byte by byte. `caller` is a number of a key; 0 is the empty stack. */
struct position_key {
    uint32_t caller, frame, line, inlined;
};

/* ---- contexts to positions ---- */

/* A context in the walk. */
struct walk {
    struct lode_stack_build *build;
    struct lode_stacks *stacks;
    const struct lode_context_tree *tree;
    bool lines;
    lode_error *error;
};

static const struct position_key *key_at(const struct lode_stack_build *build, uint32_t number)
{
    return LODE_ARRAY_AT(&build->keys.items, struct position_key, number);
}

static lode_status put_position(struct walk *walk, const struct position_key *key, uint32_t *number)
{
    struct lode_stack_build *build = walk->build;
    bool added;
    *number = lode_interner_add(&build->keys, key, &added);
    if (*number == LODE_NO_NUMBER)
        return lode_fail_memory(walk->error);
    uint32_t *depth = added ? lode_array_push(&build->depths) : LODE_ARRAY_AT(&build->depths, uint32_t, 0);
    LODE_TRY_ALLOC(depth, walk->error);
    if (added && *number > 0)
        *depth = *LODE_ARRAY_AT(&build->depths, uint32_t, key->caller) + 1;
    return LODE_OK;
}

static uint32_t depth_of(const struct lode_stack_build *build, uint32_t number)
{
    return *LODE_ARRAY_AT(&build->depths, uint32_t, number);
}

/* A frame that was called from the position of the parent. */
static lode_status add_frame(struct walk *walk, const lode_context *context, uint32_t caller, uint32_t *out)
{
    const lode_export_options *options = walk->stacks->job->options;
    const lode_function *function = lode_context_function(context);
    struct position_key key = {.caller = caller};
    *out = caller;
    if (options->depth > 0 && depth_of(walk->build, caller) >= options->depth)
        return LODE_OK;
    if (walk->stacks->form.depth > 0 && depth_of(walk->build, caller) >= walk->stacks->form.depth) {
        walk->stacks->cut++;
        return LODE_OK;
    }
    LODE_TRY(function ? lode_export_frames_function(&walk->stacks->frames, function, &key.frame, walk->error)
                      : lode_export_frames_context(&walk->stacks->frames, context, &key.frame, walk->error));
    key.inlined = caller != 0 && walk->stacks->form.has_inline && !options->no_inline &&
                  lode_context_relation(context) == LODE_RELATION_INLINED;
    return put_position(walk, &key, out);
}

/* The same frame, at a line. */
static lode_status set_line(struct walk *walk, const lode_context *context, uint32_t at, uint32_t *out)
{
    *out = at;
    if (!walk->lines || at == 0)
        return LODE_OK;
    struct position_key key = *key_at(walk->build, at);
    key.line = lode_context_line(context);
    return put_position(walk, &key, out);
}

/* Whether an entry point says nothing: it is unknown, and there is no other. */
static bool is_void_entry(const struct walk *walk, const lode_context *context)
{
    return context->entry == LODE_ENTRY_UNKNOWN && context->subtree_size == walk->tree->count - 1;
}

static lode_status place_context(struct walk *walk, const lode_context *context, uint32_t parent,
                                 uint32_t *out)
{
    const lode_export_options *options = walk->stacks->job->options;
    *out = parent;
    switch (lode_context_lexical(context)) {
    case LODE_LEXICAL_GLOBAL:
        return LODE_OK;
    case LODE_LEXICAL_ENTRY:
        if (options->no_entries || is_void_entry(walk, context))
            return LODE_OK;
        return add_frame(walk, context, parent, out);
    case LODE_LEXICAL_FUNCTION:
        return add_frame(walk, context, parent, out);
    case LODE_LEXICAL_LOOP:
        return options->loops ? add_frame(walk, context, parent, out) : set_line(walk, context, parent, out);
    case LODE_LEXICAL_LINE:
        return set_line(walk, context, parent, out);
    default:
        return lode_context_relation(context) == LODE_RELATION_LEXICAL
                   ? LODE_OK
                   : add_frame(walk, context, parent, out);
    }
}

static lode_status place_contexts(struct walk *walk)
{
    struct lode_stack_build *build = walk->build;
    const lode_matches *matches = build->matches;
    /* Its own key: the first frame of all is called from it, too. */
    struct position_key root = {.frame = LODE_NO_NUMBER};
    uint32_t number;
    LODE_TRY(put_position(walk, &root, &number));
    for (uint32_t i = 0; i < walk->tree->count; i++) {
        const lode_context *context = &walk->tree->nodes[i];
        uint32_t parent = i == 0 ? 0 : build->position_of[context->parent];
        if (i == 0 && matches)
            parent = NOWHERE;
        if (parent == NOWHERE && matches && lode_matches_has(matches, context))
            parent = 0;
        build->position_of[i] = parent;
        if (parent != NOWHERE)
            LODE_TRY(place_context(walk, context, parent, &build->position_of[i]));
    }
    return LODE_OK;
}

/* ---- depth-first order ---- */

struct links {
    uint32_t *first, *last, *next; /* by number of a key: children; 0: none */
};

static lode_status link_children(const struct lode_stack_build *build, struct links *links, lode_error *error)
{
    uint32_t count = (uint32_t)build->keys.items.count;
    links->first = calloc(count, sizeof *links->first);
    links->last = calloc(count, sizeof *links->last);
    links->next = calloc(count, sizeof *links->next);
    LODE_TRY_ALLOC(links->first && links->last && links->next, error);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t caller = key_at(build, i)->caller;
        if (links->last[caller] == 0)
            links->first[caller] = i;
        else
            links->next[links->last[caller]] = i;
        links->last[caller] = i;
    }
    return LODE_OK;
}

static void put_in_order(struct lode_stack_build *build, struct lode_stacks *stacks, uint32_t number,
                         uint32_t position)
{
    const struct position_key *key = key_at(build, number);
    uint32_t caller = number == 0 ? 0 : build->order[key->caller];
    build->order[number] = position;
    stacks->positions[position] = (struct lode_position){
        .caller = caller,
        .frame = key->frame,
        .line = key->line,
        .depth = depth_of(build, number),
        .inlined = key->inlined,
    };
}

/* Depth first, siblings in order of their numbers. */
static void number_positions(struct lode_stack_build *build, struct lode_stacks *stacks,
                             const struct links *links)
{
    uint32_t number = 0, position = 0;
    for (;;) {
        put_in_order(build, stacks, number, position++);
        if (links->first[number] != 0) {
            number = links->first[number];
            continue;
        }
        while (number != 0 && links->next[number] == 0) {
            stacks->positions[build->order[number]].end = position;
            number = key_at(build, number)->caller;
        }
        stacks->positions[build->order[number]].end = position;
        if (number == 0)
            return;
        number = links->next[number];
    }
}

static lode_status order_positions(struct lode_stack_build *build, struct lode_stacks *stacks,
                                   lode_error *error)
{
    struct links links = {0};
    size_t count = build->keys.items.count;
    free(build->order);
    free(stacks->positions);
    free(build->sums);
    build->order = calloc(count, sizeof *build->order);
    stacks->positions = calloc(count, sizeof *stacks->positions);
    build->sums = calloc(count * (build->cost_count ? build->cost_count : 1), sizeof *build->sums);
    stacks->count = (uint32_t)count;
    lode_status status = LODE_ERR_MEMORY;
    if (build->order && stacks->positions && build->sums)
        status = link_children(build, &links, error);
    else
        lode_fail_memory(error);
    if (status == LODE_OK)
        number_positions(build, stacks, &links);
    free(links.first);
    free(links.last);
    free(links.next);
    return status;
}

/* ---- groups ---- */

static lode_status place(struct lode_stack_build *build, struct lode_stacks *stacks, lode_error *error)
{
    const lode_export_options *options = stacks->job->options;
    const struct lode_context_tree *tree = build->costs[0]->tree;
    struct walk walk = {build, stacks, tree, stacks->form.lines || options->lines, error};
    lode_interner_clear(&build->keys);
    build->depths.count = 0;
    lode_matches_free(build->matches);
    build->matches = NULL;
    free(build->position_of);
    build->position_of = calloc(tree->count, sizeof *build->position_of);
    LODE_TRY_ALLOC(build->position_of, error);
    if (options->focus)
        LODE_TRY(lode_matches_find(&build->matches, build->costs[0], options->focus, options->names, error));
    LODE_TRY(place_contexts(&walk));
    return order_positions(build, stacks, error);
}

static void add_up(struct lode_stack_build *build, const struct lode_stacks *stacks)
{
    size_t metrics = build->cost_count;
    memset(build->sums, 0, stacks->count * metrics * sizeof *build->sums);
    for (uint32_t i = 0; i < build->costs[0]->tree->count; i++)
        for (size_t m = 0; build->position_of[i] != NOWHERE && m < metrics; m++)
            build->sums[(size_t)build->order[build->position_of[i]] * metrics + m] += build->costs[m]->own[i];
}

lode_status lode_stack_build_open(struct lode_stack_build *build, struct lode_stacks *stacks,
                                  lode_error *error)
{
    lode_interner_init(&build->keys, sizeof(struct position_key));
    lode_array_init(&build->depths, sizeof(uint32_t), UINT32_MAX);
    return lode_stack_costs_open(build, stacks, error);
}

lode_status lode_stack_build_next(struct lode_stack_build *build, struct lode_stacks *stacks,
                                  lode_error *error)
{
    LODE_TRY(lode_stack_costs_next(build, stacks, error));
    /* All profiles of a database have the same contexts. */
    if (!build->is_placed || stacks->job->db == NULL)
        LODE_TRY(place(build, stacks, error));
    build->is_placed = true;
    add_up(build, stacks);
    return LODE_OK;
}

uint32_t lode_stack_build_position(const struct lode_stack_build *build, uint32_t context)
{
    uint32_t position = build->position_of[context];
    return position == NOWHERE ? LODE_NO_NUMBER : build->order[position];
}

void lode_stack_build_close(struct lode_stack_build *build)
{
    lode_stack_costs_free(build);
    free(build->costs);
    free(build->all);
    lode_matches_free(build->matches);
    lode_interner_free(&build->keys);
    lode_array_free(&build->depths);
    free(build->position_of);
    free(build->order);
    free(build->sums);
}
