/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include "number.h"

#include <stdio.h>
#include <unistd.h>

#define INTERVAL_NS 100000000

void progress_init(progress *p)
{
    *p = (progress){.is_wanted = isatty(STDERR_FILENO)};
    clock_gettime(CLOCK_MONOTONIC, &p->last);
}

/* Work that is over within the first interval shows nothing at all. */
static int is_due(progress *p)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t passed = (int64_t)(now.tv_sec - p->last.tv_sec) * 1000000000 + (now.tv_nsec - p->last.tv_nsec);
    if (passed < INTERVAL_NS)
        return 0;
    p->last = now;
    return 1;
}

int progress_report(void *user, const char *phase, uint64_t done, uint64_t total)
{
    progress *p = user;
    char count[NUMBER_SIZE], percent[NUMBER_SIZE];
    if (!p->is_wanted || !is_due(p))
        return 0;
    format_count(count, done);
    if (total > 0) {
        format_percent(percent, (double)done / (double)total);
        fprintf(stderr, "\r\033[K%s: %s", phase, percent);
    } else {
        fprintf(stderr, "\r\033[K%s: %s", phase, count);
    }
    fflush(stderr);
    p->is_shown = 1;
    return 0;
}

void progress_clear(progress *p)
{
    if (!p->is_shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->is_shown = 0;
}
