/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of folded stacks. There is no specification: what several readers have in common. */
#ifndef LODE_FORMAT_FOLDED_LINE_H
#define LODE_FORMAT_FOLDED_LINE_H

#include "base/io/range.h"
#include "model/import/import.h"

enum {
    FOLDED_LINE_MOST = 1 << 24, /* bytes */
    FOLDED_SHIFT = 60           /* counts are in units of 2^-60, to add fractions exactly */
};

enum folded_kind {
    FOLDED_NOTHING, /* an empty line */
    FOLDED_COMMENT,
    FOLDED_STACK,
    FOLDED_BAD
};

struct folded_line {
    enum folded_kind kind;
    struct lode_range whole; /* without its end */
    struct lode_range stack; /* without counts */
    bool has_two;            /* the last two words are counts; and the stack before both: */
    struct lode_range rest;
    lode_wide before, count;
    bool is_large; /* a count is beyond 2^53 */
};

/* The first line of some text, which is shortened by it. False at the end. */
bool lode_folded_next(struct lode_range *text, struct folded_line *line);

#endif
