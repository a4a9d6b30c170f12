/* SPDX-License-Identifier: BSD-3-Clause */
/* What is below a row: which contexts, how they are grouped, and which of them get a row. */
#include "analysis/tree/expand.h"

#include "analysis/tree/tree_view_filter.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/options.h"
#include "model/database/database.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A child is on the hot path if it has at least this fraction of its parent's cost. */
#define HOT_SHARE 0.5

void lode_tree_view_node_free(struct lode_tree_view_node *node)
{
    lode_array_free(&node->members);
}

lode_status lode_tree_view_node_copy(struct lode_tree_view_node *to, const struct lode_tree_view_node *from,
                                     lode_error *error)
{
    *to = *from;
    to->row.exclusive = 0.0;
    lode_array_init(&to->members, sizeof(struct lode_member), SIZE_MAX);
    for (size_t i = 0; i < from->members.count; i++) {
        struct lode_member *member = lode_array_push(&to->members);
        if (member == NULL) {
            lode_tree_view_node_free(to);
            return lode_fail_memory(error);
        }
        *member = *LODE_ARRAY_AT(&from->members, struct lode_member, i);
    }
    return LODE_OK;
}

/* ---- grouping ---- */

static bool is_by_callers(const struct lode_expander *self)
{
    return self->options.mode == LODE_VIEW_CALLERS || self->options.mode == LODE_VIEW_CALLERS_OF;
}

bool lode_expander_shows(const struct lode_expander *self, const lode_context *context)
{
    if (begins_function(context))
        return self->options.mode != LODE_VIEW_FLAT;
    return context->lexical == LODE_LEXICAL_LOOP ||
           (self->options.lines && context->lexical == LODE_LEXICAL_LINE);
}

/* Top-down, calls and inlined copies of a function differ; for callers they are the same. */
struct lode_key lode_expander_key(const struct lode_expander *self, const lode_context *context)
{
    if (!begins_function(context))
        return context->lexical == LODE_LEXICAL_LOOP ? lode_key_of_loop(context) : lode_key_of_line(context);
    struct lode_key key = lode_key_of_function(context);
    key.is_inlined = self->options.mode == LODE_VIEW_TOP_DOWN && context->relation == LODE_RELATION_INLINED;
    return key;
}

/* ---- children of a node ---- */

struct lode_tree_view_node *lode_expander_child(struct lode_expander *self, const lode_context *context)
{
    bool added;
    struct lode_key key = lode_expander_key(self, context);
    uint32_t number = lode_keys_add(&self->keys, &key, &added);
    if (number == LODE_NO_INDEX)
        return NULL;
    if (!added)
        return LODE_ARRAY_AT(&self->children, struct lode_tree_view_node, number);
    struct lode_tree_view_node *node = lode_array_push(&self->children);
    if (node == NULL)
        return NULL;
    node->row.context = context;
    lode_array_init(&node->members, sizeof(struct lode_member), SIZE_MAX);
    return node;
}

lode_status lode_expander_add(struct lode_expander *self, struct lode_tree_view_node *node,
                              const lode_context *context, double weight, double size)
{
    struct lode_member *member = node ? lode_array_push(&node->members) : NULL;
    LODE_TRY_ALLOC(member, self->error);
    *member = (struct lode_member){context->index, weight};
    node->row.contexts++;
    node->row.inclusive += weight;
    node->size += size;
    return LODE_OK;
}

/* Records the call site of a node, as long as it is unique. */
static void note_call(struct lode_tree_view_node *node, const lode_context *context)
{
    const lode_context *site = lode_context_parent(context);
    bool is_line = site && site->lexical == LODE_LEXICAL_LINE && begins_function(context);
    const lode_file *file = is_line ? site->file : NULL;
    uint32_t line = is_line ? site->line : 0;
    if (!node->call_seen) {
        node->row.call_file = file;
        node->row.call_line = line;
        node->call_seen = true;
    } else if (node->row.call_file != file || node->row.call_line != line) {
        node->row.call_file = NULL;
        node->row.call_line = 0;
    }
}

