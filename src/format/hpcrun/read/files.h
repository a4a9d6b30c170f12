/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles and traces in a directory of measurements, whatever they are called. */
#ifndef LODE_FORMAT_HPCRUN_FILES_H
#define LODE_FORMAT_HPCRUN_FILES_H

#include "base/io/input.h"
#include "base/memory/arena.h"
#include <lode/status.h>

#define HPCRUN_PROFILE_SUFFIX ".hpcrun"
#define HPCRUN_TRACE_SUFFIX   ".hpctrace"

enum hpcrun_file {
    HPCRUN_FILE_OTHER,
    HPCRUN_FILE_PROFILE,
    HPCRUN_FILE_TRACE
};

struct hpcrun_listed {
    const char *name;
    uint64_t size;
    enum hpcrun_file kind;
    /* The trace of a profile, or the other way round: with the same name up to its extension. */
    const struct hpcrun_listed *partner; /* NULL: there is none */
};

/* By content: how it begins or ends. */
enum hpcrun_file lode_hpcrun_file_of(struct lode_range bytes);
/* The size of a name up to its extension. */
size_t lode_hpcrun_stem(const char *name);
bool lode_has_suffix(const char *name, const char *suffix);

/*
 * Profiles and traces, sorted by name, in the arena. Those with the usual suffixes are what they
 * are called, so that a damaged one is reported; of others the content decides.
 */
lode_status lode_hpcrun_list_files(const struct lode_folder *folder, struct lode_arena *arena,
                                   struct hpcrun_listed **files, size_t *count, lode_error *error);
/* Whether there is any: by the usual suffixes, or by the content of a few files. */
bool lode_hpcrun_has_files(const struct lode_folder *folder, bool by_content);

/* What is said of a directory with traces, and no profile. */
#define HPCRUN_NO_PROFILES                                                                                   \
    "measurements without profiles: hpcrun was killed, or refused to measure (its .log says more)"

#endif
