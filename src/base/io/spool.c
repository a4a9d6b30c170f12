/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/io/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char what_it_is[] = "temporary file";

lode_status lode_spool_open(struct lode_spool *spool, int directory, const char *name, lode_error *error)
{
    *spool = (struct lode_spool)LODE_SPOOL_INIT;
    spool->buffer = malloc(LODE_SPOOL_BUFFER);
    LODE_TRY_ALLOC(spool->buffer, error);
    spool->fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (spool->fd < 0)
        return lode_fail_errno(error, what_it_is, "cannot create");
    if (unlinkat(directory, name, 0) != 0)
        return lode_fail_errno(error, what_it_is, "cannot unlink");
    return LODE_OK;
}

void lode_spool_close(struct lode_spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    free(spool->buffer);
    *spool = (struct lode_spool)LODE_SPOOL_INIT;
}

static lode_status write_at(const struct lode_spool *spool, uint64_t offset, const unsigned char *bytes,
                            size_t size, lode_error *error)
{
    while (size > 0) {
        ssize_t written = pwrite(spool->fd, bytes, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return lode_fail_errno(error, what_it_is, "cannot write");
        if (written == 0)
            return lode_fail(error, LODE_ERR_IO, what_it_is, offset, "cannot write: no bytes written");
        bytes += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return LODE_OK;
}

lode_status lode_spool_flush(struct lode_spool *spool, lode_error *error)
{
    LODE_TRY(write_at(spool, spool->size - spool->used, spool->buffer, spool->used, error));
    spool->used = 0;
    return LODE_OK;
}

lode_status lode_spool_reserve(struct lode_spool *spool, size_t size, lode_error *error)
{
    return size > LODE_SPOOL_BUFFER - spool->used ? lode_spool_flush(spool, error) : LODE_OK;
}

lode_status lode_spool_write(struct lode_spool *spool, const void *bytes, size_t size, lode_error *error)
{
    LODE_TRY(lode_spool_reserve(spool, size, error));
    if (size > LODE_SPOOL_BUFFER)
        LODE_TRY(write_at(spool, spool->size, bytes, size, error));
    else if (size > 0)
        memcpy(spool->buffer + spool->used, bytes, size);
    spool->used += size > LODE_SPOOL_BUFFER ? 0 : size;
    spool->size += size;
    return LODE_OK;
}

lode_status lode_spool_read(const struct lode_spool *spool, uint64_t offset, void *bytes, size_t size,
                            lode_error *error)
{
    unsigned char *at = bytes;
    while (size > 0) {
        ssize_t got = pread(spool->fd, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return lode_fail_errno(error, what_it_is, "cannot read");
        if (got == 0)
            return lode_fail(error, LODE_ERR_IO, what_it_is, offset, "it is shorter than expected");
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return LODE_OK;
}

/* ---- directories ---- */

lode_status lode_scratch_open(struct lode_scratch *scratch, lode_error *error)
{
    const char *named = getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): only read
    const char *path = named && named[0] ? named : P_tmpdir;
    uint64_t number = 0;
    scratch->fd = -1;
    scratch->parent = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = scratch->parent >= 0 && getrandom(&number, sizeof number, 0) == sizeof number;
    snprintf(scratch->name, sizeof scratch->name, "lode-%016" PRIx64, number);
    done = done && mkdirat(scratch->parent, scratch->name, S_IRWXU) == 0;
    if (done)
        scratch->fd = openat(scratch->parent, scratch->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (scratch->fd >= 0)
        return LODE_OK;
    lode_status status = lode_fail_errno(error, path, "no temporary directory can be made");
    if (done)
        (void)!unlinkat(scratch->parent, scratch->name, AT_REMOVEDIR);
    if (scratch->parent >= 0)
        close(scratch->parent);
    return status;
}

void lode_scratch_close(const struct lode_scratch *scratch)
{
    (void)!unlinkat(scratch->parent, scratch->name, AT_REMOVEDIR);
    close(scratch->fd);
    close(scratch->parent);
}
