/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables over rows in memory or in a mapped file: a column is a field of the rows, or converted. */
#ifndef LODE_MODEL_TABLE_H
#define LODE_MODEL_TABLE_H

#include <lode/private/columns.h>

/* Writes one element from the field of a row. */
typedef void (*lode_convert_fn)(const void *field, void *out, uint32_t argument);

struct lode_column_spec {
    const char *name;
    lode_column_type type;
    uint32_t argument;       /* for `convert` */
    size_t offset;           /* of the field in a row */
    lode_convert_fn convert; /* NULL: the field is the element */
    const void *array;       /* if not NULL: contiguous elements outside the rows */
};

#define LODE_FIELD(name, type, row, field)                                                                   \
    {                                                                                                        \
        name, LODE_COLUMN_##type, 0, offsetof(row, field), NULL, NULL                                        \
    }
#define LODE_CONVERTED(name, type, row, field, convert)                                                      \
    {                                                                                                        \
        name, LODE_COLUMN_##type, 0, offsetof(row, field), convert, NULL                                     \
    }

/* Rows of `size` bytes. The table frees `owned`: the rows, or NULL. */
struct lode_rows {
    const void *rows;
    uint64_t count;
    size_t size;
    lode_column_owner owner;
    void *owned;
};

/* Takes ownership of `rows->owned`, even on failure. Copies the specs. */
lode_status lode_table_make(lode_table **out, const struct lode_rows *rows,
                            const struct lode_column_spec *specs, unsigned count, lode_error *error);

/* Convert a pointer to the index of a function (or LODE_NO_ROW), or to its name. */
void lode_convert_function(const void *field, void *out, uint32_t argument);
void lode_convert_function_name(const void *field, void *out, uint32_t argument);

#endif
