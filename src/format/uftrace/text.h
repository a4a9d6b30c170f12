/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads arbitrary text line by line, never beyond the end. */
#ifndef LODE_UFTRACE_TEXT_H
#define LODE_UFTRACE_TEXT_H

#include "base/io/range.h"
#include "base/memory/arena.h"
#include "base/memory/hash.h"
#include <string.h>

/* The rest of a line. */
struct uft_text {
    const char *at, *end;
};

/* All lines of a file. */
struct uft_lines {
    struct lode_range text;
    uint64_t next;   /* offset of the next line */
    uint64_t offset; /* of the current one */
};

static inline bool uft_next_line(struct uft_lines *lines, struct uft_text *line)
{
    if (lines->next >= lines->text.size)
        return false;
    const char *at = (const char *)lines->text.data + lines->next;
    size_t left = (size_t)(lines->text.size - lines->next);
    const char *feed = memchr(at, '\n', left);
    size_t length = feed ? (size_t)(feed - at) : left;
    lines->offset = lines->next;
    lines->next += length + (feed ? 1 : 0);
    *line = (struct uft_text){at, at + length};
    return true;
}

static inline size_t uft_length(struct uft_text text)
{
    return (size_t)(text.end - text.at);
}

static inline void uft_skip_blanks(struct uft_text *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
        text->at++;
}

static inline bool uft_take(struct uft_text *text, const char *prefix)
{
    size_t length = strlen(prefix);
    if (uft_length(*text) < length || memcmp(text->at, prefix, length) != 0)
        return false;
    text->at += length;
    return true;
}

/* Everything up to the next blank. */
static inline struct uft_text uft_take_word(struct uft_text *text)
{
    struct uft_text word = {text->at, text->at};
    while (word.end < text->end && *word.end != ' ' && *word.end != '\t')
        word.end++;
    text->at = word.end;
    return word;
}

static inline int uft_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* A number without a sign; false if there is none, or it does not fit. */
static inline bool uft_take_number(struct uft_text *text, unsigned base, uint64_t *out)
{
    const char *start = text->at;
    uint64_t value = 0;
    while (text->at < text->end && (unsigned)uft_digit(*text->at) < base) {
        if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)uft_digit(*text->at), &value))
            return false;
        text->at++;
    }
    *out = value;
    return text->at > start;
}

/* A process or thread id. */
static inline bool uft_take_id(struct uft_text *text, int32_t *out)
{
    uint64_t value;
    if (!uft_take_number(text, 10, &value) || value > INT32_MAX)
        return false;
    *out = (int32_t)value;
    return true;
}

/* A terminated copy; NULL if out of memory. */
static inline const char *uft_copy(struct lode_arena *arena, struct uft_text text)
{
    size_t length = uft_length(text);
    char *copy = lode_arena_alloc(arena, length + 1, 1);
    if (copy && length > 0)
        memcpy(copy, text.at, length);
    return copy;
}

static inline uint64_t uft_hash(struct uft_text text)
{
    return lode_hash_bytes(text.at, uft_length(text));
}

static inline bool uft_equals(struct uft_text text, const char *other)
{
    return uft_length(text) == strlen(other) && memcmp(text.at, other, uft_length(text)) == 0;
}

#endif
