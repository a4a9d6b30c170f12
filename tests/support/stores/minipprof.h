/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small profiles of pprof, field by field. The base is main -> f -> g, samples of 7 (main, f, g)
 * and 5 (main, f), one type, cpu/nanoseconds. Fields may come in any order: tests append more.
 */
#ifndef LODE_TESTS_MINIPPROF_H
#define LODE_TESTS_MINIPPROF_H

#include "base/memory/blob.h"
#include <stdint.h>

/* Indices of strings. */
enum minipprof_string {
    MINI_EMPTY,
    MINI_CPU,
    MINI_NANOSECONDS,
    MINI_MAIN,
    MINI_F,
    MINI_G,
    MINI_FILE,
    MINI_PROGRAM,
    MINI_STRINGS
};

/* Appends a number, a field that is a number, or one that is bytes. */
void minipprof_number(struct lode_blob *out, uint64_t number);
void minipprof_field(struct lode_blob *out, unsigned field, uint64_t number);
void minipprof_bytes(struct lode_blob *out, unsigned field, const void *bytes, size_t size);
/* Records of a profile. A location without a function has no line. */
void minipprof_string(struct lode_blob *out, const char *text);
void minipprof_type(struct lode_blob *out, uint64_t type, uint64_t unit);
void minipprof_mapping(struct lode_blob *out, uint64_t id, uint64_t start, uint64_t limit, uint64_t name);
void minipprof_function(struct lode_blob *out, uint64_t id, uint64_t name);
void minipprof_location(struct lode_blob *out, uint64_t id, uint64_t mapping, uint64_t address,
                        uint64_t function);
/* Locations from the innermost one on, and one value. */
void minipprof_sample(struct lode_blob *out, const uint64_t *locations, size_t count, int64_t value);
/* The base: strings, then everything else without sample types, then those. */
void minipprof_strings(struct lode_blob *out);
void minipprof_records(struct lode_blob *out);
void minipprof_make(struct lode_blob *out);
/* Compresses with gzip, in place. */
void minipprof_gzip(struct lode_blob *out);

#endif
