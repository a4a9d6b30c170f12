/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a database. Metrics and profiles are first copied to rows; others are in place. */
#include "base/error.h"
#include "base/memory/array.h"
#include "model/database/block.h"
#include "model/database/database.h"
#include "model/database/trace.h"
#include "model/table.h"
#include <lode/private/columns.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (unsigned)(sizeof(array) / sizeof *(array))

/* ---- contexts, functions, files, modules ---- */

/* The index of the object, or LODE_NO_ROW. */
#define INDEX_OF(type)                                                                                       \
    {                                                                                                        \
        const type *thing = *(const type *const *)field;                                                     \
        (void)argument;                                                                                      \
        *(uint32_t *)out = thing ? thing->index : LODE_NO_ROW;                                               \
    }

void lode_convert_function(const void *field, void *out, uint32_t argument) INDEX_OF(lode_function)

    static void convert_file(const void *field, void *out, uint32_t argument) INDEX_OF(lode_file)

        static void convert_module(const void *field, void *out, uint32_t argument) INDEX_OF(lode_module)

            void lode_convert_function_name(const void *field, void *out, uint32_t argument)
{
    const lode_function *function = *(const lode_function *const *)field;
    (void)argument;
    *(const char **)out = function ? function->name : NULL;
}

static void convert_context_function(const void *field, void *out, uint32_t argument)
{
    const lode_function *function = lode_context_function(field);
    (void)argument;
    *(uint32_t *)out = function ? function->index : LODE_NO_ROW;
}

static void convert_entry_name(const void *field, void *out, uint32_t argument)
{
    (void)argument;
    *(const char **)out = lode_context_entry_name(field);
}

static void convert_parent_id(const void *field, void *out, uint32_t argument)
{
    const lode_context *context = field, *parent = lode_context_parent(context);
    (void)argument;
    *(uint32_t *)out = parent ? parent->id : context->id;
}

static const struct lode_column_spec context_columns[] = {
    LODE_FIELD("id", U32, lode_context, id),
    LODE_FIELD("parent", U32, lode_context, parent),
    {"parent_id", LODE_COLUMN_U32, 0, 0, convert_parent_id, NULL},
    LODE_FIELD("subtree_size", U32, lode_context, subtree_size),
    LODE_FIELD("depth", U32, lode_context, depth),
    LODE_FIELD("kind", U16, lode_context, lexical),
    LODE_FIELD("relation", U8, lode_context, relation),
    LODE_FIELD("flags", U8, lode_context, flags),
    LODE_FIELD("propagation", U16, lode_context, propagation),
    {"function", LODE_COLUMN_U32, 0, 0, convert_context_function, NULL},
    LODE_CONVERTED("file", U32, lode_context, file, convert_file),
    LODE_FIELD("line", U32, lode_context, line),
    LODE_CONVERTED("module", U32, lode_context, module, convert_module),
    LODE_FIELD("offset", U64, lode_context, offset),
    LODE_FIELD("entry", U16, lode_context, entry),
    {"entry_name", LODE_COLUMN_STRING, 0, 0, convert_entry_name, NULL},
};

static const struct lode_column_spec function_columns[] = {
    LODE_FIELD("name", STRING, lode_function, name),
    LODE_CONVERTED("module", U32, lode_function, module, convert_module),
    LODE_FIELD("offset", U64, lode_function, offset),
    LODE_CONVERTED("file", U32, lode_function, file, convert_file),
    LODE_FIELD("line", U32, lode_function, line),
    LODE_FIELD("same_as", U32, lode_function, identity),
};

static const struct lode_column_spec file_columns[] = {
    LODE_FIELD("path", STRING, lode_file, path),
    LODE_FIELD("copied", U8, lode_file, copied),
};
_Static_assert(sizeof(bool) == 1, "a column of bytes");

static const struct lode_column_spec module_columns[] = {LODE_FIELD("path", STRING, lode_module, path)};
static const struct lode_column_spec kind_columns[] = {{.name = "name", .type = LODE_COLUMN_STRING}};

#define ROWS(array, count)                                                                                   \
    (struct lode_rows)                                                                                       \
    {                                                                                                        \
        array, count, sizeof *(array), LODE_OWNER_STORE, NULL                                                \
    }

static lode_status fixed_rows(struct lode_rows *rows, const lode_database *db, lode_table_kind kind,
                              lode_error *error)
{
    (void)error;
    if (kind == LODE_TABLE_CONTEXTS)
        *rows = ROWS(db->tree.nodes, db->tree.count);
    else if (kind == LODE_TABLE_FUNCTIONS)
        *rows = ROWS(db->functions, db->function_count);
    else if (kind == LODE_TABLE_FILES)
        *rows = ROWS(db->files, db->file_count);
    else if (kind == LODE_TABLE_MODULES)
        *rows = ROWS(db->modules, db->module_count);
    else
        *rows = ROWS(db->id_kinds, db->id_kind_count);
    return LODE_OK;
}

