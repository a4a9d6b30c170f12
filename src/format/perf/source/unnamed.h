/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules whose functions have no names: why, how much that concerns, and what helps. */
#ifndef LODE_FORMAT_PERF_UNNAMED_H
#define LODE_FORMAT_PERF_UNNAMED_H

#include "base/memory/array.h"
#include "model/finding.h"

/* What is not there, or not as it should be. */
enum perf_lack {
    PERF_LACK_NOTHING,
    PERF_LACK_HELPER, /* lode-symbols */
    PERF_LACK_BINARY,
    PERF_LACK_BUILD,  /* the binary is of another build */
    PERF_LACK_TIME,   /* the binary is newer; its build was not recorded */
    PERF_LACK_READER, /* the binary cannot be read */
    PERF_LACK_SYMBOLS,
    PERF_LACK_SOME_SYMBOLS,
    PERF_LACK_PERMISSION, /* to read files of this machine */
    PERF_LACK_FILE,       /* it was memory, such as the vdso */
    PERF_LACK_KERNEL,
    PERF_LACK_KERNEL_MODULE,
    PERF_LACK_JIT_MAP
};

struct perf_unnamed {
    const char *module; /* as long as findings are */
    uint64_t samples;   /* whose own address is in it, with a name or without */
    uint32_t addresses; /* without a name */
    uint32_t number;    /* among modules */
    enum perf_lack lack;
};

/* Reports all of a list, which is sorted for that: those with most samples first. */
lode_status lode_perf_report_unnamed(struct lode_report *report, struct lode_array *list, uint64_t samples);

#endif
