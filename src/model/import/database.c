/* SPDX-License-Identifier: BSD-3-Clause */
/* The database that an import makes: a description, and blocks of values in memory. */
#include "base/compare.h"
#include "base/error.h"
#include "model/import/memory.h"
#include "model/import/parts.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

/* A row of sums, and the id of its context. */
struct imported_row {
    uint32_t profile, context, row;
};

LODE_COMPARE_BY_3(compare_rows, struct imported_row, profile, context, row);
LODE_COMPARE_BY_3(compare_contexts, struct imported_row, context, profile, row);

/* Values of a context and a metric. There are no loops, so that lex_aware equals function. */
struct cell {
    double point, function, execution;
};

/* Contexts of a profile that have values, and their ancestors. */
struct adding {
    struct lode_import *import;
    const lode_context *nodes;
    struct lode_array touched;       /* uint32_t: ids, rising */
    uint32_t *position;              /* by id: 1 + where it is in touched; 0 */
    lode_wide *execution, *function; /* of one metric, by position */
    struct cell *cells;              /* [position][metric] */
};

static lode_status touch(struct adding *self, uint32_t id, lode_error *error)
{
    while (self->position[id] == 0) {
        uint32_t *slot = lode_array_push(&self->touched);
        LODE_TRY_ALLOC(slot, error);
        *slot = id;
        self->position[id] = 1;
        id = self->nodes[id].parent;
    }
    return LODE_OK;
}

static lode_status touch_all(struct adding *self, const struct imported_row *rows, size_t count,
                             lode_error *error)
{
    size_t metrics = self->import->metrics.count;
    for (size_t i = 0; i < count; i++)
        LODE_TRY(touch(self, rows[i].context, error));
    size_t touched = self->touched.count;
    uint32_t *ids = self->touched.items;
    if (touched > 1)
        qsort(ids, touched, sizeof *ids, lode_compare_u32);
    for (uint32_t i = 0; i < touched; i++)
        self->position[ids[i]] = i + 1;
    if (touched * metrics > self->import->most_cells)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET,
                         "contexts times metrics are more than %" PRIu64, self->import->most_cells);
    self->execution = malloc((touched + 1) * sizeof *self->execution);
    self->function = malloc((touched + 1) * sizeof *self->function);
    self->cells = malloc((touched * metrics + 1) * sizeof *self->cells);
    LODE_TRY_ALLOC(self->execution && self->function && self->cells, error);
    return LODE_OK;
}

static double rounded(struct lode_import *import, lode_wide sum)
{
    double value = (double)sum;
    lode_wide exact = (lode_wide)1 << (53 + import->shift);
    import->inexact += sum > exact || sum < -exact;
    return import->shift ? ldexp(value, -(int)import->shift) : value;
}

/* Ids are in depth-first order: going backwards, each context is complete when it is added. */
static void add_metric(struct adding *self, const struct imported_row *rows, size_t count, size_t metric)
{
    size_t metrics = self->import->metrics.count, touched = self->touched.count;
    const lode_wide *sums = self->import->sums.items;
    const uint32_t *ids = self->touched.items;
    uint64_t *overflows = &self->import->overflows;
    memset(self->execution, 0, touched * sizeof *self->execution);
    for (size_t i = 0; i < count; i++)
        lode_wide_add(&self->execution[self->position[rows[i].context] - 1],
                      sums[rows[i].row * metrics + metric], overflows);
    memcpy(self->function, self->execution, touched * sizeof *self->function);
    for (size_t i = 0; i < touched; i++)
        self->cells[i * metrics + metric].point = rounded(self->import, self->execution[i]);
    for (size_t i = touched; i-- > 0;) {
        const lode_context *context = &self->nodes[ids[i]];
        struct cell *cell = &self->cells[i * metrics + metric];
        if (ids[i] != 0) {
            uint32_t parent = self->position[context->parent] - 1;
            lode_wide_add(&self->execution[parent], self->execution[i], overflows);
            if (context->propagation & 1u)
                lode_wide_add(&self->function[parent], self->function[i], overflows);
        }
        cell->function = rounded(self->import, self->function[i]);
        cell->execution = rounded(self->import, self->execution[i]);
    }
}

static lode_status fill_block(struct adding *self, struct lode_block_builder *builder, lode_error *error)
{
    size_t metrics = self->import->metrics.count;
    const uint32_t *ids = self->touched.items;
    for (size_t i = 0; i < self->touched.count; i++) {
        for (size_t m = 0; m < metrics; m++) {
            const struct cell *cell = &self->cells[i * metrics + m];
            const double values[SCOPES] = {[SCOPE_POINT] = cell->point,
                                           [SCOPE_FUNCTION] = cell->function,
                                           [SCOPE_LEXICAL] = cell->function,
                                           [SCOPE_EXECUTION] = cell->execution};
            for (size_t k = 0; k < SCOPES; k++)
                LODE_TRY(
                    lode_block_builder_add(builder, ids[i], (uint16_t)(m * SCOPES + k), values[k], error));
        }
    }
    return LODE_OK;
}

static void free_sums(struct adding *self)
{
    free(self->execution);
    free(self->function);
    self->execution = self->function = NULL;
}

