/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where events of recordings go: a format that can be written. Several workers read the tracks, in
 * one pass over all recordings or in several (transform/rewrite.c).
 */
#ifndef LODE_MODEL_RECORDING_SINK_H
#define LODE_MODEL_RECORDING_SINK_H

#include "model/recording/recording.h"
#include <lode/convert.h>
#include <stdbool.h>

struct lode_recording_sink;

struct lode_recording_sink_ops {
    size_t size;     /* of the struct that begins with a struct lode_recording_sink */
    unsigned passes; /* findings are passed on in the last one */
    /* Creates the output, which closing removes unless it is finished. */
    lode_status (*create)(struct lode_recording_sink *self, const char *path, lode_error *error);
    /* The amount by which times of a recording are less than those of the first. */
    int64_t (*clock)(const struct lode_recording_sink *self, size_t index);
    /* A recording begins, with so many workers; the slice is in its own clock. */
    lode_status (*begin)(struct lode_recording_sink *self, size_t index, const lode_slice *slice,
                         unsigned workers, lode_error *error);
    lode_status (*begin_track)(struct lode_recording_sink *self, unsigned worker, uint32_t track,
                               lode_error *error);
    lode_status (*take)(struct lode_recording_sink *self, unsigned worker, const lode_event *events,
                        size_t count, lode_error *error);
    lode_status (*end_track)(struct lode_recording_sink *self, unsigned worker, lode_error *error);
    /* After each recording that began, even if it failed. */
    void (*end)(struct lode_recording_sink *self);
    /* After each pass but the last. May be NULL if there is only one. */
    lode_status (*end_pass)(struct lode_recording_sink *self, lode_error *error);
    /* Completes and commits the output. */
    lode_status (*finish)(struct lode_recording_sink *self, lode_error *error);
    void (*close)(struct lode_recording_sink *self);
};

struct lode_recording_sink {
    const struct lode_recording_sink_ops *ops;
    const lode_recording *const *recordings;
    size_t count;
    const lode_rewrite_options *options;
    lode_slice slice; /* in the clock of the first recording */
};

/* The slice in the clock of a recording; false if the time window ends before that clock begins. */
bool lode_recording_sink_slice(const struct lode_recording_sink *self, size_t index, lode_slice *out);

#endif
