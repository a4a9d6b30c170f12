/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs by function, line, loop, module or file. */
#include "analysis/cost.h"
#include "analysis/key.h"
#include "base/array.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/label.h"
#include "model/database.h"
#include <inttypes.h>
#include <lode/hotspot.h>
#include <lode/name.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

struct lode_hotspots {
    lode_hotspot *rows;
    size_t count;
};

/* A row being computed, and how often its key is on the path from the root. */
struct row {
    lode_hotspot hotspot;
    uint32_t active;
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
    lode_group_by by;
    struct lode_array rows;
    struct lode_keys keys; /* of the rows, in row order */
    struct lode_array path;
};

/* ---- keys of contexts ---- */

enum place {
    PLACE_INHERITS, /* has the key of its parent */
    PLACE_NONE,     /* it and its body have no key */
    PLACE_KEY,      /* has its own key */
};

static enum place function_place(const lode_context *context, struct lode_key *key, lode_hotspot *names)
{
    if (!begins_function(context))
        return PLACE_INHERITS;
    *key = lode_key_of_function(context);
    names->function = key->function;
    names->module = key->function ? key->function->module : key->module;
    names->file = key->function ? key->function->file : key->file;
    names->line = key->function ? key->function->line : key->file ? context->line : 0;
    return PLACE_KEY;
}

static enum place line_place(const lode_context *context, struct lode_key *key, lode_hotspot *names)
{
    /* Costs directly at a function have only the line of its definition. */
    if (context->file == NULL)
        return function_place(context, key, names);
    *key = lode_key_of_line(context);
    names->file = context->file;
    names->line = context->line;
    return PLACE_KEY;
}

/* The cost of a function without lines is at its definition, if that is known. */
static enum place source_place(const lode_context *context, struct lode_key *key, lode_hotspot *names)
{
    const lode_function *function = function_identity(lode_context_function(context));
    if (context->file || !begins_function(context) || function == NULL || function->file == NULL)
        return line_place(context, key, names);
    *key = (struct lode_key){.kind = LODE_KEY_LINE, .file = function->file, .number = function->line};
    names->file = function->file;
    names->line = function->line;
    return PLACE_KEY;
}

static enum place loop_place(const lode_context *context, struct lode_key *key, lode_hotspot *names)
{
    if (context->lexical != LODE_LEXICAL_LOOP)
        return begins_function(context) ? PLACE_NONE : PLACE_INHERITS;
    *key = lode_key_of_loop(context);
    names->file = context->file;
    names->line = context->line;
    names->module = context->module;
    return PLACE_KEY;
}

static enum place module_place(const lode_context *context, struct lode_key *key, lode_hotspot *names)
{
    const lode_function *function = lode_context_function(context);
    names->module = function && function->module ? function->module : context->module;
    *key = (struct lode_key){.kind = LODE_KEY_MODULE, .module = names->module};
    return names->module || begins_function(context) ? PLACE_KEY : PLACE_INHERITS;
}

static enum place file_place(const lode_context *context, struct lode_key *key, lode_hotspot *names)
{
    const lode_function *function = lode_context_function(context);
    names->file = context->file ? context->file : function ? function->file : NULL;
    *key = (struct lode_key){.kind = LODE_KEY_FILE, .file = names->file};
    return names->file || begins_function(context) ? PLACE_KEY : PLACE_INHERITS;
}

/* The key of a context, and the names for its row. */
static enum place find_place(lode_group_by by, const lode_context *context, struct lode_key *key,
                             lode_hotspot *names)
{
    switch (by) {
    case LODE_BY_LINE:
        return line_place(context, key, names);
    case LODE_BY_SOURCE_LINE:
        return source_place(context, key, names);
    case LODE_BY_LOOP:
        return loop_place(context, key, names);
    case LODE_BY_MODULE:
        return module_place(context, key, names);
    case LODE_BY_FILE:
        return file_place(context, key, names);
    case LODE_BY_FUNCTION:
    default:
        return function_place(context, key, names);
    }
}

