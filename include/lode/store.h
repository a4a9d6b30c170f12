/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores: directories and files that Lode opens, whatever is in them. */
#ifndef LODE_STORE_H
#define LODE_STORE_H

#include <lode/recording.h>

LODE_BEGIN_DECLS

typedef enum lode_store_kind {
    LODE_STORE_DATABASE,    /* what analysis wrote: lode_database_open */
    LODE_STORE_RECORDING,   /* what a tracer wrote: lode_recording_open */
    LODE_STORE_MEASUREMENTS /* what a profiler wrote, before analysis: lode_measurements_open */
} lode_store_kind;

/*
 * What a directory or a file holds, by a look at the names in it or at its first bytes; it may
 * still be damaged. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_store_probe(const char *path, lode_store_kind *kind,
                                                   lode_error *error);

/*
 * Opens a directory or a file, whatever is in it, in one pass: a database into `database`, a
 * recording into `recording`; the other becomes NULL, and `kind` says which it is. A kind whose
 * pointer is NULL is refused with LODE_ERR_ARGUMENT, and so are measurements. `kind` and `options`
 * may be NULL; the options are used for recordings. `kind` is set as soon as the format is known,
 * even if opening fails then. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_open(lode_database **database, lode_recording **recording,
                                            lode_store_kind *kind, const char *path,
                                            const lode_recording_options *options, lode_error *error);

LODE_END_DECLS
#endif
