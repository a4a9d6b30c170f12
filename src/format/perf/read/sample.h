/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a sample, in place. */
#ifndef LODE_FORMAT_PERF_SAMPLE_H
#define LODE_FORMAT_PERF_SAMPLE_H

#include "format/perf/read/store.h"

struct perf_sample {
    uint64_t ip, time, period;
    int32_t pid, tid; /* -1: unknown */
    uint32_t cpu;     /* LODE_NONE: unknown */
    bool has_ip, has_time;
    struct lode_range chain; /* u64 each, in the byte order of the file */
    bool has_chain;
    bool has_counters;          /* costs are their differences, not the period */
    struct lode_range counters; /* of a group: values, ids and losses */
    uint32_t counter_size;      /* bytes of each; 0: there is only the one of `value` */
    uint64_t value, value_id;
    struct lode_range raw;      /* of a tracepoint */
    struct lode_range branches; /* from, to and flags of each, u64; the last one first */
    bool has_stack;             /* registers and stack, which must be unwound: */
    struct lode_range registers, stack;
    uint64_t rest; /* bytes that no field takes */
};

/* `record` has `size` bytes, with its header. False if it is too short for its fields. */
bool lode_perf_sample_read(struct perf_sample *sample, const struct perf_event *event, bool is_big,
                           const uint8_t *record, uint32_t size);

/* Whether the chain is all that is behind the fields of fixed places: it mostly is. */
bool lode_perf_has_chain_only(const struct perf_event *event);

/* The counters of a record READ, into the fields that they have in a sample. False: it is short. */
bool lode_perf_counters_read(struct perf_sample *sample, const struct perf_attr *attr, bool is_big,
                             struct lode_range bytes);

#endif
