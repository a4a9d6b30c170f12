/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of perf.data: records, fields of samples, features. Files have the byte order of the
 * machine that wrote them.
 */
#ifndef LODE_FORMAT_PERF_WIRE_H
#define LODE_FORMAT_PERF_WIRE_H

#include "base/io/bytes.h"
#include <stdbool.h>

enum {
    PERF_HEADER_SIZE = 104,
    PERF_PIPE_SIZE = 16,
    PERF_MAGIC_SIZE = 8,
    PERF_RECORD_HEADER = 8, /* u32 type, u16 misc, u16 size */
    PERF_ATTR_LEAST = 64,   /* bytes of an attribute */
    PERF_ATTR_MOST = 4096,  /* of versions to come */
    PERF_BUILD_ID = 20
};

#define PERF_MAGIC_LITTLE "PERFILE2"
#define PERF_MAGIC_BIG    "2ELIFREP"
#define PERF_MAGIC_FIRST  "PERFFILE" /* version 1 */

/* Types of records that are used; below PERF_USER_FIRST they are those of the kernel. */
enum perf_type {
    PERF_MMAP = 1,
    PERF_LOST = 2,
    PERF_COMM = 3,
    PERF_EXIT = 4,
    PERF_FORK = 7,
    PERF_READ = 8,
    PERF_SAMPLE = 9,
    PERF_MMAP2 = 10,
    PERF_AUX = 11,
    PERF_LOST_SAMPLES = 13,
    PERF_SWITCH = 14,
    PERF_SWITCH_CPU = 15,
    PERF_KSYMBOL = 17,
    PERF_KERNEL_LAST = 22,
    PERF_USER_FIRST = 64,
    PERF_HEADER_ATTR = 64,
    PERF_HEADER_TRACING_DATA = 66,
    PERF_HEADER_BUILD_ID = 67,
    PERF_AUXTRACE_INFO = 70,
    PERF_AUXTRACE = 71,
    PERF_EVENT_UPDATE = 78,
    PERF_HEADER_FEATURE = 80,
    PERF_COMPRESSED = 81,
    PERF_COMPRESSED2 = 83,
    PERF_USER_LAST = 86,
    PERF_TYPES = 128 /* counted one by one */
};

/* Bits of `misc`. */
enum {
    PERF_MODE = 7,
    PERF_MODE_KERNEL = 1,
    PERF_MODE_USER = 2,
    PERF_MODE_GUEST_KERNEL = 4,
    PERF_MISC_DATA = 1 << 13,      /* of MMAP: not executable */
    PERF_MISC_OUT = 1 << 13,       /* of SWITCH */
    PERF_MISC_FORK_EXEC = 1 << 13, /* of FORK: mappings are not copied */
    PERF_MISC_BUILD_ID = 1 << 14,  /* of MMAP2 */
    PERF_MISC_ID_SIZE = 1 << 15    /* of BUILD_ID */
};

/* Fields of a sample. */
enum {
    PERF_HAS_IP = 1 << 0,
    PERF_HAS_TID = 1 << 1,
    PERF_HAS_TIME = 1 << 2,
    PERF_HAS_ADDR = 1 << 3,
    PERF_HAS_READ = 1 << 4,
    PERF_HAS_CHAIN = 1 << 5,
    PERF_HAS_ID = 1 << 6,
    PERF_HAS_CPU = 1 << 7,
    PERF_HAS_PERIOD = 1 << 8,
    PERF_HAS_STREAM_ID = 1 << 9,
    PERF_HAS_RAW = 1 << 10,
    PERF_HAS_BRANCHES = 1 << 11,
    PERF_HAS_REGS_USER = 1 << 12,
    PERF_HAS_STACK_USER = 1 << 13,
    PERF_HAS_WEIGHT = 1 << 14,
    PERF_HAS_DATA_SRC = 1 << 15,
    PERF_HAS_IDENTIFIER = 1 << 16,
    PERF_HAS_TRANSACTION = 1 << 17,
    PERF_HAS_REGS_INTR = 1 << 18,
    PERF_HAS_PHYS_ADDR = 1 << 19,
    PERF_HAS_AUX = 1 << 20,
    PERF_HAS_CGROUP = 1 << 21,
    PERF_HAS_DATA_PAGE = 1 << 22,
    PERF_HAS_CODE_PAGE = 1 << 23,
    PERF_HAS_WEIGHTS = 1 << 24
};

/* Of a counter that is read into samples. */
enum {
    PERF_READ_ENABLED = 1,
    PERF_READ_RUNNING = 2,
    PERF_READ_ID = 4,
    PERF_READ_GROUP = 8,
    PERF_READ_LOST = 16
};

/* Flags of an attribute: numbers of bits. */
enum {
    PERF_FLAG_INHERIT = 1,
    PERF_FLAG_FREQ = 10,
    PERF_FLAG_ID_ALL = 18, /* records other than samples end with ids, too */
    PERF_FLAG_CLOCKID = 25,
    PERF_FLAG_SWITCH = 26
};

enum {
    PERF_TYPE_HARDWARE,
    PERF_TYPE_SOFTWARE,
    PERF_TYPE_TRACEPOINT
};
enum {
    PERF_SOFTWARE_CPU_CLOCK,
    PERF_SOFTWARE_TASK_CLOCK,
    PERF_SOFTWARE_DUMMY = 9
};

enum {
    PERF_BRANCH_CALL_STACK = 11, /* bits of the type of branches */
    PERF_BRANCH_INDEX = 17,
    PERF_BRANCH_COUNTERS = 19
};

/* Marks in call chains: values from here on are no addresses. */
#define PERF_CHAIN_MARKS    UINT64_C(0xfffffffffffff001)
#define PERF_CHAIN_HV       UINT64_C(0xffffffffffffffe0)
#define PERF_CHAIN_KERNEL   UINT64_C(0xffffffffffffff80)
#define PERF_CHAIN_USER     UINT64_C(0xfffffffffffffe00)
#define PERF_CHAIN_DEFERRED UINT64_C(0xfffffffffffffd80)

enum perf_feature {
    PERF_FEATURE_TRACING_DATA = 1,
    PERF_FEATURE_BUILD_ID = 2,
    PERF_FEATURE_HOSTNAME = 3,
    PERF_FEATURE_OSRELEASE = 4,
    PERF_FEATURE_VERSION = 5,
    PERF_FEATURE_ARCH = 6,
    PERF_FEATURE_CPUDESC = 8,
    PERF_FEATURE_CMDLINE = 11,
    PERF_FEATURE_EVENT_DESC = 12,
    PERF_FEATURE_CLOCK_DATA = 29,
    PERF_FEATURE_SIMPLEPERF = 129, /* Android's own profiler */
    PERF_FEATURES = 256
};

static inline uint16_t perf_u16(bool is_big, const uint8_t *p)
{
    return is_big ? get_u16be(p) : get_u16le(p);
}

static inline uint32_t perf_u32(bool is_big, const uint8_t *p)
{
    return is_big ? get_u32be(p) : get_u32le(p);
}

static inline uint64_t perf_u64(bool is_big, const uint8_t *p)
{
    return is_big ? get_u64be(p) : get_u64le(p);
}

#endif
