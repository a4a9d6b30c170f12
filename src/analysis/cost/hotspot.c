/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs by function, line, loop, module, file or kind of function. */
#include "analysis/cost/hotspot.h"

#include "analysis/cost/cost.h"
#include "analysis/cost/key.h"
#include "analysis/kinds/activity.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/memory/arena.h"
#include "base/memory/array.h"
#include "base/memory/hash.h"
#include "base/options.h"
#include "base/text/label.h"
#include "model/database/database.h"
#include <inttypes.h>
#include <lode/hotspot.h>
#include <lode/name.h>
#include <lode/unstable/kind.h>
#include <lode/unstable/match.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

/* Functions of contexts are anywhere in memory: fetched before they are needed. */
#define AHEAD 8

/* Labels of this length are not compared: the function has a row of its own. */
#define LABEL_SIZE 8192

struct lode_hotspots {
    lode_hotspot *rows;
    size_t count, hidden;
    lode_hotspot_options options;
};

/* A row being computed: what names it, which is set once. */
struct row {
    lode_hotspot hotspot;
    bool is_hidden; /* by the filter */
    uint32_t key;   /* that was given */
};

/* What contexts of a row add to it, apart from the names: fewer cache lines. */
struct sum {
    double inclusive, exclusive;
    uint32_t contexts;
    uint32_t active; /* contexts of the row on the path from the root */
    /* For lines and loops: their function, if it is unique. */
    const lode_function *inside;
    bool shared;
};

/* A context on the path from the root. */
struct step {
    uint32_t end;                  /* index after its subtree */
    uint32_t row;                  /* row of costs here, or NO_ROW */
    bool counted;                  /* it is a context of the row */
    const lode_function *function; /* that contains it */
};

struct grouping {
    const lode_cost *cost;
    lode_hotspot_options options;
    lode_group_by by;
    struct lode_array rows, sums;
    struct lode_keys keys;
    struct lode_array row_of;  /* by key: uint32_t */
    uint32_t *row_of_function; /* plus 1, by index: most contexts are found here; 0: by key */
    uint32_t function_count;   /* of them */
    struct lode_index names;   /* of rows, by hash of their name or given key */
    const struct lode_row_keys *given;
    char *label, *other; /* of LABEL_SIZE bytes */
    struct step *path;   /* from the root */
    size_t depth, depth_max;
    uint32_t *rows_of_contexts; /* by index of context; may be NULL */
};

/* ---- rows ---- */

static bool is_by_function(const struct grouping *self)
{
    return self->by == LODE_BY_FUNCTION || self->by == LODE_BY_SYMBOL;
}

/* The name of a context that begins a function; false if it is too long to compare. */
static bool name_context(const struct grouping *self, const lode_context *context, char *label)
{
    const lode_function *function = lode_context_function(context);
    const char *name = context->lexical == LODE_LEXICAL_ENTRY ? context->entry_name
                       : function                             ? function->name
                                                              : NULL;
    if (name && strnlen(name, LABEL_SIZE) == LABEL_SIZE)
        return false;
    return lode_context_label_as(context, self->options.names, label, LABEL_SIZE) < LABEL_SIZE;
}

/* A row of the same name; NO_ROW if there is none. Leaves the hash of the name. */
static uint32_t find_name(const struct grouping *self, const lode_context *context, uint64_t *hash)
{
    *hash = lode_hash_text(self->label);
    struct lode_index_probe probe = lode_index_begin(&self->names, *hash);
    for (uint32_t number; lode_index_next(&probe, &number);) {
        const struct row *row = LODE_ARRAY_AT(&self->rows, struct row, number);
        if (row->hotspot.sample != context && name_context(self, row->hotspot.sample, self->other) &&
            strcmp(self->label, self->other) == 0)
            return number;
    }
    return NO_ROW;
}

/* Another function of the row: what is known of it must hold for all. */
static void join_row(lode_hotspot *row, const lode_hotspot *names)
{
    row->functions += names->functions;
    if (row->module != names->module) {
        row->module = NULL;
        row->several_modules = row->by == LODE_BY_FUNCTION;
    }
    if (row->file != names->file || row->line != names->line) {
        row->file = row->file == names->file ? row->file : NULL;
        row->line = 0;
    }
}

/* A row of the same given key; NO_ROW if there is none. Leaves the hash of the key. */
static uint32_t find_given(const struct grouping *self, uint32_t key, uint64_t *hash)
{
    *hash = lode_hash_number(key);
    struct lode_index_probe probe = lode_index_begin(&self->names, *hash);
    for (uint32_t number; lode_index_next(&probe, &number);)
        if (LODE_ARRAY_AT(&self->rows, struct row, number)->key == key)
            return number;
    return NO_ROW;
}

