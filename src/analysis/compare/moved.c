/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Costs that moved: rows of a class or file, callers and callees, or functions below one caller
 * that only one side has, whose changes nearly cancel. A function that was inlined or renamed
 * looks so.
 */
#include "analysis/compare/flat.h"

#include "analysis/cost/cost.h"
#include "analysis/cost/key.h"
#include "base/compare.h"
#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE LODE_NO_NUMBER

/* Where changes cancel each other to this share of their gross change, costs moved. */
#define MOVED_NET 0.1
/* Moves of less than this share of the larger side are not marked. */
#define MOVED_LEAST 0.01
/* Smaller changes are no part of a move. */
#define PART_LEAST (MOVED_NET * MOVED_LEAST / 2)

struct moves {
    lode_comparison *comparison;
    size_t metric;
    double *changes; /* by shown row */
    double least;    /* gross change that is marked */
    uint32_t *within;
};

static double mean_total(const lode_comparison *self, lode_compare_side side, size_t metric)
{
    double sum = 0.0;
    for (size_t run = 0; run < self->runs[side]; run++)
        sum += fabs(self->totals[lode_flat_column(self, side, run, metric)]);
    return sum / (double)self->runs[side];
}

static double larger_total(const lode_comparison *self, size_t metric)
{
    return fmax(mean_total(self, LODE_BASE, metric), mean_total(self, LODE_NEW, metric));
}

static bool cancels(const struct moves *moves, double net, double gross)
{
    return gross > moves->least && fabs(net) < MOVED_NET * gross;
}

/* ---- classes and files ---- */

/* A row in its class or file. */
struct member {
    uint32_t group; /* string */
    uint32_t row;   /* that is shown */
};

LODE_COMPARE_BY_2(compare_members, struct member, group, row);

/* "app::Grid" for "app::Grid::smooth(int)"; else the file; 0 if neither is known. */
static lode_status find_group(lode_comparison *self, const lode_compare_row *row, uint32_t *group,
                              lode_error *error)
{
    char simple[1024];
    size_t length = lode_normal_simple(row->key.name, simple, sizeof simple);
    char *last = length < sizeof simple ? strrchr(simple, ':') : NULL;
    if (last && last > simple + 1 && last[-1] == ':') {
        last[-1] = '\0';
        return lode_normal_text(&self->normalizer, simple, group, error);
    }
    return lode_normal_text(&self->normalizer, row->key.file, group, error);
}

static void mark_members(const struct moves *moves, const struct member *members, size_t count)
{
    double gross = 0.0, net = 0.0;
    for (size_t i = 0; i < count; i++) {
        gross += fabs(moves->changes[members[i].row]);
        net += moves->changes[members[i].row];
    }
    if (members[0].group == 0 || !cancels(moves, net, gross))
        return;
    for (size_t i = 0; i < count; i++)
        if (fabs(moves->changes[members[i].row]) >= MOVED_NET * gross)
            moves->within[members[i].row] = members[i].group;
}

static void mark_groups(const struct moves *moves, const struct member *members)
{
    size_t count = moves->comparison->count;
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && members[end].group == members[begin].group;)
            end++;
        mark_members(moves, members + begin, end - begin);
    }
}

/* ---- callers and callees ---- */

/* A call between rows that are shown. */
struct call {
    uint32_t caller, callee;
};

LODE_COMPARE_BY_2(compare_calls, struct call, caller, callee);

static uint32_t name_of(const lode_comparison *self, uint32_t shown)
{
    return LODE_ARRAY_AT(&self->rows, struct lode_flat_row, self->order[shown])->key.name;
}

/* The changes around one row that go the other way: net and gross, with its own. */
static void add_opposite(const struct moves *moves, uint32_t row, uint32_t other, double *net, double *gross)
{
    double own = moves->changes[row], change = moves->changes[other];
    if (other == row || own * change >= 0 || fabs(change) < MOVED_NET * fabs(own))
        return;
    *net += change;
    *gross += fabs(change);
}

/* A row and its callers and callees: what one gave, the others took. */
static void mark_around(const struct moves *moves, const struct call *calls, size_t count, uint32_t row)
{
    double net = moves->changes[row], gross = fabs(net);
    for (size_t i = 0; i < count; i++)
        if (calls[i].caller == row || calls[i].callee == row)
            add_opposite(moves, row, calls[i].caller == row ? calls[i].callee : calls[i].caller, &net,
                         &gross);
    if (!cancels(moves, net, gross))
        return;
    for (size_t i = 0; i < count; i++) {
        uint32_t other = calls[i].caller == row ? calls[i].callee : calls[i].caller;
        double taken = 0.0, size = 0.0;
        if (calls[i].caller != row && calls[i].callee != row)
            continue;
        add_opposite(moves, row, other, &taken, &size);
        if (size > 0)
            moves->within[row] = moves->within[other] = name_of(moves->comparison, calls[i].caller);
    }
}

/* Functions below one caller that only one side has: perhaps one is the other. */
static void mark_replaced(const struct moves *moves, const struct call *calls, size_t count)
{
    const lode_compare_row *shown = moves->comparison->shown;
    const unsigned only = LODE_ONLY_IN_BASE | LODE_ONLY_IN_NEW;
    double net = 0.0, gross = 0.0;
    for (size_t i = 0; i < count; i++)
        if (shown[calls[i].callee].marks & only) {
            net += moves->changes[calls[i].callee];
            gross += fabs(moves->changes[calls[i].callee]);
        }
    if (!cancels(moves, net, gross))
        return;
    for (size_t i = 0; i < count; i++)
        if (shown[calls[i].callee].marks & only)
            moves->within[calls[i].callee] = name_of(moves->comparison, calls[i].caller);
}

