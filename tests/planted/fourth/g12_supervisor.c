// SPDX-License-Identifier: BSD-3-Clause
/* A supervisor forks two worker processes and waits for their results. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 2

struct worker { pid_t pid; int result; };

__attribute__((noinline)) static uint64_t count_primes(uint32_t first, uint32_t step, uint32_t limit)
{
    uint64_t count = 0;
    for (uint32_t n = first; n < limit; n += step) {
        int prime = 1;
        for (uint32_t d = 3; d * d <= n; d += 2)
            if (n % d == 0) {
                prime = 0;
                break;
            }
        count += (uint64_t)prime * n;
    }
    return count;
}

__attribute__((noinline)) static void worker_main(int id, int out)
{
    uint64_t part = count_primes(3 + 2 * (uint32_t)id, 2 * WORKERS, 6500000);
    if (write(out, &part, sizeof part) != sizeof part)
        perror("write");
    close(out);
}

__attribute__((noinline)) static void start_worker(struct worker *w, int id)
{
    int channel[2];
    if (pipe(channel))
        exit(1);
    w->pid = fork();
    if (w->pid == 0) {
        close(channel[0]);
        worker_main(id, channel[1]);
        _exit(0);
    }
    close(channel[1]);
    w->result = channel[0];
}

__attribute__((noinline)) static uint64_t collect_worker(struct worker *w)
{
    uint64_t part = 0;
    if (read(w->result, &part, sizeof part) != sizeof part)
        perror("read");
    close(w->result);
    waitpid(w->pid, NULL, 0);
    return part;
}

int main(void)
{
    struct worker workers[WORKERS];
    uint64_t sum = 2;
    for (int i = 0; i < WORKERS; i++)
        start_worker(&workers[i], i);
    for (int i = 0; i < WORKERS; i++)
        sum += collect_worker(&workers[i]);
    printf("sum %lu\n", (unsigned long)sum);
    return 0;
}
