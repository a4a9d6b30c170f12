/* SPDX-License-Identifier: BSD-3-Clause */
/* How often each rule was broken while a recording was opened and read. */
#ifndef CLI_TALLY_H
#define CLI_TALLY_H

#include "output/out.h"

#include <lode/lode.h>

typedef struct tally_entry {
    char rule[48];
    lode_severity severity;
    uint64_t count;
} tally_entry;

/* Starts as all zero. */
typedef struct tally {
    tally_entry *items;
    size_t count, capacity;
    uint64_t cap; /* limit of findings per rule in the library; 0: none */
} tally;

void tally_add(tally *t, const lode_finding *finding);
/* Adds what `from` has counted and is at least as severe. */
void tally_merge(tally *t, const tally *from, lode_severity least);
void tally_free(tally *t);

/* "3 findings: 2 exit-missing, 1 record-lost", the worst first; "" if there are none. free() it. */
char *tally_text(tally *t);
/* The same as a list of JSON, "findings"; nothing in other formats. */
void tally_write(out *o, tally *t);

#endif
