/* SPDX-License-Identifier: BSD-3-Clause */
/* perf-cpuN.dat: when threads were on a processor, were named, and ended, sorted out by thread. */
#ifndef LODE_UFTRACE_PERF_H
#define LODE_UFTRACE_PERF_H

#include "base/arena.h"
#include "base/range.h"
#include "model/finding.h"

enum lode_uft_perf_kind {
    UFT_PERF_IN,
    UFT_PERF_OUT,
    UFT_PERF_OUT_PREEMPTED,
    UFT_PERF_NEW,  /* the thread was made */
    UFT_PERF_EXIT, /* the thread ended */
    UFT_PERF_NAME  /* it got a name */
};

struct lode_uft_perf_event {
    uint64_t time;
    uint32_t kind; /* lode_uft_perf_kind */
    uint32_t cpu;  /* NAME: the index of the name */
};

/* The events of one thread, in the order of time. */
struct lode_uft_perf_thread {
    int32_t tid;
    uint64_t first, count; /* in events */
};

struct lode_uft_perf {
    struct lode_uft_perf_event *events; /* grouped by thread; one allocation */
    size_t mapped;                      /* bytes of `events` if they lie in a temporary file; 0: in memory */
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
 * Reads all files twice: once to count, once to place. Records are little-endian unless `big_endian`. Of a damaged file, what is before the
 * damage counts. Threads that are not among `tids` (rising) are left out. Memory: 16 bytes an event, in a temporary file if they are many.
 */
lode_status lode_uft_perf_read(struct lode_uft_perf *out, const struct lode_uft_perf_file *files,
                               size_t file_count, const int32_t *tids, size_t tid_count, bool big_endian,
                               struct lode_report *report, lode_error *error);
void lode_uft_perf_free(struct lode_uft_perf *perf);
/* NULL if there are no events of this thread. */
const struct lode_uft_perf_thread *lode_uft_perf_find(const struct lode_uft_perf *perf, int32_t tid);

#endif
