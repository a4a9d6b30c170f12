/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the four files. Every function with a report can open a database (strict report: stops at
 * the first error) or check one (reports errors and continues with the rest).
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_READ_H
#define LODE_FORMAT_HPCTOOLKIT_READ_H

#include "base/io/input.h"
#include "format/hpctoolkit/rules.h"
#include "format/hpctoolkit/wire.h"
#include "model/database/database.h"
#include "model/finding.h"

struct hpct_section {
    struct lode_range bytes; /* empty if the section is unusable */
    uint64_t offset;         /* of the section in its file */
    uint64_t string_end;     /* strings that begin below this end inside the section */
};

struct hpct_file {
    struct lode_input source;
    bool present;
    bool usable; /* it is identified as its kind; unusable sections are empty */
    bool sound;  /* its header, footer and sections are valid */
    struct hpct_section sections[HPCT_MAX_SECTIONS];
};

/* An array of fixed-size records in a section. */
struct hpct_table {
    bool found; /* it is inside its section, possibly empty */
    const uint8_t *bytes;
    uint64_t offset, count, stride;
};

struct hpct_database;

/* Differences between this layout of meta.db and an older one that shares the rest. */
struct hpct_layout {
    const char *format;    /* its name */
    unsigned context_size; /* of a context without its words; missing fields read as 0 */
    bool profile_flags;    /* profiles should have flags */
    lode_status (*find_metrics)(struct hpct_database *db, struct lode_report *report);
    lode_status (*find_entries)(struct hpct_database *db, struct lode_report *report);
    lode_status (*load_metrics)(struct hpct_database *db, struct lode_report *report);
    /* Converts contexts to the current form, before they are indexed by id; may be NULL. */
    void (*arrange)(struct hpct_database *db);
};
extern const struct hpct_layout lode_hpct_layout;

struct hpct_database {
    struct lode_database base; /* must be first */
    const struct hpct_layout *layout;
    struct hpct_file files[HPCT_FILES];

    struct hpct_table id_names, metrics, scopes, modules, source_files, functions, entries;
    uint8_t scope_inst_stride, summary_stride;
    uint32_t idle_id;                   /* see lode_trace_line; in older layouts */
    uint64_t roots_size, roots_pointer; /* contexts without an entry point, in older layouts */
    struct hpct_table profiles;         /* profile.db */
    struct hpct_table contexts;         /* cct.db */
    struct hpct_table traces;           /* trace.db */

    uint64_t string_budget; /* bytes that strings may still have: hostile ones may overlap */
};

static inline const struct hpct_database *hpct_of(const lode_database *db)
{
    return (const struct hpct_database *)(const void *)db;
}

static inline const uint8_t *hpct_record(const struct hpct_table *table, uint64_t index)
{
    return table->bytes + index * table->stride;
}

/* The index of the record at `pointer`; the first is at `offset`. LODE_NO_INDEX if none. */
uint32_t lode_hpct_index_of(uint64_t offset, uint64_t count, uint64_t stride, uint64_t pointer);
static inline uint32_t lode_hpct_record_index(const struct hpct_table *table, uint64_t pointer)
{
    return lode_hpct_index_of(table->offset, table->count, table->stride, pointer);
}
/* Sets `count` bits; false if any of them is set. */
bool lode_hpct_mark(uint64_t *marks, uint64_t first, uint64_t count);

/* Maps the files, reads their headers, locates their sections. */
lode_status lode_hpct_open_files(struct hpct_database *db, const struct lode_folder *folder,
                                 struct lode_report *report);
/* Reads the headers of sections: locates all tables. */
lode_status lode_hpct_find_meta_tables(struct hpct_database *db, struct lode_report *report);
lode_status lode_hpct_find_value_tables(struct hpct_database *db, struct lode_report *report);
/* Reads all of meta.db into the model. */
lode_status lode_hpct_load_meta(struct hpct_database *db, struct lode_report *report);
lode_status lode_hpct_load_metrics(struct hpct_database *db, struct lode_report *report);
lode_status lode_hpct_load_symbols(struct hpct_database *db, struct lode_report *report);
lode_status lode_hpct_load_contexts(struct hpct_database *db, struct lode_report *report);

/* Metric ids seen so far, to find duplicates. */
struct hpct_id_set {
    uint64_t bits[UINT16_MAX / 64 + 1];
};
/* Adds an id. Reports a duplicate. */
lode_status lode_hpct_add_id(struct hpct_id_set *set, uint16_t id, uint64_t offset, const char *what,
                             struct lode_report *report);

/* A string of a section; "" after a finding. */
lode_status lode_hpct_string(struct hpct_database *db, enum hpct_meta_section section, uint64_t pointer,
                             const char *what, const char **out, struct lode_report *report);
/* A table of a section; empty after a finding. `least` is its minimal stride. */
lode_status lode_hpct_table(struct hpct_table *table, enum hpct_file_id file,
                            const struct hpct_section *section, const char *what, uint64_t pointer,
                            uint64_t count, uint64_t stride, uint64_t least, struct lode_report *report);

/* Decodes records of values. The index must be in the table. */
void lode_hpct_profile(const struct hpct_database *db, uint32_t index, struct wire_Profile *out);
void lode_hpct_context(const struct hpct_database *db, uint32_t index, struct wire_ContextInfo *out);
void lode_hpct_trace(const struct hpct_database *db, uint32_t index, struct wire_Trace *out);
/* Their bytes, or false if they exceed the file. */
bool lode_hpct_profile_block(const struct hpct_database *db, const struct wire_Profile *profile,
                             lode_block *out);
bool lode_hpct_context_block(const struct hpct_database *db, const struct wire_ContextInfo *context,
                             lode_block *out);
bool lode_hpct_trace_line(const struct hpct_database *db, const struct wire_Trace *trace,
                          lode_trace_line *out);
/* The elements of an id tuple, or false if it exceeds its section. */
bool lode_hpct_id_tuple(const struct hpct_database *db, uint64_t pointer, struct lode_range *ids);

/* A new, empty database. */
struct hpct_database *lode_hpct_new(const struct hpct_layout *layout);
/* Opens one in a folder. */
lode_status lode_hpct_open(lode_database **out, const struct lode_folder *folder,
                           const struct hpct_layout *layout, lode_error *error);
void lode_hpct_close(struct hpct_database *db);

#endif