lode_status lode_expander_add_shown(struct lode_expander *self, const lode_context *context)
{
    struct lode_tree_view_node *node = lode_expander_child(self, context);
    uint32_t i = context->index;
    LODE_TRY(lode_expander_add(self, node, context, self->cost->inclusive[i], self->sizes[i]));
    if (self->cost->calls)
        node->row.calls += self->cost->calls[i];
    note_call(node, context);
    return LODE_OK;
}

bool lode_expander_merges(const struct lode_expander *self, const lode_context *context,
                          const lode_context *row)
{
    if (!self->options.merge_recursion || row == NULL || !begins_function(context) || !begins_function(row))
        return false;
    const lode_function *function = lode_context_function(context);
    return function && function_identity(function) == function_identity(lode_context_function(row));
}

lode_status lode_expander_add_body(struct lode_expander *self, const lode_context *member, lode_view_row *row)
{
    uint32_t end = member->index + member->subtree_size;
    row->exclusive += self->cost->own[member->index];
    for (uint32_t i = member->index + 1; i < end;) {
        const lode_context *context = &self->tree->nodes[i];
        bool merged = lode_expander_merges(self, context, row->context);
        bool shown = !merged && lode_expander_shows(self, context);
        bool apart = !merged && (shown || begins_function(context));
        if (shown)
            LODE_TRY(lode_expander_add_shown(self, context));
        if (!apart)
            row->exclusive += self->cost->own[i];
        i += apart ? context->subtree_size : 1;
    }
    return LODE_OK;
}

double lode_expander_size(const struct lode_expander *self, double cost)
{
    return self->unsigned_costs ? fabs(cost) : cost;
}

/* The function that calls a context; NULL: none. */
static const lode_context *caller_of(const struct lode_expander *self, const lode_context *context)
{
    if (context->lexical == LODE_LEXICAL_ENTRY || context->index == 0)
        return NULL;
    uint32_t caller = self->function_of[context->parent];
    return caller ? &self->tree->nodes[caller] : NULL;
}

static lode_status expand_caller(struct lode_expander *self, const struct lode_member *member)
{
    const lode_context *called = &self->tree->nodes[member->context];
    const lode_context *caller = caller_of(self, called);
    while (caller && lode_expander_merges(self, caller, called))
        caller = caller_of(self, caller);
    if (caller == NULL)
        return LODE_OK;
    return lode_expander_add(self, lode_expander_child(self, caller), caller, member->weight,
                             lode_expander_size(self, member->weight));
}

LODE_COMPARE_BY(compare_members, struct lode_member, context);

/* A recursive function or a loop in it counts once, at its outermost contexts. */
static void count_outermost(const struct lode_expander *self, struct lode_tree_view_node *node)
{
    struct lode_member *members = node->members.items;
    uint32_t end = 0;
    qsort(members, node->members.count, sizeof *members, compare_members);
    node->row.inclusive = node->size = 0.0;
    for (size_t i = 0; i < node->members.count; i++) {
        uint32_t context = members[i].context;
        if (context < end)
            continue;
        node->row.inclusive += self->cost->inclusive[context];
        node->size += self->sizes[context];
        end = context + self->tree->nodes[context].subtree_size;
    }
    if (node->members.count > 0)
        node->row.context = &self->tree->nodes[members[0].context];
}

void lode_expander_keep_outermost(const struct lode_expander *self, struct lode_tree_view_node *node)
{
    struct lode_member *members = node->members.items;
    size_t count = 0;
    uint32_t end = 0;
    count_outermost(self, node);
    for (size_t i = 0; i < node->members.count; i++) {
        if (members[i].context < end)
            continue;
        end = members[i].context + self->tree->nodes[members[i].context].subtree_size;
        members[count++] = members[i];
    }
    node->members.count = count;
    node->row.contexts = (uint32_t)count;
}

/* A context that calls several contexts of the node is one caller. */
static void merge_callers(struct lode_expander *self, struct lode_tree_view_node *node)
{
    struct lode_member *members = node->members.items;
    size_t count = 0;
    qsort(members, node->members.count, sizeof *members, compare_members);
    for (size_t i = 0; i < node->members.count; i++) {
        if (count > 0 && members[count - 1].context == members[i].context)
            members[count - 1].weight += members[i].weight;
        else
            members[count++] = members[i];
    }
    node->members.count = count;
    node->row.contexts = (uint32_t)count;
    node->row.context = &self->tree->nodes[members[0].context];
}

