/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LINE = 64
};

/* Arrays of at least this size are mapped, in multiples of it. */
#define LARGE ((size_t)1 << 21)

/* NULL on failure. `size` is a multiple of LARGE. */
static unsigned char *map(size_t size)
{
    void *mapped = mmap(NULL, size + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    unsigned char *bytes = mapped;
    size_t before = (LARGE - (uintptr_t)bytes % LARGE) % LARGE;
    if (before > 0)
        munmap(bytes, before);
    munmap(bytes + before + size, LARGE - before);
    madvise(bytes + before, size, MADV_HUGEPAGE); /* only a hint: failure is harmless */
    return bytes + before;
}

static void release(void *bytes, size_t size)
{
    if (size >= LARGE)
        munmap(bytes, size);
    else
        free(bytes);
}

/* Both are mapped. */
static void *resize_mapped(void *old, size_t old_size, size_t size)
{
    if (size <= old_size) {
        if (size < old_size)
            munmap((unsigned char *)old + size, old_size - size);
        return old;
    }
    /*
     * Moves pages, not bytes. Without MREMAP_FIXED, which would keep the alignment: what libraries
     * for networks put in place of mremap (UCX, which MPICH uses) loses its last argument.
     */
    void *bytes = mremap(old, old_size, size, MREMAP_MAYMOVE);
    if (bytes == MAP_FAILED)
        return NULL;
    madvise(bytes, size, MADV_HUGEPAGE); /* only a hint: failure is harmless */
    return bytes;
}

static void *resize_copied(const struct lode_pages *pages, size_t size)
{
    void *bytes = size >= LARGE ? map(size) : aligned_alloc(LINE, size);
    if (bytes && pages->bytes) {
        memcpy(bytes, pages->bytes, pages->size < size ? pages->size : size);
        release(pages->bytes, pages->size);
    }
    return bytes;
}

int lode_pages_resize(struct lode_pages *pages, size_t size)
{
    size_t unit = size >= LARGE ? LARGE : LINE;
    if (size > SIZE_MAX / 4)
        return 0;
    size = (size + unit - 1) / unit * unit;
    void *bytes = pages->size >= LARGE && size >= LARGE ? resize_mapped(pages->bytes, pages->size, size)
                                                        : resize_copied(pages, size);
    if (bytes == NULL)
        return 0;
    *pages = (struct lode_pages){bytes, size};
    return 1;
}

void lode_pages_free(struct lode_pages *pages)
{
    if (pages->bytes)
        release(pages->bytes, pages->size);
    *pages = (struct lode_pages){0};
}
