/* SPDX-License-Identifier: BSD-3-Clause */
/* A database in memory: a description, and blocks of values by profile. */
#ifndef LODE_MODEL_MEMORY_H
#define LODE_MODEL_MEMORY_H

#include "model/database/block_builder.h"
#include "model/database/database.h"
#include "model/database/description.h"
#include <pthread.h>

/* Values by context, made when they are first asked for. */
struct lode_transposed {
    pthread_mutex_t lock;
    bool is_made;
    unsigned char *group_bytes, *value_bytes;
    uint64_t *group_start, *value_start; /* by context */
};

/* What the database is made of and must outlive it: trace lines, for one. */
struct lode_memory_owner {
    /* NULL: there are no trace lines. Thread-safe. */
    lode_status (*trace_line)(struct lode_memory_owner *self, uint32_t index, lode_trace_line *out,
                              lode_error *error);
    void (*close)(struct lode_memory_owner *self);
    uint64_t trace_bytes; /* of all lines, at most */
};

struct lode_memory_database {
    struct lode_database base; /* must be first */
    struct lode_description about;
    struct lode_strings strings;         /* of names, unless the description has them */
    struct lode_id_tuple *tuples;        /* by profile - 1; in the arena */
    struct lode_block_builder *builders; /* by profile; the bytes of the blocks */
    lode_block *blocks;                  /* by profile */
    uint32_t block_count;
    struct lode_transposed *by_context;
    struct lode_memory_owner *owner; /* or NULL */
};

/* An empty one; NULL if out of memory. */
struct lode_memory_database *lode_memory_database_new(const char *format);
void lode_memory_database_free(struct lode_memory_database *db);
/* Blocks for profiles, the summary included. */
lode_status lode_memory_database_prepare(struct lode_memory_database *db, uint32_t blocks, lode_error *error);
/* Once it is described and sealed: shows the description as that of the database. */
lode_status lode_memory_database_show(struct lode_memory_database *db, lode_error *error);
/* Names; NULL is allowed. `file` and its size are those of the store. */
lode_status lode_memory_database_name(struct lode_memory_database *db, const char *title, const char *text,
                                      const char *file, uint64_t size, lode_error *error);
/* Once all blocks are there: what they take. */
void lode_memory_database_measure(struct lode_memory_database *db);

#endif
