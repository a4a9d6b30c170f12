/* SPDX-License-Identifier: BSD-3-Clause */
/* The strings of the output: distinct, with ids in the order of their first use. */
#ifndef LODE_ZORKA_WRITE_TEXT_H
#define LODE_ZORKA_WRITE_TEXT_H

#include "base/io/output.h"
#include "base/io/range.h"
#include "base/memory/arena.h"
#include "base/memory/array.h"
#include "base/memory/map.h"
#include "format/zorka/text.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define ZOR_NEVER UINT64_MAX

enum {
    ZOR_CAUSES_MAX = 16,                 /* nested causes of an exception: they might be cyclic */
    ZOR_PARTS_DEPTH = ZOR_CAUSES_MAX + 3 /* an exception, its stack, an item of it, a name */
};

struct zor_entry {
    enum zor_mark mark;
    uint32_t id;             /* 0: none yet */
    _Atomic uint64_t first;  /* first use; ZOR_NEVER: only as a part of others */
    struct lode_range bytes; /* of a string without parts */
    struct zor_entry **parts;
    size_t part_count;
    uint64_t line;          /* of a stack item */
    struct zor_entry *next; /* of the same hash */
    const void *owner;      /* of a method: the function that it is assigned to */
};

struct zor_dictionary {
    pthread_mutex_t lock;
    struct lode_arena arena;
    struct lode_array entries; /* struct zor_entry * */
    struct lode_map index;     /* from a hash to the newest entry */
    struct zor_entry **numbered;
    uint32_t count;
};

void lode_zor_dictionary_init(struct zor_dictionary *strings);
void lode_zor_dictionary_free(struct zor_dictionary *strings);

/* The entry of a string, new or not; NULL if out of memory. MT: any thread. */
struct zor_entry *lode_zor_string(struct zor_dictionary *strings, enum zor_mark mark,
                                  struct lode_range bytes);
/* Of a method, an exception, a stack or an item of one. Parts may be NULL: none. MT: any thread. */
struct zor_entry *lode_zor_tuple(struct zor_dictionary *strings, enum zor_mark mark,
                                 struct zor_entry *const *parts, size_t count, uint64_t line);
/* A method by its names. */
struct zor_entry *lode_zor_method(struct zor_dictionary *strings, struct lode_range class_name,
                                  struct lode_range method, struct lode_range signature);

static inline struct lode_range zor_range(const char *text)
{
    return (struct lode_range){(const uint8_t *)text, strlen(text)};
}

/* Assigns ids to all used entries, from 1 on. */
lode_status lode_zor_dictionary_number(struct zor_dictionary *strings, lode_error *error);
/* Writes them all as a file of the text index. */
lode_status lode_zor_dictionary_write(const struct zor_dictionary *strings, struct lode_output_file *file,
                                      lode_error *error);

#endif
