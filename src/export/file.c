/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/file.h"
#include "export/wire.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#if LODE_HAS_ZSTD
#include <zstd.h>
#endif

enum {
    BUFFER = 1 << 18,
    GZIP_WINDOW = 15 + 16, /* the largest, with a gzip header */
    GZIP_MEMORY = 8,
    OS_UNKNOWN = 255
};

struct lode_export_file {
    struct lode_output_file file; /* unless `write` or `fd` is used */
    lode_write_fn write;
    void *user;
    int fd; /* -1: none */
    lode_compression compression;
    uint64_t written;
    unsigned char *buffer; /* before compression */
    size_t used;
    unsigned char *packed; /* after it; NULL: none */
    bool has_gzip;
    z_stream gzip;
    gz_header header;
#if LODE_HAS_ZSTD
    ZSTD_CStream *zstd;
#endif
};

bool lode_compression_is_available(lode_compression compression)
{
    return compression != LODE_COMPRESSION_ZSTD || LODE_HAS_ZSTD;
}

/* ---- bytes that go out ---- */

static lode_status write_fd(int fd, const unsigned char *bytes, size_t size, lode_error *error)
{
    while (size > 0) {
        ssize_t count = write(fd, bytes, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return lode_fail_errno(error, NULL, "cannot write");
        bytes += count;
        size -= (size_t)count;
    }
    return LODE_OK;
}

static lode_status put(struct lode_export_file *file, const void *bytes, size_t size, lode_error *error)
{
    if (file->write) {
        errno = file->write(file->user, bytes, size);
        return errno == 0 ? LODE_OK : lode_fail_errno(error, NULL, "cannot write");
    }
    if (file->fd >= 0)
        return write_fd(file->fd, bytes, size, error);
    return lode_output_write(&file->file, bytes, size, error);
}

/* ---- compression ---- */

/* A header without a time, so that equal content gives equal bytes. */
static lode_status begin_gzip(struct lode_export_file *file, lode_error *error)
{
    if (deflateInit2(&file->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return lode_fail_memory(error);
    file->has_gzip = true;
    file->header.os = OS_UNKNOWN;
    deflateSetHeader(&file->gzip, &file->header);
    return LODE_OK;
}

static lode_status pack_gzip(struct lode_export_file *file, bool is_last, lode_error *error)
{
    int result;
    file->gzip.next_in = file->buffer;
    file->gzip.avail_in = (uInt)file->used;
    do {
        file->gzip.next_out = file->packed;
        file->gzip.avail_out = BUFFER;
        result = deflate(&file->gzip, is_last ? Z_FINISH : Z_NO_FLUSH);
        LODE_TRY(put(file, file->packed, BUFFER - file->gzip.avail_out, error));
    } while (file->gzip.avail_out == 0 || (is_last && result != Z_STREAM_END));
    return LODE_OK;
}

#if LODE_HAS_ZSTD
static lode_status begin_zstd(struct lode_export_file *file, lode_error *error)
{
    file->zstd = ZSTD_createCStream();
    LODE_TRY_ALLOC(file->zstd, error);
    return LODE_OK;
}

static lode_status pack_zstd(struct lode_export_file *file, bool is_last, lode_error *error)
{
    ZSTD_inBuffer in = {file->buffer, file->used, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {file->packed, BUFFER, 0};
        left = ZSTD_compressStream2(file->zstd, &out, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return lode_fail(error, LODE_ERR_IO, NULL, LODE_NO_OFFSET, "cannot compress: %s",
                             ZSTD_getErrorName(left));
        LODE_TRY(put(file, file->packed, out.pos, error));
    } while (in.pos < in.size || (is_last && left > 0));
    return LODE_OK;
}
#endif

static lode_status flush(struct lode_export_file *file, bool is_last, lode_error *error)
{
    lode_status status;
    if (file->compression == LODE_COMPRESSION_GZIP)
        status = pack_gzip(file, is_last, error);
#if LODE_HAS_ZSTD
    else if (file->compression == LODE_COMPRESSION_ZSTD)
        status = pack_zstd(file, is_last, error);
#endif
    else
        status = put(file, file->buffer, file->used, error);
    file->used = 0;
    return status;
}

/* ---- opening ---- */

static lode_status begin(struct lode_export_file *file, lode_error *error)
{
    file->buffer = malloc(BUFFER);
    LODE_TRY_ALLOC(file->buffer, error);
    if (file->compression <= LODE_COMPRESSION_NONE)
        return LODE_OK;
    file->packed = malloc(BUFFER);
    LODE_TRY_ALLOC(file->packed, error);
    if (file->compression == LODE_COMPRESSION_GZIP)
        return begin_gzip(file, error);
#if LODE_HAS_ZSTD
    return begin_zstd(file, error);
#else
    return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                     "built without zstd: " LODE_ZSTD_FROM);
#endif
}

static struct lode_export_file *make(lode_compression compression)
{
    struct lode_export_file *file = calloc(1, sizeof *file);
    if (file) {
        file->file.fd = -1;
        file->fd = -1;
        file->compression = compression;
    }
    return file;
}

lode_status lode_export_file_create(struct lode_export_file **out, struct lode_output *output,
                                    const char *name, lode_compression compression, lode_error *error)
{
    struct lode_export_file *file = make(compression);
    *out = NULL;
    LODE_TRY_ALLOC(file, error);
    lode_status status = output->is_file ? lode_output_file_single(&file->file, output, error)
                                         : lode_output_file_create(&file->file, output, name, error);
    if (status == LODE_OK)
        status = begin(file, error);
    if (status == LODE_OK)
        *out = file;
    else
        lode_export_file_abandon(file);
    return status;
}

lode_status lode_export_file_to(struct lode_export_file **out, const lode_export_options *options,
                                lode_compression compression, lode_error *error)
{
    struct lode_export_file *file = make(compression);
    *out = NULL;
    LODE_TRY_ALLOC(file, error);
    file->write = options->write;
    file->user = options->write_user;
    file->fd = options->write ? -1 : options->fd;
    lode_status status = begin(file, error);
    if (status == LODE_OK)
        *out = file;
    else
        lode_export_file_abandon(file);
    return status;
}

/* ---- writing ---- */

lode_status lode_export_write(struct lode_export_file *file, const void *bytes, size_t size,
                              lode_error *error)
{
    const unsigned char *at = bytes;
    file->written += size;
    /* Large pieces need no copy, unless they are compressed. */
    if (size >= BUFFER && file->compression <= LODE_COMPRESSION_NONE) {
        if (file->used > 0)
            LODE_TRY(flush(file, false, error));
        return put(file, bytes, size, error);
    }
    while (size > BUFFER - file->used) {
        size_t part = BUFFER - file->used;
        memcpy(file->buffer + file->used, at, part);
        file->used = BUFFER;
        LODE_TRY(flush(file, false, error));
        at += part;
        size -= part;
    }
    if (size > 0)
        memcpy(file->buffer + file->used, at, size);
    file->used += size;
    return LODE_OK;
}

lode_status lode_wire_flush(struct lode_wire *wire, struct lode_export_file *file, size_t least,
                            lode_error *error)
{
    if (wire->failed)
        return lode_fail_memory(error);
    if (wire->count < least)
        return LODE_OK;
    size_t count = wire->count;
    wire->count = 0;
    return lode_export_write(file, wire->bytes, count, error);
}

lode_status lode_export_print(struct lode_export_file *file, lode_error *error, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof text)
        return lode_export_write(file, text, (size_t)length, error);
    char *longer = NULL;
    va_start(arguments, format);
    length = vasprintf(&longer, format, arguments);
    va_end(arguments);
    if (length < 0)
        return lode_fail_memory(error);
    lode_status status = lode_export_write(file, longer, (size_t)length, error);
    free(longer);
    return status;
}

uint64_t lode_export_written(const struct lode_export_file *file)
{
    return file->written;
}

/* ---- closing ---- */

lode_status lode_export_file_finish(struct lode_export_file **slot, lode_error *error)
{
    struct lode_export_file *file = *slot;
    *slot = NULL;
    lode_status status = flush(file, true, error);
    if (status == LODE_OK && file->file.fd >= 0)
        status = lode_output_file_close(&file->file, error);
    lode_export_file_abandon(file);
    return status;
}

void lode_export_file_abandon(struct lode_export_file *file)
{
    if (file == NULL)
        return;
    if (file->has_gzip)
        deflateEnd(&file->gzip);
#if LODE_HAS_ZSTD
    ZSTD_freeCStream(file->zstd);
#endif
    if (file->file.fd >= 0)
        lode_output_file_abandon(&file->file);
    free(file->buffer);
    free(file->packed);
    free(file);
}
