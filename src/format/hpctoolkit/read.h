/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the four files. Every function that takes a report serves both to open a database (strict report: the first
 * error ends it) and to check one (errors are passed on, and the work continues with what is left).
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_READ_H
#define LODE_FORMAT_HPCTOOLKIT_READ_H

#include "base/source.h"
#include "format/hpctoolkit/rules.h"
#include "format/hpctoolkit/wire.h"
#include "model/database.h"
#include "model/finding.h"

struct hpct_section {
    struct lode_range bytes; /* empty if the section is unusable */
    uint64_t offset;         /* of the section in its file */
    uint64_t string_end;     /* strings that begin below this end inside the section */
};

struct hpct_file {
    struct lode_source source;
    bool present;
    bool usable; /* its identity is sound; sections that are not are empty */
    bool sound;  /* so are its header, its footer and its sections */
    struct hpct_section sections[HPCT_MAX_SECTIONS];
};

/* An array of records of one size in a section. */
struct hpct_table {
    bool found; /* it is where its section says, however many records it has */
    const uint8_t *bytes;
    uint64_t offset, count, stride;
};

struct hpct_database;

/* What differs between this layout of meta.db and an older one that shares the rest of the format. */
struct hpct_layout {
    const char *format;    /* its name */
    unsigned context_size; /* of a context without its words; what it lacks reads as 0 */
    bool profile_flags;    /* profiles should have some */
    lode_status (*find_metrics)(struct hpct_database *db, struct lode_report *report);
    lode_status (*find_entries)(struct hpct_database *db, struct lode_report *report);
    lode_status (*load_metrics)(struct hpct_database *db, struct lode_report *report);
    /* Brings contexts that were read, but cannot be found by id yet, into the form of this one; may be NULL. */
    void (*arrange)(struct hpct_database *db);
};
extern const struct hpct_layout lode_hpct_layout;

struct hpct_database {
    struct lode_database base; /* must be first */
    const struct hpct_layout *layout;
    struct hpct_file files[HPCT_FILES];

    struct hpct_table id_names, metrics, scopes, modules, source_files, functions, entries; /* meta.db */
    uint8_t scope_inst_stride, summary_stride;
    uint32_t idle_id;                   /* see lode_trace_line; in older layouts */
    uint64_t roots_size, roots_pointer; /* contexts without an entry point above them, in older layouts */
    struct hpct_table profiles;         /* profile.db */
    struct hpct_table contexts;         /* cct.db */
    struct hpct_table traces;           /* trace.db */

    uint64_t string_budget; /* bytes that strings may still have: in a hostile file they may overlap */
};

static inline const struct hpct_database *hpct_of(const lode_database *db)
{
    return (const struct hpct_database *)(const void *)db;
}

static inline const uint8_t *hpct_record(const struct hpct_table *table, uint64_t index)
{
    return table->bytes + index * table->stride;
}

/* The index of the record that a pointer in the file points at, or LODE_NO_INDEX. */
uint32_t lode_hpct_record_index(const struct hpct_table *table, uint64_t pointer);

/* Maps the files, reads their headers, finds their sections. */
lode_status lode_hpct_open_files(struct hpct_database *db, const struct lode_folder *folder,
                                 struct lode_report *report);
/* Reads the headers of sections: finds all tables. */
lode_status lode_hpct_find_meta_tables(struct hpct_database *db, struct lode_report *report);
lode_status lode_hpct_find_value_tables(struct hpct_database *db, struct lode_report *report);
/* Reads all of meta.db into the model. */
lode_status lode_hpct_load_meta(struct hpct_database *db, struct lode_report *report);
lode_status lode_hpct_load_metrics(struct hpct_database *db, struct lode_report *report);
lode_status lode_hpct_load_symbols(struct hpct_database *db, struct lode_report *report);
lode_status lode_hpct_load_contexts(struct hpct_database *db, struct lode_report *report);

/* Ids of metrics seen so far, by which a second use is found. */
struct hpct_id_set {
    uint64_t bits[UINT16_MAX / 64 + 1];
};
/* Adds an id. A second use is a finding. */
lode_status lode_hpct_add_id(struct hpct_id_set *set, uint16_t id, uint64_t offset, const char *what,
                             struct lode_report *report);

/* A string of a section; "" after a finding. */
lode_status lode_hpct_string(struct hpct_database *db, enum hpct_meta_section section, uint64_t pointer,
                             const char *what, const char **out, struct lode_report *report);
/* A table that a section's header names; an empty one after a finding. `least` is the smallest stride that will do. */
lode_status lode_hpct_table(struct hpct_table *table, enum hpct_file_id file,
                            const struct hpct_section *section, const char *what, uint64_t pointer,
                            uint64_t count, uint64_t stride, uint64_t least, struct lode_report *report);

/* Records of values, as they are in the file. The index must be in the table. */
void lode_hpct_profile(const struct hpct_database *db, uint32_t index, struct wire_Profile *out);
void lode_hpct_context(const struct hpct_database *db, uint32_t index, struct wire_ContextInfo *out);
void lode_hpct_trace(const struct hpct_database *db, uint32_t index, struct wire_Trace *out);
/* Their bytes, or false if these are not all inside the file. */
bool lode_hpct_profile_block(const struct hpct_database *db, const struct wire_Profile *profile,
                             lode_block *out);
bool lode_hpct_context_block(const struct hpct_database *db, const struct wire_ContextInfo *context,
                             lode_block *out);
bool lode_hpct_trace_line(const struct hpct_database *db, const struct wire_Trace *trace,
                          lode_trace_line *out);
/* The elements of an id tuple, or false if it is not inside its section. */
bool lode_hpct_id_tuple(const struct hpct_database *db, uint64_t pointer, struct lode_range *ids);

/* A new, empty database. */
struct hpct_database *lode_hpct_new(const struct hpct_layout *layout);
/* Opens one in a folder. */
lode_status lode_hpct_open(lode_database **out, const struct lode_folder *folder,
                           const struct hpct_layout *layout, lode_error *error);
void lode_hpct_close(struct hpct_database *db);

#endif
