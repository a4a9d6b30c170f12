/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory/arena.h"

#include "base/checked.h"
#include <stdalign.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_CHUNK 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_CHUNK 0
#endif
#endif
#ifndef ARENA_CHUNK
#define ARENA_CHUNK ((size_t)64 << 10)
#endif
/* Each chunk is twice as large as the one before: most arenas stay small. */
#define ARENA_FIRST ((size_t)2 << 10)

#define ARENA_ALIGN alignof(max_align_t)

struct lode_arena_chunk {
    struct lode_arena_chunk *older;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

void lode_arena_init(struct lode_arena *arena, size_t max)
{
    *arena = (struct lode_arena){.max = max};
}

static struct lode_arena_chunk *arena_grow(struct lode_arena *arena, size_t needed)
{
    size_t size = arena->chunks ? arena->chunks->size * 2 : ARENA_FIRST;
    size = size < ARENA_CHUNK ? size : ARENA_CHUNK;
    size = needed > size / 4 ? needed : size;
    /* Use calloc: the system returns large chunks as untouched zero pages. */
    struct lode_arena_chunk *chunk = calloc(1, sizeof *chunk + size);
    if (chunk == NULL)
        return NULL;
    chunk->size = size;
    chunk->older = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *lode_arena_alloc(struct lode_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!checked_mul_size(count, size, &bytes) || bytes > arena->max - arena->used)
        return NULL;
    size_t rounded = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (rounded < bytes)
        return NULL;
    if (rounded == 0)
        rounded = ARENA_ALIGN;
    struct lode_arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->size - chunk->used < rounded)
        chunk = arena_grow(arena, rounded);
    if (chunk == NULL)
        return NULL;
    void *memory = chunk->bytes + chunk->used;
    chunk->used += rounded;
    arena->used += bytes;
    return memory;
}

void lode_arena_free(struct lode_arena *arena)
{
    while (arena->chunks) {
        struct lode_arena_chunk *older = arena->chunks->older;
        free(arena->chunks);
        arena->chunks = older;
    }
    arena->used = 0;
}
