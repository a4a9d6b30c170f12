// SPDX-License-Identifier: BSD-3-Clause
// Map/reduce over genome reads with worker processes: two children count
// k-mers of equal shares of the reads and send their tables through pipes;
// the parent waits for them and merges.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 2
#define NREADS 1200000
#define READ_LEN 150
#define K 8
#define TABLE (1u << (2 * K))
#define CHUNK 1000

static uint32_t table[TABLE];

__attribute__((noinline)) static void make_read(unsigned char *r, int n)
{
    uint64_t s = n * 0x9e3779b97f4a7c15ull + 1;

    for (int i = 0; i < READ_LEN; i++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        r[i] = (s >> 20) & 3;
    }
}

static inline void count_kmers(const unsigned char *r)
{
    uint32_t fwd = 0, rev = 0;

    for (int i = 0; i < READ_LEN; i++) {
        fwd = (fwd << 2 | r[i]) & (TABLE - 1);
        rev = rev >> 2 | (uint32_t)(3 - r[i]) << (2 * K - 2);
        if (i >= K - 1)
            table[fwd < rev ? fwd : rev]++;
    }
}

__attribute__((noinline)) static void map_chunk(int first)
{
    unsigned char r[READ_LEN];

    for (int n = first; n < first + CHUNK; n++) {
        make_read(r, n);
        count_kmers(r);
    }
}

__attribute__((noinline)) static void write_table(int fd)
{
    const char *p = (const char *)table;
    size_t n = sizeof(table);

    while (n) {
        ssize_t w = write(fd, p, n);

        if (w <= 0)
            _exit(1);
        p += w;
        n -= w;
    }
}

__attribute__((noinline)) static void worker(int id, int fd)
{
    int share = NREADS / WORKERS;

    for (int first = id * share; first < (id + 1) * share; first += CHUNK)
        map_chunk(first);
    write_table(fd);
    close(fd);
}

__attribute__((noinline)) static void merge_table(int fd, uint64_t *sum)
{
    static uint32_t part[TABLE];
    size_t got = 0;

    while (got < sizeof(part)) {
        ssize_t n = read(fd, (char *)part + got, sizeof(part) - got);

        if (n <= 0)
            abort();
        got += n;
    }
    for (uint32_t i = 0; i < TABLE; i++)
        sum[i] += part[i];
}

int main(void)
{
    static uint64_t sum[TABLE];
    int fd[WORKERS][2];
    pid_t pid[WORKERS];
    uint64_t total = 0, max = 0;

    for (int i = 0; i < WORKERS; i++) {
        if (pipe(fd[i]))
            return 1;
        pid[i] = fork();
        if (pid[i] == 0) {
            close(fd[i][0]);
            worker(i, fd[i][1]);
            exit(0);
        }
        close(fd[i][1]);
    }
    for (int i = 0; i < WORKERS; i++)
        merge_table(fd[i][0], sum);
    for (int i = 0; i < WORKERS; i++)
        waitpid(pid[i], NULL, 0);
    for (uint32_t i = 0; i < TABLE; i++) {
        total += sum[i];
        if (sum[i] > max)
            max = sum[i];
    }
    printf("kmers %llu max %llu\n", (unsigned long long)total, (unsigned long long)max);
    return 0;
}
