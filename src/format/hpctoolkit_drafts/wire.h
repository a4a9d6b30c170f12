/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes <-> structs for every table of wire.def, big-endian: no I/O, no allocation. For a table T:
 *
 *   struct drafts_T               its fields
 *   DRAFTS_T_SIZE                 its size
 *   DRAFTS_T_name                 the offset of each field
 *   lode_drafts_read_T(&t, p)     reads it from DRAFTS_T_SIZE bytes
 *   lode_drafts_write_T(&t, p)    writes its fields, and no other bytes
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_DRAFTS_WIRE_H
#define LODE_FORMAT_HPCTOOLKIT_DRAFTS_WIRE_H

#include "format/hpctoolkit/wire.h"

#define TABLE(table)                     struct drafts_##table {
#define FIELD(table, offset, type, name) wire_##type name;
#define END(table, size)                                                                                     \
    }                                                                                                        \
    ;
#include "format/hpctoolkit_drafts/wire.def"

#define TABLE(table)
#define FIELD(table, offset, type, name) DRAFTS_##table##_##name = (offset),
#define END(table, size)                 DRAFTS_##table##_SIZE = (size),
enum drafts_constant {
#include "format/hpctoolkit_drafts/wire.def"
};

#define TABLE(table)
#define FIELD(table, offset, type, name)
#define END(table, size)                                                                                     \
    void lode_drafts_read_##table(struct drafts_##table *out, const uint8_t *bytes);                         \
    void lode_drafts_write_##table(const struct drafts_##table *in, uint8_t *bytes);
#include "format/hpctoolkit_drafts/wire.def"

/* The tables as data, for the test that compares them with the documentation. Unaligned. */
extern const struct wire_field lode_drafts_fields[];
extern const size_t lode_drafts_field_count;

enum {
    DRAFTS_MAGIC_SIZE = 16,
    DRAFTS_FOOTER_SIZE = 8,
    DRAFTS_PADDED_HEADER = 128, /* the size of all three headers in practice */
    /* Pairs of a block, and the end marker of its groups. */
    DRAFTS_PROFILE_VALUE_SIZE = 10,
    DRAFTS_PROFILE_GROUP_SIZE = 12,
    DRAFTS_CONTEXT_VALUE_SIZE = 12,
    DRAFTS_CONTEXT_GROUP_SIZE = 10,
    DRAFTS_PROFILE_END = 0x656E6421, /* "end!" */
    DRAFTS_CONTEXT_END = 0x6564,     /* "ed" */
    /* The kind of an id: its low 14 bits; the bits above tell what the two numbers mean. */
    DRAFTS_ID_KIND = 0x3fff,
    DRAFTS_ID_MEANING_SHIFT = 14,
    DRAFTS_ID_LOGICAL_ONLY = 3
};

#endif
