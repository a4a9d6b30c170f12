/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OUTPUT_BUFFER = 1 << 20,
    OUTPUT_MAX_DEPTH = 64 /* of directories that are cleared */
};

static const char lock_name[] = ".lock";

/* ---- names ---- */

/* The target's path without slashes at its end. */
static char *copy_path(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return strndup(path, length);
}

static lode_status name_partial(struct lode_output *output, lode_error *error)
{
    char *copy = strdup(output->path);
    int length = -1;
    if (copy) {
        const char *base = strrchr(copy, '/');
        length = asprintf(&output->partial, ".%s.partial", base ? base + 1 : copy);
    }
    free(copy);
    if (length < 0) {
        output->partial = NULL;
        return lode_fail_memory(error);
    }
    return LODE_OK;
}

static const char *base_name(const struct lode_output *output)
{
    const char *slash = strrchr(output->path, '/');
    return slash ? slash + 1 : output->path;
}

static lode_status open_parent(struct lode_output *output, lode_error *error)
{
    char *copy = strdup(output->path);
    if (copy == NULL)
        return lode_fail_memory(error);
    output->parent = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    lode_status status = LODE_OK;
    if (output->parent < 0)
        status = lode_fail_errno(error, output->path, "cannot open the directory that it should be in");
    free(copy);
    return status;
}

/* ---- clearing ---- */

static void clear_directory(int parent, const char *name, unsigned depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    if (directory == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(directory), entry->d_name, 0) != 0 && depth < OUTPUT_MAX_DEPTH)
            clear_directory(dirfd(directory), entry->d_name, depth + 1);
    }
    closedir(directory);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* ---- beginning ---- */

