/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are found while events are read: each (module, offset) becomes one lode_function,
 * whichever thread meets it first. Functions never move; their indices are dense.
 */
#ifndef LODE_MODEL_FUNCTIONS_H
#define LODE_MODEL_FUNCTIONS_H

#include "base/memory/intern.h"
#include "model/database/context.h"
#include <pthread.h>

enum {
    LODE_FUNCTION_SEGMENTS = 26, /* segment s holds 64 << s functions */
    LODE_FUNCTIONS_MAX = 1 << 28
};

struct lode_function_table {
    pthread_mutex_t lock;
    size_t item_size; /* of a format's struct that begins with a struct lode_function */
    void *segments[LODE_FUNCTION_SEGMENTS];
    uint32_t count;
    struct lode_index index; /* of functions, by identity */
    struct lode_arena names;
};

void lode_function_table_init(struct lode_function_table *table, size_t item_size);
void lode_function_table_free(struct lode_function_table *table);

/* The key of a function. Names, if given, distinguish functions of equal offsets. */
struct lode_function_place {
    const lode_module *module;
    uint64_t offset;
    const char *name;
};

/*
 * Finds a function, or calls `make` to fill in a new one, whose module, offset, index and identity
 * are set. Its names come from table->names. NULL if out of memory. MT: any thread; `make` runs
 * under the lock.
 */
typedef bool (*lode_function_make)(struct lode_function_table *table, lode_function *function, void *user);
const lode_function *lode_function_table_find(struct lode_function_table *table,
                                              const struct lode_function_place *place,
                                              lode_function_make make, void *user);
/* The function at an index that was taken from a function. */
const lode_function *lode_function_table_at(const struct lode_function_table *table, uint32_t index);
/* The current number of functions. MT: any thread. */
uint32_t lode_function_table_count(struct lode_function_table *table);

#endif