static lode_status add_row(struct grouping *self, const lode_hotspot *names, const lode_context *context,
                           uint32_t *out, lode_error *error)
{
    uint64_t hash = 0;
    uint32_t key = 0;
    bool is_hidden = is_by_function(self) && !lode_filter_shows_context(self->options.filter, context);
    bool has_keys = self->given || self->by == LODE_BY_KIND;
    bool merges = !is_hidden &&
                  (has_keys || (self->by == LODE_BY_FUNCTION && name_context(self, context, self->label)));
    if (self->given)
        LODE_TRY(self->given->find(self->given->user, context, names, &key, error));
    else if (has_keys)
        key = lode_activity_kind((int)lode_activity_of_context(self->options.kinds, context));
    *out = !merges ? NO_ROW : has_keys ? find_given(self, key, &hash) : find_name(self, context, &hash);
    if (*out != NO_ROW) {
        join_row(&LODE_ARRAY_AT(&self->rows, struct row, *out)->hotspot, names);
        return LODE_OK;
    }
    *out = (uint32_t)self->rows.count;
    struct row *row = lode_array_push(&self->rows);
    LODE_TRY_ALLOC(row && lode_array_push(&self->sums) && (!merges || lode_index_reserve(&self->names)),
                   error);
    if (merges)
        lode_index_put(&self->names, hash, *out);
    row->hotspot = *names;
    row->hotspot.by = self->by;
    row->hotspot.sample = context;
    row->hotspot.functions = is_by_function(self) || self->by == LODE_BY_KIND ? names->functions : 0;
    row->is_hidden = is_hidden;
    row->key = key;
    row->hotspot.kind = self->by == LODE_BY_KIND ? key : LODE_KIND_OWN;
    return LODE_OK;
}

static lode_status find_row(struct grouping *self, const struct lode_key *key, const lode_hotspot *names,
                            const lode_context *context, uint32_t *out, lode_error *error)
{
    bool added;
    uint32_t number = lode_keys_add(&self->keys, key, &added);
    if (number == LODE_NO_INDEX)
        return lode_fail_memory(error);
    if (!added) {
        *out = *LODE_ARRAY_AT(&self->row_of, uint32_t, number);
        return LODE_OK;
    }
    LODE_TRY(add_row(self, names, context, out, error));
    uint32_t *slot = lode_array_push(&self->row_of);
    LODE_TRY_ALLOC(slot, error);
    *slot = *out;
    return LODE_OK;
}

static bool is_by_line(lode_group_by by)
{
    return by == LODE_BY_LINE || by == LODE_BY_SOURCE_LINE;
}

/* Whether a context, or one that has its key from it, has own costs. */
static bool has_own_costs(const struct grouping *self, const lode_context *context)
{
    uint32_t end = context->index + context->subtree_size;
    for (uint32_t i = context->index; i < end;) {
        const lode_context *inner = &self->cost->tree->nodes[i];
        struct lode_key key;
        lode_hotspot names = {0};
        if (inner != context &&
            lode_hotspot_find_place(self->by, inner, &key, &names) != LODE_PLACE_INHERITS) {
            i += inner->subtree_size;
            continue;
        }
        if (self->cost->own[i] != 0.0)
            return true;
        i++;
    }
    return false;
}

/* Substitute keys (entry points, lines of definitions) get a row only if they have own costs. */
static bool counts_inclusive(const struct grouping *self, const lode_context *context)
{
    bool stands_in = context->lexical == LODE_LEXICAL_ENTRY || context->lexical == LODE_LEXICAL_GLOBAL ||
                     (is_by_line(self->by) && context->lexical != LODE_LEXICAL_LINE);
    return !stands_in || has_own_costs(self, context);
}

/* Lines and loops say what function they are in. */
static bool has_functions(const struct grouping *self)
{
    return is_by_line(self->by) || self->by == LODE_BY_LOOP;
}

static void note_function(struct sum *sum, const lode_function *function)
{
    sum->shared = sum->shared || (sum->contexts > 0 && sum->inside != function);
    sum->inside = sum->shared ? NULL : function;
}

