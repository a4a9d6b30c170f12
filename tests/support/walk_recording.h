/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that the public API can say about a recording, sound or damaged, and what must hold of it in any case. */
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
 * Opens a recording in memory, strictly and not, reads all tracks, spans and windows, decodes and prints all values, adds up calls,
 * makes the call tree, and checks it. In any case must hold:
 *  - what is known as a recording opens, unless strictly, and can be checked;
 *  - opening and reading strictly fail if and only if an error is found otherwise, and the check finds as many;
 *  - calls and pauses of a track are balanced and nested, times do not go back, depths rise inwards;
 *  - what is in a window is in the window; the merged tracks and the sums have all events.
 */
void walk_recording(struct recording_walk *walk, const lode_memory_file *files, size_t count);

#endif
