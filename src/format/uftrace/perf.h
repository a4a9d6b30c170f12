/* SPDX-License-Identifier: BSD-3-Clause */
/* perf-cpuN.dat: scheduling, names and ends of threads, grouped by thread. */
#ifndef LODE_UFTRACE_PERF_H
#define LODE_UFTRACE_PERF_H

#include "base/io/range.h"
#include "base/memory/arena.h"
#include "model/finding.h"

enum lode_uft_perf_kind {
    UFT_PERF_IN,
    UFT_PERF_OUT,
    UFT_PERF_OUT_PREEMPTED,
    UFT_PERF_NEW,  /* the thread was created */
    UFT_PERF_EXIT, /* the thread ended */
    UFT_PERF_NAME  /* it was named */
};

struct lode_uft_perf_event {
    uint64_t time;
    uint32_t kind; /* lode_uft_perf_kind */
    uint32_t cpu;  /* NAME: the index of the name */
};

/* The events of one thread, chronological. */
struct lode_uft_perf_thread {
    int32_t tid;
    uint64_t first, count; /* in events */
};

struct lode_uft_perf {
    struct lode_uft_perf_event *events;   /* grouped by thread; one allocation */
    size_t mapped;                        /* size of `events` in a temporary file; 0: in memory */
    struct lode_uft_perf_thread *threads; /* by rising tid */
    uint32_t thread_count;
    const char **names;
    uint32_t name_count;
};

struct lode_uft_perf_file {
    const char *name;
    struct lode_range bytes;
    uint32_t cpu;
};

/*
 * Reads all files twice: to count, then to place. Records are little-endian unless `big_endian`. Of
 * a damaged file, the part before the damage is used. Threads that are not among `tids` (rising)
 * are skipped. Memory: 16 bytes an event, in a temporary file if there are many.
 */
lode_status lode_uft_perf_read(struct lode_uft_perf *out, const struct lode_uft_perf_file *files,
                               size_t file_count, const int32_t *tids, size_t tid_count, bool big_endian,
                               struct lode_report *report, lode_error *error);
void lode_uft_perf_free(struct lode_uft_perf *perf);
/* NULL if this thread has no events. */
const struct lode_uft_perf_thread *lode_uft_perf_find(const struct lode_uft_perf *perf, int32_t tid);

#endif
