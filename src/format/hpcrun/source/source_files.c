/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/source/source_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COPIES "src"

enum {
    LOOKED_AT = 4096 /* bytes */
};

/* ---- names ---- */

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

/* ---- roots ---- */

/* One that is not there, or is the whole machine, is none. */
static lode_status add_root(struct hpcrun_source_files *sources, const char *path, bool is_measured,
                            lode_error *error)
{
    struct stat about;
    char *real = path[0] ? realpath(path, NULL) : NULL;
    struct hpcrun_source_file_root *root = NULL;
    if (real == NULL || real[1] == '\0' || stat(real, &about) != 0) {
        free(real);
        return LODE_OK;
    }
    root = lode_array_push(&sources->roots);
    if (root == NULL) {
        free(real);
        return lode_fail_memory(error);
    }
    *root = (struct hpcrun_source_file_root){real, is_measured, about.st_uid};
    return LODE_OK;
}

/* What the user has named comes first: it needs no other reason. */
static lode_status add_roots(struct hpcrun_source_files *sources, const struct hpcrun_asking *asking,
                             lode_error *error)
{
    const lode_build_options *options = sources->options;
    for (size_t i = 0; i < options->source_root_count && !options->foreign; i++)
        LODE_TRY(add_root(sources, options->source_roots[i], false, error));
    for (size_t i = 0; i < options->replacement_count && !options->foreign; i++) {
        const char *equals = strchr(options->replacements[i], '=');
        if (equals)
            LODE_TRY(add_root(sources, equals + 1, false, error));
    }
    for (size_t i = 0; i < asking->directory_count; i++)
        LODE_TRY(add_root(sources, asking->directories[i], true, error));
    return LODE_OK;
}

lode_status lode_hpcrun_source_files_init(struct hpcrun_source_files *sources,
                                          const struct hpcrun_asking *asking, lode_error *error)
{
    *sources = (struct hpcrun_source_files){.options = asking->options, .budget = SOURCES_BYTES_MOST};
    lode_array_init(&sources->roots, sizeof(struct hpcrun_source_file_root), UINT32_MAX - 1);
    return add_roots(sources, asking, error);
}

void lode_hpcrun_source_files_free(struct hpcrun_source_files *sources)
{
    for (size_t i = 0; i < sources->roots.count; i++)
        free(LODE_ARRAY_AT(&sources->roots, struct hpcrun_source_file_root, i)->path);
    lode_array_free(&sources->roots);
}

/* ---- what may be copied ---- */

