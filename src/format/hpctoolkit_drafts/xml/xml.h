/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads experiment.xml. Elements come in the order of the document: first tables, whose items have
 * ids, then the context tree. References are indices until the end, when arrays no longer move.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_XML_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_XML_H

#include "base/memory/intern.h"
#include "base/memory/map.h"
#include "format/hpctoolkit_drafts/binary.h"

/* Reads all of experiment.xml into the model. */
lode_status lode_drafts_load_xml(struct drafts_database *db, struct lode_report *report);

/* ---- for the files xml_*.c ---- */

struct xml_element {
    const char *name;
    const char **attributes; /* names and values alternating, then NULL */
    uint64_t offset;
};

/* An item of a table: its index in the model, or LODE_NO_INDEX if it has none. */
struct xml_entry {
    uint32_t index;
    const char *name;
    uint64_t address; /* of procedures */
};

/* A table of items that others refer to by id. */
struct xml_table {
    const char *what;
    struct lode_map by_id; /* to the index of an xml_entry */
    struct lode_array entries;
};

enum xml_scope {
    XML_EXCLUSIVE,
    XML_INCLUSIVE,
    XML_SCOPES
};

/* A column of values: of profiles (MetricDB), or a part of a statistic ("X:PARTIAL:0 (I)"). */
struct xml_column {
    const char *metric; /* its name, without suffixes */
    size_t position;    /* in the document */
    uint16_t id;
    uint8_t scope;
    bool partial;
    uint8_t combine;
    const char *formula;
};

/* The parts of a statistic: ids of partial columns. */
enum {
    XML_VIEW_IDS = 4
};

/* An open Metric element. */
struct xml_metric {
    bool open, partial;
    int64_t id;
    char statistic; /* the first letter of "Sum", "Mean", ... */
};

/* An open element. */
struct xml_frame {
    uint32_t context;      /* of the elements inside */
    uint32_t wrapped;      /* the id of the context that this element represents; 0: none */
    uint32_t file, module; /* of the elements inside, by default */
    uint32_t line;         /* of an inlined call */
    bool ignored;          /* it is inside the context of idle threads */
};

/* A context, with indices instead of pointers. */
struct xml_context {
    uint32_t id, parent, depth, line;
    uint32_t function, file, module;
    uint16_t lexical, entry;
    uint8_t relation;
    uint64_t offset;
    const char *entry_name;
};

/* A function: a procedure in a module, a file and at a line. */
struct xml_function {
    uint32_t procedure, module, file, line;
};

struct xml_reader {
    struct drafts_database *db;
    struct lode_report *report;
    void *parser; /* of expat */
    lode_status status;
    bool in_tree;

    struct lode_array kinds; /* of const char *, by kind */
    struct xml_table modules, files, procedures;
    struct lode_array columns;
    struct xml_metric metric;
    struct lode_map formulas; /* from the id of a partial column to its derived formula */

    struct lode_array frames;
    struct lode_array contexts;
    struct lode_interner functions; /* of struct xml_function */
};

/* An attribute's value, or NULL. */
const char *lode_xml_attribute(const struct xml_element *element, const char *name);
/* Copies a string for the model; NULL if out of memory. */
const char *lode_xml_copy(struct xml_reader *reader, const char *text, size_t length);
/* A number; `otherwise` if it is missing or, after a finding, not between the bounds. */
lode_status lode_xml_integer(struct xml_reader *reader, const struct xml_element *element, const char *name,
                             int64_t least, int64_t most, int64_t otherwise, int64_t *out);
lode_status lode_xml_unsigned(struct xml_reader *reader, const struct xml_element *element, const char *name,
                              uint64_t *out);
/* Reports a finding about an element. */
lode_status lode_xml_finding(struct xml_reader *reader, unsigned rule, const struct xml_element *element,
                             const char *what);
/* Adds an item; the size of the file limits their number. */
lode_status lode_xml_push(struct xml_reader *reader, struct lode_array *array, void **out);

/* Tables. */
lode_status lode_xml_identifier(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_module(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_file(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_procedure(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_trace(struct xml_reader *reader, const struct xml_element *element);
/* The entry that an attribute refers to; NULL if it is missing or, after a finding, unknown. */
lode_status lode_xml_refer(struct xml_reader *reader, const struct xml_element *element, const char *name,
                           const struct xml_table *table, const struct xml_entry **out);
lode_status lode_xml_finish_tables(struct xml_reader *reader);

/* Metrics. */
lode_status lode_xml_metric(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_metric_formula(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_metric_db(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_finish_metrics(struct xml_reader *reader);

/* Contexts; each sets the frame of its element, which begins as a copy of the enclosing one. */
lode_status lode_xml_procedure_frame(struct xml_reader *reader, const struct xml_element *element,
                                     struct xml_frame *frame);
lode_status lode_xml_call(struct xml_reader *reader, const struct xml_element *element,
                          struct xml_frame *frame);
lode_status lode_xml_statement(struct xml_reader *reader, const struct xml_element *element,
                               struct xml_frame *frame);
lode_status lode_xml_loop(struct xml_reader *reader, const struct xml_element *element,
                          struct xml_frame *frame);
lode_status lode_xml_finish_contexts(struct xml_reader *reader);

#endif
