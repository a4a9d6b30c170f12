/* SPDX-License-Identifier: BSD-3-Clause */
/* How files define tables: fields, and tables whose rows have numbers. */
#ifndef LODE_TABLE_FIELDS_H
#define LODE_TABLE_FIELDS_H

#include "table/tables.h"
#include <limits.h>

#define COUNT(array) (unsigned)(sizeof(array) / sizeof *(array))
#define ID                                                                                                   \
    {                                                                                                        \
        "id", LODE_COLUMN_U32, LODE_FIELD_KEY, NULL                                                          \
    }
#define U32(name, table)                                                                                     \
    {                                                                                                        \
        name, LODE_COLUMN_U32, 0, table                                                                      \
    }
#define U32_OR_NULL(name, table)                                                                             \
    {                                                                                                        \
        name, LODE_COLUMN_U32, LODE_FIELD_OPTIONAL, table                                                    \
    }
#define I64(name, flags)                                                                                     \
    {                                                                                                        \
        name, LODE_COLUMN_U64, LODE_FIELD_SIGNED | (flags), NULL                                             \
    }
#define TEXT(name)                                                                                           \
    {                                                                                                        \
        name, LODE_COLUMN_STRING, 0, NULL                                                                    \
    }
#define TEXT_OR_NULL(name)                                                                                   \
    {                                                                                                        \
        name, LODE_COLUMN_STRING, LODE_FIELD_OPTIONAL, NULL                                                  \
    }

/* Of a table with `total` rows by number: appends a row, or leaves it out by returning LODE_END. */
typedef lode_status (*lode_table_row_fn)(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                         uint32_t number, lode_error *error);

lode_status lode_table_next_rows(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                 lode_table_row_fn row, lode_error *error);

#define ROWS_OF(name, count)                                                                                 \
    static lode_status open_##name(struct lode_table_reader *reader, lode_error *error)                      \
    {                                                                                                        \
        return lode_table_choose_rows(reader, (uint32_t)(count), error);                                     \
    }                                                                                                        \
    static lode_status next_##name(struct lode_table_reader *reader, struct lode_table_batch *batch,         \
                                   lode_error *error)                                                        \
    {                                                                                                        \
        return lode_table_next_rows(reader, batch, name##_row, error);                                       \
    }

#define INFO(title, name) .info = {#name, title, name##_fields, COUNT(name##_fields), 0}
/* Rows by number. */
#define TABLE(title, name) INFO(title, name), .open = open_##name, .next = next_##name, .is_numbered = true
/* Its first column is the number. */
#define BY_ID .orders = {{{0}, 1}}, .order_count = 1, .number_column = 0
#define NO_ID .number_column = UINT_MAX

#endif
