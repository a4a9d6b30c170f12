/* SPDX-License-Identifier: BSD-3-Clause */
/* The recordings that a database is built from: their tracks, and the ids of their profiles. */
#ifndef LODE_TRANSFORM_INPUTS_H
#define LODE_TRANSFORM_INPUTS_H

#include "analysis/calls/finding_list.h"
#include "base/comm/comm.h"
#include "base/pool.h"
#include "base/progress.h"
#include "transform/build/worker.h"
#include <lode/build.h>
#include <lode/profile.h>
#include <lode/writer.h>

/* A recording. It is open while its tracks are read. */
struct lode_build_input {
    const char *path;
    lode_recording *recording; /* NULL: not now */
    pthread_mutex_t lock;      /* of opening and closing */
    bool has_requests;
    char *host;
    uint32_t rank; /* LODE_NONE: that of its processes */
    int64_t clock; /* nanoseconds to add to times */
    uint64_t bytes;
    uint32_t first, count;         /* its tracks, among those of all */
    uint32_t unread;               /* tracks of this rank's share */
    struct lode_finding_list kept; /* findings of opening it */
};

enum {
    LODE_BUILD_IDS = 3 /* of a profile: node, rank, thread */
};

/* A track, which becomes a profile. */
struct lode_build_track {
    uint32_t input, track; /* number of the recording, of the track in it */
    uint32_t entry;        /* LODE_BUILD_MAIN or LODE_BUILD_THREAD */
    int32_t tid;           /* of traces 0: they are in the order of the recording */
    uint32_t process;      /* number of the process in the recording, in the order of its tracks */
    uint64_t bytes;
    lode_id ids[LODE_BUILD_IDS];
    struct lode_track_result track_result;
    struct lode_finding_list kept;
};

/* All recordings and tracks, which every rank knows, and the share of this one. */
struct lode_build_inputs {
    const lode_build_options *options;
    struct lode_comm *comm;
    struct lode_build_input *items;
    size_t count;
    struct lode_build_track *tracks; /* by recording, then as there */
    uint32_t track_count;
    uint32_t *profiles; /* tracks in the order of their ids */
    uint64_t bytes;
    uint32_t nodes, ranks;
    /* The share: profiles `first`, `first` + 1 and so on. */
    uint32_t first, share;
    uint64_t share_bytes;
    uint32_t *reading; /* tracks in reading order: by recording, the largest first */
};

/* Each rank opens some recordings and tells the others. Always close it. Collective. */
lode_status lode_build_inputs_open(struct lode_build_inputs *inputs, struct lode_comm *comm,
                                   const char *const *paths, size_t count, const lode_build_options *options,
                                   lode_error *error);
void lode_build_inputs_close(struct lode_build_inputs *inputs);
/* A track of the share. */
static inline struct lode_build_track *build_share(const struct lode_build_inputs *inputs, uint64_t item)
{
    return &inputs->tracks[inputs->profiles[inputs->first + item]];
}
/* Cuts the profiles into one share of each rank, by bytes. */
void lode_build_inputs_cut(struct lode_build_inputs *inputs);
/* Threads for work on `items`: what was asked for, or this rank's part of the machine. */
unsigned lode_build_threads(const struct lode_build_inputs *inputs, uint64_t items);
/* Reports findings on rank 0, in rank order; `kept` are those of this rank. Collective. */
lode_status lode_build_pass_on(const struct lode_build_inputs *inputs, struct lode_finding_list *const *kept,
                               size_t count, lode_error *error);
/* Progress of this rank: the caller's callback at rank 0; ended everywhere if a rank fails. */
struct lode_progress lode_build_progress(struct lode_build_inputs *inputs, const char *phase, uint64_t total);

/* Opens a recording if it is not open. MT: any thread. */
lode_status lode_build_input_acquire(struct lode_build_inputs *inputs, struct lode_build_input *input,
                                     lode_error *error);
/* Passes a status on; an error of one recording among many says which. */
lode_status lode_build_input_blame(const struct lode_build_inputs *inputs,
                                   const struct lode_build_input *input, lode_status status,
                                   lode_error *error);
/* A track was read; returns whether it was the last of its recording. MT: any thread. */
bool lode_build_input_release(struct lode_build_input *input);

/* Sets the ranks of recordings that a pattern or a table gives. */
lode_status lode_build_find_ranks(struct lode_build_inputs *inputs, lode_error *error);
/* Names all tracks, and puts them into the order of their names. */
lode_status lode_build_name_tracks(struct lode_build_inputs *inputs, lode_error *error);

#endif
