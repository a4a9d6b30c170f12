/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes <-> structs for every table of wire.def, big-endian: no I/O, no allocation. For a table T:
 *
 *   struct hpcrun_T               its fields
 *   HPCRUN_T_SIZE                 its size
 *   HPCRUN_T_name                 the offset of each field
 *   lode_hpcrun_read_T(&t, p)     reads it from HPCRUN_T_SIZE bytes
 *   lode_hpcrun_write_T(&t, p)    writes its fields, and no other bytes
 */
#ifndef LODE_FORMAT_HPCRUN_WIRE_H
#define LODE_FORMAT_HPCRUN_WIRE_H

#include "format/wire_types.h"

#define TABLE(table)                     struct hpcrun_##table {
#define FIELD(table, offset, type, name) wire_##type name;
#define END(table, size)                                                                                     \
    }                                                                                                        \
    ;
#include "format/hpcrun/read/wire.def"

#define TABLE(table)
#define FIELD(table, offset, type, name) HPCRUN_##table##_##name = (offset),
#define END(table, size)                 HPCRUN_##table##_SIZE = (size),
enum hpcrun_constant {
#include "format/hpcrun/read/wire.def"
};

#define TABLE(table)
#define FIELD(table, offset, type, name)
#define END(table, size)                                                                                     \
    void lode_hpcrun_read_##table(struct hpcrun_##table *out, const uint8_t *bytes);                         \
    void lode_hpcrun_write_##table(const struct hpcrun_##table *in, uint8_t *bytes);
#include "format/hpcrun/read/wire.def"

/* The tables as data, for the test that compares them with the documentation. Unaligned. */
extern const struct wire_field lode_hpcrun_fields[];
extern const size_t lode_hpcrun_field_count;

#define HPCRUN_PROFILE_BEGIN "HPCRUN-profile____04.00b"
#define HPCRUN_TRACE_BEGIN   "HPCRUN-trace______01.01b"
#define HPCRUN_FOOTER_MAGIC  UINT64_C(0x48504352554E736D) /* "HPCRUNsm" */
#define HPCRUN_ROOT          UINT64_C(0x5e5072696d617279) /* "^Primary" */

enum {
    HPCRUN_BEGIN_SIZE = 24, /* magic, version and byte order of both files */
    HPCRUN_MAGIC_SIZE = 18, /* of it */
    HPCRUN_ALIGNMENT = 1024,
    HPCRUN_OLD_NODE_SIZE = 18,     /* development builds of 2021 had no flags */
    HPCRUN_INDEX_END = 0x656E6421, /* "end!" */
    /* The kind of an id: its low 14 bits; the bits above tell what the two numbers mean. */
    HPCRUN_ID_KIND = 0x3fff,
    HPCRUN_ID_MEANING_SHIFT = 14,
    HPCRUN_ID_LOGICAL_ONLY = 3,
    HPCRUN_NODE_UNWOUND = 1,
    HPCRUN_TRACE_DATA_CENTRIC = 1, /* bits of flags */
    HPCRUN_TRACE_CALLS = 4,
    HPCRUN_FORMAT_INTEGER = 1, /* of values of a metric */
    HPCRUN_FORMAT_REAL = 2,
    HPCRUN_SHOW_MOST = 4
};

#endif
