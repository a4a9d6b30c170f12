// SPDX-License-Identifier: BSD-3-Clause
/* Looks up words of a text in a sorted on-disk dictionary index. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES 200000
#define LOOKUPS 40000

struct entry {
    uint64_t key;
    uint32_t value;
    uint32_t flags;
};

struct index {
    FILE *f;
    long count;
    struct entry *mem;
};

__attribute__((noinline)) static void read_entry(struct index *ix, long i, struct entry *e)
{
#ifdef FIX
    *e = ix->mem[i];
#else
    if (fseek(ix->f, i * sizeof(*e), SEEK_SET) || fread(e, sizeof(*e), 1, ix->f) != 1)
        exit(1);
#endif
}

__attribute__((noinline)) static int index_find(struct index *ix, uint64_t key, struct entry *e)
{
    long lo = 0, hi = ix->count - 1;

    while (lo <= hi) {
        long mid = (lo + hi) / 2;
        read_entry(ix, mid, e);
        if (e->key == key)
            return 1;
        if (e->key < key)
            lo = mid + 1;
        else
            hi = mid - 1;
    }
    return 0;
}

__attribute__((noinline)) static void index_open(struct index *ix, const char *path)
{
    ix->f = fopen(path, "rb");
    fseek(ix->f, 0, SEEK_END);
    ix->count = ftell(ix->f) / sizeof(struct entry);
#ifdef FIX
    rewind(ix->f);
    ix->mem = malloc(ix->count * sizeof(struct entry));
    if (fread(ix->mem, sizeof(struct entry), ix->count, ix->f) != (size_t)ix->count)
        exit(1);
#endif
}

static void index_close(struct index *ix)
{
    fclose(ix->f);
    free(ix->mem);
}

__attribute__((noinline)) static void create_index(const char *path)
{
    FILE *f = fopen(path, "wb");

    for (uint64_t i = 0; i < ENTRIES; i++) {
        struct entry e = { i * 37 + i % 11, (uint32_t)(i * 2654435761u), (uint32_t)i & 7 };
        fwrite(&e, sizeof(e), 1, f);
    }
    fclose(f);
}

int main(void)
{
    char path[] = "./index_XXXXXX";
    struct index ix = { 0 };
    struct entry e;
    uint64_t sum = 0;
    uint32_t x = 77;
    long found = 0;

    close(mkstemp(path));
    create_index(path);
    index_open(&ix, path);
    for (int i = 0; i < LOOKUPS; i++) {
        x = x * 1664525u + 1013904223u;
        uint64_t k = x % ENTRIES;
        if (index_find(&ix, k * 37 + (i % 3 ? k % 11 : 12), &e)) {
            found++;
            sum += e.value;
        }
    }
    index_close(&ix);
    unlink(path);
    printf("found %ld sum %lu\n", found, sum);
    return 0;
}
