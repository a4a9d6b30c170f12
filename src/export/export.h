/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats to export to, and a running export.
 *
 * A format is one file with one `const struct lode_export_format`, listed in formats.def. Its `run`
 * gets the store through one of the layers that all formats share:
 *
 *   stacks.h   call paths and their own cost
 *   tracks.h   what threads did, as events in time
 *   tables.h   everything, as tables
 *
 * and writes bytes to `file`, or files to `output` if the format is a directory.
 */
#ifndef LODE_EXPORT_EXPORT_H
#define LODE_EXPORT_EXPORT_H

#include "base/progress.h"
#include "export/file.h"
#include "export/losses.h"
#include <lode/unstable/export.h>
#include <stdbool.h>

struct lode_export {
    const lode_database *db;         /* or NULL: then it is */
    const lode_recording *recording; /* a recording */
    const struct lode_export_format *format;
    lode_export_options given; /* the caller's, complete */
    const lode_export_options *options;
    struct {
        lode_finding_fn on_finding;
        lode_progress_fn on_progress;
        void *user;
    } caller;                     /* of whoever exports: `given` has those that count */
    lode_compression compression; /* none, gzip or zstd */
    uint64_t repairs;             /* errors of a recording that were repaired while it was read */
    struct lode_export_written written;
    /* One of these, by the format: */
    struct lode_export_file *file; /* bytes, in order; finished by the caller of `run` */
    struct lode_output *output;    /* a directory; or the single file if the format needs a path */
};

struct lode_export_format {
    const char *name, *description, *suffix, *loses;
    const char *names;          /* patterns of file names, with blanks between them */
    unsigned holds;             /* LODE_EXPORT_STACKS... */
    lode_compression usual;     /* LODE_COMPRESSION_DEFAULT means this */
    unsigned compressions;      /* bit n: lode_compression n; besides none and the usual one */
    bool is_directory;          /* gets `output`, not `file` */
    bool needs_path;            /* a single file that a library opens: gets `output`, not `file` */
    bool one_table_is_a_file;   /* with options.table, the directory is one file: gets `file` */
    bool packs_itself;          /* compresses parts of its file, not the file */
    bool (*is_available)(void); /* NULL: always */
    const char *needs;          /* where it may not be: the library, and how to get it */
    lode_status (*run)(struct lode_export *job, lode_error *error);
};

#define LODE_EXPORT_RULE "export-"

/*
 * Reports one kind of thing that was lost or changed, as a finding of rule "export-RULE". What a
 * format alone can know is reported by it, the rest in losses.c.
 */
lode_status lode_export_lost(const struct lode_export *job, const char *rule, lode_error *error,
                             const char *text, ...) __attribute__((format(printf, 4, 5)));

/* Progress of a phase; lode_progress_add reports it, and cancels. */
struct lode_progress lode_export_progress(const struct lode_export *job, const char *phase, uint64_t total);

#endif
