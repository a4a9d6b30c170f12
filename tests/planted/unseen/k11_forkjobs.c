// SPDX-License-Identifier: BSD-3-Clause
/* Healthy: two worker processes share a prime count, and report through pipes. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT   390000000u
#define SEGMENT 400000u
#define WORKERS 2

struct result {
    uint64_t primes, last;
};

static uint32_t small[2400];
static int nsmall;

static void small_primes(void)
{
    for (uint32_t i = 3; i < 20000; i += 2) {
        int ok = 1;
        for (uint32_t d = 3; d * d <= i; d += 2)
            if (i % d == 0)
                ok = 0;
        if (ok)
            small[nsmall++] = i;
    }
}

/* Sieve of the odd numbers in [lo, lo + SEGMENT). */
__attribute__((noinline)) static void sieve_segment(uint32_t lo, struct result *r)
{
    static uint8_t comp[SEGMENT / 2];

    memset(comp, 0, sizeof(comp));
    for (int k = 0; k < nsmall; k++) {
        uint32_t p = small[k], s = (lo + p - 1) / p * p;
        if ((uint64_t)p * p >= (uint64_t)lo + SEGMENT)
            break;
        if (s < p * p)
            s = p * p;
        if (s % 2 == 0)
            s += p;
        for (; s < lo + SEGMENT; s += 2 * p)
            comp[(s - lo) / 2] = 1;
    }
    for (uint32_t i = 0; i < SEGMENT / 2; i++)
        if (!comp[i] && lo + 2 * i + 1 > 2) {
            r->primes++;
            r->last = lo + 2 * i + 1;
        }
}

static void worker(int id, int out)
{
    struct result r = { 0 };

    for (uint32_t lo = id * SEGMENT; lo < LIMIT; lo += WORKERS * SEGMENT)
        sieve_segment(lo, &r);
    if (write(out, &r, sizeof(r)) != sizeof(r))
        exit(1);
    close(out);
}

int main(void)
{
    int fd[WORKERS][2];
    struct result r;
    uint64_t total = 1, last = 0;

    small_primes();
    for (int i = 0; i < WORKERS; i++) {
        if (pipe(fd[i]))
            return 1;
        pid_t pid = fork();
        if (pid < 0)
            return 1;
        if (pid == 0) {
            worker(i, fd[i][1]);
            exit(0);
        }
        close(fd[i][1]);
    }
    for (int i = 0; i < WORKERS; i++) {
        ssize_t n;
        while ((n = read(fd[i][0], &r, sizeof(r))) < 0 && errno == EINTR)
            ;
        if (n != sizeof(r))
            return 1;
        total += r.primes;
        if (r.last > last)
            last = r.last;
    }
    while (wait(NULL) > 0 || errno == EINTR)
        ;
    /* The even prime two is counted in the initial value of total. */
    printf("%lu primes, last %lu\n", total, last);
    return 0;
}
