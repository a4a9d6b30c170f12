/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for addresses of a module, made by hand: ranges that have a function each. */
#ifndef LODE_FORMAT_PERF_ANSWER_H
#define LODE_FORMAT_PERF_ANSWER_H

#include "format/perf/source/source.h"

struct perf_answer {
    struct hpcstruct_module code;
    struct lode_strings strings;
};

void lode_perf_answer_init(struct perf_answer *answer);
void lode_perf_answer_free(struct perf_answer *answer);
/* A function from `start` to `end`, in units of the question's offsets. False if out of memory. */
bool lode_perf_answer_add(struct perf_answer *answer, const char *name, uint64_t start, uint64_t end);

/* Of functions that overlap, the last one counts. False if out of memory. */
bool lode_perf_answer_settle(struct perf_answer *answer);

/*
 * Opens a regular file that others cannot have prepared: of this user, of root, or of a user. -1:
 * it is none, or larger than 256 MiB.
 */
int lode_perf_open_text(int directory, const char *path, const uid_t *owner);
/* All of a file, with a NUL at its end; closes it. False: it is too long, or out of memory. */
bool lode_perf_read_text(struct lode_blob *text, int fd);

/* Names of code that a compiler made at run time, from perf-PID.map. LODE_END: there is none. */
lode_status lode_perf_read_jit_map(const struct perf_source *source, int32_t pid, struct perf_answer *answer,
                                   lode_error *error);
/* The symbols of the kernel, if it is the one that runs here; -1: it is not, or is not told. */
int lode_perf_open_kernel(const struct perf_source *source, const struct perf_module *module);
/* Functions of the kernel by a list of symbols, which it closes. LODE_END: it has no names. */
lode_status lode_perf_read_kernel(const struct perf_source *source, int fd,
                                  const struct hpcrun_question *question, struct perf_answer *answer,
                                  lode_error *error);

#endif