/* ---- rows ---- */

static lode_status find_row(struct grouping *self, const struct lode_key *key, const lode_hotspot *names,
                            const lode_context *context, uint32_t *out, lode_error *error)
{
    bool added;
    *out = lode_keys_add(&self->keys, key, &added);
    if (*out == LODE_NO_INDEX)
        return lode_fail_memory(error);
    if (!added)
        return LODE_OK;
    struct row *row = lode_array_push(&self->rows);
    LODE_TRY_ALLOC(row, error);
    row->hotspot = *names;
    row->hotspot.sample = context;
    return LODE_OK;
}

static bool is_by_line(lode_group_by by)
{
    return by == LODE_BY_LINE || by == LODE_BY_SOURCE_LINE;
}

/* Substitute keys (entry points, lines of definitions) get a row only if they have own costs. */
static bool counts_inclusive(const struct grouping *self, const lode_context *context)
{
    bool stands_in = context->lexical == LODE_LEXICAL_ENTRY || context->lexical == LODE_LEXICAL_GLOBAL ||
                     (is_by_line(self->by) && context->lexical != LODE_LEXICAL_LINE);
    return !stands_in || self->cost->own[context->index] != 0.0;
}

static void note_function(struct row *row, const lode_function *function)
{
    row->shared = row->shared || (row->hotspot.contexts > 0 && row->inside != function);
    row->inside = row->shared ? NULL : function;
}

static lode_status visit(struct grouping *self, const lode_context *context, lode_error *error)
{
    while (self->path.count > 0) {
        const struct step *last = LODE_ARRAY_AT(&self->path, struct step, self->path.count - 1);
        if (context->index < last->end)
            break;
        if (last->counted)
            LODE_ARRAY_AT(&self->rows, struct row, last->row)->active--;
        lode_array_pop(&self->path);
    }
    struct step step = {.end = context->index + context->subtree_size, .row = NO_ROW};
    if (self->path.count > 0) {
        const struct step *parent = LODE_ARRAY_AT(&self->path, struct step, self->path.count - 1);
        step.row = parent->row;
        step.function = parent->function;
    }
    if (begins_function(context))
        step.function = function_identity(lode_context_function(context));
    struct lode_key key = {0};
    lode_hotspot names = {0};
    enum place place = find_place(self->by, context, &key, &names);
    if (place == PLACE_NONE)
        step.row = NO_ROW;
    if (place == PLACE_KEY) {
        LODE_TRY(find_row(self, &key, &names, context, &step.row, error));
        step.counted = counts_inclusive(self, context);
    }
    if (step.row != NO_ROW) {
        struct row *row = LODE_ARRAY_AT(&self->rows, struct row, step.row);
        row->hotspot.exclusive += self->cost->own[context->index];
        if (step.counted && row->active++ == 0)
            row->hotspot.inclusive += self->cost->inclusive[context->index];
        if (step.counted)
            note_function(row, step.function);
        row->hotspot.contexts += step.counted;
    }
    struct step *pushed = lode_array_push(&self->path);
    LODE_TRY_ALLOC(pushed, error);
    *pushed = step;
    return LODE_OK;
}

/* ---- the result ---- */

struct order {
    lode_hotspot_sort sort;
    lode_group_by by;
};

static int compare_names(const lode_hotspot *a, const lode_hotspot *b, lode_group_by by)
{
    char left[512], right[512];
    lode_hotspot_label(a, by, left, sizeof left);
    lode_hotspot_label(b, by, right, sizeof right);
    int result = strcmp(left, right);
    if (result != 0)
        return result;
    uint32_t i = a->sample->index, k = b->sample->index;
    return i < k ? -1 : i > k;
}

