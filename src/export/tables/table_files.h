/* SPDX-License-Identifier: BSD-3-Clause */
/* Exports of tables to files: one file for each, or one table. */
#ifndef LODE_EXPORT_TABLE_FILES_H
#define LODE_EXPORT_TABLE_FILES_H

#include "export/export.h"
#include "table/tables.h"

/* What is known while one table is written. */
struct lode_table_job {
    struct lode_export *job;
    struct lode_table_reader *reader;
    struct lode_export_file *file;
    struct lode_progress progress;
    uint64_t rows, cut;
};

/* Writes the rows of a table. */
typedef lode_status (*lode_table_write_fn)(struct lode_table_job *table, lode_error *error);

/*
 * Writes the tables of the store to the files NAME + suffix of a directory, or the one that was
 * asked for to job->file.
 */
lode_status lode_export_tables(struct lode_export *job, const char *suffix, lode_compression compression,
                               lode_table_write_fn write, lode_error *error);

/* Opens the tables as the options of an export ask. lode_tables_end is due in every case. */
lode_status lode_export_open_tables(struct lode_export *job, struct lode_tables *tables,
                                    enum lode_table_value_order order, lode_error *error);
/* Opens a reader and progress. lode_table_reader_close is due in every case. */
lode_status lode_export_begin_table(struct lode_table_job *table, struct lode_export *job,
                                    struct lode_table_reader *reader, struct lode_tables *tables,
                                    const struct lode_table_def *def, lode_error *error);
/* Reports how far the reader is, and cancels. */
lode_status lode_export_advance(struct lode_table_job *table, uint64_t done, lode_error *error);

/* Writes rows as text: calls `row` for each, on batches of some thousands. */
typedef lode_status (*lode_table_row_text_fn)(struct lode_table_job *table,
                                              const struct lode_table_batch *batch, uint64_t row,
                                              lode_error *error);
lode_status lode_export_rows(struct lode_table_job *table, lode_table_row_text_fn row, lode_error *error);

#endif