static void mark_calls(const struct moves *moves, const struct call *calls, size_t count)
{
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && calls[end].caller == calls[begin].caller;)
            end++;
        mark_replaced(moves, calls + begin, end - begin);
    }
    for (uint32_t row = 0; row < moves->comparison->count; row++)
        if (fabs(moves->changes[row]) > moves->least / 4)
            mark_around(moves, calls, count, row);
}

/* Whether a row changed enough in some metric to be part of a move. */
static void find_parts(const lode_comparison *self, const struct moves *all, unsigned char *is_part)
{
    for (size_t metric = 0; metric < self->metrics; metric++)
        for (size_t row = 0; row < self->count; row++)
            if (fabs(all[metric].changes[row]) > PART_LEAST / MOVED_LEAST * all[metric].least)
                is_part[row] = 1;
}

/* Calls of rows that changed, in one tree, each once in a row of contexts. */
static lode_status find_calls(const lode_comparison *self, const struct lode_context_tree *tree,
                              const uint32_t *shown_of, const unsigned char *is_part,
                              struct lode_array *calls, lode_error *error)
{
    const struct lode_tree_names *names = lode_normalizer_tree(&self->normalizer, tree->nodes);
    uint32_t *function = calloc((size_t)tree->count + 1, sizeof *function);
    lode_status status = function ? LODE_OK : lode_fail_memory(error);
    for (uint32_t i = 0; i < tree->count && status == LODE_OK; i++) {
        const lode_context *context = &tree->nodes[i];
        uint32_t above = i ? function[context->parent] : NONE;
        function[i] = above;
        if (!begins_function(context))
            continue;
        uint32_t row = lode_flat_row_of(self, names, context);
        function[i] = row == NONE ? NONE : shown_of[row];
        if (above == NONE || function[i] == NONE || above == function[i] || !is_part[function[i]])
            continue;
        struct call *call = lode_array_push(calls);
        if (call == NULL)
            status = lode_fail_memory(error);
        else
            *call = (struct call){above, function[i]};
    }
    free(function);
    return status;
}

static size_t each_once(struct call *calls, size_t count)
{
    size_t kept = 0;
    if (count > 0)
        qsort(calls, count, sizeof *calls, compare_calls);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_calls(&calls[kept - 1], &calls[i]) != 0)
            calls[kept++] = calls[i];
    return kept;
}

/* ---- all ---- */

static void take_changes(const struct moves *moves)
{
    const lode_comparison *self = moves->comparison;
    for (size_t i = 0; i < self->count; i++)
        moves->changes[i] = lode_flat_mean(self, self->order[i], LODE_NEW, moves->metric) -
                            lode_flat_mean(self, self->order[i], LODE_BASE, moves->metric);
}

static lode_status list_calls(lode_comparison *self, const unsigned char *is_part, struct lode_array *calls,
                              lode_error *error)
{
    uint32_t *shown_of = malloc((self->rows.count + 1) * sizeof *shown_of);
    LODE_TRY_ALLOC(shown_of, error);
    lode_status status = LODE_OK;
    memset(shown_of, 0xff, self->rows.count * sizeof *shown_of);
    for (uint32_t i = 0; i < self->count; i++)
        shown_of[self->order[i]] = i;
    /* Runs of one side call the same functions. */
    for (unsigned side = 0; side < LODE_SIDES && status == LODE_OK; side++)
        status = find_calls(self, lode_flat_cost(self, (lode_compare_side)side, 0, 0)->tree, shown_of,
                            is_part, calls, error);
    free(shown_of);
    return status;
}

static lode_status mark_all(lode_comparison *self, const struct moves *all, struct member *members,
                            unsigned char *is_part, struct lode_array *calls, lode_error *error)
{
    for (uint32_t i = 0; i < self->count; i++) {
        members[i].row = i;
        LODE_TRY(find_group(self, &self->shown[i], &members[i].group, error));
    }
    if (self->count > 0)
        qsort(members, self->count, sizeof *members, compare_members);
    find_parts(self, all, is_part);
    LODE_TRY(list_calls(self, is_part, calls, error));
    calls->count = each_once(calls->items, calls->count);
    for (size_t metric = 0; metric < self->metrics; metric++) {
        mark_calls(&all[metric], calls->items, calls->count);
        mark_groups(&all[metric], members);
    }
    for (size_t i = 0; i < self->count; i++)
        if (self->moved[i]) {
            self->shown[i].marks |= LODE_MOVED;
            self->shown[i].moved_within = lode_strings_at(&self->normalizer.strings, self->moved[i]);
        }
    return LODE_OK;
}

lode_status lode_flat_find_moved(lode_comparison *self, lode_error *error)
{
    size_t count = self->count;
    struct member *members = calloc(count + 1, sizeof *members);
    struct moves *all = calloc(self->metrics, sizeof *all);
    double *changes = calloc(count * self->metrics + 1, sizeof *changes);
    unsigned char *is_part = calloc(count + 1, 1);
    struct lode_array calls;
    lode_array_init(&calls, sizeof(struct call), SIZE_MAX);
    self->moved = calloc(count * self->metrics + 1, sizeof *self->moved);
    bool has_memory = members && all && changes && is_part && self->moved;
    lode_status status = has_memory ? LODE_OK : lode_fail_memory(error);
    for (size_t i = 0; has_memory && i < self->metrics; i++) {
        all[i] = (struct moves){self, i, changes + i * count, MOVED_LEAST * larger_total(self, i),
                                self->moved + i * count};
        take_changes(&all[i]);
    }
    if (status == LODE_OK)
        status = mark_all(self, all, members, is_part, &calls, error);
    lode_array_free(&calls);
    free(members);
    free(all);
    free(changes);
    free(is_part);
    return status;
}