/* The function that alone is the key of a context, as lode_key_of_function has it. */
static const lode_function *function_of_key(const struct grouping *self, const lode_context *context)
{
    if (!(is_by_function(self) || self->by == LODE_BY_KIND) || !begins_function(context) ||
        context->lexical == LODE_LEXICAL_GLOBAL || context->lexical == LODE_LEXICAL_ENTRY)
        return NULL;
    return function_identity(context->function);
}

static lode_status remember_function(struct grouping *self, const lode_function *function, uint32_t row,
                                     lode_error *error)
{
    if (function->index >= self->function_count &&
        !LODE_GROW_ZEROED(self->row_of_function, self->function_count, (size_t)function->index * 2 + 64))
        return lode_fail_memory(error);
    self->row_of_function[function->index] = row + 1;
    return LODE_OK;
}

/* The row of a context, or what its step has from its parent. */
static lode_status find_place(struct grouping *self, const lode_context *context, struct step *step,
                              lode_error *error)
{
    const lode_function *function = function_of_key(self, context);
    if (function && function->index < self->function_count && self->row_of_function[function->index]) {
        step->row = self->row_of_function[function->index] - 1;
        step->counted = true;
        return LODE_OK;
    }
    struct lode_key key = {0};
    lode_hotspot names = {0};
    enum lode_hotspot_place place = lode_hotspot_find_place(self->by, context, &key, &names);
    if (place == LODE_PLACE_NONE)
        step->row = NO_ROW;
    if (place != LODE_PLACE_KEY)
        return LODE_OK;
    LODE_TRY(find_row(self, &key, &names, context, &step->row, error));
    step->counted = counts_inclusive(self, context);
    return function ? remember_function(self, function, step->row, error) : LODE_OK;
}

static void add_costs(struct grouping *self, const lode_context *context, const struct step *step)
{
    struct sum *sum = LODE_ARRAY_AT(&self->sums, struct sum, step->row);
    sum->exclusive += self->cost->own[context->index];
    if (!step->counted)
        return;
    if (sum->active++ == 0)
        sum->inclusive += self->cost->inclusive[context->index];
    note_function(sum, step->function);
    sum->contexts++;
}

/* Leaves the steps whose subtrees a context is behind. */
static void leave_steps(struct grouping *self, const lode_context *context)
{
    while (self->depth > 0 && context->index >= self->path[self->depth - 1].end) {
        const struct step *last = &self->path[--self->depth];
        if (last->counted)
            LODE_ARRAY_AT(&self->sums, struct sum, last->row)->active--;
    }
}

static lode_status visit(struct grouping *self, const lode_context *context, lode_error *error)
{
    leave_steps(self, context);
    struct step step = {.end = context->index + context->subtree_size, .row = NO_ROW};
    if (self->depth > 0) {
        step.row = self->path[self->depth - 1].row;
        step.function = self->path[self->depth - 1].function;
    }
    if (has_functions(self) && begins_function(context))
        step.function = function_identity(lode_context_function(context));
    LODE_TRY(find_place(self, context, &step, error));
    if (step.row != NO_ROW)
        add_costs(self, context, &step);
    if (self->rows_of_contexts)
        self->rows_of_contexts[context->index] = step.counted ? step.row : NO_ROW;
    if (self->depth == self->depth_max && !LODE_GROW(self->path, self->depth_max, self->depth_max * 2 + 64))
        return lode_fail_memory(error);
    self->path[self->depth++] = step;
    return LODE_OK;
}

/* ---- the result ---- */

enum {
    COMPARED = 512 /* bytes of a name; the rest is not compared */
};

/* A row while it is sorted. */
struct sorted {
    double first, second; /* costs */
    uint32_t row;
};

struct order {
    const lode_hotspots *result;
    char **names; /* of rows, once they have been compared */
    struct lode_arena arena;
    bool is_by_name, has_failed;
};

static void name_row(const lode_hotspots *result, const lode_hotspot *row, char *label)
{
    if (row->by == LODE_BY_FUNCTION || row->by == LODE_BY_SYMBOL)
        lode_context_label_as(row->sample, result->options.names, label, COMPARED);
    else
        lode_hotspot_label(row, label, COMPARED);
}

static const char *name_of(struct order *order, uint32_t row)
{
    char label[COMPARED];
    if (order->names[row])
        return order->names[row];
    name_row(order->result, &order->result->rows[row], label);
    size_t size = strlen(label) + 1;
    order->names[row] = lode_arena_alloc(&order->arena, size, 1);
    order->has_failed |= order->names[row] == NULL;
    return order->names[row] ? memcpy(order->names[row], label, size) : "";
}