static int compare_nodes(const void *left, const void *right)
{
    const struct lode_tree_view_node *a = left, *b = right;
    if (a->row.inclusive != b->row.inclusive)
        return a->row.inclusive > b->row.inclusive ? -1 : 1;
    uint32_t i = a->row.context->index, k = b->row.context->index;
    return i < k ? -1 : i > k;
}

/* A call gets a row even if it took no measurable time. */
static bool is_empty(const struct lode_tree_view_node *node)
{
    return !(node->size > 0.0) && node->row.calls == 0;
}

void lode_expander_drop(struct lode_expander *self)
{
    for (size_t i = 0; i < self->children.count; i++)
        lode_tree_view_node_free(LODE_ARRAY_AT(&self->children, struct lode_tree_view_node, i));
    self->children.count = 0;
}

void lode_expander_begin(struct lode_expander *self)
{
    lode_expander_drop(self);
    lode_keys_clear(&self->keys);
}

/* Whether the filter shows a child: its path, as far as it goes, includes and excludes nothing. */
static bool is_on_path(const struct lode_expander *self, struct lode_tree_view_node *node)
{
    if (self->paths == NULL)
        return true;
    unsigned char flags = self->paths[node->row.context->index];
    node->passes = self->passes || flags & LODE_PATH_INCLUDED;
    if (flags & LODE_PATH_EXCLUDED)
        return false;
    /* The row of the global context's own cost has no members: what is below has other rows. */
    bool is_leaf = is_by_callers(self) || node->members.count == 0;
    unsigned char wanted = LODE_PATH_ABOVE | (is_leaf ? 0 : LODE_PATH_BELOW);
    bool shown = node->passes || flags & wanted;
    for (size_t i = 0; i < node->members.count && !shown; i++)
        shown = self->paths[LODE_ARRAY_AT(&node->members, struct lode_member, i)->context] & wanted;
    return shown;
}

/* Whether a child gets a row; one that has something to show is counted otherwise. */
static bool is_kept(struct lode_expander *self, struct lode_tree_view_node *node, unsigned depth)
{
    bool too_deep = self->options.depth > 0 && depth > self->options.depth;
    bool is_small = !(node->size >= self->least);
    if (is_empty(node) || !is_on_path(self, node))
        return false;
    self->small += is_small;
    self->deep += too_deep && !is_small;
    if (!too_deep && !is_small)
        return true;
    self->omitted++;
    self->omitted_inclusive += node->row.inclusive;
    self->omitted_size += node->size;
    return false;
}

void lode_expander_merge(struct lode_expander *self)
{
    for (size_t i = 0; i < self->children.count; i++) {
        struct lode_tree_view_node *node = LODE_ARRAY_AT(&self->children, struct lode_tree_view_node, i);
        if (is_by_callers(self))
            merge_callers(self, node);
        else if (self->options.mode == LODE_VIEW_FLAT)
            count_outermost(self, node);
    }
}

void lode_expander_choose(struct lode_expander *self, lode_view_row *parent, unsigned depth)
{
    struct lode_tree_view_node *nodes = self->children.items;
    size_t kept = 0;
    self->omitted = 0;
    self->omitted_inclusive = self->omitted_size = 0.0;
    for (size_t i = 0; i < self->children.count; i++) {
        if (is_kept(self, &nodes[i], depth)) {
            nodes[kept++] = nodes[i];
            continue;
        }
        if (parent)
            parent->folded = parent->folded || !is_empty(&nodes[i]);
        lode_tree_view_node_free(&nodes[i]);
    }
    self->children.count = kept;
    if (parent) {
        parent->omitted = self->omitted;
        parent->omitted_inclusive = self->omitted_inclusive;
        parent->children = (uint32_t)kept + self->omitted;
    }
    if (kept > 1)
        qsort(nodes, kept, sizeof *nodes, compare_nodes);
    for (size_t i = 0; i < kept; i++)
        nodes[i].row.depth = depth - 1;
    if (kept > 0)
        nodes[0].row.hot =
            parent == NULL || (parent->hot && nodes[0].row.inclusive >= HOT_SHARE * parent->inclusive);
}

