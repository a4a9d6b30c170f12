/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A large array with random access, such as the nodes of a tree: aligned to cache lines, in huge
 * pages if available for fewer TLB misses. It grows without copying.
 */
#ifndef LODE_BASE_PAGES_H
#define LODE_BASE_PAGES_H

#include <stddef.h>

struct lode_pages {
    void *bytes;
    size_t size;
};

/* Like realloc; new bytes are undefined. Returns 0 on failure, and nothing changes. */
int lode_pages_resize(struct lode_pages *pages, size_t size);
void lode_pages_free(struct lode_pages *pages);

#endif
