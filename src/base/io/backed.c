/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/io/backed.h"

#include "base/io/spool.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOB_STEP = 1 << 24 /* bytes that a blob in a file grows by */
};

static const char what_it_is[] = "temporary file";

lode_status lode_backed_open(struct lode_backed *backed, lode_error *error)
{
    struct lode_scratch scratch;
    struct lode_spool spool = LODE_SPOOL_INIT;
    *backed = (struct lode_backed)LODE_BACKED_INIT;
    LODE_TRY(lode_scratch_open(&scratch, error));
    lode_status status = lode_spool_open(&spool, scratch.fd, "array", error);
    lode_scratch_close(&scratch);
    if (status == LODE_OK) {
        backed->fd = spool.fd;
        spool.fd = -1;
    }
    lode_spool_close(&spool);
    return status;
}

lode_status lode_backed_grow(struct lode_backed *backed, size_t size, lode_error *error)
{
    if (size <= backed->size)
        return LODE_OK;
    if (size > INT64_MAX)
        return lode_fail_memory(error);
    errno = posix_fallocate(backed->fd, 0, (off_t)size);
    if (errno != 0)
        return lode_fail_errno(error, what_it_is, "cannot write");
    void *bytes = backed->bytes ? mremap(backed->bytes, backed->size, size, MREMAP_MAYMOVE)
                                : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, backed->fd, 0);
    if (bytes == MAP_FAILED)
        return lode_fail_errno(error, what_it_is, "cannot map");
    backed->bytes = bytes;
    backed->size = size;
    return LODE_OK;
}

lode_status lode_backed_seal(struct lode_backed *backed, size_t size, lode_error *error)
{
    if (size < backed->size) {
        void *bytes = mremap(backed->bytes, backed->size, size, MREMAP_MAYMOVE);
        if (bytes == MAP_FAILED)
            return lode_fail_errno(error, what_it_is, "cannot map");
        backed->bytes = bytes;
        backed->size = size;
        if (ftruncate(backed->fd, (off_t)size) != 0)
            return lode_fail_errno(error, what_it_is, "cannot write");
    }
    close(backed->fd);
    backed->fd = -1;
    return LODE_OK;
}

void lode_backed_close(struct lode_backed *backed)
{
    if (backed->bytes)
        munmap(backed->bytes, backed->size);
    if (backed->fd >= 0)
        close(backed->fd);
    *backed = (struct lode_backed)LODE_BACKED_INIT;
}

/* ---- blobs ---- */

static lode_status grow_file(struct lode_backed_blob *self, size_t capacity)
{
    bool is_new = self->file.bytes == NULL;
    if (is_new)
        LODE_TRY(lode_backed_open(&self->file, self->error));
    size_t least = self->file.size <= SIZE_MAX - BLOB_STEP ? self->file.size + BLOB_STEP : capacity;
    LODE_TRY(lode_backed_grow(&self->file, capacity > least ? capacity : least, self->error));
    if (is_new && self->blob.size > 0)
        memcpy(self->file.bytes, self->blob.bytes, self->blob.size);
    if (is_new)
        free(self->blob.bytes);
    self->blob.bytes = self->file.bytes;
    self->blob.capacity = self->file.size;
    return LODE_OK;
}

static int grow_blob(struct lode_blob *blob, size_t capacity)
{
    struct lode_backed_blob *self = (struct lode_backed_blob *)blob;
    if (capacity > self->most) {
        self->status = grow_file(self, capacity);
        return self->status == LODE_OK;
    }
    if (capacity < self->most / 2 && capacity < blob->capacity * 2)
        capacity = blob->capacity * 2;
    unsigned char *larger = realloc(blob->bytes, capacity);
    if (larger == NULL)
        return 0;
    blob->bytes = larger;
    blob->capacity = capacity;
    return 1;
}

void lode_backed_blob_init(struct lode_backed_blob *self, size_t most, lode_error *error)
{
    *self = (struct lode_backed_blob){
        .blob = {.grow = grow_blob}, .file = LODE_BACKED_INIT, .most = most, .error = error};
}

lode_status lode_backed_blob_seal(struct lode_backed_blob *self, lode_error *error)
{
    self->error = NULL;
    if (self->file.bytes == NULL)
        return LODE_OK;
    LODE_TRY(lode_backed_seal(&self->file, self->blob.size > 0 ? self->blob.size : 1, error));
    self->blob.bytes = self->file.bytes;
    self->blob.capacity = self->file.size;
    return LODE_OK;
}

void lode_backed_blob_free(struct lode_backed_blob *self)
{
    if (self->blob.grow == NULL)
        return;
    if (self->file.bytes == NULL)
        free(self->blob.bytes);
    lode_backed_close(&self->file);
    self->blob = (struct lode_blob){0};
}
