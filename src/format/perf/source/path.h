/* SPDX-License-Identifier: BSD-3-Clause */
/* From the frames of a sample to a node of the tree of addresses. */
#ifndef LODE_FORMAT_PERF_PATH_H
#define LODE_FORMAT_PERF_PATH_H

#include "format/perf/source/collect.h"

enum {
    PERF_FRAMES_MOST = 1 << 13 /* a record of 64 KiB has no more */
};

/* A stack of frames, the outermost one first, and where each of them led. */
struct perf_path {
    struct perf_frame frames[PERF_FRAMES_MOST + 2];
    uint32_t nodes[PERF_FRAMES_MOST + 2];
    uint32_t count, entry;
    bool is_cut;
};

struct perf_sites;
struct perf_sites *lode_perf_sites_new(void);
void lode_perf_sites_free(struct perf_sites *sites);

/* The node of an entry point: that of a process, by the name that it has; 0 if out of memory. */
uint32_t lode_perf_entry(struct hpcrun_raw *raw, const char *process, bool is_main);

/*
 * The frames of a sample. With `has_mark`, its chain has unknown marks, and only its own address is
 * used. `mode` is that of its record.
 */
void lode_perf_path_read(struct perf_path *next, const struct perf_event *event,
                         const struct perf_sample *sample, const struct perf_moment *moment, unsigned mode,
                         bool is_big, bool *has_mark);
/* The node of a path below an entry point; `last` is the path before. 0 if out of memory. */
uint32_t lode_perf_path_walk(struct perf_worker *worker, struct perf_path *last, struct perf_path *next,
                             uint32_t entry);

#endif
