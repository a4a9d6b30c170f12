/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One large array that is met in no predictable order, such as the nodes of a tree: aligned to cache lines, in large pages where the system
 * has them, so that addresses are found faster. It grows without a copy: there are never two of them.
 */
#ifndef LODE_BASE_PAGES_H
#define LODE_BASE_PAGES_H

#include <stddef.h>

struct lode_pages {
    void *bytes;
    size_t size;
};

/* Keeps what fits into `size` bytes; the rest is undefined. On failure, which returns 0, nothing changes. */
int lode_pages_resize(struct lode_pages *pages, size_t size);
void lode_pages_free(struct lode_pages *pages);

#endif
