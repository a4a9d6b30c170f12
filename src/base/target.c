/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/target.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether a path ends in a name, which a new directory can take: "", "/", "." and ".." do not. */
static bool ends_in_name(const char *path)
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t dots = 0;
    while (dots < end && path[end - 1 - dots] == '.')
        dots++;
    bool only_dots = dots == end || path[end - 1 - dots] == '/';
    return end > 0 && !(only_dots && dots <= 2);
}

static bool holds_any(const char *path, const char *const *marks, size_t mark_count)
{
    for (size_t i = 0; i < mark_count; i++) {
        char *name;
        if (asprintf(&name, "%s/%s", path, marks[i]) < 0)
            return false;
        bool found = access(name, F_OK) == 0;
        free(name);
        if (found)
            return true;
    }
    return false;
}

/* Nothing but itself and its parent. The stream is the caller's own, which is all that readdir asks for. */
static bool is_empty(DIR *directory)
{
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) /* NOLINT(concurrency-mt-unsafe) */
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return false;
    return true;
}

lode_status lode_target_check(const char *path, bool force, const char *kind, const char *const *marks,
                              size_t mark_count, lode_error *error)
{
    if (!ends_in_name(path))
        return lode_fail(error, LODE_ERR_ARGUMENT, path, LODE_NO_OFFSET,
                         "a new directory cannot have this name");
    if (!force || access(path, F_OK) != 0 || holds_any(path, marks, mark_count))
        return LODE_OK;
    DIR *directory = opendir(path);
    if (directory == NULL && errno != ENOTDIR)
        return lode_fail_errno(error, path, "cannot look into what is there");
    bool empty = directory && is_empty(directory);
    if (directory)
        closedir(directory);
    return empty ? LODE_OK
                 : lode_fail(error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET,
                             "it is not a %s, so it is not replaced", kind);
}
