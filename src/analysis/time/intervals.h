/* SPDX-License-Identifier: BSD-3-Clause */
/* A time window in intervals of equal length. */
#ifndef LODE_ANALYSIS_INTERVALS_H
#define LODE_ANALYSIS_INTERVALS_H

#include <stdint.h>

struct lode_intervals {
    uint64_t from, to; /* `to` is after `from` */
    unsigned count;    /* at least 1 */
};

/* When an interval begins; that of `count` is the end. No product overflows. */
static inline uint64_t intervals_begin(const struct lode_intervals *in, unsigned index)
{
    uint64_t span = in->to - in->from;
    return in->from + span / in->count * index + span % in->count * index / in->count;
}

/* The interval of a time in the time window. */
static inline unsigned intervals_find(const struct lode_intervals *in, uint64_t time)
{
    double place = (double)(time - in->from) / (double)(in->to - in->from) * in->count;
    unsigned index = place < in->count ? (unsigned)place : in->count - 1;
    while (index > 0 && time < intervals_begin(in, index))
        index--;
    while (index + 1 < in->count && time >= intervals_begin(in, index + 1))
        index++;
    return index;
}

#endif
