/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes of flame graphs: expands nodes of views level by level, while boxes are wide enough. */
#include "analysis/tree/tree_view.h"

#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include <lode/unstable/flame.h>
#include <stdlib.h>
#include <string.h>

struct lode_flame {
    struct lode_array boxes;
    double whole;
    int first, last;
    bool is_cut;
    uint64_t merged;
};

/* A node whose children have no boxes yet. */
struct pending {
    struct lode_tree_view_node node;
    uint32_t box;
};

struct builder {
    lode_flame_options options;
    lode_flame *flame;
    struct lode_expander *expander; /* in the direction that is drawn */
    int step;                       /* 1: downwards, -1: upwards */
    struct lode_array pending;
    size_t next;          /* of those that are pending */
    unsigned char *kinds; /* by function: kind + 1 */
    size_t kind_count;
    lode_error *error;
};

static lode_flame_box *box_at(const lode_flame *flame, size_t index)
{
    return LODE_ARRAY_AT(&flame->boxes, lode_flame_box, index);
}

/* ---- kinds ---- */

/* Contexts of a function share a kind, mostly: it is looked up once. */
static lode_kind kind_of(struct builder *self, const lode_context *context)
{
    while (!begins_function(context))
        context = lode_context_parent(context);
    const lode_function *function = lode_context_function(context);
    if (function == NULL || function->module == NULL)
        return lode_kind_by_rules(self->options.kinds, context, NULL);
    size_t index = function->index;
    if (index >= self->kind_count) {
        if (!LODE_GROW_ZEROED(self->kinds, self->kind_count, 2 * (index + 1)))
            return lode_kind_by_rules(self->options.kinds, context, NULL);
    }
    if (self->kinds[index] == 0)
        self->kinds[index] = (unsigned char)(lode_kind_by_rules(self->options.kinds, context, NULL) + 1);
    return (lode_kind)(self->kinds[index] - 1);
}

/* ---- boxes ---- */

/* NULL if there is no room for it, or no memory; `is_cut` says which. */
static lode_flame_box *add_box(struct builder *self)
{
    lode_flame *flame = self->flame;
    if (flame->boxes.count >= self->options.max_boxes) {
        flame->is_cut = true;
        return NULL;
    }
    return lode_array_push(&flame->boxes);
}

static lode_status no_box(const struct builder *self)
{
    return self->flame->is_cut ? LODE_OK : lode_fail_memory(self->error);
}

/* Adds the box of a node, which becomes pending; takes the node. */
static lode_status add_node(struct builder *self, struct lode_tree_view_node *node,
                            const lode_flame_box *place)
{
    lode_flame_box *box = add_box(self);
    struct pending *pending = box ? lode_array_push(&self->pending) : NULL;
    if (pending == NULL) {
        lode_tree_view_node_free(node);
        return box ? lode_fail_memory(self->error) : no_box(self);
    }
    *box = *place;
    box->inclusive = node->row.inclusive;
    box->exclusive = node->row.exclusive;
    box->calls = node->row.calls;
    box->contexts = node->row.contexts;
    box->context = node->row.context;
    box->kind = kind_of(self, node->row.context);
    *pending = (struct pending){*node, (uint32_t)self->flame->boxes.count - 1};
    lode_flame *flame = self->flame;
    flame->first = place->level < flame->first ? place->level : flame->first;
    flame->last = place->level > flame->last ? place->level : flame->last;
    return LODE_OK;
}

/* One box for rows that are too narrow, if they are wide enough together. */
static lode_status add_merged(struct builder *self, const lode_flame_box *place, uint32_t count, double cost,
                              double size)
{
    self->flame->merged += count;
    if (count == 0 || !(size >= self->expander->least) || !(size > 0.0))
        return LODE_OK;
    lode_flame_box *box = add_box(self);
    if (box == NULL)
        return no_box(self);
    /* Nothing of the box that it continues. */
    *box = (lode_flame_box){.x = place->x,
                            .width = place->width,
                            .level = place->level,
                            .parent = place->parent,
                            .more = count,
                            .inclusive = cost};
    lode_flame *flame = self->flame;
    flame->first = place->level < flame->first ? place->level : flame->first;
    flame->last = place->level > flame->last ? place->level : flame->last;
    return LODE_OK;
}

/* As wide as a cost, but not beyond the end. */
static void set_width(const struct builder *self, lode_flame_box *place, double size, double end)
{
    double width = self->flame->whole > 0.0 ? size / self->flame->whole : 0.0;
    double room = end > place->x ? end - place->x : 0.0;
    place->width = width < room ? width : room;
}

