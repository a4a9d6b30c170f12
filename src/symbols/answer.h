/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of the offsets so far, and how it is sent. The helper ends if memory runs out. */
#ifndef SYMBOLS_ANSWER_H
#define SYMBOLS_ANSWER_H

#include "format/hpcrun/scopes/binary_protocol.h"
#include <stdbool.h>
#include <stddef.h>

/* The best scope of an offset so far: the deepest. */
struct found {
    uint32_t scope; /* SYMBOLS_NONE: none */
    uint32_t depth;
};

struct scope {
    uint32_t parent, name, file, line, function;
    uint64_t address;
    enum symbols_kind kind;
};

struct answers {
    uint64_t *offsets; /* rising */
    struct found *found;
    bool *is_extra;    /* by offset: nobody asked */
    uint32_t *lengths; /* by offset: of its instruction, if ranges are sent; else NULL */
    uint32_t count;
    struct scope *scopes;
    uint32_t scope_count, scope_room;
    char **strings; /* in the order of their numbers */
    uint32_t string_count, string_room;
    uint32_t *string_slots; /* a hash table: numbers plus 1 */
    uint32_t slot_count;    /* a power of two */
};

/* Reads the offsets. */
void answers_begin(struct answers *answers, int fd);
/* Adds offsets, which rise, before any has an answer. Those that nobody asked about get none. */
void answers_add(struct answers *answers, const uint64_t *offsets, size_t count, bool is_asked);
/* The offsets in [start, end): the first, and how many. */
uint32_t answers_within(const struct answers *answers, uint64_t start, uint64_t end, uint32_t *first);
/* The number of a string; SYMBOLS_NONE for NULL and "". */
uint32_t answers_string(struct answers *answers, const char *text);
uint32_t answers_scope(struct answers *answers, struct scope scope);
/* Begins the output; `has` is SYMBOLS_HAS_... */
void answers_send_debug(unsigned has, const void *id, size_t id_size, const char *link);
/* Sends scopes and answers, and ends the output. */
void answers_send(const struct answers *answers);

/* Memory, or the end. */
void *must_grow(void *memory, size_t count, size_t size);
/* After a call of libdw that failed, with errno 0 before: the end if memory ran out. */
void must_have_memory(void);

#endif
