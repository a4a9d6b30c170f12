/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree as a person reads it. A node of a view stands for contexts with the same meaning under the same parent; its
 * children are found when it is expanded, so that what is pruned costs nothing.
 */
#include "analysis/cost.h"
#include "analysis/key.h"
#include "base/array.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include "model/database.h"
#include <lode/name.h>
#include <lode/view.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A child is on the hot path if it has at least this share of its parent's cost. */
#define HOT_SHARE 0.5

struct lode_view {
    struct lode_array rows;
    bool is_cut;
};

/* A context of a node. In a view by callers: a caller, and the cost that came through it. */
struct member {
    uint32_t context;
    double weight;
};

struct node {
    lode_view_row row;
    double size; /* what it is left out by: its inclusive cost, or what that adds up from without signs */
    struct lode_array members;
    bool call_seen; /* call_file and call_line are set */
};

struct builder {
    const lode_cost *cost;
    const lode_view_options *options;
    const struct lode_context_tree *tree;
    const double *sizes;        /* by context: the inclusive costs, unless one is negative */
    double *unsigned_costs;     /* else these: of a quantity that can go down, costs can cancel out */
    double least;               /* size below which rows are left out */
    struct lode_array pending;  /* nodes to be shown, the next one last */
    struct lode_array children; /* of the node that is being expanded */
    struct lode_keys keys;      /* of the children, in their order */
    uint32_t *function_of;      /* by context: the context that begins the function it is in */
    double *body;               /* by context that begins a function: the own costs of its body */
    lode_view *view;
    lode_error *error;
};

static void node_free(struct node *node)
{
    lode_array_free(&node->members);
}

/* ---- meaning ---- */

/* Whether a context has a row of its own; the costs of others belong to the row above. */
static bool is_shown(const struct builder *self, const lode_context *context)
{
    if (begins_function(context))
        return true;
    return context->lexical == LODE_LEXICAL_LOOP ||
           (self->options->lines && context->lexical == LODE_LEXICAL_LINE);
}

/* From the top down, calls and inlined copies of a function are two things; for callers, it is the function that counts. */
static struct lode_key meaning(const struct builder *self, const lode_context *context)
{
    if (!begins_function(context))
        return context->lexical == LODE_LEXICAL_LOOP ? lode_key_of_loop(context) : lode_key_of_line(context);
    struct lode_key key = lode_key_of_function(context);
    key.is_inlined = self->options->mode == LODE_VIEW_TOP_DOWN && context->relation == LODE_RELATION_INLINED;
    return key;
}

/* ---- children of a node ---- */

/* The child that a context belongs to; NULL if there is no memory. */
static struct node *child_of(struct builder *self, const lode_context *context)
{
    bool added;
    struct lode_key key = meaning(self, context);
    uint32_t number = lode_keys_add(&self->keys, &key, &added);
    if (number == LODE_NO_INDEX)
        return NULL;
    if (!added)
        return LODE_ARRAY_AT(&self->children, struct node, number);
    struct node *node = lode_array_push(&self->children);
    if (node == NULL)
        return NULL;
    node->row.context = context;
    lode_array_init(&node->members, sizeof(struct member), SIZE_MAX);
    return node;
}

static lode_status add_member(struct builder *self, struct node *node, const lode_context *context,
                              double weight, double size)
{
    struct member *member = node ? lode_array_push(&node->members) : NULL;
    LODE_TRY_ALLOC(member, self->error);
    *member = (struct member){context->index, weight};
    node->row.contexts++;
    node->row.inclusive += weight;
    node->size += size;
    return LODE_OK;
}

/* Remembers where a node is called from, as long as it is one place. */
static void note_call(struct node *node, const lode_context *context)
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

static lode_status add_shown(struct builder *self, const lode_context *context)
{
    struct node *node = child_of(self, context);
    uint32_t i = context->index;
    LODE_TRY(add_member(self, node, context, self->cost->inclusive[i], self->sizes[i]));
    if (self->cost->calls)
        node->row.calls += self->cost->calls[i];
    note_call(node, context);
    return LODE_OK;
}

