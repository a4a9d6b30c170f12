/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a table as a Parquet file. Row groups are read one after the other, encoded by several
 * threads and written in order: the bytes do not depend on the number of threads. Memory is a few
 * row groups, and in the footer some 100 bytes for each column of a row group.
 */
#ifndef LODE_EXPORT_PARQUET_H
#define LODE_EXPORT_PARQUET_H

#include "base/progress.h"
#include "export/parquet/encode.h"

struct lode_parquet_options {
    int codec;     /* PARQUET_CODEC_NONE... */
    uint64_t rows; /* of a row group; 0: as DuckDB has it */
    unsigned threads;
    lode_pool *pool;
    /* The bytes of the file, in order. */
    lode_status (*write)(void *user, const void *bytes, size_t size, lode_error *error);
    /* Called in order, after each row group; may be NULL. `done` is that of the reader. */
    lode_status (*report)(void *user, uint64_t done, lode_error *error);
    void *user;
};

struct lode_parquet_result {
    uint64_t rows, cut; /* strings that were cut */
};

lode_status lode_parquet_write(struct lode_table_reader *reader, const struct lode_parquet_options *options,
                               struct lode_parquet_result *result, lode_error *error);

#endif
