/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of a profile after contexts were left out. For each metric, with c a context that
 * stays and k its children that stay:
 *
 *   execution(c)  as it was
 *   point(c)      = execution(c) - sum of execution(k), the own cost
 *   transitive(c) = own cost + sum of transitive(k) with the scope's bit; custom scopes likewise
 *
 * Where nothing was left out below a context, its stored values stay, bit by bit. With a focus,
 * several contexts become one, and their values are added; the global context and the new entry
 * point have the sum of their children.
 */
#include "analysis/cost/window.h"
#include "base/compare.h"
#include "base/error.h"
#include "transform/slice/slice.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a difference of sums may differ from zero, relative to the minuend. */
#define ROUNDING    1e-12
#define NANOSECONDS 1e9

struct entry {
    uint32_t metric;
    uint16_t id; /* of the value, as in the description */
    bool moved;  /* from a context that was left out */
    uint32_t context;
    double value;
};

struct lode_slice_scratch {
    struct lode_array entries; /* of struct entry */
    struct lode_array rows;    /* of uint32_t: ids of contexts */
    struct lode_array touched_list;
    /* By id; zero between metrics, `touched` between profiles. */
    uint8_t *is_row, *touched;
    double *inclusive, *own, *below, *stored, *passed, *changed;
    uint64_t *time;
};

void lode_slice_scratch_free(struct lode_slice_scratch *scratch)
{
    if (scratch == NULL)
        return;
    lode_array_free(&scratch->entries);
    lode_array_free(&scratch->rows);
    lode_array_free(&scratch->touched_list);
    free(scratch->is_row);
    free(scratch->touched);
    free(scratch->inclusive);
    free(scratch->own);
    free(scratch->below);
    free(scratch->stored);
    free(scratch->passed);
    free(scratch->changed);
    free(scratch->time);
    free(scratch);
}

static lode_status open_scratch(struct lode_slice_scratch **out, uint32_t count, lode_error *error)
{
    if (*out)
        return LODE_OK;
    struct lode_slice_scratch *self = *out = calloc(1, sizeof *self);
    LODE_TRY_ALLOC(self, error);
    lode_array_init(&self->entries, sizeof(struct entry), SIZE_MAX);
    lode_array_init(&self->rows, sizeof(uint32_t), SIZE_MAX);
    lode_array_init(&self->touched_list, sizeof(uint32_t), SIZE_MAX);
    self->is_row = calloc(count, 1);
    self->touched = calloc(count, 1);
    double **sums[] = {&self->inclusive, &self->own,    &self->below,
                       &self->stored,    &self->passed, &self->changed};
    bool done = self->is_row && self->touched;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        *sums[i] = calloc(count, sizeof **sums[i]);
        done = done && *sums[i];
    }
    self->time = calloc(count, sizeof *self->time);
    return done && self->time ? LODE_OK : lode_fail_memory(error);
}

/* A profile under way. */
struct slicing {
    const struct lode_merge_part *part;
    const struct lode_description *about;
    struct lode_slice_scratch *scratch;
    struct lode_block_builder *builder;
    bool has_unlisted;
    const uint32_t *metric_of; /* by value id */
};

static const lode_context *context_at(const struct slicing *self, uint32_t id)
{
    return &self->about->tree.nodes[id];
}

/* The global context and the entry point of a focus have what their children have. */
static bool is_sum(const struct slicing *self, uint32_t id)
{
    const struct lode_merge_filter *filter = self->part->filter;
    return filter->is_top && (id == 0 || id == filter->focus_entry);
}

/* ---- entries ---- */

static lode_status touch(struct slicing *self, uint32_t id, lode_error *error)
{
    if (self->scratch->touched[id])
        return LODE_OK;
    uint32_t *added = lode_array_push(&self->scratch->touched_list);
    LODE_TRY_ALLOC(added, error);
    *added = id;
    self->scratch->touched[id] = 1;
    return LODE_OK;
}

static lode_status gather_group(struct slicing *self, const lode_block *block, const lode_group *group,
                                uint32_t index, lode_error *error)
{
    const struct lode_merge_part *part = self->part;
    bool moved = part->filter->target[index] != index;
    uint32_t context = part->contexts[index];
    if (moved)
        LODE_TRY(touch(self, context, error));
    for (uint64_t i = group->first; i < group->first + group->count; i++) {
        uint32_t id = block_value_key(block, i);
        if (id > UINT16_MAX || part->value_ids[id] == LODE_MERGE_UNKNOWN_ID)
            return lode_fail(error, LODE_ERR_CORRUPT, block->file, LODE_NO_OFFSET,
                             "a value is of metric %u, which %s does not list", id,
                             lode_database_part_file(part->db, LODE_PART_META));
        struct entry *entry = lode_array_push(&self->scratch->entries);
        LODE_TRY_ALLOC(entry, error);
        uint16_t new_id = part->value_ids[id];
        *entry = (struct entry){self->metric_of[new_id], new_id, moved, context, block_value(block, i)};
    }
    return LODE_OK;
}

