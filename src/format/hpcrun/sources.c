/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/sources.h"

#include <stdio.h>
#include <unistd.h>

#define COPIES "src"

enum {
    LOOKED_AT = 4096 /* bytes */
};

/*
 * "src/a/c.h" for "/a//b/../c.h". False for what is above the root or hidden, such as files with
 * keys: structure files may name anything.
 */
static bool normalise(const char *path, char out[PATH_MAX])
{
    size_t used = sizeof COPIES - 1;
    memcpy(out, COPIES, sizeof COPIES);
    while (*path) {
        size_t length = strcspn(path, "/");
        bool is_up = length == 2 && path[0] == '.' && path[1] == '.';
        bool is_same = length == 0 || (length == 1 && path[0] == '.');
        if (is_up) {
            char *slash = strrchr(out, '/');
            if (slash == NULL)
                return false;
            *slash = '\0';
            used = (size_t)(slash - out);
        } else if (!is_same) {
            if (path[0] == '.' || used + length + 2 > PATH_MAX)
                return false;
            out[used] = '/';
            memcpy(out + used + 1, path, length);
            used += length + 1;
            out[used] = '\0';
        }
        path += length + (path[length] == '/');
    }
    return used > sizeof COPIES;
}

/* Without a NUL at its beginning, and not empty. */
static bool is_text(const struct hpcrun_module_file *file)
{
    char bytes[LOOKED_AT];
    int fd = lode_module_file_open(file);
    ssize_t size = fd >= 0 ? pread(fd, bytes, sizeof bytes, 0) : -1;
    if (fd >= 0)
        close(fd);
    return size > 0 && memchr(bytes, '\0', (size_t)size) == NULL;
}

bool lode_hpcrun_find_source(const struct hpcrun_asking *asking, const char *path, uint64_t *budget,
                             char copy[PATH_MAX], char source[PATH_MAX])
{
    struct hpcrun_module_file file;
    char resolved[PATH_MAX];
    if (path[0] != '/' || !normalise(path, copy) || !lode_module_file_find(&file, asking, path, NULL))
        return false;
    int length = snprintf(source, PATH_MAX, "%s%s%s", file.root + 1, file.root[1] ? "/" : "", file.path);
    bool is_copied = length > 0 && length < PATH_MAX && file.size <= LODE_COMPANION_MAX &&
                     file.size <= *budget && normalise(source, resolved) && is_text(&file);
    lode_module_file_close(&file);
    *budget -= is_copied ? file.size : 0;
    return is_copied;
}
