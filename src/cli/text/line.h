/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of text that grows, for output whose lines are many. */
#ifndef CLI_LINE_H
#define CLI_LINE_H

#include <stddef.h>
#include <stdint.h>

/* Starts as all zero; not terminated. */
typedef struct line {
    char *text;
    size_t used, capacity;
} line;

#define LINE_DURATION_WIDTH 11

void line_add(line *l, const char *text);
void line_add_bytes(line *l, const char *text, size_t length);
void line_add_blanks(line *l, size_t count);
/* Three digits, point, three digits, unit, truncated. Takes LINE_DURATION_WIDTH columns. */
void line_add_duration(line *l, uint64_t nanoseconds);
/* Seconds after the origin, and a blank. */
void line_add_time(line *l, uint64_t time, uint64_t origin);
void line_free(line *l);

#endif
