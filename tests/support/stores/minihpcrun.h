/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small measurements, byte by byte. The profile has the nodes root -> main thread -> a -> b, three
 * metrics of which the last has a formula, and the values a: 1.5 and 3 * 100, b: 0.5; b was not
 * unwound. The trace has three records. Every section begins where the enumeration says: tests
 * change bytes there.
 */
#ifndef LODE_TESTS_MINIHPCRUN_H
#define LODE_TESTS_MINIHPCRUN_H

#include "base/memory/blob.h"
#include <stdint.h>

/* Offsets in the profile. */
enum {
    MINI_HEADER = 0,
    MINI_LOAD_MAP = 0x400,
    MINI_CCT = 0x800,
    MINI_METRICS = 0xc00,
    MINI_ID_KINDS = 0x1000,
    MINI_VALUES = 0x1400,
    MINI_FOOTER = 0x1800
};

/* Nodes, in their order, and their ids. */
enum {
    MINI_ROOT = 2,
    MINI_THREAD = 4,
    MINI_A = 6,
    MINI_B = 7,
    MINI_NODES = 4,
    MINI_VALUE_COUNT = 3,
    MINI_RECORDS = 3
};

/* The two files; free them. */
void minihpcrun_profile(struct lode_blob *out);
void minihpcrun_trace(struct lode_blob *out);
/* Where a node, a value, an entry of the index, or a record of the trace begins. */
size_t minihpcrun_node(unsigned number);
size_t minihpcrun_value(unsigned number);
size_t minihpcrun_index(unsigned number);
size_t minihpcrun_record(unsigned number);
/* The end of a section in the footer, 0 the header; moved by `more` bytes. */
void minihpcrun_move_end(struct lode_blob *profile, unsigned section, int more);

#endif
