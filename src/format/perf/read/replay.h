/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes, threads and mappings at any time: the records that tell of them, replayed in order of
 * time. Thread ids are used again, so that a thread is an id from a time on.
 */
#ifndef LODE_FORMAT_PERF_REPLAY_H
#define LODE_FORMAT_PERF_REPLAY_H

#include "format/perf/read/maps.h"
#include "format/perf/read/store.h"

enum perf_module_kind {
    PERF_MODULE_UNKNOWN, /* addresses in no mapping */
    PERF_MODULE_FILE,
    PERF_MODULE_KERNEL,
    PERF_MODULE_KERNEL_MODULE,
    PERF_MODULE_SYMBOL, /* kernel code with one name, such as a BPF program */
    PERF_MODULE_JIT,    /* code of a process without a file */
    PERF_MODULE_DUMP,   /* the same in a dump of the compiler, whose offsets it has */
    PERF_MODULE_MEMORY  /* anything else without a file */
};

/* What is mapped. Without padding: compared byte by byte. */
struct perf_module {
    uint64_t inode, generation;
    uint32_t device_major, device_minor;
    uint32_t name; /* a string */
    int32_t pid;   /* of JIT and DUMP */
    uint32_t kind; /* enum perf_module_kind */
    struct perf_build_id id;
    uint8_t zero[7];
};
_Static_assert(sizeof(struct perf_module) == 64, "no padding");

/* A value from a time on. */
struct perf_since {
    uint64_t time;
    uint32_t value;
};

/* An address space: the roots of its mappings. */
struct perf_space {
    struct lode_array roots; /* struct perf_since */
    uint32_t edition;
};

struct perf_thread {
    uint64_t begin; /* 0: from the beginning */
    int32_t pid, tid;
    uint32_t space;
    uint32_t leader;         /* the first thread of its process; may be itself */
    struct lode_array names; /* struct perf_since: strings */
};

/* The threads that had one id, by `begin`. */
struct perf_task {
    struct lode_array threads; /* uint32_t */
};

struct perf_replay {
    struct perf_store *store;
    struct perf_maps maps;
    struct lode_interner modules; /* struct perf_module; the first is that of unknown addresses */
    struct lode_array spaces;     /* struct perf_space; the first one is the kernel's */
    struct lode_array threads;    /* struct perf_thread */
    struct lode_array tasks;      /* struct perf_task */
    struct lode_map task_of;      /* from a thread id */
    struct lode_map named_ids;    /* from a name to the number of its build id */
    struct lode_map dumped;       /* processes whose JIT code is in side records */
    uint64_t kernel_start;        /* address of the kernel's mapping, */
    uint64_t kernel_mark;         /* and that of a symbol in it */
    uint32_t kernel_symbol;       /* its name; LODE_NO_NUMBER: there is no kernel */
    uint64_t bad_mappings, own_parents, short_records, zero_mappings;
};

/* What holds for a thread in [from, to). */
struct perf_moment {
    uint64_t from, to;
    uint32_t thread;             /* LODE_NONE: no record tells of it */
    uint32_t root, kernel;       /* roots of mappings */
    uint32_t name, process_name; /* strings; LODE_NO_NUMBER: unknown */
};

void lode_perf_replay_init(struct perf_replay *replay, struct perf_store *store);
/* LODE_END: after a finding that leaves nothing to read. */
lode_status lode_perf_replay(struct perf_replay *replay);
/* Opens and surveys a recording: what comes before the replay. LODE_END as above. */
lode_status lode_perf_begin(struct perf_store *store, const struct lode_folder *folder);
/* Opens a recording, surveys and replays it. LODE_END as above. */
lode_status lode_perf_read(struct perf_store *store, struct perf_replay *replay,
                           const struct lode_folder *folder);
void lode_perf_replay_free(struct perf_replay *replay);

/* MT: any thread, after the replay. */
void lode_perf_moment_find(const struct perf_replay *replay, int32_t pid, int32_t tid, uint64_t time,
                           struct perf_moment *out);

static inline const struct perf_module *perf_module_at(const struct perf_replay *replay, uint32_t number)
{
    return LODE_ARRAY_AT(&replay->modules.items, struct perf_module, number);
}

static inline const struct perf_thread *perf_thread_at(const struct perf_replay *replay, uint32_t number)
{
    return LODE_ARRAY_AT(&replay->threads, struct perf_thread, number);
}

#endif
