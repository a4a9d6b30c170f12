/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths below a directory that others may control, such as a store. Each component is opened
 * relative to the previous one and symbolic links are never followed, so that no path can escape,
 * even if directories are renamed meanwhile.
 */
#ifndef LODE_BASE_BENEATH_H
#define LODE_BASE_BENEATH_H

#include "base/error.h"
#include "base/memory/blob.h"
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

enum {
    LODE_COMPANION_MAX = 64 << 20 /* size limit of companion files */
};

/* Whether a path stays below its start: relative, no component that is empty, "." or "..". */
bool lode_is_beneath(const char *path);
/*
 * Like openat with O_NOFOLLOW and O_CLOEXEC. Sets errno to EINVAL for a path that could escape, to
 * ELOOP or ENOTDIR for a path through a symbolic link.
 */
int lode_open_beneath(int directory, const char *path, int flags, mode_t mode);
/*
 * Like openat, for a file or directory of a store: links may lead to others of it, but not out of
 * it, which is EXDEV. Kernels before 5.6 follow none, which is ELOOP.
 */
int lode_open_inside(int directory, const char *name, int flags);
/* The error of the last one that failed. LODE_ABSENT if there is none of this name. */
lode_status lode_open_failed(const char *name, lode_error *error);
/* Like mkdir -p. Returns 0, or -1 and errno. */
int lode_mkdir_beneath(int directory, const char *path);

/* A regular file, open for reading. */
struct lode_regular {
    int fd; /* -1: none */
    struct stat about;
    mode_t ways; /* permissions that all directories on the path give */
};

/*
 * Opens a regular file, without following links. Pipes and devices are not opened, and files that
 * the kernel makes up (/proc, /sys) are refused. LODE_ABSENT if there is none.
 */
lode_status lode_regular_open(struct lode_regular *out, int directory, const char *path, lode_error *error);
void lode_regular_close(struct lode_regular *file);
/* Whether every user of the machine may read it; known if `directory` was the root. */
static inline bool lode_regular_is_public(const struct lode_regular *file)
{
    return (file->about.st_mode & S_IROTH) && (file->ways & S_IXOTH);
}
/* The contents, plus a NUL that `size` does not count; LODE_ERR_LIMIT above LODE_COMPANION_MAX. */
lode_status lode_regular_read(struct lode_blob *out, int fd, const char *path, lode_error *error);

/*
 * Opens a companion file of a store (a source file, metrics/default.yaml) for reading. It must be a
 * regular file (see lode_regular_open) of at most LODE_COMPANION_MAX bytes.
 * LODE_ABSENT if there is none. Other errors concern this file alone: the caller can go on without
 * it.
 */
lode_status lode_companion_open(int *fd, int directory, const char *path, lode_error *error);
/* The contents, plus a NUL that `size` does not count. The caller frees them. */
lode_status lode_companion_read(struct lode_blob *out, int directory, const char *path, lode_error *error);

#endif
