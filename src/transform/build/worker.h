/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker: one tree of all its tracks; rows and samples of each track, spooled to disk. */
#ifndef LODE_TRANSFORM_WORKER_H
#define LODE_TRANSFORM_WORKER_H

#include "analysis/calls/calltree_builder.h"
#include "transform/changes.h"

/* The first nodes of each tree. */
enum {
    LODE_BUILD_GLOBAL,
    LODE_BUILD_MAIN,   /* the entry point of main threads */
    LODE_BUILD_THREAD, /* of all others */
    LODE_BUILD_FIRST   /* of those that are functions */
};

/* What a track has at one context, as spooled. */
struct lode_build_row {
    uint64_t calls, self; /* nanoseconds */
    uint32_t node, unused;
};

/* What is known of a track when it was read: where its parts are in the spools of its worker. */
struct lode_track_result {
    unsigned worker;
    uint64_t rows_at, row_count;
    uint64_t change_count; /* after the rows */
    uint64_t samples_at, samples_size, sample_count;
    uint64_t events;
};

struct lode_build_worker {
    unsigned number;
    struct lode_calltree_builder builder;
    struct lode_frames frames;
    struct lode_build_changes changes;
    struct lode_spool rows;
    uint32_t input; /* recording whose functions the builder knows, or LODE_NONE */

    /* The track that is being read. */
    const lode_recording *recording;
    uint32_t track;
    struct lode_track_result *result;
};

/* Worker `number` of a rank; all ranks may share the directory of spools. Always close it. */
lode_status lode_build_worker_open(struct lode_build_worker *worker, uint32_t rank, unsigned number,
                                   int directory, uint64_t trace, lode_error *error);
void lode_build_worker_close(struct lode_build_worker *worker);

/* `input` is the recording's number, as addresses may be reused. Calls begin at an entry. */
lode_status lode_build_worker_begin(struct lode_build_worker *worker, uint32_t input,
                                    const lode_recording *recording, uint32_t track, uint32_t entry,
                                    struct lode_track_result *result, lode_error *error);
/* Balanced events, in chronological order. */
lode_status lode_build_worker_take(struct lode_build_worker *worker, const lode_event *events, size_t count,
                                   lode_error *error);
lode_status lode_build_worker_end(struct lode_build_worker *worker, lode_error *error);

#endif
