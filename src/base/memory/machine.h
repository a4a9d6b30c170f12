/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory this process may use. */
#ifndef LODE_BASE_MACHINE_H
#define LODE_BASE_MACHINE_H

#include <stdint.h>

/* The memory of the machine, or the limit that a scheduler or container has set; 0: unknown. */
uint64_t lode_machine_memory(void);

/*
 * The smallest memory limit of the control groups in `list`, a file like /proc/self/cgroup, and of
 * the groups above them, which are below `root`; at most `limit`. What cannot be read is no limit.
 */
uint64_t lode_machine_limit(const char *list, const char *root, uint64_t limit);

#endif
