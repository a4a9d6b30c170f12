/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the call chain of a sample to a node of the tree of addresses. Chains that follow each other
 * mostly end alike: only what differs from the last one is looked up.
 */
#ifndef LODE_FORMAT_PERF_PATH_H
#define LODE_FORMAT_PERF_PATH_H

#include "format/perf/source/collect.h"
#include "format/perf/source/recent.h"

enum {
    PERF_WORDS_MOST = 1 << 13 /* a record of 64 KiB has no more */
};

/* A word of a chain: an address, or a mark. The outermost one is the first. */
struct perf_step {
    uint64_t raw; /* as it stands in the file */
    uint64_t word;
    uint32_t root;  /* of the mappings that it is in; of a mark, that of what is before it */
    uint32_t node;  /* that it leads to; of a mark, as the one before */
    uint32_t depth; /* addresses up to here */
};

/* The last chain. */
struct perf_path {
    struct perf_step steps[PERF_WORDS_MOST + 1];
    uint32_t count;
    uint32_t leaf;                       /* the step that is no return address; `count`: none */
    uint32_t entry;                      /* the node that it begins at */
    uint32_t root, kernel;               /* of the mappings that it was looked up in */
    uint32_t roots[PERF_WORDS_MOST + 1]; /* of the words that are new, innermost first */
};

struct perf_sites;
struct perf_sites *lode_perf_sites_new(void);
void lode_perf_sites_free(struct perf_sites *sites);

/* The node of an entry point: that of a process, by the name that it has; 0 if out of memory. */
uint32_t lode_perf_entry(struct hpcrun_raw *raw, const char *process, bool is_main);

/*
 * The node of waiting that a thread ended: below that of the wait, "woken by NAME". Its module has
 * this key, which no module of the recording has. 0 if out of memory.
 */
#define PERF_KEY_WAKER (UINT32_MAX - 1)
uint32_t lode_perf_woken(struct hpcrun_raw *raw, uint32_t wait, const char *name);

/* What a sample says of itself. */
struct perf_chain {
    const struct perf_event *event;
    const struct perf_sample *sample;
    const struct perf_moment *moment;
    unsigned mode; /* of its record */
    uint32_t entry;
};

/* Frames of a chain that the kernel permits. */
static inline uint32_t perf_frames_most(const struct perf_event *event)
{
    enum {
        STACK_MOST = 127 /* unless it is told otherwise */
    };
    return event->attr.max_stack ? event->attr.max_stack : STACK_MOST;
}

/* What is found on the way. */
struct perf_walked {
    uint32_t node;              /* 0: out of memory */
    bool has_mark;              /* unknown marks: only the address of the sample is used */
    bool is_cut;                /* outermost frames are missing */
    struct perf_recent *recent; /* the chain in the table; NULL: it is not there */
};

struct perf_walked lode_perf_walk(struct perf_worker *worker, const struct perf_chain *chain);

#endif
