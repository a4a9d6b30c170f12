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

/*
 * What both give to everyone, for a file of the second group. Its members are others to the first,
 * and members of the first group are others to it.
 */
static inline struct lode_access lode_access_both(struct lode_access a, struct lode_access b)
{
    mode_t mode = a.mode & b.mode;
    if (a.group != b.group)
        mode &= 0700 | (a.mode & 07) << 3 | (a.mode & 070) >> 3;
    return (struct lode_access){mode, b.group};
}

/*
 * Narrows the permissions of a new file or directory to those of an original; its owner can read
 * and, if it is a directory, change it.
 */
lode_status lode_access_narrow(int fd, struct lode_access original, const char *name, lode_error *error);

#endif
