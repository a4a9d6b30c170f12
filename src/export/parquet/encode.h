/* SPDX-License-Identifier: BSD-3-Clause */
/* Column chunks of Parquet files: levels, dictionaries, pages, statistics, compression. */
#ifndef LODE_EXPORT_PARQUET_ENCODE_H
#define LODE_EXPORT_PARQUET_ENCODE_H

#include "export/wire.h"
#include "table/tables.h"
#include <lode/unstable/export.h>

enum {
    PARQUET_BOOLEAN = 0,
    PARQUET_INT32 = 1,
    PARQUET_INT64 = 2,
    PARQUET_DOUBLE = 5,
    PARQUET_BYTE_ARRAY = 6
};

enum {
    PARQUET_PLAIN = 0,
    PARQUET_RLE = 3,
    PARQUET_RLE_DICTIONARY = 8
};

enum {
    PARQUET_CODEC_NONE = 0,
    PARQUET_CODEC_GZIP = 2,
    PARQUET_CODEC_ZSTD = 6
};

enum {
    PARQUET_PAGE_BYTES = 1 << 20,       /* of the values of a page, at most, unless one is larger */
    PARQUET_PAGE_ROWS = 1 << 17,        /* of a page, at most: 1 MiB of numbers of 8 bytes */
    PARQUET_DICTIONARY_MOST = 1 << 16,  /* values of a dictionary */
    PARQUET_DICTIONARY_SLOTS = 1 << 18, /* of its hash table */
    PARQUET_ZSTD_LEVEL = 1,
    PARQUET_GZIP_LEVEL = 4
};

/* What the footer says of a column chunk. Offsets are from the beginning of its row group. */
struct lode_parquet_chunk {
    uint64_t dictionary_at, data_at;
    uint64_t packed, unpacked; /* bytes of all pages, with headers */
    uint64_t values;           /* NULLs included */
    uint64_t nulls;
    bool has_dictionary;
    bool has_bounds;
    unsigned bound_size;
    uint8_t min[8], max[8]; /* as PLAIN */
};

/* Memory and compressor of one thread. */
struct lode_parquet_coder {
    int codec;
    struct lode_wire body, packed;
    uint32_t *indices; /* of the values that are not NULL */
    uint64_t index_capacity;
    uint32_t *slots;   /* hash table of the dictionary: index plus 1 */
    uint32_t *numbers; /* the dictionary of a column of numbers */
    const char **texts;
    uint32_t *lengths;
    uint32_t *levels; /* of the rows of a page */
    uint32_t count;   /* values in the dictionary */
    void *compressor;
};

/* lode_parquet_coder_free is due in every case. */
lode_status lode_parquet_coder_init(struct lode_parquet_coder *coder, int codec, lode_error *error);
void lode_parquet_coder_free(struct lode_parquet_coder *coder);

/* PARQUET_BOOLEAN... of a field. */
int lode_parquet_type(const lode_field *field);

/* Appends the pages of a column of a batch to `out`, which is one row group. */
lode_status lode_parquet_encode(struct lode_parquet_coder *coder, const lode_field *field,
                                const struct lode_table_batch *batch, unsigned column, struct lode_wire *out,
                                struct lode_parquet_chunk *chunk, lode_error *error);

/* Appends numbers below 2^width as runs of equal ones and of packed ones. */
void lode_parquet_runs(struct lode_wire *out, const uint32_t *numbers, uint64_t count, unsigned width);
/* The bits that numbers up to this one need. */
unsigned lode_parquet_width(uint32_t most);

/* Appends `body`, compressed, to coder->packed, which is emptied first. */
lode_status lode_parquet_pack(struct lode_parquet_coder *coder, lode_error *error);
/* Whether this library can write the codec. */
lode_status lode_parquet_open_codec(struct lode_parquet_coder *coder, lode_error *error);
void lode_parquet_close_codec(struct lode_parquet_coder *coder);

#endif
