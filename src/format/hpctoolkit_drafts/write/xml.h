/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the writers of experiment.xml. */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_WRITE_XML_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_WRITE_XML_H

#include "base/memory/intern.h"
#include "format/hpctoolkit_drafts/write/write.h"

enum {
    XML_UNKNOWN_MODULE = 0,
    XML_NO_MODULE = 1,
    XML_FIRST_MODULE = 2,
    XML_UNKNOWN_FILE = 2147483647,
    /* Procedures: an unknown one, the stand-ins of entry points, then functions. */
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
    /* The first failure; nothing is written after it. */
    lode_status status;
    lode_error *error;
    uint32_t *procedure_of;             /* by context index: the procedure of its own, or 0 */
    uint32_t procedures;                /* their number */
    struct lode_interner instructions;  /* called ones: struct xml_instruction */
    struct lode_interner static_scopes; /* lines and loops of procedures: struct xml_static_scope */
    uint32_t misplaced;                 /* lines, loops and instructions without their module */
    uint32_t scopes;                    /* number of static ones: procedures, lines, loops */
};

void lode_xml_put(struct xml_writer *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes an attribute's value: escaped, with invalid characters replaced. */
void lode_xml_put_text(struct xml_writer *self, const char *text);
/* The number of a struct; 0 if out of memory, which is then the status. */
uint32_t lode_xml_number(struct xml_writer *self, struct lode_interner *interner, const void *item);

/* Selects statistics of a metric under a scope that a reader can distinguish. */
void lode_xml_choose(struct drafts_sink *out);
void lode_xml_put_metrics(struct xml_writer *self);
/* Writes the table of all procedures, including those of contexts that are not functions. */
void lode_xml_put_procedures(struct xml_writer *self);
void lode_xml_put_contexts(struct xml_writer *self);

#endif
