/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/io/stream.h"

#include "base/error.h"
#include "base/io/beneath.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static lode_status open_file(const struct lode_stream *stream, int *fd, lode_error *error)
{
    *fd = lode_folder_open_fd(stream->folder, stream->name);
    return *fd < 0 ? lode_open_failed(stream->name, error) : LODE_OK;
}

static lode_status measure(struct lode_stream *stream, int fd, lode_error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return lode_fail_errno(error, stream->name, "cannot stat");
    if (!S_ISREG(status.st_mode))
        return lode_fail(error, LODE_ERR_IO, stream->name, LODE_NO_OFFSET, "not a regular file");
    lode_watch_file(stream->folder->watch, stream->name, &status);
    stream->size = (uint64_t)status.st_size;
    return LODE_OK;
}

lode_status lode_stream_open(struct lode_stream *stream, const struct lode_folder *folder, const char *name,
                             size_t piece, bool keep_open, lode_error *error)
{
    *stream = (struct lode_stream){.folder = folder, .name = name, .fd = -1, .wanted = piece};
    if (folder->directory < 0) {
        struct lode_input source;
        LODE_TRY(lode_input_open(&source, folder, name, error));
        stream->is_memory = true;
        stream->piece = source.bytes;
        stream->size = source.bytes.size;
        return LODE_OK;
    }
    int fd;
    LODE_TRY(open_file(stream, &fd, error));
    lode_status status = measure(stream, fd, error);
    if (status == LODE_OK && keep_open)
        stream->fd = fd;
    else
        close(fd);
    return status;
}

static lode_status reserve(struct lode_stream *stream, size_t size, lode_error *error)
{
    if (size <= stream->capacity)
        return LODE_OK;
    uint8_t *buffer = realloc(stream->buffer, size);
    LODE_TRY_ALLOC(buffer, error);
    stream->buffer = buffer;
    stream->capacity = size;
    return LODE_OK;
}

/* Reads `size` bytes, or to the end of the file: it may have shrunk. */
static lode_status read_piece(struct lode_stream *stream, int fd, uint64_t offset, size_t size,
                              lode_error *error)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(fd, stream->buffer + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return lode_fail_errno(error, stream->name, "cannot read");
        if (got == 0)
            break;
        done += (size_t)got;
    }
    stream->piece = (struct lode_range){stream->buffer, done};
    stream->piece_at = offset;
    return LODE_OK;
}

static lode_status refill(struct lode_stream *stream, uint64_t offset, size_t least, lode_error *error)
{
    uint64_t left = stream->size - offset;
    size_t size = stream->wanted > least ? stream->wanted : least;
    size = left < size ? (size_t)left : size;
    LODE_TRY(reserve(stream, size, error));
    if (stream->fd >= 0)
        return read_piece(stream, stream->fd, offset, size, error);
    int fd;
    lode_status status = open_file(stream, &fd, error);
    if (status == LODE_ABSENT)
        return lode_fail(error, LODE_ERR_IO, stream->name, LODE_NO_OFFSET, "the file is gone");
    LODE_TRY(status);
    status = read_piece(stream, fd, offset, size, error);
    close(fd);
    return status;
}

lode_status lode_stream_at(struct lode_stream *stream, uint64_t offset, size_t least, struct lode_range *out,
                           lode_error *error)
{
    if (offset > stream->size)
        offset = stream->size;
    uint64_t left = stream->size - offset;
    uint64_t needed = least < left ? least : left;
    bool is_there = offset >= stream->piece_at && offset - stream->piece_at <= stream->piece.size &&
                    stream->piece.size - (offset - stream->piece_at) >= needed;
    if (!is_there && !stream->is_memory)
        LODE_TRY(refill(stream, offset, least, error));
    uint64_t skipped = offset - stream->piece_at;
    static const uint8_t nothing[1];
    *out = skipped < stream->piece.size
               ? (struct lode_range){stream->piece.data + skipped, stream->piece.size - skipped}
               : (struct lode_range){nothing, 0};
    return LODE_OK;
}

void lode_stream_close(struct lode_stream *stream)
{
    if (stream->fd >= 0)
        close(stream->fd);
    free(stream->buffer);
    *stream = (struct lode_stream){.fd = -1};
}
