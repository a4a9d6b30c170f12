/* SPDX-License-Identifier: BSD-3-Clause */
/* Sinks and a source that are nothing but examples: one file each. */
#ifndef LODE_TESTS_PIPELINE_H
#define LODE_TESTS_PIPELINE_H

#include "model/sink.h"
#include "model/source.h"

/* Takes everything and keeps nothing. */
extern const struct lode_sink_ops null_sink;

/* What went into the last counts sink that was finished. */
struct sink_totals {
    uint32_t id_kinds, metrics, modules, files, functions, contexts, profiles;
    uint64_t values, samples;
    double sum; /* of all values */
};
extern struct sink_totals counted;
extern const struct lode_sink_ops counts_sink;

/* Profiles that a JSON text lists; json_source.c says how. NULL if it is no such text. */
struct lode_profile_source *json_source_open(const char *text);
void json_source_close(struct lode_profile_source *source);

#endif
