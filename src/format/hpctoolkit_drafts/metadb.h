/* SPDX-License-Identifier: BSD-3-Clause */
/* The documented meta.db of the draft of winter 2021/22. No complete writer of it is known. */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_METADB_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_METADB_H

#include "format/hpctoolkit_drafts/binary.h"

#define METADB_MAGIC  "HPCTOOLKIT_expmt"
#define METADB_FOOTER "PROFDBmn"

/* In the order of the header. */
enum metadb_section {
    METADB_GENERAL,
    METADB_METRICS,
    METADB_TREE,
    METADB_STRINGS,
    METADB_BINARIES,
    METADB_FILES,
    METADB_FUNCTIONS,
    METADB_SECTIONS
};

enum {
    METADB_HEADER_SIZE = DRAFTS_MetaHeader_SIZE + METADB_SECTIONS * DRAFTS_MetaSection_SIZE,
    METADB_ROOTS_SIZE = 8, /* the size of the roots, at the beginning of the tree */
    METADB_FILE_COPIED = 1,
    /* Flags of specifications, and the sizes of the optional parts. */
    METADB_CALLER_LINE = 1,
    METADB_HAS_FUNCTION = 1,
    METADB_HAS_LINE = 2,
    METADB_HAS_POINT = 4,
    METADB_IS_CALL_LINE = 8,
    METADB_FUNCTION_SIZE = 8,
    METADB_LINE_SIZE = 12,
    METADB_POINT_SIZE = 16,
    /* Call types. */
    METADB_CALL = 0,
    METADB_INLINED = 1
};

/* Reads all of meta.db into the model. */
lode_status lode_drafts_load_metadb(struct drafts_database *db, struct lode_report *report);

#endif