/* By callers, roots have the costs of bodies; in flat views also those of loops and lines. */
static void complete_root(const struct lode_expander *self, lode_view_row *row,
                          const struct lode_array *members)
{
    if (row->depth > 0 || self->options.mode == LODE_VIEW_TOP_DOWN ||
        self->options.mode == LODE_VIEW_CALLERS_OF)
        return;
    row->exclusive = self->options.mode == LODE_VIEW_CALLERS ? row->inclusive : 0.0;
    for (size_t i = 0; self->options.mode == LODE_VIEW_FLAT && i < members->count; i++)
        row->exclusive += self->body[LODE_ARRAY_AT(members, struct lode_member, i)->context];
}

static lode_status expand(struct lode_expander *self, struct lode_tree_view_node *node)
{
    bool callers = is_by_callers(self);
    lode_expander_begin(self);
    for (size_t i = 0; i < node->members.count; i++) {
        const struct lode_member *member = LODE_ARRAY_AT(&node->members, struct lode_member, i);
        if (callers)
            LODE_TRY(expand_caller(self, member));
        else
            LODE_TRY(lode_expander_add_body(self, &self->tree->nodes[member->context], &node->row));
    }
    complete_root(self, &node->row, &node->members);
    lode_expander_merge(self);
    self->passes = node->passes;
    lode_expander_choose(self, &node->row, node->row.depth + 2);
    return LODE_OK;
}

lode_status lode_expander_expand(struct lode_expander *self, struct lode_tree_view_node *node,
                                 lode_error *error)
{
    self->error = error;
    lode_status status = expand(self, node);
    if (status != LODE_OK)
        lode_expander_drop(self);
    return status;
}

/* The body of a context, as lode_expander_add_body adds it up. Returns whether more is below. */
static bool add_body(const struct lode_expander *self, const lode_context *member, lode_view_row *row)
{
    uint32_t end = member->index + member->subtree_size;
    bool has_more = false;
    row->exclusive += self->cost->own[member->index];
    for (uint32_t i = member->index + 1; i < end;) {
        const lode_context *context = &self->tree->nodes[i];
        bool merged = lode_expander_merges(self, context, row->context);
        bool shown = !merged && lode_expander_shows(self, context);
        bool apart = !merged && (shown || begins_function(context));
        has_more = has_more || shown;
        if (!apart)
            row->exclusive += self->cost->own[i];
        i += apart ? context->subtree_size : 1;
    }
    return has_more;
}

bool lode_tree_view_node_complete(const struct lode_expander *self, struct lode_tree_view_node *node)
{
    bool has_more = false;
    for (size_t i = 0; i < node->members.count; i++) {
        const struct lode_member *member = LODE_ARRAY_AT(&node->members, struct lode_member, i);
        const lode_context *context = &self->tree->nodes[member->context];
        if (!is_by_callers(self))
            has_more |= add_body(self, context, &node->row);
        else
            has_more |= caller_of(self, context) != NULL;
    }
    complete_root(self, &node->row, &node->members);
    return has_more;
}

/* ---- opening ---- */

lode_status lode_expander_open(struct lode_expander *self, const lode_cost *cost,
                               const lode_view_options *options, lode_error *error)
{
    *self = (struct lode_expander){.cost = cost, .tree = cost->tree, .options = LODE_VIEW_OPTIONS_INIT};
    lode_array_init(&self->children, sizeof(struct lode_tree_view_node), SIZE_MAX);
    lode_keys_init(&self->keys);
    return lode_options_take(&self->options, options, error);
}

void lode_expander_close(struct lode_expander *self)
{
    lode_expander_drop(self);
    lode_array_free(&self->children);
    lode_keys_free(&self->keys);
    lode_matches_free(self->matches);
    free(self->paths);
    free(self->function_of);
    free(self->body);
    free(self->unsigned_costs);
}
