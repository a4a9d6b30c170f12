// SPDX-License-Identifier: BSD-3-Clause
/* Block packer: every block is matched with the help of a hash table in a scratch arena. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BLOCK   65536
#define BLOCKS  150
#define ARENA   (4u << 20)
#define HASH    (1u << 18)

struct arena {
    char *base;
    size_t used;
};

__attribute__((noinline)) static void arena_open(struct arena *a)
{
    a->base = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (a->base == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    a->used = 0;
}

__attribute__((noinline)) static void arena_close(struct arena *a)
{
    munmap(a->base, ARENA);
    a->base = NULL;
}

static void *arena_get(struct arena *a, size_t n)
{
    void *p = a->base + a->used;
    a->used += (n + 63) & ~63ul;
    return p;
}

static uint32_t hash4(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return (v * 2654435761u) >> 14;
}

struct seq {
    uint32_t lit, len, dist;
};

__attribute__((noinline)) static size_t pack_block(struct arena *a, const uint8_t *in, uint32_t gen, uint64_t *sum)
{
    /* A slot holds the generation in the upper half, so no clearing is needed. */
    uint64_t *table = arena_get(a, HASH * sizeof(uint64_t));
    struct seq *out = arena_get(a, BLOCK / 4 * sizeof(*out));
    size_t n = 0;
    uint32_t lit = 0;

    for (uint32_t i = 0; i + 8 < BLOCK;) {
        uint32_t h = hash4(in + i), len = 0;
        uint64_t s = table[h];
        uint32_t cand = (uint32_t)s;
        if (s >> 32 == gen)
            while (len < 255 && i + len < BLOCK && in[cand + len] == in[i + len])
                len++;
        table[h] = (uint64_t)gen << 32 | i;
        if (len >= 4) {
            out[n++] = (struct seq){ lit, len, i - cand };
            i += len;
            lit = 0;
        } else {
            i++;
            lit++;
        }
    }
    for (size_t i = 0; i < n; i++)
        *sum = *sum * 31 + out[i].len * 7 + out[i].dist + out[i].lit;
    return n;
}

__attribute__((noinline)) static void next_block(uint8_t *b, uint32_t k)
{
    uint32_t x = k * 7919 + 1;
    for (int i = 0; i < BLOCK; i++) {
        if (i % 9 == 0)
            x = x * 1664525u + 1013904223u;
        b[i] = (x >> (i % 3 * 8)) & 0x3f;
    }
}

int main(void)
{
    static uint8_t block[BLOCK];
    struct arena a;
    uint64_t sum = 0;
    size_t seqs = 0;

#ifdef FIX
    arena_open(&a);
#endif
    for (uint32_t k = 1; k <= BLOCKS; k++) {
        next_block(block, k);
#ifdef FIX
        a.used = 0;
#else
        arena_open(&a);
#endif
        seqs += pack_block(&a, block, k, &sum);
#ifndef FIX
        arena_close(&a);
#endif
    }
#ifdef FIX
    arena_close(&a);
#endif
    printf("sequences %zu sum %016lx\n", seqs, sum);
    return 0;
}
