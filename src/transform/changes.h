/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes: counters of recordings besides time, such as page faults, which are read at enter and
 * given as a difference at leave. The differences of inner calls are subtracted, so that a context
 * has its own. Also errors of calls.
 */
#ifndef LODE_TRANSFORM_CHANGES_H
#define LODE_TRANSFORM_CHANGES_H

#include "base/memory/intern.h"
#include <lode/event.h>

enum {
    LODE_BUILD_FIELDS = 8 /* values of one event that are looked at */
};

/* What a track has of one metric at one context, as spooled. */
struct lode_build_change {
    int64_t value;
    uint32_t node;
    uint32_t metric; /* number of its name */
};

struct lode_build_change_key {
    uint32_t node, metric;
};

struct lode_build_changes {
    struct lode_strings metrics; /* names of all that were met */
    /* Of the track. */
    struct lode_array items;   /* of struct lode_build_change */
    struct lode_interner keys; /* of items: struct lode_build_change_key */
    struct lode_strings kinds; /* of what is read, by the names of events without the prefix */
    struct lode_array reads;   /* by kind: a struct lode_array of calls that are open */
};

void lode_build_changes_init(struct lode_build_changes *changes);
void lode_build_changes_free(struct lode_build_changes *changes);
void lode_build_changes_begin(struct lode_build_changes *changes);
/* An event in the call of `node` at this depth. Ignores what is no change or outside of calls. */
lode_status lode_build_changes_take(struct lode_build_changes *changes, uint32_t node, size_t depth,
                                    const lode_recording *recording, uint32_t track, const lode_event *event,
                                    lode_error *error);
/* The call that `node` stands for has ended with an error, which counts as one. */
lode_status lode_build_changes_fail(struct lode_build_changes *changes, uint32_t node, lode_error *error);

#endif
