// SPDX-License-Identifier: BSD-3-Clause
/* Copies a file in blocks of 1 MiB, with a checksum, and syncs once. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK (1 << 20)
#define BLOCKS 220

__attribute__((noinline)) static int create_source(char *name)
{
    int fd = mkstemp(name);
    uint64_t *data = malloc(BLOCK);
    uint64_t x = 88172645463325252ull;
    unlink(name);
    for (int b = 0; b < BLOCKS; b++) {
        for (size_t i = 0; i < BLOCK / sizeof *data; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            data[i] = x;
        }
        if (write(fd, data, BLOCK) != BLOCK)
            perror("write");
    }
    free(data);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

__attribute__((noinline)) static uint64_t checksum_block(const uint64_t *data, size_t bytes)
{
    uint64_t h = 14695981039346656037ull;
    for (size_t i = 0; i < bytes / sizeof *data; i++) {
        h = (h ^ data[i]) * 1099511628211ull;
        h ^= h >> 31;
    }
    return h;
}

__attribute__((noinline)) static uint64_t copy_file(int from, int to)
{
    uint64_t *data = malloc(BLOCK), sum = 0;
    ssize_t n;
    while ((n = read(from, data, BLOCK)) > 0) {
        sum += checksum_block(data, (size_t)n);
        if (write(to, data, (size_t)n) != n)
            perror("write");
    }
    if (fdatasync(to))
        perror("fdatasync");
    free(data);
    return sum;
}

int main(void)
{
    char source_name[] = "/tmp/sourceXXXXXX", target_name[] = "/tmp/targetXXXXXX";
    int from = create_source(source_name);
    int to = mkstemp(target_name);
    if (from < 0 || to < 0)
        return 1;
    unlink(target_name);
    printf("sum %lu\n", (unsigned long)copy_file(from, to));
    close(from);
    close(to);
    return 0;
}
