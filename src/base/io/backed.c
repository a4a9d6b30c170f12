/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/io/backed.h"

#include "base/io/spool.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

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

void lode_backed_close(struct lode_backed *backed)
{
    if (backed->bytes)
        munmap(backed->bytes, backed->size);
    if (backed->fd >= 0)
        close(backed->fd);
    *backed = (struct lode_backed)LODE_BACKED_INIT;
}