static lode_status gather(struct slicing *self, const lode_block *block, lode_error *error)
{
    const struct lode_merge_part *part = self->part;
    self->scratch->entries.count = 0;
    for (uint32_t g = 0; g < block->group_count; g++) {
        lode_group group;
        LODE_TRY(lode_block_group(block, g, &group, error));
        uint32_t index = lode_context_tree_find(&part->db->tree, group.key);
        if (index == LODE_NO_INDEX)
            self->has_unlisted = true;
        else if (part->filter->target[index] != LODE_NONE)
            LODE_TRY(gather_group(self, block, &group, index, error));
    }
    return LODE_OK;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = LODE_COMPARE(a->metric, b->metric);
    if (order == 0)
        order = LODE_COMPARE(a->id, b->id);
    if (order == 0)
        order = LODE_COMPARE(a->context, b->context);
    if (order == 0)
        order = LODE_COMPARE(a->moved, b->moved);
    return order ? order : LODE_COMPARE(a->value, b->value);
}

/* ---- rows ---- */

/* Contexts of the entries, and all above them. */
static lode_status add_rows(struct slicing *self, uint32_t id, lode_error *error)
{
    struct lode_slice_scratch *scratch = self->scratch;
    for (; !scratch->is_row[id]; id = context_at(self, id)->parent) {
        uint32_t *row = lode_array_push(&scratch->rows);
        LODE_TRY_ALLOC(row, error);
        *row = id;
        scratch->is_row[id] = 1;
        if (id == 0)
            break;
    }
    return LODE_OK;
}

static void sort_rows(struct lode_slice_scratch *scratch)
{
    if (scratch->rows.count > 1)
        qsort(scratch->rows.items, scratch->rows.count, sizeof(uint32_t), lode_compare_u32);
}

static void clear_rows(struct lode_slice_scratch *scratch)
{
    for (size_t i = 0; i < scratch->rows.count; i++) {
        uint32_t id = *LODE_ARRAY_AT(&scratch->rows, uint32_t, i);
        scratch->is_row[id] = 0;
        scratch->inclusive[id] = scratch->own[id] = scratch->below[id] = 0.0;
        scratch->stored[id] = scratch->passed[id] = scratch->changed[id] = 0.0;
        scratch->time[id] = 0;
    }
    scratch->rows.count = 0;
}

/* Inclusive and own costs; parents have smaller ids. */
static void find_own(const struct slicing *self)
{
    struct lode_slice_scratch *scratch = self->scratch;
    for (size_t i = scratch->rows.count; i-- > 0;) {
        uint32_t id = *LODE_ARRAY_AT(&scratch->rows, uint32_t, i);
        if (is_sum(self, id))
            scratch->inclusive[id] = scratch->below[id];
        double own = scratch->inclusive[id] - scratch->below[id];
        scratch->own[id] = fabs(own) <= ROUNDING * fabs(scratch->inclusive[id]) ? 0.0 : own;
        if (id > 0)
            scratch->below[context_at(self, id)->parent] += scratch->inclusive[id];
    }
}

/* ---- one metric ---- */

/* The entries of one id of values: from `first` to before `end`. */
struct range {
    const struct entry *first, *end;
};

static struct range find_id(const struct entry *first, const struct entry *end, uint16_t id)
{
    while (first < end && first->id < id)
        first++;
    const struct entry *last = first;
    while (last < end && last->id == id)
        last++;
    return (struct range){first, last};
}

/* Sums of what was not moved, by context. */
static void add_range(const struct range *range, double *sums)
{
    for (const struct entry *entry = range->first; entry < range->end; entry++)
        if (!entry->moved)
            sums[entry->context] += entry->value;
}

static void clear_range(const struct range *range, double *sums)
{
    for (const struct entry *entry = range->first; entry < range->end; entry++)
        sums[entry->context] = 0.0;
}

/* Without inclusive values: what was measured moves, other scopes stay where they are. */
static lode_status put_bare(struct slicing *self, const struct lode_metric *metric, const struct entry *first,
                            const struct entry *end, lode_error *error)
{
    for (uint32_t k = 0; k < metric->scope_count; k++) {
        const lode_metric_scope *scope = &metric->scopes[k];
        struct range range = find_id(first, end, scope->id);
        bool moves = scope->scope->type == LODE_SCOPE_POINT;
        for (const struct entry *entry = range.first; entry < range.end;) {
            uint32_t context = entry->context;
            double sum = 0.0;
            for (; entry < range.end && entry->context == context; entry++)
                sum += entry->moved && !moves ? 0.0 : entry->value;
            LODE_TRY(lode_block_builder_add(self->builder, context, scope->id, sum, error));
        }
    }
    return LODE_OK;
}