/* Boxes for the children that the expander found, from `place` on. */
static lode_status add_children(struct builder *self, lode_flame_box place, double end)
{
    struct lode_array *children = &self->expander->children;
    lode_status status = LODE_OK;
    for (size_t i = 0; i < children->count; i++) {
        struct lode_tree_view_node *node = LODE_ARRAY_AT(children, struct lode_tree_view_node, i);
        set_width(self, &place, node->size, end);
        if (status == LODE_OK)
            status = add_node(self, node, &place);
        else
            lode_tree_view_node_free(node);
        place.x += place.width;
    }
    children->count = 0;
    set_width(self, &place, self->expander->omitted_size, end);
    if (status == LODE_OK)
        status = add_merged(self, &place, self->expander->omitted, self->expander->omitted_inclusive,
                            self->expander->omitted_size);
    return status;
}

/* ---- levels ---- */

static bool is_deepest(const struct builder *self, int level)
{
    unsigned depth = (unsigned)(level < 0 ? -level : level) + 1;
    return (self->options.depth > 0 && depth >= self->options.depth) || self->flame->is_cut;
}

/* The boxes below (or above) one box. A center of a sandwich knows its own cost already. */
static lode_status expand_next(struct builder *self)
{
    struct pending pending = *LODE_ARRAY_AT(&self->pending, struct pending, self->next);
    self->next++;
    lode_flame_box place = *box_at(self->flame, pending.box);
    bool is_center = self->options.mode == LODE_FLAME_SANDWICH && place.level == 0;
    lode_status status = LODE_OK;
    if (is_deepest(self, place.level)) {
        bool has_more = lode_tree_view_node_complete(self->expander, &pending.node);
        box_at(self->flame, pending.box)->folded |= has_more;
    } else {
        status = lode_expander_expand(self->expander, &pending.node, self->error);
    }
    if (!is_center)
        box_at(self->flame, pending.box)->exclusive = pending.node.row.exclusive;
    lode_tree_view_node_free(&pending.node);
    /* Rows of calls without a cost have no box. */
    double end = place.x + place.width;
    place.level += self->step;
    place.parent = pending.box;
    if (status == LODE_OK)
        status = add_children(self, place, end);
    if (self->flame->is_cut)
        box_at(self->flame, pending.box)->folded = 1;
    return status;
}

static lode_status expand_all(struct builder *self)
{
    lode_status status = LODE_OK;
    while (status == LODE_OK && self->next < self->pending.count)
        status = expand_next(self);
    return status;
}

static void drop_pending(struct builder *self)
{
    for (; self->next < self->pending.count; self->next++)
        lode_tree_view_node_free(&LODE_ARRAY_AT(&self->pending, struct pending, self->next)->node);
    self->pending.count = self->next = 0;
}

/* ---- the first level ---- */

/* Moves roots that are too narrow to those that were dropped. They come last. */
static void drop_narrow(struct lode_expander *expander)
{
    struct lode_array *children = &expander->children;
    while (children->count > 0) {
        struct lode_tree_view_node *node =
            LODE_ARRAY_AT(children, struct lode_tree_view_node, children->count - 1);
        if (node->size >= expander->least && node->size > 0.0)
            break;
        expander->omitted++;
        expander->omitted_inclusive += node->row.inclusive;
        expander->omitted_size += node->size;
        lode_tree_view_node_free(node);
        lode_array_pop(children);
    }
}

static double least_of(const struct builder *self)
{
    double share = self->options.width > 0.0 ? self->options.min_width / self->options.width : 0.0;
    return share * self->flame->whole;
}

static lode_status draw_roots(struct builder *self)
{
    struct lode_expander *expander = self->expander;
    LODE_TRY(lode_expander_roots(expander, self->error));
    for (size_t i = 0; i < expander->children.count; i++)
        self->flame->whole += LODE_ARRAY_AT(&expander->children, struct lode_tree_view_node, i)->size;
    expander->least = least_of(self);
    drop_narrow(expander);
    return add_children(self, (lode_flame_box){.parent = LODE_FLAME_NO_PARENT}, 1.0);
}

static lode_view_options view_options(const struct builder *self)
{
    static const lode_view_mode modes[] = {[LODE_FLAME_TOP_DOWN] = LODE_VIEW_TOP_DOWN,
                                           [LODE_FLAME_BOTTOM_UP] = LODE_VIEW_CALLERS,
                                           [LODE_FLAME_SANDWICH] = LODE_VIEW_CALLERS_OF};
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    options.mode = modes[self->options.mode];
    options.min_fraction = 0.0;
    options.focus = self->options.focus;
    options.names = self->options.names;
    options.filter = self->options.filter;
    options.at = self->options.mode == LODE_FLAME_TOP_DOWN ? self->options.at : NULL;
    options.merge_recursion = self->options.merge_recursion;
    return options;
}

