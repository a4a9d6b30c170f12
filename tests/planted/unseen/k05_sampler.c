// SPDX-License-Identifier: BSD-3-Clause
/* Healthy: a monitoring daemon that takes a sample every 25 ms by a timer. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES 40
#define WINDOW  8

struct ring {
    long value[WINDOW];
    int n;
};

struct report {
    long samples, fields;
    int alarms;
};

__attribute__((noinline)) static long read_meminfo(long *fields)
{
    char line[256];
    long total = 0, v;
    FILE *f = fopen("/proc/meminfo", "r");

    if (!f)
        return 0;
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "%*[^:]: %ld", &v) == 1) {
            if (!strncmp(line, "MemTotal:", 9))
                total = v;
            (*fields)++;
        }
    fclose(f);
    return total;
}

__attribute__((noinline)) static long ring_mean(struct ring *r, long v)
{
    long s = 0;
    int k;

    r->value[r->n++ % WINDOW] = v;
    k = r->n < WINDOW ? r->n : WINDOW;
    for (int i = 0; i < k; i++)
        s += r->value[i];
    return s / k;
}

__attribute__((noinline)) static void take_sample(struct ring *r, struct report *rep)
{
    long v = read_meminfo(&rep->fields);
    long mean = ring_mean(r, v);

    rep->samples++;
    if (labs(mean - v) > v / 10)
        rep->alarms++;
}

int main(void)
{
    struct itimerspec its = { { 0, 25000000 }, { 0, 25000000 } };
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct ring r = { 0 };
    struct report rep = { 0 };
    uint64_t ticks;

    if (fd < 0 || timerfd_settime(fd, 0, &its, NULL) < 0) {
        perror("timerfd");
        return 1;
    }
    while (rep.samples < SAMPLES) {
        if (read(fd, &ticks, sizeof(ticks)) != sizeof(ticks)) {
            if (errno == EINTR)
                continue;
            break;
        }
        take_sample(&r, &rep);
    }
    close(fd);
    printf("samples %ld alarms %d\n", rep.samples, rep.alarms);
    return 0;
}
