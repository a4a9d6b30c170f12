/* SPDX-License-Identifier: BSD-3-Clause */
/* Parquet: a file for each table. */
#include "export/formats.h"
#include "export/parquet/parquet.h"
#include "export/tables/table_files.h"

static lode_status put(void *user, const void *bytes, size_t size, lode_error *error)
{
    const struct lode_table_job *table = user;
    return lode_export_write(table->file, bytes, size, error);
}

static lode_status report(void *user, uint64_t done, lode_error *error)
{
    return lode_export_advance(user, done, error);
}

static int codec_of(const struct lode_export *job)
{
    if (job->compression == LODE_COMPRESSION_NONE)
        return PARQUET_CODEC_NONE;
    return job->compression == LODE_COMPRESSION_ZSTD ? PARQUET_CODEC_ZSTD : PARQUET_CODEC_GZIP;
}

static lode_status write_parquet(struct lode_table_job *table, lode_error *error)
{
    const lode_export_options *options = table->job->options;
    struct lode_parquet_options how = {.codec = codec_of(table->job),
                                       .threads = options->threads,
                                       .pool = options->pool,
                                       .write = put,
                                       .report = report,
                                       .user = table};
    struct lode_parquet_result result;
    lode_status status = lode_parquet_write(table->reader, &how, &result, error);
    table->rows = result.rows;
    table->cut = result.cut;
    return status;
}

/* Pages are compressed, files are not. */
static lode_status run(struct lode_export *job, lode_error *error)
{
    return lode_export_tables(job, ".parquet", LODE_COMPRESSION_NONE, write_parquet, error);
}

const struct lode_export_format lode_export_parquet = {
    .name = "parquet",
    .description = "DuckDB, pandas, polars, Spark: a file for each table",
    .suffix = ".parquet",
    .names = "*.parquet",
    .loses = "nothing that the tables have",
    .holds = LODE_EXPORT_TABLES,
    .usual = LODE_HAS_ZSTD ? LODE_COMPRESSION_ZSTD : LODE_COMPRESSION_GZIP,
    .compressions = 1u << LODE_COMPRESSION_GZIP | 1u << LODE_COMPRESSION_ZSTD,
    .is_directory = true,
    .one_table_is_a_file = true,
    .packs_itself = true,
    .run = run,
};
