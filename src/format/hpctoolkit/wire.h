/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes <-> structs for every table of wire.def: no I/O, no allocation. For a table T there are
 *
 *   struct wire_T                 its fields
 *   WIRE_T_SIZE                   its size in version 4.0
 *   WIRE_T_name                   the offset of each field
 *   lode_wire_read_T(&t, p, n)    reads n bytes; fields beyond n are 0 (older, shorter structures)
 *   lode_wire_write_T(&t, p)      writes all WIRE_T_SIZE bytes, gaps as zeros
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_WIRE_H
#define LODE_FORMAT_HPCTOOLKIT_WIRE_H

#include "format/wire_types.h"

#define TABLE(table, alignment)          struct wire_##table {
#define FIELD(table, offset, type, name) wire_##type name;
#define END(table, size)                                                                                     \
    }                                                                                                        \
    ;
#include "format/hpctoolkit/wire.def"

#define TABLE(table, alignment)
#define FIELD(table, offset, type, name) WIRE_##table##_##name = (offset),
#define END(table, size)                 WIRE_##table##_SIZE = (size),
enum wire_constant {
#include "format/hpctoolkit/wire.def"
};

#define TABLE(table, alignment)
#define FIELD(table, offset, type, name)
#define END(table, size)                                                                                     \
    void lode_wire_read_##table(struct wire_##table *out, const uint8_t *bytes, uint64_t available);         \
    void lode_wire_write_##table(const struct wire_##table *in, uint8_t *bytes);
#include "format/hpctoolkit/wire.def"

/* The tables as data, for the test that compares them with the documentation. */
extern const struct wire_field lode_wire_fields[];
extern const size_t lode_wire_field_count;

/* ---- the four files ---- */

enum hpct_file_id {
    HPCT_META,
    HPCT_PROFILE,
    HPCT_CCT,
    HPCT_TRACE,
    HPCT_FILES
};

enum hpct_meta_section {
    META_GENERAL,
    META_ID_NAMES,
    META_METRICS,
    META_CONTEXT,
    META_STRINGS,
    META_MODULES,
    META_FILES,
    META_FUNCTIONS,
    META_SECTIONS
};

enum {
    HPCT_MAGIC_SIZE = 10,
    HPCT_FORMAT_SIZE = 4,
    HPCT_FOOTER_SIZE = 8,
    HPCT_MAJOR = 4,
    HPCT_MINOR = 0,
    HPCT_MAX_SECTIONS = META_SECTIONS,
    /* Valid flags. */
    HPCT_CONTEXT_FUNCTION = 1,
    HPCT_CONTEXT_SOURCE = 2,
    HPCT_CONTEXT_POINT = 4,
    HPCT_FILE_COPIED = 1,
    HPCT_PROFILE_SUMMARY = 1,
    HPCT_ID_PHYSICAL = 1
};

#define HPCT_MAGIC  "HPCTOOLKIT"
#define HPCT_FORMAT "HPCToolkit 4.0"

/* Constants of each file; sections in the order of its header. */
struct hpct_file_spec {
    const char *name;
    const char *format; /* HPCT_FORMAT_SIZE characters */
    const char *footer; /* HPCT_FOOTER_SIZE characters */
    unsigned section_count;
    struct {
        const char *name;
        unsigned header_size; /* of its header */
        unsigned alignment;
    } sections[HPCT_MAX_SECTIONS];
};
extern const struct hpct_file_spec lode_hpct_specs[HPCT_FILES];

#endif
