/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open calls of tracks at some times, kept by who reads a track from its beginning, so that a later
 * reader can begin near its time window. In memory, and bounded.
 */
#ifndef LODE_MODEL_CHECKPOINTS_H
#define LODE_MODEL_CHECKPOINTS_H

#include <lode/context.h>
#include <pthread.h>

#define LODE_CHECKPOINT_STEP  (UINT64_C(1) << 18) /* events between two; records of about 4 MB */
#define LODE_CHECKPOINT_LIMIT (32u << 20)         /* bytes, of all tracks of a recording */

struct lode_open_call {
    const lode_function *function;
    uint64_t begin;
};

/* All events before `time` were read; those at `time` were not. */
struct lode_checkpoint {
    uint64_t time;
    uint64_t position; /* of a record before it, where a cursor begins */
    size_t count;
    struct lode_open_call calls[]; /* the outermost first */
};

struct lode_checkpoints {
    pthread_mutex_t lock;
    struct lode_checkpoint_list *tracks;
    uint32_t track_count;
    size_t bytes, limit;
    uint64_t step;
};

/* NULL if out of memory: then there are no checkpoints. */
struct lode_checkpoints *lode_checkpoints_open(uint32_t track_count);
void lode_checkpoints_close(struct lode_checkpoints *checkpoints);
/*
 * Keeps a copy with the calls of `from`, if it is later than those of the track and there is room.
 * MT: any thread.
 */
void lode_checkpoints_add(struct lode_checkpoints *checkpoints, uint32_t track,
                          const struct lode_checkpoint *from);
/* The track was read from its beginning to `to`, and nothing was repaired. MT: any thread. */
void lode_checkpoints_sound(struct lode_checkpoints *checkpoints, uint32_t track, uint64_t to);
/*
 * The last one at or before `from`, valid until the end. NULL if there is none, or if the track is
 * not known to be sound up to `to`: a reader from a checkpoint does not know all calls that a
 * repair would need. MT: any thread.
 */
const struct lode_checkpoint *lode_checkpoints_find(struct lode_checkpoints *checkpoints, uint32_t track,
                                                    uint64_t from, uint64_t to);

#endif
