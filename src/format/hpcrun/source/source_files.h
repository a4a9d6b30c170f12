/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source files of measurements that are copied into the database. Whoever made the measurements
 * chose their names, so that what is copied needs a reason: the user has named a directory above
 * it, it is inside the measurements, or every user of the machine may read it anyway. See
 * doc/decisions/0076-source-files.md.
 */
#ifndef LODE_FORMAT_HPCRUN_SOURCE_FILES_H
#define LODE_FORMAT_HPCRUN_SOURCE_FILES_H

#include "format/hpcrun/scopes/module_file.h"

enum {
    SOURCES_BYTES_MOST = 1 << 30 /* of all copies */
};

/* A directory, or a file, without links in its path. */
struct hpcrun_source_file_root {
    char *path;
    bool is_measured; /* of the measurements: the author's choice, not the user's */
    uid_t owner;
};

/* Why a file is copied, or is not: as in lode_build_sources. */
enum hpcrun_source_file_fate {
    SOURCE_FROM_ROOTS,
    SOURCE_FROM_MEASUREMENTS,
    SOURCE_FROM_PUBLIC,
    SOURCE_FROM_ANYWHERE,
    SOURCE_ABSENT,
    SOURCE_RESTRICTED,
    SOURCE_OUTSIDE,
    SOURCE_UNFIT,
    SOURCE_FATES
};

static inline bool lode_source_file_is_copied(enum hpcrun_source_file_fate fate)
{
    return fate <= SOURCE_FROM_ANYWHERE;
}

struct hpcrun_source_files {
    const lode_build_options *options;
    struct lode_array roots;       /* struct hpcrun_source_file_root */
    uint64_t budget;               /* bytes that copies may still take */
    uint64_t counts[SOURCE_FATES]; /* of files */
};

/* Free them in any case. */
lode_status lode_hpcrun_source_files_init(struct hpcrun_source_files *sources,
                                          const struct hpcrun_asking *asking, lode_error *error);
void lode_hpcrun_source_files_free(struct hpcrun_source_files *sources);

/*
 * Whether a file is copied: a text at an absolute path, which is found as binaries are, without
 * hidden components, and not too large. Then where to, and from: an absolute path without links.
 */
bool lode_hpcrun_find_source_file(struct hpcrun_source_files *sources, const char *path, char copy[PATH_MAX],
                                  char source[PATH_MAX]);
/* Opens one that was found, if it may still be copied; the descriptor is what was looked at. */
lode_status lode_hpcrun_open_source_file(const struct hpcrun_source_files *sources, const char *source,
                                         int *fd, lode_error *error);

#endif
