/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a store as JSON, streamed: memory does not grow with the store. */
#ifndef CLI_DUMP_H
#define CLI_DUMP_H

#include "output/out.h"

#include <lode/unstable.h>

/* Each writes members of the object that is open. */
void dump_meta(out *o, const lode_database *db);
lode_status dump_profiles(out *o, const lode_database *db, lode_error *error);
lode_status dump_contexts(out *o, const lode_database *db, lode_error *error);
lode_status dump_traces(out *o, const lode_database *db, lode_error *error);

/* Parts of a dump, as bits. */
enum {
    DUMP_META = 1u << 0,
    DUMP_PROFILES = 1u << 1,
    DUMP_CONTEXTS = 1u << 2,
    DUMP_TRACES = 1u << 3
};

/* Profiles and traces of measurements as a document of its own; the exit status. */
int dump_measurements(out *o, const char *path, unsigned only);

#endif
