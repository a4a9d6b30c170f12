/* SPDX-License-Identifier: BSD-3-Clause */
/* Compression of the pages of Parquet files. */
#include "export/file.h"
#include "export/parquet/encode.h"
#include <zlib.h>
#if LODE_HAS_ZSTD
#include <zstd.h>
#endif
#if LODE_HAS_LIBDEFLATE
#include <libdeflate.h>
#endif

enum {
    GZIP_WINDOW = 15 + 16, /* the largest, with a gzip header */
    GZIP_MEMORY = 8
};

/* ---- zstd ---- */

#if LODE_HAS_ZSTD
static lode_status open_zstd(struct lode_parquet_coder *coder, lode_error *error)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    coder->compressor = context;
    LODE_TRY_ALLOC(context, error);
    /* The check sum lets every reader notice changed bytes. */
    if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, PARQUET_ZSTD_LEVEL)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)))
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "zstd does not take its settings");
    return LODE_OK;
}

static lode_status pack_zstd(struct lode_parquet_coder *coder, lode_error *error)
{
    size_t most = ZSTD_compressBound(coder->body.count);
    if (!wire_reserve(&coder->packed, most))
        return lode_fail_memory(error);
    size_t size =
        ZSTD_compress2(coder->compressor, coder->packed.bytes, most, coder->body.bytes, coder->body.count);
    if (ZSTD_isError(size))
        return lode_fail(error, LODE_ERR_MEMORY, NULL, LODE_NO_OFFSET, "zstd: %s", ZSTD_getErrorName(size));
    coder->packed.count = size;
    return LODE_OK;
}
#endif

/* ---- gzip ---- */

#if LODE_HAS_LIBDEFLATE
static lode_status open_gzip(struct lode_parquet_coder *coder, lode_error *error)
{
    coder->compressor = libdeflate_alloc_compressor(PARQUET_GZIP_LEVEL);
    LODE_TRY_ALLOC(coder->compressor, error);
    return LODE_OK;
}

static void close_gzip(struct lode_parquet_coder *coder)
{
    libdeflate_free_compressor(coder->compressor);
}

static lode_status pack_gzip(struct lode_parquet_coder *coder, lode_error *error)
{
    size_t most = libdeflate_gzip_compress_bound(coder->compressor, coder->body.count);
    if (!wire_reserve(&coder->packed, most))
        return lode_fail_memory(error);
    coder->packed.count = libdeflate_gzip_compress(coder->compressor, coder->body.bytes, coder->body.count,
                                                   coder->packed.bytes, most);
    return LODE_OK;
}
#else
static lode_status open_gzip(struct lode_parquet_coder *coder, lode_error *error)
{
    z_stream *stream = calloc(1, sizeof *stream);
    LODE_TRY_ALLOC(stream, error);
    if (deflateInit2(stream, PARQUET_GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        free(stream);
        return lode_fail_memory(error);
    }
    coder->compressor = stream;
    return LODE_OK;
}

static void close_gzip(struct lode_parquet_coder *coder)
{
    if (coder->compressor)
        deflateEnd(coder->compressor);
    free(coder->compressor);
}

static lode_status pack_gzip(struct lode_parquet_coder *coder, lode_error *error)
{
    z_stream *stream = coder->compressor;
    deflateReset(stream);
    size_t most = deflateBound(stream, (uLong)coder->body.count);
    if (!wire_reserve(&coder->packed, most))
        return lode_fail_memory(error);
    stream->next_in = coder->body.bytes;
    stream->avail_in = (uInt)coder->body.count;
    stream->next_out = coder->packed.bytes;
    stream->avail_out = (uInt)most;
    if (deflate(stream, Z_FINISH) != Z_STREAM_END)
        return lode_fail(error, LODE_ERR_MEMORY, NULL, LODE_NO_OFFSET, "zlib cannot compress a page");
    coder->packed.count = most - stream->avail_out;
    return LODE_OK;
}
#endif

/* ---- any ---- */

lode_status lode_parquet_open_codec(struct lode_parquet_coder *coder, lode_error *error)
{
    if (coder->codec == PARQUET_CODEC_NONE)
        return LODE_OK;
    if (coder->codec == PARQUET_CODEC_GZIP)
        return open_gzip(coder, error);
#if LODE_HAS_ZSTD
    return open_zstd(coder, error);
#else
    return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                     "built without zstd: " LODE_ZSTD_FROM);
#endif
}

void lode_parquet_close_codec(struct lode_parquet_coder *coder)
{
    if (coder->codec == PARQUET_CODEC_GZIP)
        close_gzip(coder);
#if LODE_HAS_ZSTD
    if (coder->codec == PARQUET_CODEC_ZSTD)
        ZSTD_freeCCtx(coder->compressor);
#endif
    coder->compressor = NULL;
}

lode_status lode_parquet_pack(struct lode_parquet_coder *coder, lode_error *error)
{
    coder->packed.count = 0;
    if (coder->codec == PARQUET_CODEC_GZIP)
        return pack_gzip(coder, error);
#if LODE_HAS_ZSTD
    if (coder->codec == PARQUET_CODEC_ZSTD)
        return pack_zstd(coder, error);
#endif
    wire_raw(&coder->packed, coder->body.bytes, coder->body.count);
    return coder->packed.failed ? lode_fail_memory(error) : LODE_OK;
}