/* ---- metrics ---- */

struct metric_row {
    uint32_t metric;
    const char *name;
    const char *scope;
    const char *formula;
    uint32_t scope_kind;
    uint32_t combine;
    uint16_t id;
};

static const struct lode_column_spec metric_columns[] = {
    LODE_FIELD("metric", U32, struct metric_row, metric),
    LODE_FIELD("name", STRING, struct metric_row, name),
    LODE_FIELD("scope", STRING, struct metric_row, scope),
    LODE_FIELD("scope_kind", U32, struct metric_row, scope_kind),
    LODE_FIELD("id", U16, struct metric_row, id),
};

static const struct lode_column_spec statistic_columns[] = {
    LODE_FIELD("metric", U32, struct metric_row, metric),
    LODE_FIELD("name", STRING, struct metric_row, name),
    LODE_FIELD("scope", STRING, struct metric_row, scope),
    LODE_FIELD("scope_kind", U32, struct metric_row, scope_kind),
    LODE_FIELD("formula", STRING, struct metric_row, formula),
    LODE_FIELD("combine", U32, struct metric_row, combine),
    LODE_FIELD("id", U16, struct metric_row, id),
};

static struct metric_row metric_row(const lode_metric *metric, const lode_scope *scope, uint16_t id)
{
    return (struct metric_row){.metric = metric->index,
                               .name = metric->name,
                               .scope = scope ? scope->name : NULL,
                               .scope_kind = scope ? scope->type : 0,
                               .id = id};
}

static bool add_metric(struct lode_array *rows, const lode_metric *metric, bool statistics)
{
    unsigned count = statistics ? metric->statistic_count : metric->scope_count;
    for (unsigned i = 0; i < count; i++) {
        struct metric_row *row = lode_array_push(rows);
        if (row == NULL)
            return false;
        if (!statistics) {
            *row = metric_row(metric, metric->scopes[i].scope, metric->scopes[i].id);
            continue;
        }
        const lode_metric_statistic *statistic = &metric->statistics[i];
        *row = metric_row(metric, statistic->scope, statistic->id);
        row->formula = statistic->formula;
        row->combine = (uint32_t)statistic->combine;
    }
    return true;
}

/* The table takes ownership of the rows. */
static lode_status own_rows(struct lode_rows *rows, struct lode_array *gathered, lode_status status)
{
    if (status != LODE_OK)
        lode_array_free(gathered);
    else
        *rows = (struct lode_rows){gathered->items, gathered->count, gathered->item_size, LODE_OWNER_TABLE,
                                   gathered->items};
    return status;
}

static lode_status metric_rows(struct lode_rows *rows, const lode_database *db, lode_table_kind kind,
                               lode_error *error)
{
    struct lode_array gathered;
    bool done = true;
    lode_array_init(&gathered, sizeof(struct metric_row), SIZE_MAX);
    for (uint32_t i = 0; i < db->metric_count && done; i++)
        done = add_metric(&gathered, &db->metrics[i], kind == LODE_TABLE_STATISTICS);
    return own_rows(rows, &gathered, done ? LODE_OK : lode_fail_memory(error));
}

/* ---- profiles ---- */

struct profile_row {
    uint32_t flags;
    uint32_t ids;
    uint64_t values;
    uint8_t summary;
};

static const struct lode_column_spec profile_columns[] = {
    LODE_FIELD("flags", U32, struct profile_row, flags),
    LODE_FIELD("summary", U8, struct profile_row, summary),
    LODE_FIELD("values", U64, struct profile_row, values),
    LODE_FIELD("ids", U32, struct profile_row, ids),
};

static lode_status read_profile(const lode_database *db, uint32_t profile, struct profile_row *row,
                                lode_error *error)
{
    lode_block block;
    LODE_TRY(lode_profile_flags(db, profile, &row->flags, error));
    LODE_TRY(lode_profile_block(db, profile, &block, error));
    row->values = block.value_count;
    row->summary = lode_profile_is_summary(db, profile) != 0;
    return row->summary ? LODE_OK : lode_profile_ids(db, profile, NULL, 0, &row->ids, error);
}

