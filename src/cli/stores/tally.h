/* SPDX-License-Identifier: BSD-3-Clause */
/* How often each rule was broken in a store. */
#ifndef CLI_TALLY_H
#define CLI_TALLY_H

#include "output/out.h"

#include <lode/unstable.h>

typedef struct tally_entry {
    char rule[48];
    lode_severity severity;
    uint64_t count;
    int or_more;       /* counting stopped there */
    char example[160]; /* the first finding: "FILE: TEXT", shortened */
} tally_entry;

/* Starts as all zero. */
typedef struct tally {
    tally_entry *items;
    size_t count, capacity;
    uint64_t cap;   /* limit of findings per rule in the library; 0: none */
    uint64_t total; /* warnings and errors, if all were counted; 0: not known */
} tally;

void tally_add(tally *t, const lode_finding *finding);
/* Adds what `from` has counted and is at least as severe. */
void tally_merge(tally *t, const tally *from, lode_severity least);
/* Two counts of the same findings: the larger one of each rule. */
void tally_join(tally *t, const tally *from);
void tally_free(tally *t);

/* Whether there is a finding that is at least as severe. */
int tally_has(const tally *t, lode_severity least);
/* How many findings there are; whether there may be more. */
uint64_t tally_count(const tally *t);
int tally_is_least(const tally *t);
/* The most severe rule, of several the one with most findings; NULL: none. */
const tally_entry *tally_worst(tally *t);
/* Whether only a check at level full finds one of them. */
int tally_needs_full(const tally *t);
/* "3 findings: 2 exit-missing, 1 record-lost", the worst first; "" if there are none. free() it. */
char *tally_text(tally *t);
/* Elements of a list of JSON, the most severe first. With the store, unless it is NULL. */
void tally_write(out *o, tally *t, const char *store);

#endif
