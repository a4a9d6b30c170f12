/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by both big-endian drafts: profile.db, cct.db and trace.db. A drafts_meta reads the
 * metadata, experiment.xml or meta.db. Functions with a report both open (strict report) and check.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_BINARY_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_BINARY_H

#include "base/io/input.h"
#include "format/hpctoolkit_drafts/rules.h"
#include "format/hpctoolkit_drafts/wire.h"
#include "model/database/database.h"
#include "model/finding.h"

struct drafts_database;

/* The metadata of a draft. */
struct drafts_meta {
    const char *format; /* as lode_database_format returns it */
    const char *file;
    /*
     * Reads the metadata of files[HPCT_META] into the model: names, metrics, contexts (indexed by
     * id), time bounds if there are any, and its version into base.parts[HPCT_META].
     */
    lode_status (*load)(struct drafts_database *db, struct lode_report *report);
};

/* The variant of a file. */
struct drafts_variant {
    char magic[DRAFTS_MAGIC_SIZE + 1];
    bool padded;  /* its first section begins at 128 or later */
    bool footer;  /* it has one */
    bool swapped; /* its footer is reversed, in the byte order of a little-endian writer */
};

struct drafts_file {
    struct lode_input source;
    bool present;
    bool usable;      /* it is of the kind that its name says */
    uint64_t end;     /* start of its footer, or its end if it has none */
    uint64_t content; /* the minimal offset of blocks: after the header's fields */
    struct drafts_variant variant;
};

/* An array of fixed-size records. */
struct drafts_table {
    bool found;
    const uint8_t *bytes;
    uint64_t offset, stride;
    uint32_t count;
};

struct drafts_database {
    struct lode_database base; /* must be first */
    const struct drafts_meta *meta;
    struct drafts_file files[HPCT_FILES];
    struct drafts_table profiles, contexts, traces;
    struct lode_range tuples; /* the section of id tuples */
    uint64_t tuples_offset;
    uint32_t idle_id; /* of the context of idle samples; 0: only context 0 */
};

static inline const struct drafts_database *drafts_of(const lode_database *db)
{
    return (const struct drafts_database *)(const void *)db;
}

static inline const uint8_t *drafts_record(const struct drafts_table *table, uint32_t index)
{
    return table->bytes + index * table->stride;
}

static inline uint64_t drafts_record_offset(const struct drafts_table *table, uint32_t index)
{
    return table->offset + index * table->stride;
}

/* A new, empty database; NULL if out of memory. */
struct drafts_database *lode_drafts_new(const struct drafts_meta *meta);
void lode_drafts_close(struct drafts_database *db);

/* Maps all four files, reads the headers of the binary ones, locates their tables. */
lode_status lode_drafts_open_files(struct drafts_database *db, const struct lode_folder *folder,
                                   struct lode_report *report);
/* Opens a database; for struct drafts_layout. */
lode_status lode_drafts_open(lode_database **out, const struct drafts_meta *meta,
                             const struct lode_folder *folder, lode_error *error);

/* Adds a finding for conversions. `rule` and `file` must be constants. */
lode_status lode_drafts_remark(struct drafts_database *db, const char *rule, lode_severity severity,
                               const char *file, uint64_t offset, const char *text, lode_error *error);

/* Decodes a record. The index must be in the table. */
void lode_drafts_profile(const struct drafts_database *db, uint32_t index, struct drafts_Profile *out);
void lode_drafts_context(const struct drafts_database *db, uint32_t index, struct drafts_Context *out);
void lode_drafts_trace(const struct drafts_database *db, uint32_t index, struct drafts_Trace *out);

/* Why a block cannot be read. */
enum drafts_fault {
    DRAFTS_SOUND,
    DRAFTS_OUTSIDE, /* it exceeds the file */
    DRAFTS_UNENDED  /* its end marker or the number of its values is missing */
};
/* The block of a record, in place, and its size with the end marker; an empty block takes none. */
enum drafts_fault lode_drafts_profile_block(const struct drafts_database *db,
                                            const struct drafts_Profile *profile, lode_block *out,
                                            uint64_t *size);
enum drafts_fault lode_drafts_context_block(const struct drafts_database *db,
                                            const struct drafts_Context *context, lode_block *out,
                                            uint64_t *size);
/* The samples of a trace line, or false if they exceed the file. An empty line may be anywhere. */
bool lode_drafts_trace_line(const struct drafts_database *db, const struct drafts_Trace *trace,
                            lode_trace_line *out);
/* The ids of a tuple, or false if it exceeds its section. */
bool lode_drafts_id_tuple(const struct drafts_database *db, uint64_t pointer, struct lode_range *ids);

#endif
