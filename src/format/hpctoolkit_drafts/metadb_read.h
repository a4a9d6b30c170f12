/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the readers of the draft's meta.db. */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_METADB_READ_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_METADB_READ_H

#include "base/error.h"
#include "format/hpctoolkit_drafts/metadb.h"

struct metadb_part {
    struct lode_range bytes; /* empty if it is unusable */
    uint64_t offset;
};

/* An array of fixed-size records. */
struct metadb_table {
    const uint8_t *bytes;
    uint64_t offset, stride;
    uint32_t count;
};

struct metadb_reader {
    struct drafts_database *db;
    struct lode_report *report;
    struct metadb_part parts[METADB_SECTIONS];
    struct metadb_part id_names; /* of a writer that put them into a section of their own */
    struct metadb_table binaries, files, functions;
    uint64_t string_budget; /* see lode_string_take */
};

/* A sequential reader. Beyond the end it returns zeros and empty strings, and sets `short`. */
struct metadb_cursor {
    struct lode_range rest;
    uint64_t offset;
    bool is_short;
};

struct metadb_cursor lode_metadb_cursor(const struct metadb_part *part);
uint8_t lode_metadb_u8(struct metadb_cursor *cursor);
uint16_t lode_metadb_u16(struct metadb_cursor *cursor);
uint32_t lode_metadb_u32(struct metadb_cursor *cursor);
const char *lode_metadb_text(struct metadb_cursor *cursor);
/* Reports a cursor that reached the end. */
lode_status lode_metadb_ended(const struct metadb_reader *reader, const struct metadb_cursor *cursor,
                              const char *what);

lode_status lode_metadb_load_metrics(struct metadb_reader *reader);
lode_status lode_metadb_load_symbols(struct metadb_reader *reader);
lode_status lode_metadb_load_contexts(struct metadb_reader *reader);

/* The index of the record that a pointer refers to, or LODE_NO_INDEX. */
uint32_t lode_metadb_index(const struct metadb_table *table, uint64_t pointer);
lode_status lode_metadb_finding(const struct metadb_reader *reader, unsigned rule, uint64_t offset,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
