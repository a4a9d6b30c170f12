/* SPDX-License-Identifier: BSD-3-Clause */
/* A recording: the output of a tracer, tracks of call events in chronological order. */
#ifndef LODE_RECORDING_H
#define LODE_RECORDING_H

#include <lode/check.h>
#include <lode/context.h>

LODE_BEGIN_DECLS

typedef struct lode_recording lode_recording;

typedef struct lode_recording_options {
    size_t size;
    int strict;                 /* fail at the first error, instead of continuing */
    lode_finding_fn on_finding; /* findings while opening; may be NULL */
    void *user;
    /*
     * For recordings that are read completely when they are opened (Zorka, spans): progress in
     * bytes, and the number of worker threads, 0: one per processor.
     */
    lode_progress_fn on_progress;
    unsigned threads;
    /*
     * For spans: the memory budget in bytes, beyond which they are in temporary files in TMPDIR; 0:
     * a quarter of what the process may use.
     */
    uint64_t memory;
    /*
     * For spans: ids of requests, of 32 digits, separated by commas, and a private directory for
     * indexes of ids, as an absolute path; it is made if needed. If both are set and an index of
     * this store is there, only these requests are opened; else all are, and an index is written.
     * For Zorka stores: the same directory for indexes of all requests, with which chunks are not
     * unpacked to find them. NULL: no index.
     */
    const char *ids, *index_directory;
} lode_recording_options;
#define LODE_RECORDING_OPTIONS_INIT                                                                          \
    {                                                                                                        \
        sizeof(lode_recording_options), 0, NULL, NULL, NULL, 0, 0, NULL, NULL                                \
    }

/*
 * Opens the recording in a directory. Names and maps are read; events stay in the files until a
 * cursor reads them. In Zorka stores, the events are read once, to find the requests. `options` may
 * be NULL. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_recording_open(lode_recording **out, const char *path,
                                                      const lode_recording_options *options,
                                                      lode_error *error);
/* The same, from files in memory. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_recording_open_memory(lode_recording **out,
                                                             const lode_memory_file *files, size_t file_count,
                                                             const lode_recording_options *options,
                                                             lode_error *error);
/* Closes a recording and all that was borrowed from it. NULL is allowed. MT: one thread. */
LODE_API void lode_recording_close(lode_recording *recording);

/* The format, such as "uftrace 4". MT: any thread. */
LODE_API const char *lode_recording_format(const lode_recording *recording);
/*
 * Nanoseconds to add to a time to get one since the epoch; 0 where that is not known. MT: any
 * thread.
 */
LODE_API int64_t lode_recording_utc_offset(const lode_recording *recording);

/* Metadata of the recorder, in its order: ("command line", "./app -n 4"), ("host", ...). */
typedef struct lode_fact {
    const char *key, *value;
} lode_fact;
/* MT: any thread. */
LODE_API size_t lode_recording_fact_count(const lode_recording *recording);
/* NULL if the index is out of range. MT: any thread. */
LODE_API const lode_fact *lode_recording_fact(const lode_recording *recording, size_t index);

/*
 * A track: one thread or, in Zorka stores, one request of a service. A thread serves many requests
 * in sequence: tracks with the same `pid` and `tid`. If threads were not recorded, they are
 * numbered so that requests on one thread do not overlap.
 */
typedef struct lode_track {
    uint32_t index;
    int32_t pid, tid;
    int32_t parent;      /* process id of the process that forked this one, or 0 */
    const char *name;    /* of the thread, or of its program; never NULL */
    const char *program; /* the path of the program that it began in; "" if that is not known */
    uint64_t bytes;      /* of the records */
    const char *id;      /* globally unique id of a request; "" if it has none */
} lode_track;
/* Whether tracks are requests. MT: any thread. */
LODE_API int lode_recording_has_requests(const lode_recording *recording);
/* Whether off-CPU time was recorded, be there none. MT: any thread. */
LODE_API int lode_recording_has_sched(const lode_recording *recording);
/* MT: any thread. */
LODE_API uint32_t lode_recording_track_count(const lode_recording *recording);
/* NULL if the index is out of range. MT: any thread. */
LODE_API const lode_track *lode_recording_track(const lode_recording *recording, uint32_t index);
/*
 * The times of the first and the last event; LODE_ABSENT if there are none. Reads a few pages. MT:
 * any thread.
 */
LODE_API LODE_CHECKED lode_status lode_track_interval(const lode_recording *recording, uint32_t track,
                                                      uint64_t *begin, uint64_t *end, lode_error *error);

/* Load modules, in the order in which they are named. MT: any thread. */
LODE_API uint32_t lode_recording_module_count(const lode_recording *recording);
/* NULL if the index is out of range. MT: any thread. */
LODE_API const lode_module *lode_recording_module(const lode_recording *recording, uint32_t index);

/* A part of a recording. */
typedef struct lode_slice {
    size_t size;
    uint64_t from, to;      /* times, as in events; `to` is exclusive, and 0 is the end */
    const uint32_t *tracks; /* indices, rising; NULL: all */
    uint32_t track_count;
    uint32_t depth;    /* calls with this many callers or more are omitted; 0: none are */
    uint64_t min_time; /* shorter calls are omitted, in nanoseconds */
    int no_sched;      /* off-CPU time is omitted, as if it had not been recorded */
} lode_slice;
#define LODE_SLICE_INIT                                                                                      \
    {                                                                                                        \
        sizeof(lode_slice), 0, 0, NULL, 0, 0, 0, 0                                                           \
    }

LODE_END_DECLS
#endif