static lode_status put_point(struct slicing *self, uint16_t id, lode_error *error)
{
    const struct lode_slice_scratch *scratch = self->scratch;
    for (size_t i = 0; i < scratch->rows.count; i++) {
        uint32_t row = *LODE_ARRAY_AT(&scratch->rows, uint32_t, i);
        bool is_computed = scratch->touched[row] || self->has_unlisted || is_sum(self, row);
        LODE_TRY(lode_block_builder_add(self->builder, row, id,
                                        is_computed ? scratch->own[row] : scratch->stored[row], error));
    }
    return LODE_OK;
}

/* A transitive scope, or a custom one, which follows bit 0. */
static lode_status put_transitive(struct slicing *self, uint16_t id, unsigned bit, lode_error *error)
{
    struct lode_slice_scratch *scratch = self->scratch;
    for (size_t i = scratch->rows.count; i-- > 0;) {
        uint32_t row = *LODE_ARRAY_AT(&scratch->rows, uint32_t, i);
        const lode_context *context = context_at(self, row);
        double value = scratch->touched[row] || is_sum(self, row)
                           ? scratch->own[row] + scratch->passed[row]
                           : scratch->stored[row] + scratch->changed[row];
        if (row > 0 && (context->propagation >> bit & 1)) {
            scratch->passed[context->parent] += value;
            scratch->changed[context->parent] += value - scratch->stored[row];
        }
        if (fabs(value) <= ROUNDING * fabs(scratch->inclusive[row]))
            value = scratch->stored[row] == 0.0 ? 0.0 : value;
        LODE_TRY(lode_block_builder_add(self->builder, row, id, value, error));
    }
    for (size_t i = 0; i < scratch->rows.count; i++) {
        uint32_t row = *LODE_ARRAY_AT(&scratch->rows, uint32_t, i);
        scratch->passed[row] = scratch->changed[row] = 0.0;
    }
    return LODE_OK;
}

static lode_status put_scope(struct slicing *self, const lode_metric_scope *scope, const struct entry *first,
                             const struct entry *end, lode_error *error)
{
    struct range range = find_id(first, end, scope->id);
    int type = scope->scope->type;
    lode_status status = LODE_OK;
    if (type == LODE_SCOPE_EXECUTION)
        return LODE_OK;
    add_range(&range, self->scratch->stored);
    if (type == LODE_SCOPE_POINT)
        status = put_point(self, scope->id, error);
    else
        status = put_transitive(self, scope->id,
                                type == LODE_SCOPE_TRANSITIVE ? scope->scope->propagation_index : 0, error);
    clear_range(&range, self->scratch->stored);
    return status;
}

static lode_status put_metric(struct slicing *self, const struct lode_metric *metric,
                              const struct entry *first, const struct entry *end, lode_error *error)
{
    struct lode_slice_scratch *scratch = self->scratch;
    uint16_t execution;
    if (lode_metric_id(metric, LODE_SCOPE_EXECUTION, &execution) != LODE_OK)
        return put_bare(self, metric, first, end, error);
    for (const struct entry *entry = first; entry < end; entry++)
        LODE_TRY(add_rows(self, entry->context, error));
    sort_rows(scratch);
    struct range range = find_id(first, end, execution);
    add_range(&range, scratch->inclusive);
    find_own(self);
    for (size_t i = 0; i < scratch->rows.count; i++) {
        uint32_t row = *LODE_ARRAY_AT(&scratch->rows, uint32_t, i);
        LODE_TRY(lode_block_builder_add(self->builder, row, execution, scratch->inclusive[row], error));
    }
    for (uint32_t k = 0; k < metric->scope_count; k++)
        LODE_TRY(put_scope(self, &metric->scopes[k], first, end, error));
    clear_rows(scratch);
    return LODE_OK;
}

