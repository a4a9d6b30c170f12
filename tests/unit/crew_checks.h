/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for any crew. Every member runs the same checks: threads in test_crew.c, processes in tests/ranks. */
#ifndef LODE_TESTS_CREW_CHECKS_H
#define LODE_TESTS_CREW_CHECKS_H

#include "base/crew.h"

typedef lode_status (*crew_check_fn)(struct lode_crew *crew, lode_error *error);

struct crew_check {
    const char *name;
    crew_check_fn run;
};

/* What does not hold is an error whose text says it. */
extern const struct crew_check crew_checks[];
extern const size_t crew_check_count;
/* All of them, cut into pieces of several sizes; `count` is how many were run. */
lode_status crew_check_all(struct lode_crew *crew, unsigned *count, lode_error *error);

/* Operations that wait for others, to fail in. Each returns what the crew says. */
extern const struct crew_check crew_waits[];
extern const size_t crew_wait_count;

/* The file at `path` is made by member 0, written by all, and read by member 0. */
lode_status crew_check_file(struct lode_crew *crew, const char *path, lode_error *error);

#endif
