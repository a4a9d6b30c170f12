/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads JSON (RFC 8259) in place, value by value: nothing is allocated, values keep their positions
 * in the file, and what is not asked for is skipped. Libraries that build trees need several times
 * the size of the file, and those that call back do not tell where a value begins.
 */
#ifndef LODE_BASE_JSON_H
#define LODE_BASE_JSON_H

#include "base/io/range.h"

enum {
    LODE_JSON_DEPTH = 64 /* nested objects and arrays */
};

/* After the first error `has_failed` is set, and every function returns false. */
struct lode_json {
    const uint8_t *at, *end;
    unsigned depth;
    bool is_first; /* of the items of an object or array */
    bool has_failed;
};

static inline struct lode_json lode_json_of(struct lode_range bytes)
{
    return (struct lode_json){.at = bytes.data, .end = bytes.data ? bytes.data + bytes.size : NULL};
}

/* The first character of the next value; NUL at the end. */
char lode_json_peek(struct lode_json *json);
/* Enters an object ('{') or an array ('['); false, and nothing is read, if the value is neither. */
bool lode_json_enter(struct lode_json *json, char open);
/* The next key of an object, as in the file; false after the last one, which leaves the object. */
bool lode_json_key(struct lode_json *json, struct lode_range *key);
/* Whether an array has another item; false leaves the array. */
bool lode_json_item(struct lode_json *json);
/*
 * The content of a string between its quotes, with its escapes; false, and nothing is read, if the
 * value is no string.
 */
bool lode_json_string(struct lode_json *json, struct lode_range *content);
/* A string, or the characters of a number, of true, false or null. False for other values. */
bool lode_json_scalar(struct lode_json *json, struct lode_range *content, bool *is_string);
/* Skips a value. Of what is inside, only strings and the nesting are checked. */
bool lode_json_skip(struct lode_json *json);

/* Whether a key or a string is this text. */
static inline bool lode_json_is(struct lode_range content, const char *text)
{
    size_t length = strlen(text);
    return content.size == length && memcmp(content.data, text, length) == 0;
}
/*
 * Replaces escapes: writes at most `content.size` bytes, and returns how many. Halves of surrogate
 * pairs and unknown escapes become '?'.
 */
size_t lode_json_unescape(struct lode_range content, uint8_t *out);
/* An integer; fractions are cut off, and what does not fit is the nearest that does. */
uint64_t lode_json_unsigned(struct lode_range digits);
int64_t lode_json_signed(struct lode_range digits);

#endif
