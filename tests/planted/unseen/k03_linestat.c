// SPDX-License-Identifier: BSD-3-Clause
/* Healthy: text statistics of a file read in large blocks. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUF    (256 * 1024)
#define BLOCKS 240

struct stat_acc {
    uint64_t bytes, words, lines, longest, current;
    uint64_t freq[256];
    uint64_t hash;
    int in_word;
};

static unsigned char buf[BUF];
static unsigned char is_space[256];

__attribute__((noinline)) static void account(struct stat_acc *s, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = p[i];
        s->freq[c]++;
        s->hash = (s->hash ^ c) * 1099511628211ull;
        if (c == '\n') {
            s->lines++;
            if (s->current > s->longest)
                s->longest = s->current;
            s->current = 0;
        } else {
            s->current++;
        }
        if (is_space[c]) {
            s->in_word = 0;
        } else if (!s->in_word) {
            s->in_word = 1;
            s->words++;
        }
    }
    s->bytes += n;
}

__attribute__((noinline)) static void fill_block(unsigned char *p, uint32_t seed)
{
    for (size_t i = 0; i < BUF; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t r = seed >> 24;
        p[i] = r < 4 ? '\n' : r < 40 ? ' ' : 'a' + r % 26;
    }
}

__attribute__((noinline)) static void write_file(int fd)
{
    for (int b = 0; b < BLOCKS; b++) {
        fill_block(buf, b);
        if (write(fd, buf, BUF) != BUF)
            exit(1);
    }
}

int main(void)
{
    char path[] = "./text_XXXXXX";
    int fd = mkstemp(path);
    static struct stat_acc s;
    ssize_t n;

    if (fd < 0)
        return 1;
    unlink(path);
    is_space[' '] = is_space['\n'] = is_space['\t'] = 1;
    write_file(fd);
    lseek(fd, 0, SEEK_SET);
    while ((n = read(fd, buf, BUF)) > 0)
        account(&s, buf, n);
    close(fd);
    printf("%lu bytes %lu words %lu lines, longest %lu, e %lu, hash %016lx\n", s.bytes, s.words, s.lines, s.longest,
           s.freq['e'], s.hash);
    return 0;
}
