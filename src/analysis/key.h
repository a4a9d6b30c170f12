/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What contexts are grouped by. Keys are compared field by field; what two keys share by chance in a number made from them
 * (a hash, a packed integer) never makes them one.
 */
#ifndef LODE_ANALYSIS_KEY_H
#define LODE_ANALYSIS_KEY_H

#include "base/intern.h"
#include "model/context.h"

enum lode_key_kind {
    LODE_KEY_GLOBAL,   /* the global context */
    LODE_KEY_ENTRY,    /* number, name */
    LODE_KEY_FUNCTION, /* function: the first of those that are the same */
    LODE_KEY_ADDRESS,  /* lexical, module, number: the offset; code without a known function */
    LODE_KEY_UNKNOWN, /* lexical; called code without an address; file and number if they are known: the line */
    LODE_KEY_LOOP,    /* module, and file with number: the line; without a file, number: the offset */
    LODE_KEY_LINE,    /* file, number: the line; without a file, module and number: the offset */
    LODE_KEY_MODULE, /* module, or NULL */
    LODE_KEY_FILE    /* file, or NULL */
};

/* What a kind does not have is zero. */
struct lode_key {
    enum lode_key_kind kind;
    uint16_t lexical;
    bool is_inlined; /* where calls and inlined copies of a function are distinguished */
    const lode_function *function;
    const lode_module *module;
    const lode_file *file;
    const char *name;
    uint64_t number;
};

/*
 * Whether a context begins a function of its own: it is called, or an entry point. What lies between it and the next
 * such contexts is its body.
 */
static inline bool begins_function(const lode_context *context)
{
    return context->relation != LODE_RELATION_LEXICAL || context->lexical == LODE_LEXICAL_ENTRY ||
           context->lexical == LODE_LEXICAL_FUNCTION || context->lexical == LODE_LEXICAL_GLOBAL;
}

/* Of a context that begins a function: by function where there is one, else by address, place or entry point. */
struct lode_key lode_key_of_function(const lode_context *context);
/* Of a loop. */
struct lode_key lode_key_of_loop(const lode_context *context);
/* Of a source line. */
struct lode_key lode_key_of_line(const lode_context *context);

/* Numbers keys 0, 1, 2... in the order in which they come. */
struct lode_keys {
    struct lode_index index;
    struct lode_array items;
};

void lode_keys_init(struct lode_keys *keys);
/* The number of a key, or LODE_NO_INDEX if there is no memory. */
uint32_t lode_keys_add(struct lode_keys *keys, const struct lode_key *key, bool *added);
/* Forgets all keys and keeps the memory. */
void lode_keys_clear(struct lode_keys *keys);
void lode_keys_free(struct lode_keys *keys);

#endif
