/* SPDX-License-Identifier: BSD-3-Clause */
/* A database in memory of what a source of profiles has: opened, not written. */
#ifndef LODE_MODEL_ANALYSED_H
#define LODE_MODEL_ANALYSED_H

#include "model/import/memory.h"
#include "model/source.h"
#include <lode/name.h>

struct lode_analysed {
    const char *format; /* a constant */
    const char *file;   /* of the store */
    lode_name_form usual_names;
    uint64_t size;
    int scratch; /* a directory for temporary files; or -1 */
    unsigned threads;
    /* Closed with the database, or if that fails; may be NULL. The source stays the caller's. */
    struct lode_memory_owner *owner;
};

/* Describes and reads the source. */
lode_status lode_analysed_open(lode_database **out, struct lode_profile_source *source,
                               const struct lode_analysed *about, lode_error *error);

#endif
