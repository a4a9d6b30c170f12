/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of an output. */
#include "base/io/beneath.h"
#include "base/io/output_staging.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OUTPUT_BUFFER = 1 << 20,
    OUTPUT_PIECE = 1 << 18, /* pieces from this size on are written without a copy */
    OUTPUT_START = 1 << 23  /* appended before the disk begins with them: each call costs */
};

static lode_status open_file(struct lode_output_file *file, int directory, const char *path, const char *name,
                             int flags, lode_error *error)
{
    *file = (struct lode_output_file){.fd = -1, .name = name};
    file->buffer = malloc(OUTPUT_BUFFER);
    LODE_TRY_ALLOC(file->buffer, error);
    file->fd = lode_open_beneath(directory, path, O_RDWR | flags, 0666);
    if (file->fd >= 0)
        return LODE_OK;
    lode_status status = lode_fail_errno(error, name, flags ? "cannot create" : "cannot open");
    lode_output_file_abandon(file);
    return status;
}

lode_status lode_output_file_create(struct lode_output_file *file, struct lode_output *output,
                                    const char *name, lode_error *error)
{
    return open_file(file, output->directory, name, name, O_CREAT | O_EXCL, error);
}

lode_status lode_output_file_create_hidden(struct lode_output_file *file, struct lode_output *output,
                                           const char *name, lode_error *error)
{
    return open_file(file, output->staging, LODE_STAGED_PART, name, O_CREAT | O_EXCL, error);
}

lode_status lode_output_file_single(struct lode_output_file *file, struct lode_output *output,
                                    lode_error *error)
{
    *file = (struct lode_output_file){.fd = -1, .name = lode_output_base_name(output)};
    file->buffer = malloc(OUTPUT_BUFFER);
    LODE_TRY_ALLOC(file->buffer, error);
    file->fd = fcntl(output->directory, F_DUPFD_CLOEXEC, 0);
    if (file->fd >= 0)
        return LODE_OK;
    lode_status status = lode_fail_errno(error, output->path, "cannot open");
    lode_output_file_abandon(file);
    return status;
}

lode_status lode_output_file_join(struct lode_output_file *file, const struct lode_output *output,
                                  const char *name, lode_error *error)
{
    return open_file(file, output->directory, name, name, 0, error);
}

void lode_output_file_remove(const struct lode_output *output, const char *name)
{
    unlinkat(output->directory, name, 0);
}

char *lode_output_file_path(const struct lode_output *output, const char *name)
{
    char *path;
    int directory = output->is_file ? output->staging : output->directory;
    /* Through the descriptor if possible: it is the same directory, whatever is renamed. */
    if (asprintf(&path, "/proc/self/fd/%d/%s", directory, output->is_file ? LODE_STAGED_NEW : name) < 0)
        return NULL;
    if (access(path, W_OK) == 0)
        return path;
    free(path);
    int folder = (int)(lode_output_base_name(output) - output->path);
    if (asprintf(&path, "%.*s%s/%s%s%s", folder, output->path, output->partial, LODE_STAGED_NEW,
                 output->is_file ? "" : "/", output->is_file ? "" : name) < 0)
        return NULL;
    return path;
}

/*
 * The disk begins with large pieces at once, so that it works while more is computed and closing
 * has less to wait for. Only a hint: closing finds errors.
 */
static void start_writing(const struct lode_output_file *file, uint64_t offset, uint64_t size)
{
#ifdef SYNC_FILE_RANGE_WRITE
    (void)!sync_file_range(file->fd, (off64_t)offset, (off64_t)size, SYNC_FILE_RANGE_WRITE);
#else
    (void)file;
    (void)offset;
    (void)size;
#endif
}

static lode_status put_at(const struct lode_output_file *file, uint64_t offset, const void *bytes,
                          size_t size, lode_error *error)
{
    const unsigned char *at = bytes;
    while (size > 0) {
        ssize_t written = pwrite(file->fd, at, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return lode_fail_errno(error, file->name, "cannot write");
        if (written == 0)
            return lode_fail(error, LODE_ERR_IO, file->name, offset, "cannot write: no bytes written");
        at += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return LODE_OK;
}

lode_status lode_output_write_at(const struct lode_output_file *file, uint64_t offset, const void *bytes,
                                 size_t size, lode_error *error)
{
    LODE_TRY(put_at(file, offset, bytes, size, error));
    if (size >= OUTPUT_PIECE)
        start_writing(file, offset, size);
    return LODE_OK;
}

lode_status lode_output_read_at(const struct lode_output_file *file, uint64_t offset, void *bytes,
                                size_t size, lode_error *error)
{
    unsigned char *at = bytes;
    while (size > 0) {
        ssize_t got = pread(file->fd, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return lode_fail_errno(error, file->name, "cannot read back");
        if (got == 0)
            return lode_fail(error, LODE_ERR_IO, file->name, offset, "shorter than what was written");
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return LODE_OK;
}

lode_status lode_output_flush(struct lode_output_file *file, lode_error *error)
{
    LODE_TRY(put_at(file, file->size - file->used, file->buffer, file->used, error));
    file->used = 0;
    if (file->size - file->started < OUTPUT_START)
        return LODE_OK;
    start_writing(file, file->started, file->size - file->started);
    file->started = file->size;
    return LODE_OK;
}

lode_status lode_output_write(struct lode_output_file *file, const void *bytes, size_t size,
                              lode_error *error)
{
    if (size >= OUTPUT_PIECE || size > OUTPUT_BUFFER - file->used)
        LODE_TRY(lode_output_flush(file, error));
    if (size >= OUTPUT_PIECE) {
        LODE_TRY(put_at(file, file->size, bytes, size, error));
    } else if (size > 0) {
        memcpy(file->buffer + file->used, bytes, size);
        file->used += size;
    }
    file->size += size;
    return LODE_OK;
}

lode_status lode_output_align(struct lode_output_file *file, unsigned alignment, lode_error *error)
{
    static const unsigned char zeros[64];
    size_t padding = (size_t)((alignment - file->size % alignment) % alignment);
    return lode_output_write(file, zeros, padding, error);
}

lode_status lode_output_file_close(struct lode_output_file *file, lode_error *error)
{
    lode_status status = lode_output_flush(file, error);
    if (status == LODE_OK && fsync(file->fd) != 0)
        status = lode_fail_errno(error, file->name, "cannot write");
    int fd = file->fd;
    file->fd = -1;
    if (close(fd) != 0 && status == LODE_OK)
        status = lode_fail_errno(error, file->name, "cannot close");
    lode_output_file_abandon(file);
    return status;
}

lode_status lode_output_file_show(struct lode_output_file *file, struct lode_output *output,
                                  lode_error *error)
{
    const char *name = file->name;
    LODE_TRY(lode_output_file_close(file, error));
    if (renameat(output->staging, LODE_STAGED_PART, output->directory, name) == 0)
        return LODE_OK;
    return lode_fail_errno(error, name, "cannot rename it");
}

void lode_output_file_abandon(struct lode_output_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->buffer);
    *file = (struct lode_output_file){.fd = -1};
}