static int compare_rows(const void *left, const void *right, void *argument)
{
    const lode_hotspot *a = left, *b = right;
    const struct order *order = argument;
    double x = order->sort == LODE_SORT_INCLUSIVE ? a->inclusive : a->exclusive;
    double y = order->sort == LODE_SORT_INCLUSIVE ? b->inclusive : b->exclusive;
    if (order->sort == LODE_SORT_NAME || x == y) {
        /* Ties: the other cost decides before the name. */
        double p = order->sort == LODE_SORT_INCLUSIVE ? a->exclusive : a->inclusive;
        double q = order->sort == LODE_SORT_INCLUSIVE ? b->exclusive : b->inclusive;
        if (order->sort == LODE_SORT_NAME || p == q)
            return compare_names(a, b, order->by);
        return p > q ? -1 : 1;
    }
    return x > y ? -1 : 1;
}

static lode_status collect(const struct grouping *self, lode_hotspot_sort sort, lode_hotspots **out,
                           lode_error *error)
{
    lode_hotspots *result = calloc(1, sizeof *result);
    LODE_TRY_ALLOC(result, error);
    result->rows = calloc(self->rows.count + 1, sizeof *result->rows);
    if (result->rows == NULL) {
        free(result);
        return lode_fail_memory(error);
    }
    for (size_t i = 0; i < self->rows.count; i++) {
        const struct row *row = LODE_ARRAY_AT(&self->rows, struct row, i);
        if (row->hotspot.inclusive == 0.0 && row->hotspot.exclusive == 0.0)
            continue;
        lode_hotspot *kept = &result->rows[result->count++];
        *kept = row->hotspot;
        if (is_by_line(self->by) || self->by == LODE_BY_LOOP)
            kept->function = row->inside;
    }
    struct order order = {sort, self->by};
    qsort_r(result->rows, result->count, sizeof *result->rows, compare_rows, &order);
    *out = result;
    return LODE_OK;
}

lode_status lode_hotspots_compute(lode_hotspots **out, const lode_cost *cost, lode_group_by by,
                                  lode_hotspot_sort sort, lode_error *error)
{
    const struct lode_context_tree *tree = cost->tree;
    struct grouping self = {.cost = cost, .by = by};
    lode_status status = LODE_OK;
    *out = NULL;
    lode_array_init(&self.rows, sizeof(struct row), tree->count);
    lode_array_init(&self.path, sizeof(struct step), tree->count);
    lode_keys_init(&self.keys);
    for (uint32_t i = 0; i < tree->count && status == LODE_OK; i++)
        status = visit(&self, &tree->nodes[i], error);
    if (status == LODE_OK)
        status = collect(&self, sort, out, error);
    lode_array_free(&self.rows);
    lode_array_free(&self.path);
    lode_keys_free(&self.keys);
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

const lode_hotspot *lode_hotspots_at(const lode_hotspots *hotspots, size_t index)
{
    return index < hotspots->count ? &hotspots->rows[index] : NULL;
}

size_t lode_hotspot_label(const lode_hotspot *hotspot, lode_group_by by, char *buffer, size_t capacity)
{
    struct lode_label label = {buffer, capacity, 0};
    switch (by) {
    case LODE_BY_MODULE:
        lode_label_text(&label, hotspot->module ? hotspot->module->path : "<unknown module>");
        break;
    case LODE_BY_FILE:
        lode_label_text(&label, hotspot->file ? hotspot->file->path : "<unknown file>");
        break;
    case LODE_BY_SOURCE_LINE:
    case LODE_BY_LINE:
        /* The own costs of a loop are those of its first line. */
        if (hotspot->file == NULL || (by == LODE_BY_LINE && hotspot->sample->file == NULL))
            return lode_context_label(hotspot->sample, buffer, capacity);
        lode_label_text(&label, lode_path_tail(hotspot->file->path));
        if (hotspot->line)
            lode_label_format(&label, ":%" PRIu32, hotspot->line);
        break;
    case LODE_BY_FUNCTION:
    case LODE_BY_LOOP:
    default:
        return lode_context_label(hotspot->sample, buffer, capacity);
    }
    return lode_label_end(&label);
}
