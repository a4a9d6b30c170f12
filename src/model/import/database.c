/* SPDX-License-Identifier: BSD-3-Clause */
/* The database that an import makes: a description, and blocks of values in memory. */
#include "model/database/database.h"
#include "base/compare.h"
#include "base/error.h"
#include "model/database/block_builder.h"
#include "model/import/parts.h"
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Values by context, made when they are first asked for. */
struct transposed {
    pthread_mutex_t lock;
    bool is_made;
    unsigned char *group_bytes, *value_bytes;
    uint64_t *group_start, *value_start; /* by context */
};

struct imported {
    struct lode_database base; /* must be first */
    struct lode_description about;
    struct lode_strings strings;
    struct lode_array ids;               /* lode_id, by profile - 1 */
    struct lode_block_builder *builders; /* by profile; the bytes of the blocks */
    lode_block *blocks;                  /* by profile */
    uint32_t block_count;
    struct transposed *by_context;
};

static const struct imported *imported_of(const lode_database *db)
{
    return (const struct imported *)(const void *)db;
}

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
static lode_status make_block(struct imported *db, struct adding *self, const struct imported_row *rows,
                              size_t count, uint32_t profile, lode_error *error)
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

static lode_status make_blocks(struct imported *db, struct adding *self, struct imported_row *rows,
                               size_t count, lode_error *error)
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

static lode_status make_values(struct imported *db, struct lode_import *import, lode_error *error)
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

/* ---- values by context ---- */

enum {
    GROUP_SIZE = 10, /* metric id u16, index of its first value u64 */
    VALUE_SIZE = 12  /* profile u32, number f64 */
};

/* A value on its way from the block of its profile to that of its context. */
struct moved {
    double value;
    uint32_t profile;
    uint16_t id;
};

LODE_COMPARE_BY_2(compare_moved, struct moved, id, profile);

static uint64_t count_values(const struct imported *db, uint64_t *start)
{
    uint32_t contexts = db->about.id_count;
    for (uint32_t p = 1; p < db->block_count; p++)
        for (uint32_t g = 0; g < db->blocks[p].group_count; g++)
            start[block_group_key(&db->blocks[p], g) + 1] +=
                block_group_end(&db->blocks[p], g) - block_group_start(&db->blocks[p], g);
    for (uint32_t i = 0; i < contexts; i++)
        start[i + 1] += start[i];
    return start[contexts];
}

static void move_values(const struct imported *db, const uint64_t *start, uint64_t *used, struct moved *moved)
{
    for (uint32_t p = 1; p < db->block_count; p++) {
        const lode_block *block = &db->blocks[p];
        for (uint32_t g = 0; g < block->group_count; g++) {
            uint32_t context = block_group_key(block, g);
            for (uint64_t i = block_group_start(block, g); i < block_group_end(block, g); i++)
                moved[start[context] + used[context]++] =
                    (struct moved){block_value(block, i), p, (uint16_t)block_value_key(block, i)};
        }
    }
}

/* Groups of one context are counted from its own first value. */
static void write_context(struct transposed *to, struct moved *moved, uint64_t count, uint32_t context,
                          uint64_t *groups)
{
    unsigned char *value = to->value_bytes + to->value_start[context] * VALUE_SIZE;
    if (count > 1)
        qsort(moved, count, sizeof *moved, compare_moved);
    for (uint64_t i = 0; i < count; i++, value += VALUE_SIZE) {
        if (i == 0 || moved[i].id != moved[i - 1].id) {
            put_u16le(to->group_bytes + *groups * GROUP_SIZE, moved[i].id);
            put_u64le(to->group_bytes + (*groups)++ * GROUP_SIZE + 2, i);
        }
        put_u32le(value, moved[i].profile);
        put_f64le(value + 4, moved[i].value);
    }
}

static bool transpose(const struct imported *db, struct transposed *to)
{
    uint32_t contexts = db->about.id_count;
    to->value_start = calloc((size_t)contexts + 1, sizeof *to->value_start);
    to->group_start = calloc((size_t)contexts + 1, sizeof *to->group_start);
    uint64_t *used = calloc((size_t)contexts + 1, sizeof *used);
    uint64_t count = to->value_start ? count_values(db, to->value_start) : 0, groups = 0;
    struct moved *moved = malloc((size_t)(count + 1) * sizeof *moved);
    to->value_bytes = malloc((size_t)count * VALUE_SIZE + 1);
    to->group_bytes = malloc((size_t)count * GROUP_SIZE + 1);
    bool done = to->value_start && to->group_start && used && moved && to->value_bytes && to->group_bytes;
    if (done)
        move_values(db, to->value_start, used, moved);
    for (uint32_t i = 0; done && i < contexts; i++) {
        to->group_start[i] = groups;
        write_context(to, moved + to->value_start[i], to->value_start[i + 1] - to->value_start[i], i,
                      &groups);
    }
    if (done)
        to->group_start[contexts] = groups;
    free(used);
    free(moved);
    return done;
}