/* The body of a member: adds own costs to `row`, and what is called or contained to the children. */
static lode_status expand_member(struct builder *self, const lode_context *member, lode_view_row *row)
{
    uint32_t end = member->index + member->subtree_size;
    row->exclusive += self->cost->own[member->index];
    for (uint32_t i = member->index + 1; i < end;) {
        const lode_context *context = &self->tree->nodes[i];
        if (is_shown(self, context)) {
            LODE_TRY(add_shown(self, context));
            i += context->subtree_size;
        } else {
            row->exclusive += self->cost->own[i++];
        }
    }
    return LODE_OK;
}

/* The size of a part of a function's costs. */
static double part_size(const struct builder *self, double cost)
{
    return self->unsigned_costs ? fabs(cost) : cost;
}

/* The callers of a member: one at most. */
static lode_status expand_caller(struct builder *self, const struct member *member)
{
    const lode_context *context = &self->tree->nodes[member->context];
    if (context->lexical == LODE_LEXICAL_ENTRY || context->index == 0)
        return LODE_OK;
    const lode_context *caller = &self->tree->nodes[self->function_of[context->parent]];
    if (caller->index == 0)
        return LODE_OK;
    return add_member(self, child_of(self, caller), caller, member->weight, part_size(self, member->weight));
}

LODE_COMPARE_BY(compare_members, struct member, context);

/* A context that calls several members is one caller. */
static void merge_callers(struct builder *self, struct node *node)
{
    struct member *members = node->members.items;
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
    const struct node *a = left, *b = right;
    if (a->row.inclusive != b->row.inclusive)
        return a->row.inclusive > b->row.inclusive ? -1 : 1;
    uint32_t i = a->row.context->index, k = b->row.context->index;
    return i < k ? -1 : i > k;
}

/* A call is worth a row even if the clock did not see it take time. */
static bool is_empty(const struct node *node)
{
    return !(node->size > 0.0) && node->row.calls == 0;
}

static void begin_children(struct builder *self)
{
    self->children.count = 0;
    lode_keys_clear(&self->keys);
}

/* Whether a child is worth a row. */
static bool is_kept(const struct builder *self, const struct node *node, unsigned depth)
{
    bool too_deep = self->options->depth > 0 && depth > self->options->depth;
    return !too_deep && node->size >= self->least && !is_empty(node);
}

/* Puts the children that are worth a row in front, the most expensive first, and frees the others. Returns how many stay. */
static size_t choose_children(struct builder *self, lode_view_row *parent, unsigned depth)
{
    struct node *nodes = self->children.items;
    size_t kept = 0;
    for (size_t i = 0; i < self->children.count; i++) {
        if (is_kept(self, &nodes[i], depth)) {
            nodes[kept++] = nodes[i];
            continue;
        }
        if (parent)
            parent->folded = parent->folded || !is_empty(&nodes[i]);
        node_free(&nodes[i]);
    }
    self->children.count = kept;
    if (kept > 1)
        qsort(nodes, kept, sizeof *nodes, compare_nodes);
    return kept;
}

/* Moves the children that are worth a row to the pending nodes, so that the most expensive one comes next. */
static lode_status keep_children(struct builder *self, lode_view_row *parent, unsigned depth)
{
    struct node *nodes = self->children.items;
    for (size_t i = choose_children(self, parent, depth); i-- > 0; self->children.count = i) {
        nodes[i].row.depth = depth - 1;
        nodes[i].row.hot =
            i == 0 &&
            (parent == NULL || (parent->hot && nodes[i].row.inclusive >= HOT_SHARE * parent->inclusive));
        struct node *pending = lode_array_push(&self->pending);
        LODE_TRY_ALLOC(pending, self->error);
        *pending = nodes[i];
    }
    return LODE_OK;
}

