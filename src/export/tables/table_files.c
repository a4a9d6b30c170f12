/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/tables/table_files.h"

#include <stdio.h>

enum {
    NAME_SIZE = 64,
    TEXT_ROWS = 4096 /* of a batch */
};

lode_status lode_export_open_tables(struct lode_export *job, struct lode_tables *tables,
                                    enum lode_table_value_order order, lode_error *error)
{
    const lode_export_options *options = job->options;
    struct lode_table_choice chosen = {.selection = options->selection,
                                       .metrics = options->metrics,
                                       .metric_count = options->metrics ? options->metric_count : 0,
                                       .from = options->from,
                                       .to = options->to,
                                       .slice = options->slice,
                                       .order = order,
                                       .names = options->names,
                                       .kinds = options->kinds,
                                       .no_arguments = options->no_arguments,
                                       .strict = options->strict,
                                       .on_finding = options->on_finding,
                                       .user = options->user};
    job->written.has_tables = true;
    return lode_tables_begin(tables, job->db, job->recording, &chosen, error);
}

lode_status lode_export_begin_table(struct lode_table_job *table, struct lode_export *job,
                                    struct lode_table_reader *reader, struct lode_tables *tables,
                                    const struct lode_table_def *def, lode_error *error)
{
    *table = (struct lode_table_job){.job = job, .reader = reader};
    LODE_TRY(lode_table_reader_open(reader, tables, def, NULL, error));
    table->progress = lode_export_progress(job, def->info.name, reader->total);
    return LODE_OK;
}

lode_status lode_export_advance(struct lode_table_job *table, uint64_t done, lode_error *error)
{
    uint64_t before = table->progress.done;
    return lode_progress_add(&table->progress, done > before ? done - before : 0, error);
}

lode_status lode_export_rows(struct lode_table_job *table, lode_table_row_text_fn row, lode_error *error)
{
    struct lode_table_batch batch;
    lode_status status = lode_table_batch_init(&batch, table->reader->def, TEXT_ROWS, error);
    while (status == LODE_OK) {
        status = lode_table_reader_next(table->reader, &batch, error);
        for (uint64_t i = 0; status == LODE_OK && i < batch.rows; i++)
            status = row(table, &batch, i, error);
        table->rows += batch.rows;
        if (status == LODE_OK)
            status = lode_export_advance(table, table->reader->done, error);
    }
    table->cut += batch.cut;
    lode_table_batch_free(&batch);
    return status == LODE_END ? LODE_OK : status;
}

/* Writes one table to `file`. */
static lode_status write_table(struct lode_export *job, struct lode_tables *tables,
                               const struct lode_table_def *def, struct lode_export_file *file,
                               lode_table_write_fn write, lode_error *error)
{
    struct lode_table_reader reader;
    struct lode_table_job table;
    lode_status status = lode_export_begin_table(&table, job, &reader, tables, def, error);
    table.file = file;
    if (status == LODE_OK)
        status = write(&table, error);
    lode_table_reader_close(&reader);
    if (status == LODE_OK && table.cut > 0)
        status = lode_export_lost(job, "text-cut", error, "%s: %llu strings were cut after 1 MiB",
                                  def->info.name, (unsigned long long)table.cut);
    return status;
}

static lode_status write_file(struct lode_export *job, struct lode_tables *tables,
                              const struct lode_table_def *def, const char *suffix,
                              lode_compression compression, lode_table_write_fn write, lode_error *error)
{
    char name[NAME_SIZE];
    struct lode_export_file *file;
    const char *packed = compression == LODE_COMPRESSION_GZIP   ? ".gz"
                         : compression == LODE_COMPRESSION_ZSTD ? ".zst"
                                                                : "";
    snprintf(name, sizeof name, "%s%s%s", def->info.name, suffix, packed);
    LODE_TRY(lode_export_file_create(&file, job->output, name, compression, error));
    lode_status status = write_table(job, tables, def, file, write, error);
    if (status == LODE_OK)
        status = lode_export_file_finish(&file, error);
    lode_export_file_abandon(file);
    return status;
}

/* Names all tables. */
static lode_status refuse_table(const struct lode_tables *tables, const char *name, lode_error *error)
{
    char names[256];
    size_t length = 0;
    for (unsigned i = 0; i < tables->count && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? ", " : "",
                                   tables->defs[i]->info.name);
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "there is no table '%s', only: %s", name,
                     names);
}

lode_status lode_export_tables(struct lode_export *job, const char *suffix, lode_compression compression,
                               lode_table_write_fn write, lode_error *error)
{
    const char *name = job->options->table;
    struct lode_tables tables;
    lode_status status = lode_export_open_tables(job, &tables, LODE_TABLE_NATIVE, error);
    if (status == LODE_OK && name) {
        const struct lode_table_def *def = lode_tables_def(&tables, name);
        status = def ? write_table(job, &tables, def, job->file, write, error)
                     : refuse_table(&tables, name, error);
    }
    for (unsigned i = 0; status == LODE_OK && name == NULL && i < tables.count; i++)
        status = write_file(job, &tables, tables.defs[i], suffix, compression, write, error);
    lode_tables_end(&tables);
    return status;
}
