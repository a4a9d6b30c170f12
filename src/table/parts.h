/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that read one scan. It is split into parts: as many values or samples as a batch holds,
 * or some tracks. Each thread fills the batches of one part, and they are delivered in the order of
 * the parts. Batches are the same for any number of threads.
 *
 * Threads work only inside lode_parts_next, so that nothing runs between calls, and closing waits
 * for nothing. A part that is longer than its batches is continued when these have been read.
 */
#ifndef LODE_TABLE_PARTS_H
#define LODE_TABLE_PARTS_H

#include "table/tables.h"

struct lode_parts;

/* `reader` must be at a boundary, and stay; it is read by nobody else from now on. */
lode_status lode_parts_open(struct lode_parts **out, struct lode_table_reader *reader, unsigned threads,
                            uint64_t rows, lode_error *error);
/* The next batch, filtered, possibly empty; valid until the next call. */
lode_status lode_parts_next(struct lode_parts *parts, struct lode_table_batch **out, lode_error *error);
/* How far it is, in units of the table, beyond its reader. */
uint64_t lode_parts_done(const struct lode_parts *parts);
void lode_parts_close(struct lode_parts *parts); /* NULL is allowed */

#endif