static lode_status expand(struct builder *self, struct node *node)
{
    bool callers = self->options->mode == LODE_VIEW_CALLERS;
    begin_children(self);
    for (size_t i = 0; i < node->members.count; i++) {
        const struct member *member = LODE_ARRAY_AT(&node->members, struct member, i);
        if (callers)
            LODE_TRY(expand_caller(self, member));
        else
            LODE_TRY(expand_member(self, &self->tree->nodes[member->context], &node->row));
    }
    for (size_t i = 0; callers && i < self->children.count; i++)
        merge_callers(self, LODE_ARRAY_AT(&self->children, struct node, i));
    if (callers && node->row.depth == 0)
        node->row.exclusive = node->row.inclusive;
    return keep_children(self, &node->row, node->row.depth + 2);
}

/* ---- roots ---- */

static bool matches_focus(const struct builder *self, const lode_context *context)
{
    char label[512];
    if (!begins_function(context))
        return false;
    if (self->options->focus == NULL)
        return true;
    if (context->lexical == LODE_LEXICAL_GLOBAL)
        return false;
    lode_context_label(context, label, sizeof label);
    return strcasestr(label, self->options->focus) != NULL;
}

/* The outermost contexts of functions that match the focus. */
static lode_status add_focused_roots(struct builder *self)
{
    for (uint32_t i = 1; i < self->tree->count;) {
        const lode_context *context = &self->tree->nodes[i];
        bool matches = matches_focus(self, context);
        if (matches)
            LODE_TRY(add_shown(self, context));
        i += matches ? context->subtree_size : 1;
    }
    return LODE_OK;
}

/* Functions with costs of their own. */
static lode_status add_caller_roots(struct builder *self)
{
    for (uint32_t i = 0; i < self->tree->count; i++) {
        const lode_context *context = &self->tree->nodes[i];
        if (self->body[i] != 0.0 && matches_focus(self, context))
            LODE_TRY(add_member(self, child_of(self, context), context, self->body[i],
                                part_size(self, self->body[i])));
    }
    return LODE_OK;
}

/* A function may match and have no cost of its own. */
static bool is_focus_found(const struct builder *self)
{
    bool found = self->children.count > 0 || self->options->focus == NULL;
    for (uint32_t i = 1; i < self->tree->count && !found; i++)
        found = matches_focus(self, &self->tree->nodes[i]);
    return found;
}

static lode_status find_functions(struct builder *self)
{
    self->function_of = calloc(self->tree->count, sizeof *self->function_of);
    self->body = calloc(self->tree->count, sizeof *self->body);
    LODE_TRY_ALLOC(self->function_of && self->body, self->error);
    for (uint32_t i = 0; i < self->tree->count; i++) {
        const lode_context *context = &self->tree->nodes[i];
        self->function_of[i] = begins_function(context) ? i : self->function_of[context->parent];
        self->body[self->function_of[i]] += self->cost->own[i];
    }
    return LODE_OK;
}

/* Everything below the global context, and a row for what was measured there itself. */
static lode_status add_top_roots(struct builder *self)
{
    const lode_context *global = &self->tree->nodes[0];
    lode_view_row everything = {0};
    LODE_TRY(expand_member(self, global, &everything));
    if (part_size(self, everything.exclusive) <= 0.0)
        return LODE_OK;
    struct node *node = child_of(self, global);
    LODE_TRY_ALLOC(node, self->error);
    node->row.contexts = 1;
    node->row.inclusive = node->row.exclusive = everything.exclusive;
    node->size = part_size(self, everything.exclusive);
    return LODE_OK;
}

