/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a source of profiles to a sink, on many threads and all ranks of a job: shared by `convert`,
 * `build`, `merge` and `slice`. The output is committed atomically, and byte-identical for any
 * number of threads and ranks.
 */
#ifndef LODE_TRANSFORM_PUMP_H
#define LODE_TRANSFORM_PUMP_H

#include "model/sink.h"
#include "model/source.h"

/* What is done, in this order. */
enum lode_pump_step {
    LODE_PUMP_CREATED,
    LODE_PUMP_DESCRIBED, /* and numbered */
    LODE_PUMP_VALUES,
    LODE_PUMP_SAMPLES,
    LODE_PUMP_FINISHED
};

struct lode_pump {
    struct lode_profile_source *source;
    const struct lode_sink_ops *to;
    const char *path;
    struct lode_sink_options options; /* its threads and progress are those of the pump, too */
    /* Called after each step. May be NULL. */
    void (*on_step)(void *context, enum lode_pump_step step, const struct lode_sink *sink);
    void *context;
};

lode_status lode_pump(const struct lode_pump *pump, lode_error *error);

#endif
