/* SPDX-License-Identifier: BSD-3-Clause */
/* Permissions of outputs: nobody may read a copy who may not read its original. */
#ifndef LODE_BASE_ACCESS_H
#define LODE_BASE_ACCESS_H

#include "base/error.h"
#include <stdbool.h>
#include <sys/stat.h>

/* Permissions, and the group that those of the group are for. */
struct lode_access {
    mode_t mode;
    gid_t group;
};

/* Of a file, as those of a directory that holds it: who may read it may enter the directory. */
static inline struct lode_access lode_access_of(const struct stat *about)
{
    mode_t mode = about->st_mode & 0777;
    bool is_directory = S_ISDIR(about->st_mode);
    return (struct lode_access){is_directory ? mode : mode | (mode & 0444) >> 2, about->st_gid};
}

/* What both give to everyone. Members of a group that only one knows are others to the other. */
static inline struct lode_access lode_access_both(struct lode_access a, struct lode_access b)
{
    mode_t mode = a.mode & b.mode;
    if (a.group != b.group)
        mode &= ~(mode_t)070 | (a.mode & b.mode & 07) << 3;
    return (struct lode_access){mode, b.group};
}

/*
 * Narrows the permissions of a new file or directory to those of an original; its owner can read
 * and, if it is a directory, change it.
 */
lode_status lode_access_narrow(int fd, struct lode_access original, const char *name, lode_error *error);

#endif
