/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The limits to compare with, and nothing else:
 *   bare_pass scan THREADS FILE...   maps files and adds up their 64-bit words
 *   bare_pass read FILE...           reads files from their beginning to their end
 *   bare_pass write FILE BYTES       writes a file and waits until it is on the disk
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE = 1 << 20,
    MAX_THREADS = 64
};

static unsigned char piece[PIECE];

struct share {
    pthread_t thread;
    const unsigned char *data;
    size_t size;
    uint64_t sum;
};

static void *add_words(void *argument)
{
    struct share *share = argument;
    for (size_t at = 0; at + 8 <= share->size; at += 8) {
        uint64_t word;
        memcpy(&word, share->data + at, sizeof word);
        share->sum += word;
    }
    return NULL;
}

static int scan(const char *path, unsigned threads, uint64_t *sum)
{
    struct stat status;
    struct share shares[MAX_THREADS];
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0)
        return 1;
    size_t size = (size_t)status.st_size, each = size / threads / 8 * 8;
    const unsigned char *data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED)
        return 1;
    for (unsigned i = 0; i < threads; i++) {
        shares[i] = (struct share){.data = data + i * each, .size = i + 1 < threads ? each : size - i * each};
        if (pthread_create(&shares[i].thread, NULL, add_words, &shares[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(shares[i].thread, NULL);
        *sum += shares[i].sum;
    }
    close(fd);
    return 0;
}

static int read_file(const char *path)
{
    ssize_t got = 1;
    int fd = open(path, O_RDONLY);
    while (fd >= 0 && got > 0)
        got = read(fd, piece, sizeof piece);
    return fd < 0 || got < 0 || close(fd) != 0;
}

static int write_file(const char *path, uint64_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    memset(piece, 0x5a, sizeof piece);
    while (fd >= 0 && bytes > 0) {
        size_t size = bytes < sizeof piece ? (size_t)bytes : sizeof piece;
        if (write(fd, piece, size) != (ssize_t)size)
            return 1;
        bytes -= size;
    }
    return fd < 0 || fsync(fd) != 0 || close(fd) != 0;
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    uint64_t sum = 0;
    int failed = 0;
    if (strcmp(what, "scan") == 0 && count > 3) {
        unsigned threads = (unsigned)strtoul(arguments[2], NULL, 10);
        for (int i = 3; i < count && !failed; i++)
            failed = scan(arguments[i],
                          threads < 1             ? 1
                          : threads > MAX_THREADS ? MAX_THREADS
                                                  : threads,
                          &sum);
        printf("sum %llx\n", (unsigned long long)sum);
    } else if (strcmp(what, "read") == 0 && count > 2) {
        for (int i = 2; i < count && !failed; i++)
            failed = read_file(arguments[i]);
    } else if (strcmp(what, "write") == 0 && count == 4) {
        failed = write_file(arguments[2], strtoull(arguments[3], NULL, 10));
    } else {
        fprintf(stderr, "usage: bare_pass scan THREADS FILE... | read FILE... | write FILE BYTES\n");
        return 2;
    }
    return failed;
}
