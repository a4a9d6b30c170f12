/* SPDX-License-Identifier: BSD-3-Clause */
/* The text index of a store, in memory: from ids to strings, methods, exceptions and stacks. */
#ifndef LODE_ZORKA_TEXT_H
#define LODE_ZORKA_TEXT_H

#include "base/io/input.h"
#include "base/memory/arena.h"
#include "base/memory/array.h"
#include "base/memory/map.h"
#include "model/finding.h"
#include <lode/context.h>
#include <stdatomic.h>

/* The byte around a string and between its parts; plain strings have none. */
enum zor_mark {
    ZOR_MARK_NONE,
    ZOR_MARK_KEYWORD = 4,
    ZOR_MARK_CLASS,
    ZOR_MARK_METHOD_NAME,
    ZOR_MARK_UUID,
    ZOR_MARK_SIGNATURE,
    ZOR_MARK_PAIR,      /* key, value */
    ZOR_MARK_PAIR_IDS,  /* key, id of the value */
    ZOR_MARK_METHOD,    /* class, name, signature */
    ZOR_MARK_EXCEPTION, /* class, message, stack, cause */
    ZOR_MARK_STACK,
    ZOR_MARK_STACK_ITEM /* class, method name, file, line */
};

/* In records: ID 01 TEXT 02 ID 03. */
enum {
    ZOR_AFTER_ID = 1,
    ZOR_AFTER_TEXT,
    ZOR_AFTER_RECORD,
    ZOR_ESCAPE = 0xff,
    ZOR_ESCAPE_SHIFT = 4, /* 00..03 are written as ff 04..07, ff as ff 08 */
    ZOR_DIGIT_ZERO = '0'  /* digits are 64 characters from here on, most significant first */
};

struct zor_text {
    const char *text; /* unescaped, NUL-terminated */
    uint32_t id, length;
    _Atomic(const lode_function *) function; /* of a method, when it is resolved */
};

struct zor_strings {
    struct lode_array items; /* struct zor_text, in the order of files and records */
    struct lode_map by_id;
    struct lode_arena *arena;
};

enum {
    ZOR_TEXT_MAX = 256 << 20, /* bytes of an index file, unpacked */
    ZOR_TEXT_RATIO = 64       /* and times its packed size */
};

void lode_zor_texts_init(struct zor_strings *strings, struct lode_arena *arena);
void lode_zor_texts_free(struct zor_strings *strings);

/* Whether this is the name of a file of the index. */
bool lode_zor_is_wal(const char *name);
bool lode_zor_is_fmi(const char *name);
/* Reads a file of the index; `file` is its name, for findings. */
lode_status lode_zor_read_wal(struct zor_strings *strings, struct lode_range bytes, const char *file,
                              struct lode_report *report);
lode_status lode_zor_read_fmi(struct zor_strings *strings, struct lode_range bytes, const char *file,
                              struct lode_report *report);
/* Reads records of unpacked text, up to its end or, if `ends_at_zero`, to the first NUL. */
lode_status lode_zor_read_records(struct zor_strings *strings, struct lode_range text, uint64_t begin,
                                  bool ends_at_zero, const char *file, struct lode_report *report);
/* Unpacks a file into records, to be freed. Damage: a finding, LODE_OK and a NULL `out`. */
lode_status lode_zor_undo_fmi(struct lode_range bytes, const char *file, struct lode_report *report,
                              uint8_t **out, uint64_t *size);

/* NULL if this id is unknown. */
struct zor_text *lode_zor_text(const struct zor_strings *strings, uint64_t id);
enum zor_mark lode_zor_mark(const struct zor_text *text);
/* The bytes between the marks, or all. */
struct lode_range lode_zor_plain(const struct zor_text *text);
/* Stores up to `capacity` ids of a marked string, 0 for an invalid one; returns their number. */
size_t lode_zor_ids(const struct zor_text *text, uint64_t *ids, size_t capacity);

#endif
