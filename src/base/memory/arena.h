/* SPDX-License-Identifier: BSD-3-Clause */
/* An arena: many allocations, one release. With AddressSanitizer each is a separate calloc. */
#ifndef LODE_BASE_ARENA_H
#define LODE_BASE_ARENA_H

#include <stddef.h>

struct lode_arena_chunk;

struct lode_arena {
    struct lode_arena_chunk *chunks; /* newest first */
    size_t used;                     /* bytes allocated in all chunks */
    size_t max;                      /* limit of `used` */
};

void lode_arena_init(struct lode_arena *arena, size_t max);
/* Zeroed memory for `count` objects of `size` bytes, aligned for any type; NULL on failure. */
void *lode_arena_alloc(struct lode_arena *arena, size_t count, size_t size);
void lode_arena_free(struct lode_arena *arena);

#endif
