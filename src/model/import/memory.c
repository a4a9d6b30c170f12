/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/import/memory.h"

#include "base/compare.h"
#include "base/error.h"
#include "model/import/carried.h"
#include <stdlib.h>
#include <string.h>

static const struct lode_memory_database *memory_of(const lode_database *db)
{
    return (const struct lode_memory_database *)(const void *)db;
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

static uint64_t count_values(const struct lode_memory_database *db, uint64_t *start)
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

static void move_values(const struct lode_memory_database *db, const uint64_t *start, uint64_t *used,
                        struct moved *moved)
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
static void write_context(struct lode_transposed *to, struct moved *moved, uint64_t count, uint32_t context,
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

static bool transpose(const struct lode_memory_database *db, struct lode_transposed *to)
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

static void forget_transposed(struct lode_transposed *self)
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
    const struct lode_memory_database *db = memory_of(base);
    struct lode_transposed *by_context = db->by_context;
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
    *out = memory_of(base)->blocks[profile];
    return LODE_OK;
}

static lode_status get_trace_line(const lode_database *base, uint32_t index, lode_trace_line *out,
                                  lode_error *error)
{
    struct lode_memory_owner *owner = memory_of(base)->owner;
    *out = (lode_trace_line){0};
    if (owner == NULL || owner->trace_line == NULL)
        return lode_database_no_item(base, LODE_PART_TRACE, "trace line", index, 0, error);
    return owner->trace_line(owner, index, out, error);
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
    *count = 0;
    if (profile == 0)
        return LODE_OK;
    const struct lode_id_tuple *tuple = &memory_of(base)->tuples[profile - 1];
    *count = tuple->count;
    for (uint32_t i = 0; i < tuple->count && i < capacity; i++)
        ids[i] = tuple->ids[i];
    return LODE_OK;
}

static void close_database(lode_database *base)
{
    struct lode_memory_database *db = (struct lode_memory_database *)(void *)base;
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
    lode_arena_free(&db->base.arena);
    lode_carried_free(db->base.carried);
    if (db->owner)
        db->owner->close(db->owner);
    free(db);
}

static const struct lode_database_ops memory_ops = {
    .profile_block = get_profile_block,
    .context_block = get_context_block,
    .trace_line = get_trace_line,
    .profile_flags = get_profile_flags,
    .profile_ids = get_profile_ids,
    .close = close_database,
};

/* ---- making ---- */

struct lode_memory_database *lode_memory_database_new(const char *format)
{
    struct lode_memory_database *db = calloc(1, sizeof *db);
    struct lode_transposed *by_context = calloc(1, sizeof *by_context);
    if (db == NULL || by_context == NULL || pthread_mutex_init(&by_context->lock, NULL) != 0) {
        free(db);
        free(by_context);
        return NULL;
    }
    db->by_context = by_context;
    db->base.ops = &memory_ops;
    db->base.format = format;
    lode_arena_init(&db->base.arena, SIZE_MAX);
    lode_description_init(&db->about);
    lode_strings_init(&db->strings);
    return db;
}

void lode_memory_database_free(struct lode_memory_database *db)
{
    if (db)
        close_database(&db->base);
}

lode_status lode_memory_database_prepare(struct lode_memory_database *db, uint32_t blocks, lode_error *error)
{
    db->builders = calloc(blocks, sizeof *db->builders);
    db->blocks = calloc(blocks, sizeof *db->blocks);
    db->tuples = lode_arena_alloc(&db->base.arena, blocks, sizeof *db->tuples);
    LODE_TRY_ALLOC(db->builders && db->blocks && db->tuples, error);
    db->block_count = blocks;
    for (uint32_t i = 0; i < blocks; i++) {
        lode_block_builder_init(&db->builders[i]);
        db->blocks[i] = block_of_profile(NULL, 0, NULL, 0);
    }
    return LODE_OK;
}

static lode_status no_duplicate(void *user, const lode_context *context)
{
    (void)user;
    (void)context;
    return LODE_OK;
}

lode_status lode_memory_database_show(struct lode_memory_database *db, lode_error *error)
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
    return lode_context_tree_index_ids(&base->tree, no_duplicate, NULL, error);
}

/* Callers use it as a limit of what they read. */
void lode_memory_database_measure(struct lode_memory_database *db)
{
    uint64_t profiles = 0, contexts = 0;
    for (uint32_t i = 0; i < db->block_count; i++) {
        const lode_block *block = &db->blocks[i];
        uint64_t groups = block->group_count * block_group_stride(block);
        profiles += groups + block->value_count * block_value_stride(block);
        profiles += i > 0 ? db->tuples[i - 1].count * sizeof(lode_id) : 0;
        contexts += i > 0 ? block->value_count * (GROUP_SIZE + VALUE_SIZE) : 0;
    }
    db->base.parts[LODE_PART_PROFILE].size = profiles;
    db->base.parts[LODE_PART_CONTEXT].size = contexts;
}

lode_status lode_memory_database_name(struct lode_memory_database *db, const char *title, const char *text,
                                      const char *file, uint64_t size, lode_error *error)
{
    const char *texts[] = {file, title, text};
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
