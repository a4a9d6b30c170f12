/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading experiment.xml. Elements come in the order of the document: tables first, in which everything has an id of its
 * own, then the context tree. What refers to something else does so by index until the end, when all arrays have their
 * final place.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_XML_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_XML_H

#include "base/intern.h"
#include "base/map.h"
#include "format/hpctoolkit_drafts/binary.h"

/* Reads all of experiment.xml into the model. */
lode_status lode_drafts_load_xml(struct drafts_database *db, struct lode_report *report);

/* ---- for the files xml_*.c ---- */

struct xml_element {
    const char *name;
    const char **attributes; /* names and values in turn, then NULL */
    uint64_t offset;
};

/* A thing of a table: where it went in the model, or LODE_NO_INDEX if it stands for nothing. */
struct xml_entry {
    uint32_t index;
    const char *name;
    uint64_t address; /* of procedures */
};

/* A table of things that others refer to by id. */
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

/* One column of values: of profiles (MetricDB), or a part of a statistic (Metric, "X:PARTIAL:0 (I)"). */
struct xml_column {
    const char *metric; /* its name, without what was appended */
    size_t position;    /* in the document */
    uint16_t id;
    uint8_t scope;
    bool partial;
    uint8_t combine;
    const char *formula;
};

/* What a statistic is made of: ids of partial columns. */
enum {
    XML_VIEW_IDS = 4
};

/* A Metric that is open. */
struct xml_metric {
    bool open, partial;
    int64_t id;
    char statistic; /* the first letter of "Sum", "Mean", ... */
};

/* An element that is open. */
struct xml_frame {
    uint32_t context;      /* that elements inside belong to */
    uint32_t wrapped;      /* the id of the context that this element stands for; 0: none */
    uint32_t file, module; /* that elements inside are in, unless they say otherwise */
    uint32_t line;         /* of a call that was inlined */
    bool ignored;          /* it is inside what means that nothing ran */
};

/* A context, with indices for pointers. */
struct xml_context {
    uint32_t id, parent, depth, line;
    uint32_t function, file, module;
    uint16_t lexical, entry;
    uint8_t relation;
    uint64_t offset;
    const char *entry_name;
};

/* A function is a procedure in a module, a file and at a line. */
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
    struct lode_map formulas; /* from the id of a partial column to what statistics say of it */

    struct lode_array frames;
    struct lode_array contexts;
    struct lode_interner functions; /* of struct xml_function */
};

/* An attribute's value, or NULL. */
const char *lode_xml_attribute(const struct xml_element *element, const char *name);
/* A copy of a text for the model; NULL if there is no memory. */
const char *lode_xml_copy(struct xml_reader *reader, const char *text, size_t length);
/* A number; `otherwise` if it is not there or, after a finding, not one between the bounds. */
lode_status lode_xml_integer(struct xml_reader *reader, const struct xml_element *element, const char *name,
                             int64_t least, int64_t most, int64_t otherwise, int64_t *out);
lode_status lode_xml_unsigned(struct xml_reader *reader, const struct xml_element *element, const char *name,
                              uint64_t *out);
/* A finding about an element. */
lode_status lode_xml_finding(struct xml_reader *reader, unsigned rule, const struct xml_element *element,
                             const char *what);
/* Room for one more; a limit beyond which there is none is that of the file's size. */
lode_status lode_xml_push(struct xml_reader *reader, struct lode_array *array, void **out);

/* Tables. */
lode_status lode_xml_identifier(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_module(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_file(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_procedure(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_trace(struct xml_reader *reader, const struct xml_element *element);
/* The entry that an attribute refers to; NULL if it is not there or, after a finding, refers to none. */
lode_status lode_xml_refer(struct xml_reader *reader, const struct xml_element *element, const char *name,
                           const struct xml_table *table, const struct xml_entry **out);
lode_status lode_xml_finish_tables(struct xml_reader *reader);

/* Metrics. */
lode_status lode_xml_metric(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_metric_formula(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_metric_db(struct xml_reader *reader, const struct xml_element *element);
lode_status lode_xml_finish_metrics(struct xml_reader *reader);

/* Contexts; each fills in the frame of its element, which begins as a copy of the one around it. */
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
