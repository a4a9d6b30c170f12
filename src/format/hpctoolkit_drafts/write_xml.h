/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing experiment.xml: what its parts share. */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_WRITE_XML_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_WRITE_XML_H

#include "base/intern.h"
#include "format/hpctoolkit_drafts/write.h"

enum {
    XML_UNKNOWN_MODULE = 0,
    XML_NO_MODULE = 1,
    XML_FIRST_MODULE = 2,
    XML_UNKNOWN_FILE = 2147483647,
    /* Procedures: an unknown one, the stand-ins of entry points, and then functions. */
    XML_UNKNOWN_PROCEDURE = 0,
    XML_NO_ACTIVITY = 1,
    XML_FIRST_ENTRY = 2,
    XML_FIRST_FUNCTION = XML_FIRST_ENTRY + LODE_ENTRY_APPLICATION_THREAD + 1
};

#define XML_UNKNOWN_PROCEDURE_NAME "<unknown procedure>"

struct xml_instruction {
    uint64_t offset, module;
};

struct xml_static_scope {
    uint32_t procedure, file, line, kind;
};

struct xml_writer {
    struct drafts_sink *out;
    const struct lode_description *about;
    struct lode_output_file file;
    /* The first failure; what comes behind it is not written. */
    lode_status status;
    lode_error *error;
    uint32_t *procedure_of;             /* by index of a context: the procedure of its own, or 0 */
    uint32_t procedures;                /* how many there are */
    struct lode_interner instructions;  /* that are called: struct xml_instruction */
    struct lode_interner static_scopes; /* lines and loops of procedures: struct xml_static_scope */
    uint32_t scopes;                    /* static ones: procedures, lines, loops */
};

void lode_xml_put(struct xml_writer *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A text in the value of an attribute: escaped, and what XML cannot hold replaced. */
void lode_xml_put_text(struct xml_writer *self, const char *text);
/* The number of a struct; 0 if there is no memory, which fails all. */
uint32_t lode_xml_number(struct xml_writer *self, struct lode_interner *interner, const void *item);

/* The statistics of a metric under a scope that can be told from each other when they are read. */
void lode_xml_choose(struct drafts_sink *out);
void lode_xml_put_metrics(struct xml_writer *self);
/* The procedures of contexts that are not functions, and all of them as a table. */
void lode_xml_put_procedures(struct xml_writer *self);
void lode_xml_put_contexts(struct xml_writer *self);

#endif
