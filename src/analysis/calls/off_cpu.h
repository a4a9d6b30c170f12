/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Off-CPU time as a state instead of a call: takes the events of a track and returns the others.
 * It belongs to the calls that it is inside of, or the clock stops and they take running time only.
 */
#ifndef LODE_ANALYSIS_OFF_CPU_H
#define LODE_ANALYSIS_OFF_CPU_H

#include <lode/event.h>
#include <stdbool.h>

struct lode_off_cpu {
    bool is_asked; /* false: passes everything */
    bool stops;    /* the clock */
    bool is_out;
    uint64_t since;   /* when it went off-CPU */
    uint64_t stopped; /* off-CPU so far */
    uint64_t inside;  /* of that, in calls */
    size_t depth;     /* open calls */
    lode_event *items;
    size_t capacity;
};

/* For another track; keeps the memory. */
void lode_off_cpu_reset(struct lode_off_cpu *self);
void lode_off_cpu_free(struct lode_off_cpu *self);
/* The result is valid until the next call, and as long as the input is. */
lode_status lode_off_cpu_take(struct lode_off_cpu *self, const lode_event **events, size_t *count,
                              lode_error *error);

#endif
