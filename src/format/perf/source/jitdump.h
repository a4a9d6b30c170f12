/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dumps of JIT compilers, jit-PID.dump: which code they made when, with its name and bytes. The
 * compiler maps a page of the dump, so that a record of the mapping names it.
 *
 * If dump and recording have the same clock, the code becomes side records: an address is then what
 * it was at the time of the sample, at the offset that the code has in the dump. Else the dump is
 * used like perf-PID.map, and the last code at an address counts.
 */
#ifndef LODE_FORMAT_PERF_JITDUMP_H
#define LODE_FORMAT_PERF_JITDUMP_H

#include "format/perf/source/answer.h"

/* A function, as it was put somewhere. */
struct perf_load {
    uint64_t start, size;
    uint64_t offset; /* of its code in the dump */
    uint64_t time;
    uint32_t name; /* a string */
};

struct perf_dump {
    int32_t pid;
    uint32_t path;           /* a string */
    struct lode_array loads; /* struct perf_load, as in the file */
};

/* Reads the dumps that mappings name, before the replay. What is damaged is a finding. */
lode_status lode_perf_read_dumps(struct perf_source *source, lode_error *error);
void lode_perf_free_dumps(struct perf_source *source);
/* Functions of a module of JIT code. LODE_END: no dump has them. */
lode_status lode_perf_name_dump(const struct perf_source *source, const struct perf_module *module,
                                struct perf_answer *answer, lode_error *error);

#endif