static void forget_transposed(struct transposed *self)
{
    free(self->value_start);
    free(self->group_start);
    free(self->value_bytes);
    free(self->group_bytes);
    self->value_start = self->group_start = NULL;
    self->value_bytes = self->group_bytes = NULL;
}

static lode_status get_context_block(const lode_database *base, uint32_t id, lode_block *out,
                                     lode_error *error)
{
    const struct imported *db = imported_of(base);
    struct transposed *by_context = db->by_context;
    pthread_mutex_lock(&by_context->lock);
    if (!by_context->is_made) {
        by_context->is_made = transpose(db, by_context);
        if (!by_context->is_made)
            forget_transposed(by_context);
    }
    bool done = by_context->is_made;
    pthread_mutex_unlock(&by_context->lock);
    LODE_TRY_ALLOC(done, error);
    uint64_t value = by_context->value_start[id], group = by_context->group_start[id];
    *out = (lode_block){.value_count = by_context->value_start[id + 1] - value,
                        .group_count = (uint32_t)(by_context->group_start[id + 1] - group),
                        .group_key_size = sizeof(uint16_t),
                        .value_key_size = sizeof(uint32_t),
                        .layout = LODE_LAYOUT_LITTLE,
                        .groups = by_context->group_bytes + group * GROUP_SIZE,
                        .values = by_context->value_bytes + value * VALUE_SIZE,
                        .file = db->base.parts[LODE_PART_CONTEXT].file};
    return LODE_OK;
}

/* ---- the other operations ---- */

static lode_status get_profile_block(const lode_database *base, uint32_t profile, lode_block *out,
                                     lode_error *error)
{
    (void)error;
    *out = imported_of(base)->blocks[profile];
    return LODE_OK;
}

static lode_status get_trace_line(const lode_database *base, uint32_t index, lode_trace_line *out,
                                  lode_error *error)
{
    *out = (lode_trace_line){0};
    return lode_database_no_item(base, LODE_PART_TRACE, "trace line", index, 0, error);
}

static uint32_t get_profile_flags(const lode_database *base, uint32_t profile)
{
    (void)base;
    return profile == 0 ? LODE_PROFILE_SUMMARY : 0;
}

static lode_status get_profile_ids(const lode_database *base, uint32_t profile, lode_id *ids,
                                   uint32_t capacity, uint32_t *count, lode_error *error)
{
    (void)error;
    *count = profile > 0;
    if (*count > 0 && capacity > 0)
        ids[0] = *LODE_ARRAY_AT(&imported_of(base)->ids, lode_id, profile - 1);
    return LODE_OK;
}

static void close_database(lode_database *base)
{
    struct imported *db = (struct imported *)(void *)base;
    for (uint32_t i = 0; db->builders && i < db->block_count; i++)
        lode_block_builder_free(&db->builders[i]);
    free(db->builders);
    free(db->blocks);
    forget_transposed(db->by_context);
    pthread_mutex_destroy(&db->by_context->lock);
    free(db->by_context);
    free(db->base.tree.by_id);
    lode_description_free(&db->about);
    lode_strings_free(&db->strings);
    lode_array_free(&db->ids);
    lode_arena_free(&db->base.arena);
    lode_carried_free(db->base.carried);
    free(db);
}

static const struct lode_database_ops imported_ops = {
    .profile_block = get_profile_block,
    .context_block = get_context_block,
    .trace_line = get_trace_line,
    .profile_flags = get_profile_flags,
    .profile_ids = get_profile_ids,
    .close = close_database,
};

/* ---- all of it ---- */

static lode_status no_duplicate(void *user, const lode_context *context)
{
    (void)user;
    (void)context;
    return LODE_OK;
}

static void show_description(struct imported *db)
{
    struct lode_database *base = &db->base;
    struct lode_description *about = &db->about;
    /* Both have the same arrays; the database has them without const. */
    base->id_kinds = (const char **)about->kinds_list.items;
    base->scopes = (struct lode_scope *)about->scope_list.items;
    memcpy(&base->metrics, &about->metrics, sizeof base->metrics);
    memcpy(&base->modules, &about->modules, sizeof base->modules);
    memcpy(&base->files, &about->files, sizeof base->files);
    memcpy(&base->functions, &about->functions, sizeof base->functions);
    base->id_kind_count = about->id_kind_count;
    base->scope_count = about->scope_count;
    base->metric_count = about->metric_count;
    base->module_count = about->module_count;
    base->file_count = about->file_count;
    base->function_count = about->function_count;
    base->tree = about->tree;
    base->profile_count = db->block_count;
    base->context_block_count = about->id_count;
}