/* The block of some rows: of a profile, or of all profiles together. */
static lode_status make_block(struct lode_memory_database *db, struct adding *self,
                              const struct imported_row *rows, size_t count, uint32_t profile,
                              lode_error *error)
{
    struct lode_block_builder *builder = &db->builders[profile];
    lode_status status = touch_all(self, rows, count, error);
    for (size_t m = 0; m < self->import->metrics.count && status == LODE_OK; m++)
        add_metric(self, rows, count, m);
    free_sums(self);
    if (status == LODE_OK)
        status = fill_block(self, builder, error);
    for (size_t i = 0; i < self->touched.count; i++)
        self->position[*LODE_ARRAY_AT(&self->touched, uint32_t, i)] = 0;
    self->touched.count = 0;
    free(self->cells);
    self->cells = NULL;
    if (status == LODE_OK)
        status = lode_block_builder_end(builder, db->about.id_count, &db->blocks[profile], error);
    lode_block_builder_trim(builder);
    db->blocks[profile].file = db->base.parts[LODE_PART_PROFILE].file;
    return status;
}

static lode_status make_blocks(struct lode_memory_database *db, struct adding *self,
                               struct imported_row *rows, size_t count, lode_error *error)
{
    qsort(rows, count, sizeof *rows, compare_rows);
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && rows[end].profile == rows[i].profile)
            end++;
        LODE_TRY(make_block(db, self, rows + i, end - i, rows[i].profile, error));
        i = end;
    }
    /* One profile is its own summary: sums, with the ids of its values. */
    self->import->inexact *= db->block_count > 2 ? 0 : 1;
    if (db->block_count == 2) {
        db->blocks[0] = db->blocks[1];
        return LODE_OK;
    }
    qsort(rows, count, sizeof *rows, compare_contexts);
    return make_block(db, self, rows, count, 0, error);
}

static lode_status make_values(struct lode_memory_database *db, struct lode_import *import, lode_error *error)
{
    struct adding self = {.import = import, .nodes = db->about.tree.nodes};
    size_t count = import->rows.count;
    struct imported_row *rows = malloc((count + 1) * sizeof *rows);
    lode_array_init(&self.touched, sizeof(uint32_t), SIZE_MAX);
    self.position = calloc(db->about.id_count, sizeof *self.position);
    lode_status status = rows && self.position ? LODE_OK : lode_fail_memory(error);
    for (size_t i = 0; i < count && status == LODE_OK; i++) {
        uint64_t key = *LODE_ARRAY_AT(&import->rows, uint64_t, i);
        rows[i] = (struct imported_row){.profile = (uint32_t)(key >> 32),
                                        .context = description_id(&db->about, (uint32_t)key - 1),
                                        .row = (uint32_t)i};
    }
    if (status == LODE_OK)
        status = make_blocks(db, &self, rows, count, error);
    lode_array_free(&self.touched);
    free(self.position);
    free(rows);
    return status;
}

/* ---- all of it ---- */

/* Nodes of the tree become contexts. */
static void carry(struct lode_memory_database *db, struct lode_import *import)
{
    struct lode_carried *carried = import->carried;
    for (size_t i = 0; carried && i < carried->rows.count; i++) {
        struct lode_carried_row *row = LODE_ARRAY_AT(&carried->rows, struct lode_carried_row, i);
        row->context = description_id(&db->about, row->context - 1);
    }
    if (carried)
        carried->strings = &db->strings;
    db->base.carried = carried;
    import->carried = NULL;
}

static lode_status give_ids(struct lode_memory_database *db, const struct lode_import *import,
                            lode_error *error)
{
    size_t count = import->profiles.count;
    lode_id *ids = lode_arena_alloc(&db->base.arena, count + 1, sizeof *ids);
    LODE_TRY_ALLOC(ids, error);
    for (size_t i = 0; i < count; i++) {
        ids[i] = *LODE_ARRAY_AT(&import->profiles, lode_id, i);
        db->tuples[i] = (struct lode_id_tuple){&ids[i], 1};
    }
    return LODE_OK;
}

static lode_status fill(struct lode_memory_database *db, struct lode_import *import, const char *file,
                        uint64_t size, lode_error *error)
{
    LODE_TRY(lode_memory_database_prepare(db, (uint32_t)import->profiles.count + 1, error));
    LODE_TRY(give_ids(db, import, error));
    LODE_TRY(lode_memory_database_name(db, import->title, import->text, file, size, error));
    LODE_TRY(lode_import_describe(import, &db->about, error));
    lode_content_tree_close(&import->tree);
    lode_status status = lode_memory_database_show(db, error);
    if (status == LODE_OK)
        status = make_values(db, import, error);
    if (status == LODE_OK)
        lode_memory_database_measure(db);
    carry(db, import);
    /* Names point into the strings. */
    db->strings = import->frames.strings;
    lode_strings_init(&import->frames.strings);
    return status;
}

lode_status lode_import_finish(struct lode_import *import, lode_database **out, const char *format,
                               const char *file, uint64_t size, lode_error *error)
{
    struct lode_memory_database *db = lode_memory_database_new(format);
    LODE_TRY_ALLOC(db, error);
    db->base.names_metric = import->default_metric != LODE_NONE;
    db->base.default_metric = import->default_metric;
    lode_status status = fill(db, import, file, size, error);
    if (status == LODE_OK)
        *out = &db->base;
    else
        lode_memory_database_free(db);
    return status;
}

void lode_import_count(const lode_database *base, lode_check_result *result)
{
    if (base == NULL)
        return;
    const struct lode_memory_database *db = (const struct lode_memory_database *)(const void *)base;
    result->contexts = base->tree.count;
    result->profiles = base->profile_count;
    for (uint32_t i = 0; i < db->block_count; i++)
        result->values += db->blocks[i].value_count;
}
