/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads all of a recording through the public API, valid or damaged, and checks invariants. */
#ifndef LODE_TESTS_WALK_RECORDING_H
#define LODE_TESTS_WALK_RECORDING_H

#include <lode/check.h>
#include <stdbool.h>

struct recording_walk {
    bool is_known;          /* as a recording: otherwise there is nothing to walk */
    lode_check_result open; /* what opening found */
    lode_check_result full; /* what the check at level full found */
    uint64_t events;
    uint64_t hash;     /* of all that was read */
    char problem[200]; /* what does not hold; "" if all does */
};

/*
 * Opens a recording in memory, strictly and not, reads all tracks, intervals and time windows,
 * decodes and prints all values, sums calls, builds the call tree, and checks it. Invariants:
 *  - what is recognised as a recording opens, unless strictly, and can be checked;
 *  - strict opening and reading fail exactly if errors are found otherwise, and the check finds as
 *    many;
 *  - calls and pauses of a track are balanced and nested, times ascend, depths increase inwards;
 *  - events of a time window are inside; the merged tracks and the sums have all events.
 */
void walk_recording(struct recording_walk *walk, const lode_memory_file *files, size_t count);

#endif