static bool exists(const struct lode_output *output)
{
    struct stat status;
    return fstatat(output->parent, base_name(output), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A partial directory whose lock is free was left by a process that is gone. */
static lode_status lock_partial(struct lode_output *output, lode_error *error)
{
    output->directory =
        openat(output->parent, output->partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (output->directory < 0)
        return lode_fail_errno(error, output->path, "cannot open the directory for parts of it");
    output->lock = openat(output->directory, lock_name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (output->lock < 0)
        return lode_fail_errno(error, output->path, "cannot make a lock");
    if (flock(output->lock, LOCK_EX | LOCK_NB) == 0)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_IO, output->path, LODE_NO_OFFSET,
                     "another process is writing it (%s is locked)", output->partial);
}

static lode_status make_partial(struct lode_output *output, lode_error *error)
{
    if (mkdirat(output->parent, output->partial, 0777) == 0)
        return lock_partial(output, error);
    if (errno != EEXIST)
        return lode_fail_errno(error, output->path, "cannot make a directory for parts of it");
    LODE_TRY(lock_partial(output, error));
    close(output->directory);
    close(output->lock);
    output->directory = output->lock = -1;
    clear_directory(output->parent, output->partial, 0);
    if (mkdirat(output->parent, output->partial, 0777) != 0)
        return lode_fail_errno(error, output->path, "cannot make a directory for parts of it");
    return lock_partial(output, error);
}

lode_status lode_output_create(struct lode_output *output, const char *path, bool force, lode_error *error)
{
    *output = (struct lode_output){.parent = -1, .directory = -1, .lock = -1, .force = force};
    output->path = copy_path(path);
    if (output->path == NULL)
        return lode_fail_memory(error);
    LODE_TRY(open_parent(output, error));
    if (!force && exists(output))
        return lode_fail(error, LODE_ERR_ARGUMENT, output->path, LODE_NO_OFFSET,
                         "it is there already; it is replaced only by force");
    LODE_TRY(name_partial(output, error));
    return make_partial(output, error);
}

lode_status lode_output_mkdir(struct lode_output *output, const char *name, lode_error *error)
{
    char *path = strdup(name);
    if (path == NULL)
        return lode_fail_memory(error);
    lode_status status = LODE_OK;
    for (char *slash = path; slash && status == LODE_OK;) {
        slash = strchr(slash + 1, '/');
        if (slash)
            *slash = '\0';
        if (mkdirat(output->directory, path, 0777) != 0 && errno != EEXIST)
            status = lode_fail_errno(error, name, "cannot make the directory");
        if (slash)
            *slash = '/';
    }
    free(path);
    return status;
}

/* ---- ending ---- */

static lode_status sync_directory(int fd, const char *name, lode_error *error)
{
    return fsync(fd) == 0 ? LODE_OK : lode_fail_errno(error, name, "cannot write the directory");
}

/* Replaces what is there in one step where the file system can, else in two. */
static lode_status replace(struct lode_output *output, lode_error *error)
{
    const char *name = base_name(output);
    if (renameat2(output->parent, output->partial, output->parent, name, RENAME_EXCHANGE) == 0)
        return LODE_OK;
    if (errno != EINVAL && errno != ENOSYS)
        return lode_fail_errno(error, output->path, "cannot take its name");
    char *old;
    if (asprintf(&old, ".%s.old", name) < 0)
        return lode_fail_memory(error);
    clear_directory(output->parent, old, 0);
    lode_status status = LODE_OK;
    if (renameat(output->parent, name, output->parent, old) != 0) {
        status = lode_fail_errno(error, output->path, "cannot move what is there");
    } else if (renameat(output->parent, output->partial, output->parent, name) != 0) {
        status = lode_fail_errno(error, output->path, "cannot take its name");
        if (renameat(output->parent, old, output->parent, name) != 0)
            status =
                lode_fail(error, LODE_ERR_IO, output->path, LODE_NO_OFFSET, "what was there is now %s", old);
    } else {
        clear_directory(output->parent, old, 0);
    }
    free(old);
    return status;
}

lode_status lode_output_commit(struct lode_output *output, lode_error *error)
{
    LODE_TRY(sync_directory(output->directory, output->path, error));
    unlinkat(output->directory, lock_name, 0);
    if (output->force && exists(output)) {
        LODE_TRY(replace(output, error));
    } else if (renameat2(output->parent, output->partial, output->parent, base_name(output),
                         RENAME_NOREPLACE) != 0) {
        bool unsupported = errno == EINVAL || errno == ENOSYS;
        if (!unsupported || exists(output) ||
            renameat(output->parent, output->partial, output->parent, base_name(output)) != 0)
            return lode_fail_errno(error, output->path, "cannot take its name");
    }
    output->committed = true;
    LODE_TRY(sync_directory(output->parent, output->path, error));
    /* After an exchange, what was there has the partial name. */
    clear_directory(output->parent, output->partial, 0);
    return LODE_OK;
}

void lode_output_close(struct lode_output *output)
{
    if (!output->committed && output->lock >= 0)
        clear_directory(output->parent, output->partial, 0);
    if (output->lock >= 0)
        close(output->lock);
    if (output->directory >= 0)
        close(output->directory);
    if (output->parent >= 0)
        close(output->parent);
    free(output->path);
    free(output->partial);
    *output = (struct lode_output){.parent = -1, .directory = -1, .lock = -1};
}

/* ---- files ---- */

lode_status lode_output_file_create(struct lode_output_file *file, struct lode_output *output,
                                    const char *name, lode_error *error)
{
    *file = (struct lode_output_file){.fd = -1, .name = name};
    file->buffer = malloc(OUTPUT_BUFFER);
    if (file->buffer == NULL)
        return lode_fail_memory(error);
    file->fd = openat(output->directory, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return file->fd < 0 ? lode_fail_errno(error, name, "cannot create") : LODE_OK;
}

lode_status lode_output_write_at(const struct lode_output_file *file, uint64_t offset, const void *bytes,
                                 size_t size, lode_error *error)
{
    const unsigned char *at = bytes;
    while (size > 0) {
        ssize_t written = pwrite(file->fd, at, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return lode_fail_errno(error, file->name, "cannot write");
        if (written == 0)
            return lode_fail(error, LODE_ERR_IO, file->name, offset, "cannot write: nothing was taken");
        at += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return LODE_OK;
}

lode_status lode_output_flush(struct lode_output_file *file, lode_error *error)
{
    LODE_TRY(lode_output_write_at(file, file->size - file->used, file->buffer, file->used, error));
    file->used = 0;
    return LODE_OK;
}

lode_status lode_output_write(struct lode_output_file *file, const void *bytes, size_t size,
                              lode_error *error)
{
    if (size > OUTPUT_BUFFER - file->used)
        LODE_TRY(lode_output_flush(file, error));
    if (size >= OUTPUT_BUFFER) {
        LODE_TRY(lode_output_write_at(file, file->size, bytes, size, error));
    } else if (size > 0) {
        memcpy(file->buffer + file->used, bytes, size);
        file->used += size;
    }
    file->size += size;
    return LODE_OK;
}

lode_status lode_output_align(struct lode_output_file *file, unsigned alignment, lode_error *error)
{
    static const unsigned char zeros[64];
    size_t padding = (size_t)((alignment - file->size % alignment) % alignment);
    return lode_output_write(file, zeros, padding, error);
}

lode_status lode_output_file_close(struct lode_output_file *file, lode_error *error)
{
    lode_status status = lode_output_flush(file, error);
    if (status == LODE_OK && fsync(file->fd) != 0)
        status = lode_fail_errno(error, file->name, "cannot write");
    int fd = file->fd;
    file->fd = -1;
    if (close(fd) != 0 && status == LODE_OK)
        status = lode_fail_errno(error, file->name, "cannot close");
    lode_output_file_abandon(file);
    return status;
}

void lode_output_file_abandon(struct lode_output_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->buffer);
    *file = (struct lode_output_file){.fd = -1};
}