/* Sizes by context, without signs where there are any. */
static lode_status find_sizes(struct builder *self)
{
    uint32_t count = self->tree->count, i = 0;
    while (i < count && !(self->cost->own[i] < 0.0))
        i++;
    self->sizes = self->cost->inclusive;
    if (i == count)
        return LODE_OK;
    self->sizes = self->unsigned_costs = calloc(count, sizeof *self->unsigned_costs);
    LODE_TRY_ALLOC(self->unsigned_costs, self->error);
    /* Children come after their parent. */
    for (i = count; i-- > 0;) {
        self->unsigned_costs[i] += fabs(self->cost->own[i]);
        if (i > 0)
            self->unsigned_costs[self->tree->nodes[i].parent] += self->unsigned_costs[i];
    }
    return LODE_OK;
}

static lode_status add_roots(struct builder *self)
{
    begin_children(self);
    LODE_TRY(find_sizes(self));
    self->least = self->options->min_fraction * self->sizes[0];
    if (self->options->mode == LODE_VIEW_CALLERS) {
        LODE_TRY(find_functions(self));
        LODE_TRY(add_caller_roots(self));
    } else if (self->options->focus) {
        LODE_TRY(add_focused_roots(self));
    } else {
        LODE_TRY(add_top_roots(self));
    }
    if (!is_focus_found(self))
        return lode_fail(self->error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET,
                         "no function with '%s' in its name", self->options->focus);
    return keep_children(self, NULL, 1);
}

/* ---- rows ---- */

static lode_status show_next(struct builder *self)
{
    struct node node = *LODE_ARRAY_AT(&self->pending, struct node, self->pending.count - 1);
    lode_array_pop(&self->pending);
    lode_status status = expand(self, &node);
    lode_view_row *row = status == LODE_OK ? lode_array_push(&self->view->rows) : NULL;
    if (row)
        *row = node.row;
    else if (status == LODE_OK)
        status = lode_fail_memory(self->error);
    node_free(&node);
    return status;
}

static lode_status show_all(struct builder *self)
{
    size_t most = self->options->max_rows;
    LODE_TRY(add_roots(self));
    while (self->pending.count > 0 && (most == 0 || self->view->rows.count < most))
        LODE_TRY(show_next(self));
    self->view->is_cut = self->pending.count > 0;
    return LODE_OK;
}

static void builder_free(struct builder *self)
{
    for (size_t i = 0; i < self->pending.count; i++)
        node_free(LODE_ARRAY_AT(&self->pending, struct node, i));
    for (size_t i = 0; i < self->children.count; i++)
        node_free(LODE_ARRAY_AT(&self->children, struct node, i));
    lode_array_free(&self->pending);
    lode_array_free(&self->children);
    lode_keys_free(&self->keys);
    free(self->function_of);
    free(self->body);
    free(self->unsigned_costs);
}

lode_status lode_view_build(lode_view **out, const lode_cost *cost, const lode_view_options *given,
                            lode_error *error)
{
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    lode_view *view = calloc(1, sizeof *view);
    LODE_TRY_ALLOC(view, error);
    lode_array_init(&view->rows, sizeof(lode_view_row), SIZE_MAX);
    struct builder self = {
        .cost = cost, .options = &options, .tree = cost->tree, .view = view, .error = error};
    lode_array_init(&self.pending, sizeof(struct node), SIZE_MAX);
    lode_array_init(&self.children, sizeof(struct node), SIZE_MAX);
    lode_keys_init(&self.keys);
    lode_status status = show_all(&self);
    builder_free(&self);
    if (status == LODE_OK)
        *out = view;
    else
        lode_view_free(view);
    return status;
}

void lode_view_free(lode_view *view)
{
    if (view == NULL)
        return;
    lode_array_free(&view->rows);
    free(view);
}

LODE_GETTER(size_t, lode_view_count, lode_view, rows.count);

const lode_view_row *lode_view_at(const lode_view *view, size_t index)
{
    return index < view->rows.count ? LODE_ARRAY_AT(&view->rows, lode_view_row, index) : NULL;
}

LODE_GETTER(int, lode_view_is_cut, lode_view, is_cut);
