/* SPDX-License-Identifier: BSD-3-Clause */
/* What may become a new directory, and what may be replaced by one. */
#ifndef LODE_BASE_TARGET_H
#define LODE_BASE_TARGET_H

#include "base/error.h"
#include <stdbool.h>

/*
 * Refuses a path that does not end in a name. With `force`, what is there must be an empty directory or hold one of `marks`, the
 * names of files that only a `kind` of store has: force is for replacing such a store, not for removing whatever has the name.
 */
lode_status lode_target_check(const char *path, bool force, const char *kind, const char *const *marks,
                              size_t mark_count, lode_error *error);

#endif
