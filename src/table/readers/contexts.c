/* SPDX-License-Identifier: BSD-3-Clause */
/* Calling contexts, as a table: in depth-first order, or found by what they refer to. */
#include "table/fields.h"
#include <lode/private/columns.h>
#include <stdlib.h>

static const lode_field context_fields[] = {ID,
                                            U32_OR_NULL("parent_id", "context"),
                                            U32_OR_NULL("caller_id", "context"),
                                            U32("position", NULL),
                                            U32("last_position", NULL),
                                            U32("depth", NULL),
                                            TEXT("kind"),
                                            TEXT_OR_NULL("relation"),
                                            U32_OR_NULL("function_id", "function"),
                                            U32_OR_NULL("file_id", "file"),
                                            U32_OR_NULL("line", NULL),
                                            U32_OR_NULL("module_id", "module"),
                                            I64("address", LODE_FIELD_ADDRESS | LODE_FIELD_OPTIONAL),
                                            TEXT("name")};

static bool is_caller(const lode_context *context)
{
    int lexical = lode_context_lexical(context);
    return lexical == LODE_LEXICAL_FUNCTION || lexical == LODE_LEXICAL_ENTRY;
}

static void put_context_id(struct lode_table_batch *batch, unsigned column, const lode_context *context)
{
    if (context)
        lode_batch_u32(batch, column, lode_context_id(context));
    else
        lode_batch_null(batch, column);
}

/* Entry points and the global context have none. */
static const char *relation_of(const lode_context *context)
{
    int lexical = lode_context_lexical(context);
    if (lexical == LODE_LEXICAL_ENTRY || lexical == LODE_LEXICAL_GLOBAL)
        return NULL;
    int relation = lode_context_relation(context);
    return relation == LODE_RELATION_INLINED ? "inlined" : lode_relation_name(relation);
}

/* Where in the program it is. */
static void put_location(const struct lode_tables *tables, struct lode_table_batch *batch,
                         const lode_context *context)
{
    const lode_function *function = lode_context_function(context);
    const lode_module *module = lode_context_module(context);
    if (function)
        lode_batch_u32(batch, 8, lode_function_index(function));
    else
        lode_batch_null(batch, 8);
    lode_batch_file(tables, batch, 9, lode_context_file(context));
    lode_batch_known_u32(batch, 10, lode_context_line(context));
    lode_batch_module(batch, 11, module);
    if (module)
        lode_batch_u64(batch, 12, lode_context_offset(context));
    else
        lode_batch_null(batch, 12);
}

/* ---- callers and inverted lists, made when first asked for ---- */

/* With one step up for each: a chain of lines is as long as a hostile file wants it. */
static lode_status make_callers(struct lode_tables *tables, lode_error *error)
{
    uint32_t count = lode_database_context_count(tables->db);
    uint32_t *callers = calloc((size_t)count + 1, sizeof *callers);
    LODE_TRY_ALLOC(callers, error);
    for (uint32_t i = 0; i < count; i++) {
        const lode_context *parent = lode_context_parent(lode_database_context_at(tables->db, i));
        uint32_t above = parent ? lode_context_index(parent) : LODE_NO_ROW;
        callers[i] = parent == NULL || is_caller(parent) ? above : callers[above];
    }
    tables->callers = callers;
    return LODE_OK;
}

lode_status lode_tables_callers(struct lode_tables *tables, const uint32_t **callers, lode_error *error)
{
    pthread_mutex_lock(&tables->lock);
    lode_status status = tables->callers ? LODE_OK : make_callers(tables, error);
    *callers = tables->callers;
    pthread_mutex_unlock(&tables->lock);
    return status;
}

/* The key of a row; LODE_NO_ROW: none. */
static uint32_t key_of(const struct lode_tables *tables, unsigned which, uint32_t row)
{
    const lode_context *context = lode_database_context_at(tables->db, row);
    if (which == LODE_INVERTED_CALLER)
        return tables->callers[row];
    if (which == LODE_INVERTED_PARENT) {
        const lode_context *parent = lode_context_parent(context);
        return parent ? lode_context_index(parent) : LODE_NO_ROW;
    }
    const lode_function *function = lode_context_function(context);
    return function ? lode_function_index(function) : LODE_NO_ROW;
}

/* Counts, then places: rows of a key ascend. */
static void fill_inverted(const struct lode_tables *tables, unsigned which, struct lode_inverted *list,
                          uint32_t count)
{
    for (uint32_t row = 0; row < count; row++) {
        uint32_t key = key_of(tables, which, row);
        if (key < list->key_count)
            list->starts[key + 1]++;
    }
    for (uint32_t key = 0; key < list->key_count; key++)
        list->starts[key + 1] += list->starts[key];
    uint32_t total = list->starts[list->key_count];
    for (uint32_t row = count; row-- > 0;) {
        uint32_t key = key_of(tables, which, row);
        if (key < list->key_count)
            list->numbers[--list->starts[key + 1]] = row;
    }
    /* Each start is where its rows begin now, one place too far. */
    for (uint32_t key = 0; key < list->key_count; key++)
        list->starts[key] = list->starts[key + 1];
    list->starts[list->key_count] = total;
}

