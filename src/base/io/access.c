/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/io/access.h"

lode_status lode_access_narrow(int fd, struct lode_access original, const char *name, lode_error *error)
{
    struct stat own;
    if (fstat(fd, &own) != 0)
        return lode_fail_errno(error, name, "cannot stat");
    struct lode_access now = {own.st_mode & 0777, own.st_gid};
    mode_t owner = S_ISDIR(own.st_mode) ? 0700 : 0400;
    mode_t mode = lode_access_both(original, now).mode | owner;
    if (mode != now.mode && fchmod(fd, mode | (own.st_mode & (S_ISGID | S_ISVTX))) != 0)
        return lode_fail_errno(error, name, "cannot set the permissions");
    return LODE_OK;
}
