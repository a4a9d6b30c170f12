/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing databases of the big-endian drafts, from any database. The binary files are written in one pass; memory holds a few numbers for
 * each context and profile, and the groups of one block.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_WRITE_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_WRITE_H

#include "base/output.h"
#include "base/progress.h"
#include "model/database.h"
#include <lode/convert.h>

struct drafts_output {
    const lode_database *db;
    const lode_convert_options *options;
    struct lode_output output;
    bool trace_bounds; /* trace.db states bounds of time, and has no footer */
    uint32_t
        idle; /* the id of samples of a thread that did not run: that of a context of its own; 0: there are no samples */
    uint32_t id_count; /* all ids of contexts are below, those without metadata too */
    /* By id: whether values under it are written. */
    bool values[UINT16_MAX + 1], statistics[UINT16_MAX + 1];
};

/* The metadata of a draft, and what it can hold. */
struct drafts_writer {
    bool trace_bounds;
    /* Sets which values are written: those that the metadata can name. */
    void (*choose)(struct drafts_output *out);
    lode_status (*put_meta)(struct drafts_output *out, lode_error *error);
};

lode_status lode_drafts_write(const lode_database *db, const char *path, const struct drafts_writer *writer,
                              const lode_convert_options *options, lode_error *error);

/* profile.db, cct.db and trace.db. */
lode_status lode_drafts_put_profiles(struct drafts_output *out, lode_error *error);
lode_status lode_drafts_put_contexts(struct drafts_output *out, lode_error *error);
lode_status lode_drafts_put_traces(struct drafts_output *out, lode_error *error);

/* As struct lode_format wants them. */
lode_status lode_drafts_write_xml(const lode_database *db, const char *path,
                                  const lode_convert_options *options, lode_error *error);
lode_status lode_drafts_write_metadb(const lode_database *db, const char *path,
                                     const lode_convert_options *options, lode_error *error);

#endif
