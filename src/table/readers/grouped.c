/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a table added up by some of its columns: what GROUP BY does, without a sort. */
#include "base/progress.h"
#include "table/conditions.h"
#include "table/groups.h"
#include "table/readers/functions.h"
#include <string.h>

#define I64_OR_NULL(name) I64(name, LODE_FIELD_OPTIONAL)
#define F64_OR_NULL(name)                                                                                    \
    {                                                                                                        \
        name, LODE_COLUMN_F64, LODE_FIELD_OPTIONAL, NULL                                                     \
    }
#define TEXT_REQUIRED(name)                                                                                  \
    {                                                                                                        \
        name, LODE_COLUMN_STRING, LODE_FIELD_ARGUMENT | LODE_FIELD_REQUIRED, NULL                            \
    }

static const lode_field grouped_fields[] = {
    I64_OR_NULL("key"),  I64_OR_NULL("key2"),      I64_OR_NULL("key3"),      TEXT_OR_NULL("text"),
    I64("rows", 0),      I64_OR_NULL("count"),     F64_OR_NULL("sum"),       F64_OR_NULL("min"),
    F64_OR_NULL("max"),  I64_OR_NULL("exact_sum"), I64_OR_NULL("exact_min"), I64_OR_NULL("exact_max"),
    TEXT_REQUIRED("of"), TEXT_REQUIRED("by"),      TEXT_ARGUMENT("value"),   TEXT_ARGUMENT("condition")};

enum {
    FIELD_TEXT = LODE_GROUP_KEYS,
    FIELD_ROWS,
    FIELD_COUNT,
    FIELD_SUM,
    FIELD_EXACT_SUM = FIELD_SUM + 3
};

struct grouped {
    struct lode_groups groups;
    struct lode_conditions conditions;
    bool is_begun;
};

/* ---- what is asked for ---- */

static lode_status no_column(const lode_table_info *table, const char *name, size_t length, lode_error *error)
{
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "the table %s has no column '%.*s'",
                     table->name, (int)(length < 80 ? length : 80), name);
}

/* A table, not a function: its rows are in the store. */
static lode_status choose_table(const struct lode_table_reader *reader, const lode_table_info **table,
                                lode_error *error)
{
    const char *name = lode_function_text(reader, "of");
    *table = lode_tables_find(reader->tables, name);
    if (*table && !(*table)->is_function)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "there is no table '%s'", name);
}

static lode_status add_key(struct lode_groups *groups, const char *name, size_t length, lode_error *error)
{
    int column = lode_table_column(groups->table, name, length);
    if (column < 0)
        return no_column(groups->table, name, length, error);
    lode_column_type type = groups->table->fields[column].type;
    bool is_second = false;
    for (unsigned i = 0; i < groups->key_count; i++)
        is_second |= groups->table->fields[groups->keys[i]].type == LODE_COLUMN_STRING;
    if (groups->key_count == LODE_GROUP_KEYS || type == LODE_COLUMN_F64 ||
        (type == LODE_COLUMN_STRING && is_second))
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "groups are by one to %d columns of integers, of which one may be a text",
                         LODE_GROUP_KEYS);
    groups->keys[groups->key_count++] = (unsigned)column;
    return LODE_OK;
}

/* Names of columns, separated by commas. */
static lode_status choose_keys(struct lode_groups *groups, const char *by, lode_error *error)
{
    for (const char *at = by;; at++) {
        at += strspn(at, " ");
        size_t length = strcspn(at, " ,");
        LODE_TRY(add_key(groups, at, length, error));
        at += length;
        at += strspn(at, " ");
        if (*at == '\0')
            return LODE_OK;
        if (*at != ',')
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "a comma is missing between columns: '%s'", by);
    }
}

static lode_status choose_value(struct lode_groups *groups, const char *name, lode_error *error)
{
    if (name == NULL)
        return LODE_OK;
    groups->value = lode_table_column(groups->table, name, strlen(name));
    if (groups->value < 0)
        return no_column(groups->table, name, strlen(name), error);
    lode_column_type type = groups->table->fields[groups->value].type;
    if (type == LODE_COLUMN_STRING)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "%s of %s is a text, and has no sum",
                         name, groups->table->name);
    groups->is_real = type == LODE_COLUMN_F64;
    return LODE_OK;
}

/* ---- adding up ---- */

static lode_status add_all(struct lode_table_reader *reader, lode_scan *scan, lode_error *error)
{
    const struct lode_table_choice *choice = &reader->tables->options;
    struct lode_progress progress = {choice->on_progress, choice->progress_user, "rows", 0,
                                     lode_scan_total(scan)};
    struct grouped *self = reader->state;
    const lode_batch *batch;
    lode_status status;
    while ((status = lode_scan_next(scan, &batch, error)) == LODE_OK) {
        LODE_TRY(lode_groups_add(&self->groups, batch, error));
        LODE_TRY(lode_progress_add(&progress, lode_scan_done(scan) - progress.done, error));
    }
    return status == LODE_END ? LODE_OK : status;
}