static lode_status profile_rows(struct lode_rows *rows, const lode_database *db, lode_table_kind kind,
                                lode_error *error)
{
    struct lode_array gathered;
    lode_status status = LODE_OK;
    (void)kind;
    lode_array_init(&gathered, sizeof(struct profile_row), SIZE_MAX);
    for (uint32_t i = 0; i < db->profile_count && status == LODE_OK; i++) {
        struct profile_row *row = lode_array_push(&gathered);
        status = row ? read_profile(db, i, row, error) : lode_fail_memory(error);
    }
    return own_rows(rows, &gathered, status);
}

struct id_row {
    uint32_t profile;
    uint32_t kind;
    uint32_t flags;
    uint32_t logical;
    uint64_t physical;
};

static const struct lode_column_spec id_columns[] = {
    LODE_FIELD("profile", U32, struct id_row, profile),   LODE_FIELD("kind", U32, struct id_row, kind),
    LODE_FIELD("flags", U32, struct id_row, flags),       LODE_FIELD("logical", U32, struct id_row, logical),
    LODE_FIELD("physical", U64, struct id_row, physical),
};

/* `ids` has space for all ids of the profile. */
static lode_status add_ids(struct lode_array *rows, const lode_id *ids, uint32_t count, uint32_t profile,
                           lode_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        struct id_row *row = lode_array_push(rows);
        if (row == NULL)
            return lode_fail_memory(error);
        *row = (struct id_row){profile, ids[i].kind, ids[i].flags, ids[i].logical, ids[i].physical};
    }
    return LODE_OK;
}

static lode_status read_ids(struct lode_array *rows, const lode_database *db, uint32_t profile,
                            lode_error *error)
{
    uint32_t count = 0;
    if (lode_profile_is_summary(db, profile))
        return LODE_OK;
    LODE_TRY(lode_profile_ids(db, profile, NULL, 0, &count, error));
    lode_id *ids = calloc((size_t)count + 1, sizeof *ids);
    LODE_TRY_ALLOC(ids, error);
    lode_status status = lode_profile_ids(db, profile, ids, count, &count, error);
    if (status == LODE_OK)
        status = add_ids(rows, ids, count, profile, error);
    free(ids);
    return status;
}

static lode_status id_rows(struct lode_rows *rows, const lode_database *db, lode_table_kind kind,
                           lode_error *error)
{
    struct lode_array gathered;
    (void)kind;
    /* Profiles that share ids could take more memory than the file justifies. */
    LODE_TRY(lode_profile_blocks_fit(db, error));
    lode_status status = LODE_OK;
    lode_array_init(&gathered, sizeof(struct id_row), SIZE_MAX);
    for (uint32_t i = 0; i < db->profile_count && status == LODE_OK; i++)
        status = read_ids(&gathered, db, i, error);
    return own_rows(rows, &gathered, status);
}

/* ---- trace lines ---- */

static const struct lode_column_spec line_columns[] = {
    LODE_FIELD("profile", U32, lode_trace_line, profile),
    LODE_FIELD("samples", U64, lode_trace_line, sample_count),
};

static lode_status line_rows(struct lode_rows *rows, const lode_database *db, lode_table_kind kind,
                             lode_error *error)
{
    struct lode_array gathered;
    lode_status status = LODE_OK;
    (void)kind;
    lode_array_init(&gathered, sizeof(lode_trace_line), SIZE_MAX);
    for (uint32_t i = 0; i < db->trace_count && status == LODE_OK; i++) {
        lode_trace_line *line = lode_array_push(&gathered);
        status = line ? lode_database_trace_line(db, i, line, error) : lode_fail_memory(error);
    }
    return own_rows(rows, &gathered, status);
}

/* ---- by kind ---- */

#define COLUMNS(array) array, COUNT(array)
static const struct {
    const char *name;
    const struct lode_column_spec *columns;
    unsigned count;
    lode_status (*rows)(struct lode_rows *rows, const lode_database *db, lode_table_kind kind,
                        lode_error *error);
} tables[LODE_TABLE_COUNT] = {
    [LODE_TABLE_CONTEXTS] = {"contexts", COLUMNS(context_columns), fixed_rows},
    [LODE_TABLE_FUNCTIONS] = {"functions", COLUMNS(function_columns), fixed_rows},
    [LODE_TABLE_FILES] = {"files", COLUMNS(file_columns), fixed_rows},
    [LODE_TABLE_MODULES] = {"modules", COLUMNS(module_columns), fixed_rows},
    [LODE_TABLE_METRICS] = {"metrics", COLUMNS(metric_columns), metric_rows},
    [LODE_TABLE_STATISTICS] = {"statistics", COLUMNS(statistic_columns), metric_rows},
    [LODE_TABLE_PROFILES] = {"profiles", COLUMNS(profile_columns), profile_rows},
    [LODE_TABLE_PROFILE_IDS] = {"profile_ids", COLUMNS(id_columns), id_rows},
    [LODE_TABLE_ID_KINDS] = {"id_kinds", COLUMNS(kind_columns), fixed_rows},
    [LODE_TABLE_TRACE_LINES] = {"trace_lines", COLUMNS(line_columns), line_rows},
};

