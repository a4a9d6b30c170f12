/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wire layers of formats have in common. */
#ifndef LODE_FORMAT_WIRE_TYPES_H
#define LODE_FORMAT_WIRE_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef uint8_t wire_u8;
typedef uint16_t wire_u16;
typedef uint32_t wire_u32;
typedef uint64_t wire_u64;
typedef double wire_f64;

/* The tables as data, for the test that compares them with the documentation. */
struct wire_field {
    const char *table;
    unsigned alignment; /* of the table; 0 in rows of fields */
    unsigned offset;    /* of the field; the size of the table in its last row */
    const char *type;   /* NULL in the last row of a table */
    const char *name;
};

#endif
