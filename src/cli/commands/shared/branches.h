/* SPDX-License-Identifier: BSD-3-Clause */
/* The branches in front of the rows of a tree that comes in depth-first order. */
#ifndef CLI_BRANCHES_H
#define CLI_BRANCHES_H

#include <lode/unstable.h>

typedef struct branches {
    unsigned *depths;       /* by row */
    unsigned char *is_last; /* by row: no sibling follows */
    unsigned char *goes_on; /* by depth: the line of the current ancestor goes on below */
    char *text;             /* of the current row */
    size_t text_capacity;
    unsigned max_levels; /* deeper rows are not indented but show their level */
    int is_utf8;
} branches;

void branches_init(branches *b, const lode_view *view, unsigned max_levels, int is_utf8);
/* The same for rows of which only the depths are known. */
void branches_init_depths(branches *b, const unsigned *depths, size_t count, unsigned max_levels,
                          int is_utf8);
/* What stands before row `index`; rows must be asked for in order. Valid until the next call. */
const char *branches_of(branches *b, size_t index);
void branches_free(branches *b);

/* The depth of the deepest row, 0 being the first level. */
unsigned branches_deepest(const lode_view *view);

#endif
