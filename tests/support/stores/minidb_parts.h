/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of minidb share. */
#ifndef LODE_TESTS_MINIDB_PARTS_H
#define LODE_TESTS_MINIDB_PARTS_H

#include "base/io/bytes.h"
#include "minidb.h"
#include <lode/context.h>
#include <lode/metric.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINT,
    FUNCTION,
    LEX_AWARE,
    EXECUTION,
    VALUES_PER_CONTEXT = MINIDB_METRICS * MINIDB_SCOPES,
    UNLISTED_ID = 8,
    FIRST_CHAIN_ID = 100,
    CHAIN_LENGTH = 4
};

/* Records of a newer minor version are larger; `db` is in scope wherever one is written. */
#define STRIDE(table) ((uint8_t)(WIRE_##table##_SIZE + db->options.extra))

struct buffer {
    unsigned char *data;
    size_t size, capacity;
};

/* A context: what it is, and whose child. */
struct shape {
    uint32_t id, parent; /* ids; 0: an entry point */
    uint8_t lexical, relation, flags;
    uint8_t function, file, module;
    uint32_t line;
    uint64_t offset;
};

enum {
    SHAPES = 11 /* contexts but for chains */
};

/* Exits if out of memory. */
void *checked(void *memory);
/* Room at the end, zeroed, after padding to the alignment; returns its offset. */
uint64_t reserve(struct buffer *buffer, size_t size, size_t alignment);
uint64_t put_text(struct buffer *buffer, const char *text);
void begin_file(struct buffer *file, enum hpct_file_id id, uint8_t minor, size_t header_size);
/* Enters a section that reaches from `start` to the end of what is written. */
void put_section(struct minidb *db, struct buffer *file, enum hpct_file_id id, unsigned index,
                 uint64_t start);
void end_file(struct minidb *db, struct buffer *file, enum hpct_file_id id);

/* The i-th context in depth-first order but for chains, which come last. */
struct shape context_at(uint32_t i);
uint32_t context_count(const struct minidb *db);
uint32_t max_id(const struct minidb *db);
uint64_t ids(const struct minidb *db);
/* Without the summary. */
uint32_t profile_count(const struct minidb *db);
unsigned statistic_count(const struct minidb *db, unsigned metric);

void make_meta(struct minidb *db);
/* From all values: [profile - 1][context][metric][scope]. */
void make_profiles(struct minidb *db, const double *values);
void make_contexts(struct minidb *db, const double *values);
void make_traces(struct minidb *db);

#endif
