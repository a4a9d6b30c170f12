/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/progress.h"

#include "host.h"
#include "interrupt.h"
#include "output/report.h"
#include "text/number.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_NS    100000000
#define LINE_SIZE      384
#define ESTIMATE_AFTER 1.0 /* seconds: what is said earlier is a guess */

void progress_init(progress *p)
{
    *p = (progress){.host = host_current()};
    p->is_wanted = !p->host && isatty(STDERR_FILENO);
    clock_gettime(CLOCK_MONOTONIC, &p->last);
}

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_nsec - from->tv_nsec) * 1e-9;
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

/* Rates and remaining time are per phase. The first report of a phase may not be shown. */
static void note_phase(progress *p, const char *phase, uint64_t done)
{
    if (strncmp(p->phase, phase, sizeof p->phase - 1) == 0 && done >= p->begun_with)
        return;
    snprintf(p->phase, sizeof p->phase, "%s", phase);
    p->begun_with = done;
    clock_gettime(CLOCK_MONOTONIC, &p->begun);
}

/* "9:59" or "2:03:04". */
static void add_left(char *line, size_t capacity, double seconds)
{
    unsigned long long left = (unsigned long long)(seconds + 0.5);
    size_t used = strlen(line);
    if (left >= 3600)
        snprintf(line + used, capacity - used, ", %llu:%02llu:%02llu left", left / 3600, left / 60 % 60,
                 left % 60);
    else
        snprintf(line + used, capacity - used, ", %llu:%02llu left", left / 60, left % 60);
}

static void add_rate(const progress *p, char *line, size_t capacity, uint64_t done, uint64_t total)
{
    char rate[NUMBER_SIZE];
    double passed = seconds_between(&p->begun, &p->last), work = (double)(done - p->begun_with);
    size_t used = strlen(line);
    if (passed < ESTIMATE_AFTER || work <= 0)
        return;
    if (p->byte_phase && strcmp(p->phase, p->byte_phase) == 0) {
        format_bytes(rate, (uint64_t)(work / passed));
        snprintf(line + used, capacity - used, ", %s/s", rate);
    }
    add_left(line, capacity, (double)(total > done ? total - done : 0) * passed / work);
}

int progress_report(void *user, const char *phase, uint64_t done, uint64_t total)
{
    progress *p = user;
    char number[NUMBER_SIZE], line[LINE_SIZE];
    if (p->host)
        return p->host->on_progress(p->host->user, phase, done, total);
    if (interrupt_is_due())
        return 1;
    if (!p->is_wanted)
        return 0;
    note_phase(p, phase, done);
    if (!is_due(p))
        return 0;
    if (total > 0)
        format_percent(number, (double)done / (double)total);
    else
        format_count(number, done);
    snprintf(line, sizeof line, "%s: %s", p->phase, number);
    if (total > 0)
        add_rate(p, line, sizeof line, done, total);
    report_status(line);
    p->is_shown = 1;
    return 0;
}

void progress_clear(progress *p)
{
    if (!p->is_shown)
        return;
    report_status("");
    p->is_shown = 0;
}