static bool is_below(const char *path, const char *root)
{
    size_t length = strlen(root);
    return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* The first root that a path without links is below; NULL: none. */
static const struct hpcrun_source_file_root *root_of(const struct hpcrun_source_files *sources,
                                                     const char *path)
{
    for (size_t i = 0; i < sources->roots.count; i++) {
        const struct hpcrun_source_file_root *root =
            LODE_ARRAY_AT(&sources->roots, struct hpcrun_source_file_root, i);
        if (is_below(path, root->path))
            return root;
    }
    return NULL;
}

/*
 * Inside measurements, a file can be a hard link to one of the user's: only those with one link
 * that belong to whom the measurements belong to are the author's to give.
 */
static bool is_given(const struct hpcrun_source_file_root *root, const struct lode_regular *file)
{
    return file->about.st_nlink == 1 && file->about.st_uid == root->owner;
}

static enum hpcrun_source_file_fate fate_of(const struct hpcrun_source_files *sources,
                                            const struct hpcrun_source_file_root *root,
                                            const struct lode_regular *file)
{
    bool is_public = lode_regular_is_public(file);
    if (root && !root->is_measured)
        return SOURCE_FROM_ROOTS;
    if (root && (is_public || is_given(root, file)))
        return SOURCE_FROM_MEASUREMENTS;
    if (is_public)
        return SOURCE_FROM_PUBLIC;
    return sources->options->all_sources ? SOURCE_FROM_ANYWHERE : SOURCE_RESTRICTED;
}

/* Opens an absolute path without links if it may be copied; else `file` has no descriptor. */
static enum hpcrun_source_file_fate open_allowed(const struct hpcrun_source_files *sources, const char *path,
                                                 struct lode_regular *file)
{
    const lode_build_options *options = sources->options;
    const struct hpcrun_source_file_root *root = root_of(sources, path);
    lode_error reason = {0};
    file->fd = -1;
    if (root == NULL && (options->foreign || (options->source_root_count > 0 && !options->all_sources)))
        return SOURCE_OUTSIDE;
    int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    lode_status status = lode_regular_open(file, top, path + 1, &reason);
    close(top);
    if (status != LODE_OK)
        return reason.os_errno == EACCES ? SOURCE_RESTRICTED : SOURCE_UNFIT;
    enum hpcrun_source_file_fate fate = fate_of(sources, root, file);
    if (!lode_source_file_is_copied(fate))
        lode_regular_close(file);
    return fate;
}

/* Without a NUL at its beginning, and not empty. */
static bool is_text(const struct lode_regular *file)
{
    char bytes[LOOKED_AT];
    ssize_t size = file->about.st_size > 0 ? pread(file->fd, bytes, sizeof bytes, 0) : -1;
    return size > 0 && memchr(bytes, '\0', (size_t)size) == NULL;
}

/* ---- finding ---- */

static enum hpcrun_source_file_fate try_source(struct hpcrun_source_files *sources, const char *path,
                                               char source[PATH_MAX])
{
    struct lode_regular file;
    char named[PATH_MAX];
    char *real = path[0] == '/' ? realpath(path, NULL) : NULL;
    if (real == NULL)
        return path[0] == '/' && errno == EACCES ? SOURCE_RESTRICTED : SOURCE_ABSENT;
    int length = snprintf(source, PATH_MAX, "%s", real);
    free(real);
    if (length >= PATH_MAX || !normalise(source, named))
        return SOURCE_UNFIT;
    enum hpcrun_source_file_fate fate = open_allowed(sources, source, &file);
    if (!lode_source_file_is_copied(fate))
        return fate;
    uint64_t size = (uint64_t)file.about.st_size;
    bool is_fit = size <= LODE_COMPANION_MAX && size <= sources->budget && is_text(&file);
    sources->budget -= is_fit ? size : 0;
    lode_regular_close(&file);
    return is_fit ? fate : SOURCE_UNFIT;
}

/* Where replacements lead to, then as it is: the first that is copied, else why not. */
static enum hpcrun_source_file_fate try_all(struct hpcrun_source_files *sources, const char *path,
                                            char source[PATH_MAX])
{
    const lode_build_options *options = sources->options;
    enum hpcrun_source_file_fate fate = SOURCE_ABSENT;
    char replaced[PATH_MAX];
    for (size_t i = 0; i < options->replacement_count && !lode_source_file_is_copied(fate); i++)
        if (lode_replace_prefix(options->replacements[i], path, replaced))
            fate = try_source(sources, replaced, source);
    if (lode_source_file_is_copied(fate))
        return fate;
    enum hpcrun_source_file_fate own = try_source(sources, path, source);
    return own == SOURCE_ABSENT ? fate : own;
}

bool lode_hpcrun_find_source_file(struct hpcrun_source_files *sources, const char *path, char copy[PATH_MAX],
                                  char source[PATH_MAX])
{
    if (sources->options->no_sources || path[0] != '/')
        return false;
    enum hpcrun_source_file_fate fate = normalise(path, copy) ? try_all(sources, path, source) : SOURCE_UNFIT;
    sources->counts[fate]++;
    return lode_source_file_is_copied(fate);
}

lode_status lode_hpcrun_open_source_file(const struct hpcrun_source_files *sources, const char *source,
                                         int *fd, lode_error *error)
{
    struct lode_regular file;
    if (!lode_source_file_is_copied(open_allowed(sources, source, &file)))
        return lode_fail(error, LODE_ERR_IO, source, LODE_NO_OFFSET, "it has changed and may not be copied");
    *fd = file.fd;
    return LODE_OK;
}
