/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contents of structs of include/lode/block.h and trace.h, which callers allocate. Fields may
 * change, sizes may not. Code that links with internals is compiled with LODE_INTERNAL.
 */
#ifndef LODE_MODEL_CONTENTS_H
#define LODE_MODEL_CONTENTS_H

#include <stdint.h>

typedef struct lode_block {
    uint64_t value_count;
    uint32_t group_count;
    uint8_t group_key_size; /* bytes of a group's key */
    uint8_t value_key_size; /* bytes of a value's key */
    uint8_t layout;         /* byte layout of numbers and keys */
    uint8_t reserved;
    const unsigned char *groups;
    const unsigned char *values;
    const char *file;
    uint64_t groups_offset;
} lode_block;
_Static_assert(sizeof(lode_block) <= 48 && _Alignof(lode_block) <= _Alignof(uint64_t),
               "callers have 48 bytes");

typedef struct lode_trace_line {
    uint32_t profile;
    uint32_t idle_id; /* the context id that means 0 in samples, besides 0 */
    uint64_t sample_count;
    const unsigned char *samples;
    uint8_t layout; /* byte layout of samples */
    uint8_t reserved[7];
} lode_trace_line;
_Static_assert(sizeof(lode_trace_line) <= 32 && _Alignof(lode_trace_line) <= _Alignof(uint64_t),
               "callers have 32 bytes");

#endif
