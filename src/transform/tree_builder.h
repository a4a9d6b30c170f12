/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker does with the events of its tracks: a tree for all of them; rows and samples of each, which go to the disk. */
#ifndef LODE_TRANSFORM_GROW_H
#define LODE_TRANSFORM_GROW_H

#include "base/spool.h"
#include "transform/changes.h"
#include "transform/tree.h"
#include <lode/build.h>
#include <lode/event.h>

/* What a track has at one context, as spooled. */
struct lode_build_row {
    uint64_t calls, self; /* nanoseconds */
    uint32_t node, unused;
};

/* What is known of a track when it was read: where its parts are in the spools of its worker. */
struct lode_track_result {
    unsigned worker;
    uint64_t rows_at, row_count;
    uint64_t change_count; /* behind the rows */
    uint64_t samples_at, samples_size, sample_count;
    uint64_t events;
};

struct lode_build_tree_builder {
    unsigned number;
    struct lode_build_tree tree;
    struct lode_build_changes changes;
    struct lode_spool rows, samples;
    uint64_t trace; /* as in lode_build_options */

    /* By index of function in the recording: its number in the tree. */
    uint32_t *known;
    uint32_t known_count;
    uint32_t known_input; /* the recording that it is of, by its number; LODE_NONE: none */

    /* The track that is being read. */
    const lode_recording *recording;
    uint32_t track;
    struct lode_track_result *track_result;
    uint32_t *stack; /* open calls; the first is the entry point */
    size_t depth, stack_room;
    uint64_t time; /* of the last event of a call */
    uint32_t *touched;
    uint32_t touched_count, touched_room;
    /* Samples: the time of the last one that was written; with a resolution, the one that waits, and when it is due. */
    uint64_t written, due;
    uint64_t waiting_time;
    uint32_t waiting;
    bool is_idle; /* no call was open at the last one that was written */
};

/* Number `number` of the tree builders of a rank, whose spools are in a directory that all ranks may use. */
lode_status lode_build_tree_builder_open(struct lode_build_tree_builder *builder, uint32_t rank,
                                         unsigned number, int directory, uint64_t trace, lode_error *error);
void lode_build_tree_builder_close(struct lode_build_tree_builder *builder);

/* `input` is the number of the recording: another one may later be at the same address. Calls begin at an entry. */
lode_status lode_build_tree_builder_begin(struct lode_build_tree_builder *builder, uint32_t input,
                                          const lode_recording *recording, uint32_t track, uint32_t entry,
                                          struct lode_track_result *track_result, lode_error *error);
/* Balanced events, in the order of time. */
lode_status lode_build_tree_builder_take(struct lode_build_tree_builder *builder, const lode_event *events,
                                         size_t count, lode_error *error);
lode_status lode_build_tree_builder_end(struct lode_build_tree_builder *builder, lode_error *error);

/*
 * Samples as spooled, little-endian: 15 bits of time since the last one, or LODE_BUILD_FAR, and then a bit that says that a call has
 * ended. If it is far, 64 bits of time follow; if no call has ended, 32 bits for the node that is current now. Else it is the parent of
 * the last one.
 */
enum {
    LODE_BUILD_FAR = 0x7fff,
    LODE_BUILD_ENDED = 0x8000,
    LODE_BUILD_SAMPLE_MAX = 14 /* bytes */
};

#endif