const char *lode_table_kind_name(int kind)
{
    return kind >= 0 && kind < LODE_TABLE_COUNT ? tables[kind].name : NULL;
}

lode_status lode_database_table(lode_table **out, const lode_database *db, lode_table_kind kind,
                                lode_error *error)
{
    struct lode_rows rows;
    *out = NULL;
    if (lode_table_kind_name((int)kind) == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "there is no table %d", (int)kind);
    LODE_TRY(tables[kind].rows(&rows, db, kind, error));
    return lode_table_make(out, &rows, tables[kind].columns, tables[kind].count, error);
}

/* ---- blocks and samples: in place if the layout is native ---- */

static void swap_u16(const void *field, void *out, uint32_t argument)
{
    uint16_t x;
    (void)argument;
    memcpy(&x, field, sizeof x);
    *(uint16_t *)out = __builtin_bswap16(x);
}

static void swap_u32(const void *field, void *out, uint32_t argument)
{
    uint32_t x;
    (void)argument;
    memcpy(&x, field, sizeof x);
    *(uint32_t *)out = __builtin_bswap32(x);
}

static void swap_u64(const void *field, void *out, uint32_t argument)
{
    uint64_t x;
    (void)argument;
    memcpy(&x, field, sizeof x);
    *(uint64_t *)out = __builtin_bswap64(x);
}

static bool is_native(uint8_t layout)
{
    return (layout == LODE_LAYOUT_BIG) == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* Packed pairs of a key and an 8-byte number. */
static lode_status pair_table(lode_table **out, const lode_block *block, struct lode_rows rows,
                              unsigned key_size, bool key_last, struct lode_column_spec number,
                              lode_error *error)
{
    bool native = is_native(block->layout);
    struct lode_column_spec specs[] = {{.name = "key", .offset = key_last ? 8 : 0}, number};
    specs[0].type = key_size == 2 ? LODE_COLUMN_U16 : LODE_COLUMN_U32;
    specs[1].offset = key_last ? 0 : key_size;
    if (!native) {
        specs[0].convert = key_size == 2 ? swap_u16 : swap_u32;
        specs[1].convert = swap_u64;
    }
    rows.size = key_size + 8;
    rows.owner = LODE_OWNER_FILE;
    return lode_table_make(out, &rows, specs, COUNT(specs), error);
}

lode_status lode_block_groups_table(lode_table **out, const lode_block *block, lode_error *error)
{
    struct lode_rows rows = {.rows = block->groups, .count = block->group_count};
    struct lode_column_spec first = {.name = "first", .type = LODE_COLUMN_U64};
    return pair_table(out, block, rows, block->group_key_size, false, first, error);
}

lode_status lode_block_values_table(lode_table **out, const lode_block *block, lode_error *error)
{
    struct lode_rows rows = {.rows = block->values, .count = block->value_count};
    struct lode_column_spec value = {.name = "value", .type = LODE_COLUMN_F64};
    return pair_table(out, block, rows, block->value_key_size, block->layout == LODE_LAYOUT_BIG, value,
                      error);
}

/* Some layouts have a context for "not running". */
static void convert_sample_context(const void *field, void *out, uint32_t idle)
{
    uint32_t id;
    memcpy(&id, field, sizeof id);
    *(uint32_t *)out = id == idle ? 0 : id;
}

static void swap_sample_context(const void *field, void *out, uint32_t idle)
{
    swap_u32(field, out, 0);
    convert_sample_context(out, out, idle);
}

lode_status lode_trace_line_table(lode_table **out, const lode_trace_line *line, lode_error *error)
{
    bool native = is_native(line->layout);
    struct lode_column_spec specs[] = {
        {.name = "time", .type = LODE_COLUMN_U64},
        {.name = "context", .type = LODE_COLUMN_U32, .argument = line->idle_id, .offset = 8},
    };
    if (!native)
        specs[0].convert = swap_u64;
    if (!native || line->idle_id)
        specs[1].convert = native ? convert_sample_context : swap_sample_context;
    struct lode_rows rows = {line->samples, line->sample_count, TRACE_SAMPLE_SIZE, LODE_OWNER_FILE, NULL};
    return lode_table_make(out, &rows, specs, COUNT(specs), error);
}