lode_status lode_slice_values(const struct lode_merge_source *source, const struct lode_merge_part *part,
                              const lode_block *block, struct lode_slice_scratch **scratch,
                              struct lode_block_builder *builder, lode_error *error)
{
    LODE_TRY(open_scratch(scratch, source->about->id_count, error));
    struct slicing self = {.part = part,
                           .about = source->about,
                           .scratch = *scratch,
                           .builder = builder,
                           .has_unlisted = part->db->points_lost,
                           .metric_of = source->metric_of};
    struct lode_array *entries = &self.scratch->entries, *touched = &self.scratch->touched_list;
    LODE_TRY(gather(&self, block, error));
    if (entries->count > 1)
        qsort(entries->items, entries->count, sizeof(struct entry), compare_entries);
    const struct entry *items = entries->items;
    for (size_t first = 0, end; first < entries->count; first = end) {
        for (end = first + 1; end < entries->count && items[end].metric == items[first].metric;)
            end++;
        LODE_TRY(
            put_metric(&self, &self.about->metrics[items[first].metric], items + first, items + end, error));
    }
    for (size_t i = 0; i < touched->count; i++)
        self.scratch->touched[*LODE_ARRAY_AT(touched, uint32_t, i)] = 0;
    touched->count = 0;
    return LODE_OK;
}

/* ---- times ---- */

enum {
    TIME_FUNCTION,
    TIME_LEXICAL,
    TIME_EXECUTION
};

lode_status lode_slice_describe_times(struct lode_description *out, lode_error *error)
{
    static const struct {
        const char *name;
        int type;
    } scopes[] = {[TIME_FUNCTION] = {"function", LODE_SCOPE_TRANSITIVE},
                  [TIME_LEXICAL] = {"lex_aware", LODE_SCOPE_CUSTOM},
                  [TIME_EXECUTION] = {"execution", LODE_SCOPE_EXECUTION}};
    enum {
        COUNT = sizeof scopes / sizeof *scopes
    };
    uint32_t metric, numbers[COUNT];
    uint16_t id;
    for (size_t i = 0; i < COUNT; i++)
        LODE_TRY(lode_description_add_scope(out, scopes[i].name, scopes[i].type, 0, &numbers[i], error));
    LODE_TRY(lode_description_add_metric(out, "trace time (sec)", &metric, error));
    for (size_t i = 0; i < COUNT; i++)
        LODE_TRY(lode_description_add_metric_scope(out, metric, numbers[i], &id, error));
    for (size_t i = 0; i < COUNT; i++)
        LODE_TRY(lode_description_add_statistic(out, metric, numbers[i], "$$", LODE_COMBINE_SUM, error));
    return LODE_OK;
}

/* Nanoseconds of samples as own time of their contexts, and the rows for them. */
static lode_status add_times(struct slicing *self, const lode_trace_line *line, lode_error *error)
{
    const struct lode_merge_part *part = self->part;
    const lode_database_slice *slice = part->filter->slice;
    struct lode_window window = {.from = slice->from, .to = slice->to};
    struct lode_window_sample sample;
    for (struct lode_window_walk walk = window_walk(&window, line); window_next(&walk, &sample);) {
        uint32_t index = lode_context_tree_find(&part->db->tree, sample.context_id);
        if (index == LODE_NO_INDEX || index == 0 || part->filter->target[index] == LODE_NONE ||
            sample.from >= sample.to)
            continue;
        LODE_TRY(add_rows(self, part->contexts[index], error));
        self->scratch->time[part->contexts[index]] += sample.to - sample.from;
    }
    return LODE_OK;
}

lode_status lode_slice_times(const struct lode_merge_source *source, const struct lode_merge_part *part,
                             const lode_trace_line *line, struct lode_slice_scratch **scratch,
                             struct lode_block_builder *builder, lode_error *error)
{
    LODE_TRY(open_scratch(scratch, source->about->id_count, error));
    struct slicing self = {.part = part, .about = source->about, .scratch = *scratch, .builder = builder};
    struct lode_slice_scratch *s = *scratch;
    LODE_TRY(add_times(&self, line, error));
    sort_rows(s);
    /* Whole nanoseconds are exact in these sums: 2^53 of them are 104 days. */
    for (size_t i = s->rows.count; i-- > 0;) {
        uint32_t row = *LODE_ARRAY_AT(&s->rows, uint32_t, i), parent = context_at(&self, row)->parent;
        s->own[row] = (double)s->time[row] + s->passed[row];
        s->inclusive[row] = (double)s->time[row] + s->below[row];
        if (row > 0)
            s->below[parent] += s->inclusive[row];
        if (row > 0 && (context_at(&self, row)->propagation & 1))
            s->passed[parent] += s->own[row];
    }
    for (size_t i = 0; i < s->rows.count; i++) {
        uint32_t row = *LODE_ARRAY_AT(&s->rows, uint32_t, i);
        double function = s->own[row] / NANOSECONDS;
        LODE_TRY(lode_block_builder_add(builder, row, TIME_FUNCTION, function, error));
        LODE_TRY(lode_block_builder_add(builder, row, TIME_LEXICAL, function, error));
        LODE_TRY(
            lode_block_builder_add(builder, row, TIME_EXECUTION, s->inclusive[row] / NANOSECONDS, error));
    }
    clear_rows(s);
    return LODE_OK;
}
