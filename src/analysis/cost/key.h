/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys for grouping contexts, compared field by field: a hash collision never merges two keys. */
#ifndef LODE_ANALYSIS_KEY_H
#define LODE_ANALYSIS_KEY_H

#include "base/memory/intern.h"
#include "model/database/context.h"

enum lode_key_kind {
    LODE_KEY_GLOBAL,   /* the global context */
    LODE_KEY_ENTRY,    /* number, name */
    LODE_KEY_FUNCTION, /* function: the first of equal ones */
    LODE_KEY_ADDRESS,  /* lexical, module, number: offset; code without a known function */
    LODE_KEY_UNKNOWN,  /* lexical; called code without address; optionally file, number: line */
    LODE_KEY_LOOP,     /* module, file, number: line; without file, number: offset */
    LODE_KEY_LINE,     /* file, number: line; without file, module, number: offset */
    LODE_KEY_MODULE,   /* module, or NULL */
    LODE_KEY_FILE      /* file, or NULL */
};

/* Fields that a kind does not use are zero. */
struct lode_key {
    enum lode_key_kind kind;
    uint16_t lexical;
    bool is_inlined; /* if calls and inlined copies are distinguished */
    const lode_function *function;
    const lode_module *module;
    const lode_file *file;
    const char *name;
    uint64_t number;
};

/* Whether a context begins a function: a call or an entry point. Its body ends at the next one. */
static inline bool begins_function(const lode_context *context)
{
    return context->relation != LODE_RELATION_LEXICAL || context->lexical == LODE_LEXICAL_ENTRY ||
           context->lexical == LODE_LEXICAL_FUNCTION || context->lexical == LODE_LEXICAL_GLOBAL;
}

/* For a context that begins a function: its function, else address, location or entry point. */
struct lode_key lode_key_of_function(const lode_context *context);
/* For a loop. */
struct lode_key lode_key_of_loop(const lode_context *context);
/* For a source line. */
struct lode_key lode_key_of_line(const lode_context *context);

bool lode_key_is_same(const struct lode_key *a, const struct lode_key *b);

/* Numbers keys 0, 1, 2... in order of first addition. */
struct lode_keys {
    struct lode_index index;
    struct lode_array items;
};

void lode_keys_init(struct lode_keys *keys);
/* The number of a key, or LODE_NO_INDEX if out of memory. */
uint32_t lode_keys_add(struct lode_keys *keys, const struct lode_key *key, bool *added);
/* Removes all keys and keeps the memory. */
void lode_keys_clear(struct lode_keys *keys);
void lode_keys_free(struct lode_keys *keys);

#endif
