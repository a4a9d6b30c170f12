// SPDX-License-Identifier: BSD-3-Clause
// Word count over a text file: buffered reading in large blocks, words counted
// in an open-addressing hash table.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES (40u << 20)
#define BLOCK (1u << 16)
#define SLOTS (1u << 16)

struct slot {
    uint64_t hash;
    uint64_t count;
};

static struct slot table[SLOTS];

__attribute__((noinline)) static void write_text(FILE *f)
{
    static char block[BLOCK];
    uint32_t s = 7;
    size_t done = 0;

    while (done < FILE_BYTES) {
        for (size_t i = 0; i < BLOCK; i++) {
            s = s * 1664525u + 1013904223u;
            block[i] = (s >> 28) < 3 ? ' ' : (char)('a' + (s >> 24) % 6);
        }
        done += fwrite(block, 1, BLOCK, f);
    }
    fflush(f);
}

static inline void add_word(uint64_t h)
{
    size_t i = (h >> 16) % SLOTS;

    if (!h)
        h = 1;
    // long words that find the table full in their neighbourhood are ignored
    for (int probe = 0; probe < 8; probe++, i = (i + 1) % SLOTS) {
        if (!table[i].hash)
            table[i].hash = h;
        if (table[i].hash == h) {
            table[i].count++;
            return;
        }
    }
}

__attribute__((noinline)) static void count_block(const char *p, size_t n, uint64_t *h, long *words)
{
    uint64_t cur = *h;

    for (size_t i = 0; i < n; i++) {
        if (p[i] == ' ' || p[i] == '\n') {
            if (cur) {
                add_word(cur);
                ++*words;
            }
            cur = 0;
        } else {
            cur = (cur + (unsigned char)p[i]) * 1099511628211ull;
        }
    }
    *h = cur;
}

__attribute__((noinline)) static long count_file(FILE *f)
{
    static char block[BLOCK];
    uint64_t h = 0;
    long words = 0;
    size_t n;

    while ((n = fread(block, 1, BLOCK, f)) > 0)
        count_block(block, n, &h, &words);
    return words;
}

int main(void)
{
    char path[] = "/tmp/wordsXXXXXX";
    FILE *f = fdopen(mkstemp(path), "w+");
    long words, distinct = 0;
    uint64_t max = 0;

    if (!f)
        return 1;
    write_text(f);
    rewind(f);
    words = count_file(f);
    for (size_t i = 0; i < SLOTS; i++) {
        distinct += table[i].count != 0;
        if (table[i].count > max)
            max = table[i].count;
    }
    fclose(f);
    unlink(path);
    printf("words %ld distinct %ld most frequent %llu\n", words, distinct,
           (unsigned long long)max);
    return 0;
}