static int compare_names(struct order *order, uint32_t a, uint32_t b)
{
    const lode_hotspot *rows = order->result->rows;
    const char *left = name_of(order, a), *right = name_of(order, b);
    int result = strcmp(left, right);
    if (result != 0)
        return result;
    uint32_t i = rows[a].sample->index, k = rows[b].sample->index;
    return i < k ? -1 : i > k;
}

/* Ties: the other cost decides before the name. */
static int compare_places(const void *left, const void *right, void *argument)
{
    const struct sorted *a = left, *b = right;
    struct order *order = argument;
    if (!order->is_by_name && a->first != b->first)
        return a->first > b->first ? -1 : 1;
    if (!order->is_by_name && a->second != b->second)
        return a->second > b->second ? -1 : 1;
    return compare_names(order, a->row, b->row);
}

/* The rows in an order, as an array for free(); NULL if out of memory. */
static lode_hotspot *sort_rows(const lode_hotspots *result, lode_hotspot_sort sort)
{
    size_t count = result->count;
    struct order order = {.result = result, .is_by_name = sort == LODE_SORT_NAME};
    struct sorted *places = calloc(count + 1, sizeof *places);
    lode_hotspot *rows = calloc(count + 1, sizeof *rows);
    order.names = calloc(count + 1, sizeof *order.names);
    bool has_memory = places && rows && order.names;
    lode_arena_init(&order.arena, SIZE_MAX);
    for (uint32_t i = 0; i < count && has_memory; i++) {
        const lode_hotspot *row = &result->rows[i];
        places[i] = sort == LODE_SORT_INCLUSIVE ? (struct sorted){row->inclusive, row->exclusive, i}
                                                : (struct sorted){row->exclusive, row->inclusive, i};
    }
    if (has_memory)
        qsort_r(places, count, sizeof *places, compare_places, &order);
    for (size_t i = 0; i < count && has_memory; i++)
        rows[i] = result->rows[places[i].row];
    lode_arena_free(&order.arena);
    free(order.names);
    free(places);
    if (!has_memory || order.has_failed) {
        free(rows);
        return NULL;
    }
    return rows;
}

static lode_status put_in_order(lode_hotspots *to, const lode_hotspots *from, lode_hotspot_sort sort,
                                lode_error *error)
{
    lode_hotspot *rows = sort_rows(from, sort);
    LODE_TRY_ALLOC(rows, error);
    free(to->rows);
    to->rows = rows;
    return LODE_OK;
}

static lode_status collect(const struct grouping *self, lode_hotspots **out, lode_error *error)
{
    lode_hotspots *result = calloc(1, sizeof *result);
    LODE_TRY_ALLOC(result, error);
    result->options = self->options;
    result->rows = calloc(self->rows.count + 1, sizeof *result->rows);
    if (result->rows == NULL) {
        free(result);
        return lode_fail_memory(error);
    }
    for (size_t i = 0; i < self->rows.count; i++) {
        const struct row *row = LODE_ARRAY_AT(&self->rows, struct row, i);
        const struct sum *sum = LODE_ARRAY_AT(&self->sums, struct sum, i);
        if (sum->inclusive == 0.0 && sum->exclusive == 0.0)
            continue;
        result->hidden += row->is_hidden;
        if (row->is_hidden)
            continue;
        lode_hotspot *kept = &result->rows[result->count++];
        *kept = row->hotspot;
        kept->inclusive = sum->inclusive;
        kept->exclusive = sum->exclusive;
        kept->contexts = sum->contexts;
        if (has_functions(self))
            kept->function = sum->inside;
    }
    lode_status status = put_in_order(result, result, self->options.sort, error);
    if (status == LODE_OK)
        *out = result;
    else
        lode_hotspots_free(result);
    return status;
}

static lode_status visit_all(struct grouping *self, lode_error *error)
{
    const struct lode_context_tree *tree = self->cost->tree;
    self->label = malloc(LABEL_SIZE);
    self->other = malloc(LABEL_SIZE);
    LODE_TRY_ALLOC(self->label && self->other, error);
    for (uint32_t i = 0; i < tree->count; i++) {
        /* Names of entry points are prefetched likewise: that does no harm. */
        if (i + AHEAD < tree->count)
            __builtin_prefetch(tree->nodes[i + AHEAD].function);
        LODE_TRY(visit(self, &tree->nodes[i], error));
    }
    return lode_filter_status(self->options.filter, error);
}

