/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: what was counted, and where fields are in the records of an event. */
#ifndef LODE_FORMAT_PERF_EVENT_H
#define LODE_FORMAT_PERF_EVENT_H

#include "base/io/range.h"
#include "format/perf/read/wire.h"
#include <stddef.h>

/* Of perf_event_attr: what is used. Fields that a file does not have are 0. */
struct perf_attr {
    uint32_t type;
    uint64_t config, period, sample_type, read_format, flags;
    uint64_t branch_type, regs_user, regs_intr;
    int32_t clock;
    uint16_t max_stack; /* 0: as the kernel permits */
};

enum {
    PERF_NO_FIELD = 0xff
};

/* Offsets of fields of fixed place in a sample, in bytes after its header; or PERF_NO_FIELD. */
struct perf_layout {
    uint8_t ip, tid, time, id, cpu, period;
    uint8_t fixed; /* bytes of all of them */
    /* In other records, bytes before the end. */
    uint8_t end_tid, end_time, end_id, end_cpu;
    uint8_t trailer; /* bytes of all of them */
};

struct perf_event {
    struct perf_attr attr;
    struct perf_layout layout;
    const char *name; /* NULL: not told */
    bool is_dummy;    /* it has no samples */
    bool is_switch;   /* the tracepoint sched:sched_switch */
    bool is_waking;   /* the tracepoint sched:sched_waking or, without that, sched:sched_wakeup */
    uint16_t next_at; /* of these: where raw data have the next or the woken thread; 0: unknown */
    uint32_t metric;  /* number of its metric; LODE_NONE: none */
};

static inline bool perf_event_flag(const struct perf_event *event, unsigned bit)
{
    return event->attr.flags >> bit & 1;
}

/* `bytes` has at least PERF_ATTR_LEAST; what is beyond the known fields is ignored. */
void lode_perf_event_read(struct perf_event *event, struct lode_range bytes, bool is_big);

enum {
    PERF_EVENT_NAME = 64
};
/* The name; if none was told, from type and config, in a buffer of PERF_EVENT_NAME. */
const char *lode_perf_event_name(const struct perf_event *event, char *buffer);
/* Whether its periods are nanoseconds. */
bool lode_perf_event_is_time(const struct perf_event *event);

#endif
