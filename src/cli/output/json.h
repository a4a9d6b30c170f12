/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streaming JSON. `key` is the key in an object, and NULL in an array. Keeps no state per level, so
 * that documents can be nested arbitrarily deep.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include "output/out.h"

void json_object(out *o, const char *key);
void json_object_end(out *o);
void json_array(out *o, const char *key);
void json_array_end(out *o);

/* NULL becomes null. Each byte that is not UTF-8 becomes U+FFFD. */
void json_text(out *o, const char *key, const char *value);
void json_bytes(out *o, const char *key, const char *bytes, size_t size);
/* Readers that have doubles for numbers lose digits from 2^53 on: from there on it is a string. */
void json_u64(out *o, const char *key, uint64_t value);
void json_i64(out *o, const char *key, int64_t value);
/* A string of digits in any case, for a member whose values are mostly large. */
void json_digits(out *o, const char *key, uint64_t value);
/* NaN and infinities become null. */
void json_real(out *o, const char *key, double value);
void json_bool(out *o, const char *key, int value);
void json_null(out *o, const char *key);

/* A member whose key is a number: JSON wants it as a string. */
void json_number_key_object(out *o, uint64_t key);
void json_number_key_real(out *o, uint64_t key, double value);

/* Puts the next element on a line of its own. */
void json_line(out *o);

#endif