/* Copies of the boxes of level 0, to be expanded in the other direction. */
static lode_status copy_centers(const struct builder *self, struct lode_array *centers)
{
    for (size_t i = 0; i < self->pending.count; i++) {
        const struct pending *from = LODE_ARRAY_AT(&self->pending, struct pending, i);
        struct pending *to = lode_array_push(centers);
        LODE_TRY_ALLOC(to, self->error);
        lode_status status = lode_tree_view_node_copy(&to->node, &from->node, self->error);
        if (status != LODE_OK) {
            lode_array_pop(centers);
            return status;
        }
        to->box = from->box;
    }
    return LODE_OK;
}

/* What the centers of a sandwich call: their contexts, top-down. */
static lode_status draw_callees(struct builder *self, const lode_cost *cost, struct lode_array *centers)
{
    struct lode_expander down;
    lode_view_options options = view_options(self);
    options.mode = LODE_VIEW_TOP_DOWN;
    options.focus = NULL;
    struct lode_array above = self->pending;
    self->pending = *centers;
    *centers = above;
    self->next = 0;
    lode_status status = lode_expander_open(&down, cost, &options, self->error);
    if (status == LODE_OK)
        status = lode_expander_roots(&down, self->error);
    for (size_t i = 0; i < down.children.count; i++)
        lode_tree_view_node_free(LODE_ARRAY_AT(&down.children, struct lode_tree_view_node, i));
    down.children.count = 0;
    down.least = least_of(self);
    self->expander = &down;
    self->step = 1;
    if (status == LODE_OK)
        status = expand_all(self);
    self->expander = NULL;
    lode_expander_close(&down);
    return status;
}

static lode_status draw_sandwich(struct builder *self, const lode_cost *cost)
{
    struct lode_array centers;
    lode_array_init(&centers, sizeof(struct pending), SIZE_MAX);
    lode_status status = draw_roots(self);
    if (status == LODE_OK)
        status = copy_centers(self, &centers);
    self->step = -1;
    if (status == LODE_OK)
        status = expand_all(self);
    drop_pending(self);
    if (status == LODE_OK)
        status = draw_callees(self, cost, &centers);
    for (size_t i = 0; i < centers.count; i++)
        lode_tree_view_node_free(&LODE_ARRAY_AT(&centers, struct pending, i)->node);
    lode_array_free(&centers);
    return status;
}

static lode_status draw(struct builder *self, const lode_cost *cost)
{
    struct lode_expander expander;
    lode_view_options options = view_options(self);
    if (self->options.mode == LODE_FLAME_SANDWICH && self->options.focus == NULL)
        return lode_fail(self->error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "a sandwich needs a function");
    self->step = 1;
    self->expander = &expander;
    lode_status status = lode_expander_open(&expander, cost, &options, self->error);
    if (status == LODE_OK && self->options.mode == LODE_FLAME_SANDWICH) {
        status = draw_sandwich(self, cost);
    } else if (status == LODE_OK) {
        status = draw_roots(self);
        if (status == LODE_OK)
            status = expand_all(self);
    }
    drop_pending(self);
    self->expander = NULL;
    lode_expander_close(&expander);
    return status;
}

lode_status lode_flame_build(lode_flame **out, const lode_cost *cost, const lode_flame_options *options,
                             lode_error *error)
{
    struct builder self = {.options = LODE_FLAME_OPTIONS_INIT, .error = error};
    *out = NULL;
    LODE_TRY(lode_options_take(&self.options, options, error));
    self.flame = calloc(1, sizeof *self.flame);
    LODE_TRY_ALLOC(self.flame, error);
    lode_array_init(&self.flame->boxes, sizeof(lode_flame_box), UINT32_MAX - 1);
    lode_array_init(&self.pending, sizeof(struct pending), SIZE_MAX);
    self.flame->last = -1;
    lode_status status = draw(&self, cost);
    lode_array_free(&self.pending);
    free(self.kinds);
    if (status == LODE_OK)
        *out = self.flame;
    else
        lode_flame_free(self.flame);
    return status;
}

void lode_flame_free(lode_flame *flame)
{
    if (flame == NULL)
        return;
    lode_array_free(&flame->boxes);
    free(flame);
}

LODE_GETTER(size_t, lode_flame_count, lode_flame, boxes.count);
LODE_GETTER(double, lode_flame_whole, lode_flame, whole);
LODE_GETTER(int, lode_flame_first_level, lode_flame, first);
LODE_GETTER(int, lode_flame_last_level, lode_flame, last);
LODE_GETTER(int, lode_flame_is_cut, lode_flame, is_cut);
LODE_GETTER(uint64_t, lode_flame_merged, lode_flame, merged);

const lode_flame_box *lode_flame_at(const lode_flame *flame, size_t index)
{
    return index < flame->boxes.count ? box_at(flame, index) : NULL;
}
