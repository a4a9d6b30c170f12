/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small database of the draft with experiment.xml, in any variant, all of whose numbers are
 * known: two profiles and the summary, eleven contexts (one only in profile.db), two metrics, two
 * trace lines (one empty).
 */
#ifndef LODE_TESTS_MINIDRAFT_H
#define LODE_TESTS_MINIDRAFT_H

#include "format/hpctoolkit_drafts/wire.h"
#include <lode/database.h>
#include <stdbool.h>

enum {
    MINIDRAFT_PROFILES = 3,
    MINIDRAFT_CONTEXTS = 11,
    MINIDRAFT_SAMPLES = 3, /* of profile 1 */
    MINIDRAFT_IDLE = 1,    /* the context whose samples say that nothing ran */
    /* Ids of values. */
    MINIDRAFT_EXCLUSIVE = 1,
    MINIDRAFT_INCLUSIVE = 2
};

struct minidraft_options {
    bool old_magic;    /* HPCPROF-pmsdb___ and HPCPROF-cmsdb___ */
    bool version_4;    /* not 1.0 */
    bool unpadded;     /* headers end after their fields */
    bool big_footer;   /* as a big-endian machine writes it */
    bool trace_footer; /* trace.db has one */
    bool old_ids;      /* statistics have ids of before 2022 */
    bool unlisted;     /* values at a context that the metadata does not list */
    bool zero_cct;     /* the values of cct.db were never written */
};

struct minidraft {
    unsigned char *bytes[HPCT_FILES];
    size_t size[HPCT_FILES];
    uint64_t profiles, contexts, traces; /* offsets of tables */
};

void minidraft_make(struct minidraft *db, const struct minidraft_options *options);
void minidraft_files(const struct minidraft *db, lode_memory_file files[HPCT_FILES]);
/* Replaces the first `old` in experiment.xml, which must be there. */
void minidraft_replace(struct minidraft *db, const char *old, const char *new);
/* What each context costs in profile 1; profile 2 has twice as much. */
double minidraft_cost(uint32_t context, uint32_t metric);
void minidraft_free(struct minidraft *db);

#endif