static lode_status name_database(struct imported *db, const struct lode_import *import, const char *file,
                                 uint64_t size, lode_error *error)
{
    const char *texts[] = {file, import->title, import->text};
    const char *copies[3] = {NULL};
    for (size_t i = 0; i < 3; i++) {
        char *copy = texts[i] ? lode_arena_alloc(&db->base.arena, strlen(texts[i]) + 1, 1) : NULL;
        LODE_TRY_ALLOC(copy || texts[i] == NULL, error);
        if (texts[i])
            memcpy(copy, texts[i], strlen(texts[i]));
        copies[i] = copy;
    }
    db->base.title = copies[1];
    db->base.description = copies[2];
    for (size_t i = 0; i < LODE_PART_COUNT; i++)
        db->base.parts[i] = (struct lode_part_info){.present = true, .size = size, .file = copies[0]};
    db->base.parts[LODE_PART_TRACE] = (struct lode_part_info){.file = "trace line"};
    return LODE_OK;
}

/* What the blocks take: callers use it as a limit of what they read. */
static void measure(struct imported *db)
{
    uint64_t profiles = 0, contexts = 0;
    for (uint32_t i = 0; i < db->block_count; i++) {
        const lode_block *block = &db->blocks[i];
        uint64_t groups = block->group_count * block_group_stride(block);
        profiles += groups + block->value_count * block_value_stride(block) + sizeof(lode_id);
        contexts += i > 0 ? block->value_count * (GROUP_SIZE + VALUE_SIZE) : 0;
    }
    db->base.parts[LODE_PART_PROFILE].size = profiles;
    db->base.parts[LODE_PART_CONTEXT].size = contexts;
}

/* Nodes of the tree become contexts. */
static void carry(struct imported *db, struct lode_import *import)
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

static lode_status fill(struct imported *db, struct lode_import *import, const char *file, uint64_t size,
                        lode_error *error)
{
    db->block_count = (uint32_t)import->profiles.count + 1;
    db->builders = calloc(db->block_count, sizeof *db->builders);
    db->blocks = calloc(db->block_count, sizeof *db->blocks);
    LODE_TRY_ALLOC(db->builders && db->blocks, error);
    for (uint32_t i = 0; i < db->block_count; i++) {
        lode_block_builder_init(&db->builders[i]);
        db->blocks[i] = block_of_profile(NULL, 0, NULL, 0);
    }
    LODE_TRY(name_database(db, import, file, size, error));
    LODE_TRY(lode_import_describe(import, &db->about, error));
    lode_content_tree_close(&import->tree);
    show_description(db);
    lode_status status = lode_context_tree_index_ids(&db->base.tree, no_duplicate, NULL, error);
    if (status == LODE_OK)
        status = make_values(db, import, error);
    if (status == LODE_OK)
        measure(db);
    carry(db, import);
    /* Names point into the strings. */
    db->strings = import->frames.strings;
    lode_strings_init(&import->frames.strings);
    db->ids = import->profiles;
    lode_array_init(&import->profiles, sizeof(lode_id), UINT32_MAX - 1);
    return status;
}

lode_status lode_import_finish(struct lode_import *import, lode_database **out, const char *format,
                               const char *file, uint64_t size, lode_error *error)
{
    struct imported *db = calloc(1, sizeof *db);
    struct transposed *by_context = calloc(1, sizeof *by_context);
    if (db == NULL || by_context == NULL || pthread_mutex_init(&by_context->lock, NULL) != 0) {
        free(db);
        free(by_context);
        return lode_fail_memory(error);
    }
    db->by_context = by_context;
    db->base.ops = &imported_ops;
    db->base.format = format;
    db->base.names_metric = import->default_metric != LODE_NONE;
    db->base.default_metric = import->default_metric;
    lode_arena_init(&db->base.arena, SIZE_MAX);
    lode_description_init(&db->about);
    lode_strings_init(&db->strings);
    lode_status status = fill(db, import, file, size, error);
    if (status == LODE_OK)
        *out = &db->base;
    else
        close_database(&db->base);
    return status;
}

void lode_import_count(const lode_database *base, lode_check_result *result)
{
    if (base == NULL)
        return;
    const struct imported *db = imported_of(base);
    result->contexts = base->tree.count;
    result->profiles = base->profile_count;
    for (uint32_t i = 0; i < db->block_count; i++)
        result->values += db->blocks[i].value_count;
}