/* Visits all contexts; then makes hotspots of the rows, unless `out` is NULL. */
static lode_status group(struct grouping *self, lode_hotspots **out, lode_error *error)
{
    uint32_t count = self->cost->tree->count;
    self->by = self->options.by;
    lode_array_init(&self->rows, sizeof(struct row), count);
    lode_array_init(&self->row_of, sizeof(uint32_t), count);
    lode_array_init(&self->sums, sizeof(struct sum), count);
    lode_keys_init(&self->keys);
    lode_status status = visit_all(self, error);
    if (status == LODE_OK && out)
        status = collect(self, out, error);
    lode_array_free(&self->rows);
    lode_array_free(&self->row_of);
    lode_array_free(&self->sums);
    free(self->row_of_function);
    free(self->path);
    lode_keys_free(&self->keys);
    lode_index_free(&self->names);
    free(self->label);
    free(self->other);
    return status;
}

lode_status lode_hotspots_group(lode_hotspots **out, const lode_cost *cost,
                                const lode_hotspot_options *options, const struct lode_row_keys *keys,
                                lode_error *error)
{
    struct grouping self = {.cost = cost, .options = LODE_HOTSPOT_OPTIONS_INIT, .given = keys};
    *out = NULL;
    LODE_TRY(lode_options_take(&self.options, options, error));
    return group(&self, out, error);
}

lode_status lode_hotspots_rows_of_contexts(const lode_hotspots *hotspots, const lode_cost *cost,
                                           uint32_t *rows, lode_error *error)
{
    struct grouping self = {.cost = cost, .options = hotspots->options, .rows_of_contexts = rows};
    return group(&self, NULL, error);
}

lode_status lode_hotspots_select(lode_hotspots **out, const lode_cost *cost,
                                 const lode_hotspot_options *options, lode_error *error)
{
    return lode_hotspots_group(out, cost, options, NULL, error);
}

lode_status lode_hotspots_compute(lode_hotspots **out, const lode_cost *cost, lode_group_by by,
                                  lode_hotspot_sort sort, lode_error *error)
{
    lode_hotspot_options options = LODE_HOTSPOT_OPTIONS_INIT;
    options.by = by;
    options.sort = sort;
    return lode_hotspots_select(out, cost, &options, error);
}

lode_status lode_hotspots_sorted(lode_hotspots **out, const lode_hotspots *hotspots, lode_hotspot_sort sort,
                                 lode_error *error)
{
    lode_hotspots *result = calloc(1, sizeof *result);
    *out = NULL;
    LODE_TRY_ALLOC(result, error);
    *result = *hotspots;
    result->rows = NULL;
    lode_status status = put_in_order(result, hotspots, sort, error);
    if (status == LODE_OK)
        *out = result;
    else
        lode_hotspots_free(result);
    return status;
}

void lode_hotspots_free(lode_hotspots *hotspots)
{
    if (hotspots == NULL)
        return;
    free(hotspots->rows);
    free(hotspots);
}

LODE_GETTER(size_t, lode_hotspots_count, lode_hotspots, count);
LODE_GETTER(size_t, lode_hotspots_hidden, lode_hotspots, hidden);

const lode_hotspot *lode_hotspots_at(const lode_hotspots *hotspots, size_t index)
{
    return index < hotspots->count ? &hotspots->rows[index] : NULL;
}

size_t lode_hotspot_label(const lode_hotspot *hotspot, char *buffer, size_t capacity)
{
    struct lode_label label = {buffer, capacity, 0};
    switch (hotspot->by) {
    case LODE_BY_MODULE:
        lode_label_text(&label, hotspot->module ? hotspot->module->path : "<unknown module>");
        break;
    case LODE_BY_FILE:
        lode_label_text(&label, hotspot->file ? hotspot->file->path : "<unknown file>");
        break;
    case LODE_BY_SOURCE_LINE:
    case LODE_BY_LINE:
        /* The own costs of a loop are those of its first line. */
        if (hotspot->file == NULL || (hotspot->by == LODE_BY_LINE && hotspot->sample->file == NULL))
            return lode_context_label(hotspot->sample, buffer, capacity);
        lode_label_text(&label, lode_path_tail(hotspot->file->path));
        if (hotspot->line)
            lode_label_format(&label, ":%" PRIu32, hotspot->line);
        break;
    case LODE_BY_KIND:
        lode_label_text(&label, lode_kind_title((int)hotspot->kind));
        break;
    case LODE_BY_FUNCTION:
    case LODE_BY_SYMBOL:
    case LODE_BY_LOOP:
    default:
        return lode_context_label(hotspot->sample, buffer, capacity);
    }
    return lode_label_end(&label);
}
