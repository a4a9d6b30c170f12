/* SPDX-License-Identifier: BSD-3-Clause */
/* An arena: many allocations, one release. Under the address sanitizer each allocation stands alone. */
#ifndef LODE_BASE_ARENA_H
#define LODE_BASE_ARENA_H

#include <stddef.h>

struct lode_arena_chunk;

struct lode_arena {
    struct lode_arena_chunk *chunks; /* newest first */
    size_t used;                     /* bytes handed out, over all chunks */
    size_t max;                      /* bytes that may be handed out */
};

void lode_arena_init(struct lode_arena *arena, size_t max);
/* Zeroed memory for `count` objects of `size` bytes, aligned for any type; NULL if there is none, or beyond max. */
void *lode_arena_alloc(struct lode_arena *arena, size_t count, size_t size);
void lode_arena_free(struct lode_arena *arena);

#endif