static lode_status compute(struct lode_table_reader *reader, lode_error *error)
{
    struct grouped *self = reader->state;
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    lode_scan *scan;
    options.filters = self->conditions.filters.items;
    options.filter_count = self->conditions.filters.count;
    for (unsigned i = 0; i < self->groups.key_count; i++)
        options.columns |= UINT64_C(1) << self->groups.keys[i];
    if (self->groups.value >= 0)
        options.columns |= UINT64_C(1) << self->groups.value;
    if (self->conditions.is_empty)
        return LODE_OK;
    LODE_TRY(lode_scan_open(&scan, reader->tables, self->groups.table, &options, error));
    lode_status status = add_all(reader, scan, error);
    lode_scan_close(scan);
    lode_groups_sort(&self->groups);
    return status;
}

static lode_status open_grouped(struct lode_table_reader *reader, lode_error *error)
{
    struct grouped *self = reader->state;
    const lode_table_info *table;
    const char *condition = lode_function_text(reader, "condition");
    LODE_TRY(choose_table(reader, &table, error));
    lode_groups_init(&self->groups, table);
    lode_conditions_init(&self->conditions);
    self->is_begun = true;
    LODE_TRY(choose_keys(&self->groups, lode_function_text(reader, "by"), error));
    LODE_TRY(choose_value(&self->groups, lode_function_text(reader, "value"), error));
    if (condition)
        LODE_TRY(lode_conditions_parse(&self->conditions, table, condition, error));
    LODE_TRY(compute(reader, error));
    return lode_table_choose_rows(reader, (uint32_t)self->groups.rows.count, error);
}

static void close_grouped(struct lode_table_reader *reader)
{
    struct grouped *self = reader->state;
    if (!self->is_begun)
        return;
    lode_groups_free(&self->groups);
    lode_conditions_free(&self->conditions);
}

/* ---- rows ---- */

static void put_real(struct lode_table_batch *batch, unsigned column, bool is_known, double number)
{
    lode_batch_f64(batch, column, is_known ? number : 0);
    batch->valid[column][batch->rows] = is_known;
}

static void put_exact(struct lode_table_batch *batch, unsigned column, bool is_known, int64_t number)
{
    lode_batch_u64(batch, column, is_known ? (uint64_t)number : 0);
    batch->valid[column][batch->rows] = is_known;
}

/* A sum beyond 64 bits has no exact one. */
static void put_sums(struct lode_table_batch *batch, const struct lode_groups *groups,
                     const struct lode_group_row *row)
{
    bool is_known = row->count > 0, is_exact = is_known && !groups->is_real;
    lode_wide sum = is_exact ? row->of.integer.sum : 0;
    double reals[] = {row->of.real.sum, row->of.real.least, row->of.real.greatest};
    if (!groups->is_real) {
        reals[0] = (double)row->of.integer.sum;
        reals[1] = (double)row->of.integer.least;
        reals[2] = (double)row->of.integer.greatest;
    }
    for (unsigned i = 0; i < COUNT(reals); i++)
        put_real(batch, FIELD_SUM + i, is_known, reals[i]);
    put_exact(batch, FIELD_EXACT_SUM, is_exact && sum >= INT64_MIN && sum <= INT64_MAX, (int64_t)sum);
    put_exact(batch, FIELD_EXACT_SUM + 1, is_exact, row->of.integer.least);
    put_exact(batch, FIELD_EXACT_SUM + 2, is_exact, row->of.integer.greatest);
}

static lode_status grouped_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                               lode_error *error)
{
    const struct lode_groups *groups = &((const struct grouped *)reader->state)->groups;
    const struct lode_group_row *row = LODE_ARRAY_AT(&groups->rows, struct lode_group_row, i);
    const char *text = NULL;
    unsigned numbers = 0;
    for (unsigned k = 0; k < LODE_GROUP_KEYS; k++)
        lode_batch_null(batch, k);
    for (unsigned k = 0; k < groups->key_count; k++) {
        bool is_null = row->nulls >> k & 1;
        if (groups->table->fields[groups->keys[k]].type == LODE_COLUMN_STRING)
            text = is_null ? NULL : lode_strings_at(&groups->texts, (uint32_t)row->keys[k]);
        else
            put_exact(batch, numbers++, !is_null, (int64_t)row->keys[k]);
    }
    lode_batch_u64(batch, FIELD_ROWS, row->rows);
    put_exact(batch, FIELD_COUNT, groups->value >= 0, (int64_t)row->count);
    put_sums(batch, groups, row);
    return lode_batch_text(batch, FIELD_TEXT, text, error);
}

NEXT_OF(grouped)
const struct lode_table_def lode_table_grouped = {
    .info = {"grouped", "the rows of a table added up by up to three of its columns, as GROUP BY has them",
             grouped_fields, COUNT(grouped_fields), 1},
    .state_size = sizeof(struct grouped),
    .open = open_grouped,
    .next = next_grouped,
    .close = close_grouped,
    .is_numbered = true,
    NO_ID};