static lode_status make_inverted(struct lode_tables *tables, unsigned which, lode_error *error)
{
    uint32_t count = lode_database_context_count(tables->db);
    struct lode_inverted list = {
        .key_count = which == LODE_INVERTED_FUNCTION ? lode_database_function_count(tables->db) : count};
    if (which == LODE_INVERTED_CALLER && tables->callers == NULL)
        LODE_TRY(make_callers(tables, error));
    list.starts = calloc((size_t)list.key_count + 2, sizeof *list.starts);
    list.numbers = calloc((size_t)count + 1, sizeof *list.numbers);
    if (list.starts == NULL || list.numbers == NULL) {
        free(list.starts);
        free(list.numbers);
        return lode_fail_memory(error);
    }
    fill_inverted(tables, which, &list, count);
    tables->inverted[which] = list;
    return LODE_OK;
}

lode_status lode_tables_inverted(struct lode_tables *tables, unsigned which, uint32_t key,
                                 struct lode_table_rows *rows, lode_error *error)
{
    const struct lode_inverted *list = &tables->inverted[which];
    pthread_mutex_lock(&tables->lock);
    lode_status status = LODE_OK;
    if (list->starts == NULL)
        status = make_inverted(tables, which, error);
    pthread_mutex_unlock(&tables->lock);
    LODE_TRY(status);
    *rows = (struct lode_table_rows){0};
    if (key < list->key_count)
        *rows = (struct lode_table_rows){list->numbers + list->starts[key], 0,
                                         list->starts[key + 1] - list->starts[key]};
    return LODE_OK;
}

/* ---- rows ---- */

static lode_status context_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                               lode_error *error)
{
    const struct lode_tables *tables = reader->tables;
    const uint32_t *const *callers = reader->state;
    const lode_context *context = lode_database_context_at(tables->db, i);
    uint32_t caller = *callers ? (*callers)[i] : LODE_NO_ROW;
    const char *kind = lode_lexical_name(lode_context_lexical(context));
    lode_batch_u32(batch, 0, lode_context_id(context));
    put_context_id(batch, 1, lode_context_parent(context));
    put_context_id(batch, 2,
                   caller == LODE_NO_ROW ? NULL : lode_database_context_at(reader->tables->db, caller));
    lode_batch_u32(batch, 3, i);
    lode_batch_u32(batch, 4, i + lode_context_subtree_size(context) - 1);
    lode_batch_u32(batch, 5, lode_context_depth(context));
    lode_batch_fixed(batch, 6, kind ? kind : "unknown");
    lode_batch_fixed(batch, 7, relation_of(context));
    put_location(tables, batch, context);
    return lode_batch_context(batch, 13, context, tables->options.names, error);
}

/* Its state: the callers, if anybody asks for them. */
static lode_status open_context(struct lode_table_reader *reader, lode_error *error)
{
    if (reader->query == NULL || (reader->query->needed >> 2 & 1))
        LODE_TRY(lode_tables_callers(reader->tables, reader->state, error));
    return lode_table_choose_rows(reader, lode_database_context_count(reader->tables->db), error);
}

static lode_status next_context(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                lode_error *error)
{
    return lode_table_next_rows(reader, batch, context_row, error);
}

static lode_status count_context(struct lode_tables *tables, double *rows, lode_error *error)
{
    (void)error;
    *rows = lode_database_context_count(tables->db);
    return LODE_OK;
}

/* By id, parent, caller or function. */
static lode_status find_context(struct lode_tables *tables, unsigned column, uint64_t key,
                                struct lode_table_rows *rows, lode_error *error)
{
    *rows = (struct lode_table_rows){0};
    if (key > UINT32_MAX)
        return LODE_OK;
    if (column == 8)
        return lode_tables_inverted(tables, LODE_INVERTED_FUNCTION, (uint32_t)key, rows, error);
    const lode_context *context = lode_database_context(tables->db, (uint32_t)key);
    if (context == NULL)
        return LODE_OK;
    uint32_t index = lode_context_index(context);
    if (column > 0)
        return lode_tables_inverted(tables, column == 1 ? LODE_INVERTED_PARENT : LODE_INVERTED_CALLER, index,
                                    rows, error);
    *rows = (struct lode_table_rows){NULL, index, 1};
    return LODE_OK;
}

const struct lode_table_def lode_table_context = {TABLE("calling contexts, in depth-first order", context),
                                                  .state_size = sizeof(uint32_t *),
                                                  .orders = {{{3}, 1}},
                                                  .order_count = 1,
                                                  .number_column = 3,
                                                  .found_columns = 1 | 1 << 1 | 1 << 2 | 1 << 8,
                                                  .find = find_context,
                                                  .count = count_context};
