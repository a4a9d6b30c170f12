/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The archive that 'perf archive' makes of the binaries of a recording: PATH.tar.bz2 beside it, or
 * the same with another compression. lode-symbols unpacks it; files with build ids of the recording
 * are kept in an unnamed temporary file.
 */
#ifndef LODE_FORMAT_PERF_ARCHIVE_H
#define LODE_FORMAT_PERF_ARCHIVE_H

#include "base/io/spool.h"
#include "format/hpcrun/scopes/module_file.h"
#include "format/perf/read/replay.h"

struct perf_archive {
    bool is_read;
    char name[PATH_MAX];           /* beside the recording */
    struct archive_wanted *wanted; /* build ids of the recording, sorted */
    struct perf_archived *files;   /* by number of a build id */
    uint32_t count;
    struct lode_spool spool;
};

void lode_perf_archive_init(struct perf_archive *archive);
void lode_perf_archive_free(struct perf_archive *archive);
/*
 * Unpacks the archive if there is one, and this is the first call. `directory` is that of the
 * recording, or -1. What cannot be unpacked is a finding.
 */
lode_status lode_perf_archive_read(struct perf_archive *archive, const struct perf_replay *replay,
                                   int directory, const char *program, lode_error *error);
/* A file with what the archive has of a build id. Close it if there is one. MT: any thread. */
bool lode_perf_archive_find(const struct perf_archive *archive, const struct perf_build_id *id,
                            struct hpcrun_module_file *file);

#endif
