/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names below a directory that may have been chosen by somebody else: in a store, or where others can write. A path is followed one
 * component after the other, each relative to the directory before it, and a symbolic link is never followed. So nothing outside is
 * reached, whatever is renamed meanwhile.
 */
#ifndef LODE_BASE_BENEATH_H
#define LODE_BASE_BENEATH_H

#include "base/blob.h"
#include "base/error.h"
#include <stdbool.h>
#include <sys/types.h>

enum {
    LODE_COMPANION_MAX = 64 << 20 /* bytes of a file that lies beside the data of a store */
};

/* Whether a path stays below where it begins: it is relative, and no component is empty, "." or "..". */
bool lode_is_beneath(const char *path);
/*
 * As openat, with O_NOFOLLOW and O_CLOEXEC. Of paths that are absolute or have an empty, "." or ".." component, errno is EINVAL; of one
 * that goes through a symbolic link, it is ELOOP or ENOTDIR.
 */
int lode_open_beneath(int directory, const char *path, int flags, mode_t mode);
/* Makes a directory, with those above it; those that are there are fine. 0, or -1 and errno. */
int lode_mkdir_beneath(int directory, const char *path);

/*
 * Opens a companion file of a store (a source file, metrics/default.yaml) for reading: only a regular file of at most LODE_COMPANION_MAX
 * bytes, never through a symbolic link, and without waiting for a pipe. LODE_ABSENT if there is none; any other error is about this
 * file alone, so that its caller can go on without it.
 */
lode_status lode_companion_open(int *fd, int directory, const char *path, lode_error *error);
/* The bytes of such a file, followed by a NUL that `size` does not count; the caller frees them. */
lode_status lode_companion_read(struct lode_blob *out, int directory, const char *path, lode_error *error);

#endif
