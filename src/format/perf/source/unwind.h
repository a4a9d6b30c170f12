/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unwinds copies of user stacks through lode-symbols, which has the unwind tables of binaries. It
 * is started when the first stack is met, and asked stack by stack.
 */
#ifndef LODE_FORMAT_PERF_UNWIND_H
#define LODE_FORMAT_PERF_UNWIND_H

#include "format/hpcrun/scopes/binary_protocol.h"
#include "format/hpcrun/scopes/scopes.h"
#include "format/perf/files/archive.h"
#include "format/perf/read/replay.h"
#include "format/perf/read/sample.h"
#include <sys/types.h>
#include <time.h>

struct perf_unwinder {
    const struct perf_replay *replay;
    const struct hpcrun_asking *asking; /* how files are found */
    time_t recorded;                    /* binaries that are newer are others */
    int directory;                      /* of the recording; -1: it has none */
    const struct perf_archive *archive; /* of binaries, which was read */
    uint32_t root;                      /* of the space that the helper knows; 0: none */
    pid_t pid;                          /* 0: not started; -1: it does not run */
    int requests, answers;
    uint32_t *numbers; /* by module: its open file; LODE_NONE: there is none */
    uint64_t frames[UNWIND_FRAMES_MOST];
};

void lode_perf_unwinder_open(struct perf_unwinder *unwinder, const struct perf_replay *replay,
                             const struct hpcrun_asking *asking, time_t recorded, int directory,
                             const struct perf_archive *archive);
void lode_perf_unwinder_close(struct perf_unwinder *unwinder);
/*
 * The frames of a sample, the innermost first; the others are return addresses. 0: there are none,
 * since registers or the helper are missing.
 */
uint32_t lode_perf_unwind(struct perf_unwinder *unwinder, const struct perf_event *event,
                          const struct perf_sample *sample, uint32_t root);

/* Whether stacks of the recorded kind of machine are unwound here. */
bool lode_perf_can_unwind(const struct perf_store *store);
/* Whether a sample has all registers that unwinding begins with. */
bool lode_perf_has_registers(const struct perf_event *event, const struct perf_sample *sample);

#endif
