/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/scopes/module_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- replacements ---- */

/* Where a pattern ends in a path that begins with it; NULL if it does not. */
static const char *match(const char *pattern, size_t length, const char *path)
{
    const char *end = pattern + length;
    while (pattern < end) {
        if (*pattern != '*') {
            if (*pattern++ != *path++) // NOLINT(clang-analyzer-core.NullDereference)
                return NULL;
            continue;
        }
        /* The shortest that lets the rest of the component match: a star ends its component. */
        pattern++;
        while (*path && *path != '/' && !(pattern < end && *pattern == *path))
            path++;
    }
    return path;
}

bool lode_replace_prefix(const char *replacement, const char *path, char out[PATH_MAX])
{
    const char *equals = strchr(replacement, '=');
    if (equals == NULL || equals == replacement)
        return false;
    const char *rest = match(replacement, (size_t)(equals - replacement), path);
    bool is_component = rest && (*rest == '/' || *rest == '\0' || equals[-1] == '/');
    if (!is_component)
        return false;
    size_t length = strlen(equals + 1);
    bool needs_slash = length > 0 && equals[length] != '/' && *rest != '/' && *rest != '\0';
    int size = snprintf(out, PATH_MAX, "%s%s%s", equals + 1, needs_slash ? "/" : "", rest);
    return size > 0 && size < PATH_MAX;
}

/* ---- files ---- */

void lode_module_file_close(struct hpcrun_module_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->directory >= 0)
        close(file->directory);
    file->fd = file->directory = -1;
}

/* Whether `path` in `directory` is a regular file; without links. */
static bool try_beneath(struct hpcrun_module_file *file, const char *directory, const char *path)
{
    struct lode_regular found;
    int length = snprintf(file->path, sizeof file->path, "%s", path);
    int outer = snprintf(file->root, sizeof file->root, "%s", directory);
    if (length < 0 || outer < 0 || (size_t)length >= sizeof file->path || (size_t)outer >= sizeof file->root)
        return false;
    file->directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (file->directory < 0 || lode_regular_open(&found, file->directory, path, NULL) != LODE_OK) {
        lode_module_file_close(file);
        return false;
    }
    file->fd = found.fd;
    file->size = (uint64_t)found.about.st_size;
    return true;
}

/* An absolute path, if it is below one of the measurements. */
static bool try_inside(struct hpcrun_module_file *file, const struct hpcrun_asking *asking, const char *path)
{
    for (size_t i = 0; i < asking->directory_count; i++) {
        char *real = realpath(asking->directories[i], NULL);
        size_t length = real ? strlen(real) : 0;
        bool is_below = real && strncmp(path, real, length) == 0 && path[length] == '/';
        bool is_found = is_below && try_beneath(file, real, path + length + 1);
        free(real);
        if (is_found) {
            file->is_beneath = true;
            return true;
        }
    }
    return false;
}

static bool try_path(struct hpcrun_module_file *file, const struct hpcrun_asking *asking, const char *path)
{
    if (path[0] != '/')
        return false;
    if (try_inside(file, asking, path))
        return true;
    if (asking->binaries.foreign)
        return false;
    char *real = realpath(path, NULL);
    bool is_found = real && real[1] != '\0' && try_beneath(file, "/", real + 1);
    free(real);
    return is_found;
}

bool lode_module_file_find(struct hpcrun_module_file *file, const struct hpcrun_asking *asking,
                           const char *path, const char *directory)
{
    char replaced[PATH_MAX];
    file->fd = file->directory = -1;
    file->is_beneath = directory != NULL;
    if (directory)
        return try_beneath(file, directory, path);
    for (size_t i = 0; i < asking->binaries.replacement_count; i++)
        if (lode_replace_prefix(asking->binaries.replacements[i], path, replaced) &&
            try_path(file, asking, replaced))
            return true;
    return try_path(file, asking, path);
}
