/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/table.h"

#include "base/error.h"
#include "base/getter.h"
#include <lode/private/columns.h>
#include <stdlib.h>
#include <string.h>

struct column {
    struct lode_column_spec spec;
    lode_column_owner owner;
    const unsigned char *data; /* the field of the first row */
    size_t stride;
    void *copy; /* converted elements */
    uint64_t room;
};

struct lode_table {
    uint64_t rows;
    void *owned;
    unsigned column_count;
    struct column columns[];
};

static size_t element_size(lode_column_type type)
{
    static const uint8_t sizes[] = {1, 2, 4, 8, 8, sizeof(char *)};
    return sizes[type];
}

static void add_column(struct column *column, const struct lode_rows *rows,
                       const struct lode_column_spec *spec)
{
    const unsigned char *first = rows->rows;
    *column = (struct column){.spec = *spec, .owner = rows->owner};
    column->stride = spec->array ? element_size(spec->type) : rows->size;
    /* The rows of an empty table may be NULL. */
    if (rows->count > 0)
        column->data = spec->array ? spec->array : first + spec->offset;
}

lode_status lode_table_make(lode_table **out, const struct lode_rows *rows,
                            const struct lode_column_spec *specs, unsigned count, lode_error *error)
{
    lode_table *table = calloc(1, sizeof *table + count * sizeof *table->columns);
    *out = table;
    if (table == NULL) {
        free(rows->owned);
        return lode_fail_memory(error);
    }
    table->rows = rows->count;
    table->owned = rows->owned;
    table->column_count = count;
    for (unsigned i = 0; i < count; i++)
        add_column(&table->columns[i], rows, &specs[i]);
    return LODE_OK;
}

void lode_table_free(lode_table *table)
{
    if (table == NULL)
        return;
    for (unsigned i = 0; i < table->column_count; i++)
        free(table->columns[i].copy);
    free(table->owned);
    free(table);
}

LODE_GETTER(uint64_t, lode_table_rows, lode_table, rows);
LODE_GETTER(unsigned, lode_table_columns, lode_table, column_count);

const char *lode_table_column_name(const lode_table *table, unsigned column)
{
    return column < table->column_count ? table->columns[column].spec.name : NULL;
}

static lode_status convert(struct column *column, uint64_t first, lode_column *out, lode_error *error)
{
    size_t size = element_size(column->spec.type);
    if (column->room < out->count) {
        free(column->copy);
        column->room = 0;
        column->copy = calloc(out->count, size);
        if (column->copy == NULL)
            return lode_fail_memory(error);
        column->room = out->count;
    }
    const unsigned char *from = column->data + first * column->stride;
    unsigned char *to = column->copy;
    for (uint64_t i = 0; i < out->count; i++, from += column->stride, to += size)
        column->spec.convert(from, to, column->spec.argument);
    out->owner = LODE_OWNER_TABLE;
    out->data = column->copy;
    out->stride = size;
    return LODE_OK;
}

lode_status lode_table_read(lode_table *table, unsigned index, uint64_t first, uint64_t count,
                            lode_column *out, lode_error *error)
{
    if (index >= table->column_count)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "column %u of a table that has %u",
                         index, table->column_count);
    if (first >= table->rows)
        return LODE_END;
    struct column *column = &table->columns[index];
    *out = (lode_column){.name = column->spec.name,
                         .type = column->spec.type,
                         .owner = column->owner,
                         .count = count < table->rows - first ? count : table->rows - first,
                         .stride = column->stride};
    if (column->spec.convert)
        return convert(column, first, out, error);
    out->data = column->data + first * column->stride;
    return LODE_OK;
}
