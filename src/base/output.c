/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/output.h"

#include "base/beneath.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OUTPUT_BUFFER = 1 << 20,
    OUTPUT_MAX_DEPTH = 64,  /* of directories below the output */
    OUTPUT_MAX_TRIES = 1000 /* to take a holder that others take and clear */
};

/* In the holder. */
static const char lock_name[] = "lock", new_name[] = "new", old_name[] = "old", part_name[] = "part";

/* ---- names ---- */

/* The target's path without slashes at its end. */
static char *copy_path(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return strndup(path, length);
}

static const char *base_name(const struct lode_output *output)
{
    const char *slash = strrchr(output->path, '/');
    return slash ? slash + 1 : output->path;
}

static lode_status name_partial(struct lode_output *output, lode_error *error)
{
    if (asprintf(&output->partial, ".%s.partial", base_name(output)) >= 0)
        return LODE_OK;
    output->partial = NULL;
    return lode_fail_memory(error);
}

static lode_status open_parent(struct lode_output *output, lode_error *error)
{
    size_t length = (size_t)(base_name(output) - output->path);
    char *folder = length > 0 ? strndup(output->path, length) : strdup(".");
    if (folder == NULL)
        return lode_fail_memory(error);
    output->parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    lode_status status = LODE_OK;
    if (output->parent < 0)
        status = lode_fail_errno(error, output->path, "cannot open the directory that it should be in");
    free(folder);
    return status;
}

static bool is_there(int directory, const char *name)
{
    struct stat status;
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool target_is_there(const struct lode_output *output)
{
    return is_there(output->parent, base_name(output));
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The stream is ours alone, which is all that readdir asks for. */
static struct dirent *next_entry(DIR *directory)
{
    struct dirent *entry;
    do
        entry = readdir(directory); /* NOLINT(concurrency-mt-unsafe) */
    while (entry && is_dots(entry->d_name));
    return entry;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- clearing ---- */

/* All but `except` goes. Returns the errno of what went wrong first, or 0. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than OUTPUT_MAX_DEPTH */
static int clear_inside(int parent, const char *name, const char *except, unsigned depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    if (directory == NULL) {
        int code = errno;
        close_fd(&fd);
        return code;
    }
    int first = 0;
    while ((entry = next_entry(directory)) != NULL) {
        if (except && strcmp(entry->d_name, except) == 0)
            continue;
        int code = unlinkat(fd, entry->d_name, 0) == 0 ? 0 : errno;
        if (code == EISDIR && depth < OUTPUT_MAX_DEPTH) {
            code = clear_inside(fd, entry->d_name, NULL, depth + 1);
            if (unlinkat(fd, entry->d_name, AT_REMOVEDIR) != 0 && code == 0)
                code = errno;
        }
        first = first == 0 ? code : first;
    }
    closedir(directory);
    return first;
}

/* The lock goes last: whoever finds the holder meanwhile finds it locked. */
static void remove_holder(struct lode_output *output)
{
    clear_inside(output->parent, output->partial, lock_name, 0);
    unlinkat(output->holder, lock_name, 0);
    unlinkat(output->parent, output->partial, AT_REMOVEDIR);
    output->held = false;
}

/* ---- beginning ---- */

/* Whether the lock is the one that others find: the process that had it may just have removed it. */
static bool lock_counts(const struct lode_output *output)
{
    struct stat found, locked;
    return fstatat(output->holder, lock_name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstat(output->lock, &locked) == 0 && found.st_ino == locked.st_ino;
}

/* Where files cannot be locked, who makes the holder has it. `created`: the lock is no one else's. */
static lode_status lock_holder(struct lode_output *output, bool made, bool created, lode_error *error)
{
    if (flock(output->lock, LOCK_EX | LOCK_NB) == 0)
        return LODE_OK;
    if (errno == EWOULDBLOCK)
        return lode_fail(error, LODE_ERR_IO, output->path, LODE_NO_OFFSET,
                         "another process is writing it (%s is locked)", output->partial);
    if (errno != ENOSYS && errno != EOPNOTSUPP)
        return lode_fail_errno(error, output->path, "cannot lock the directory for parts of it");
    if (made)
        return LODE_OK;
    if (created)
        unlinkat(output->holder, lock_name, 0);
    bool moved = !target_is_there(output) && is_there(output->holder, old_name);
    return lode_fail(error, LODE_ERR_IO, output->path, LODE_NO_OFFSET,
                     "another process is writing it, or was killed; files cannot be locked here. If nobody "
                     "writes, %sremove %s",
                     moved ? "move back what was there, which is old in it, and " : "", output->partial);
}

/* Sets `held`, unless the holder was removed meanwhile. */
static lode_status open_holder(struct lode_output *output, bool made, lode_error *error)
{
    output->holder = openat(output->parent, output->partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (output->holder < 0 && errno == ENOENT)
        return LODE_OK;
    if (output->holder < 0)
        return lode_fail_errno(error, output->path, "cannot open the directory for parts of it");
    output->lock = openat(output->holder, lock_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    bool created = output->lock < 0 && errno == ENOENT;
    if (created)
        output->lock =
            openat(output->holder, lock_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (created && output->lock < 0 && (errno == EEXIST || errno == ENOENT))
        return LODE_OK;
    if (output->lock < 0)
        return lode_fail_errno(error, output->path, "cannot make a lock");
    LODE_TRY(lock_holder(output, made, created, error));
    output->held = lock_counts(output);
    return LODE_OK;
}

static lode_status try_holder(struct lode_output *output, lode_error *error)
{
    bool made = mkdirat(output->parent, output->partial, 0777) == 0;
    if (!made && errno != EEXIST)
        return lode_fail_errno(error, output->path, "cannot make a directory for parts of it");
    lode_status status = open_holder(output, made, error);
    if (status != LODE_OK && made)
        unlinkat(output->parent, output->partial, AT_REMOVEDIR);
    return status;
}

static lode_status take_holder(struct lode_output *output, lode_error *error)
{
    for (unsigned i = 0; i < OUTPUT_MAX_TRIES; i++) {
        LODE_TRY(try_holder(output, error));
        if (output->held)
            return LODE_OK;
        close_fd(&output->lock);
        close_fd(&output->holder);
    }
    return lode_fail(error, LODE_ERR_IO, output->path, LODE_NO_OFFSET, "other processes are writing it");
}

/* What was moved away for a replacement that never came goes back. */
static lode_status restore(struct lode_output *output, lode_error *error)
{
    if (target_is_there(output) || !is_there(output->holder, old_name))
        return LODE_OK;
    if (renameat(output->holder, old_name, output->parent, base_name(output)) == 0)
        return LODE_OK;
    output->held = false;
    return lode_fail_errno(error, output->path, "cannot take back what a killed process moved away");
}

static lode_status make_directory(struct lode_output *output, lode_error *error)
{
    errno = clear_inside(output->parent, output->partial, lock_name, 0);
    if (errno != 0)
        return lode_fail_errno(error, output->path, "cannot clear what a killed process left");
    if (mkdirat(output->holder, new_name, 0777) != 0)
        return lode_fail_errno(error, output->path, "cannot make a directory for parts of it");
    output->directory = openat(output->holder, new_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (output->directory < 0)
        return lode_fail_errno(error, output->path, "cannot open the directory for parts of it");
    return LODE_OK;
}

static lode_status refuse_to_replace(const struct lode_output *output, lode_error *error)
{
    if (output->force || !target_is_there(output))
        return LODE_OK;
    return lode_fail(error, LODE_ERR_ARGUMENT, output->path, LODE_NO_OFFSET,
                     "it is there already; it is replaced only by force");
}

static lode_status name_output(struct lode_output *output, const char *path, lode_error *error)
{
    *output = (struct lode_output){.parent = -1, .holder = -1, .lock = -1, .directory = -1};
    output->path = copy_path(path);
    if (output->path == NULL)
        return lode_fail_memory(error);
    LODE_TRY(open_parent(output, error));
    return name_partial(output, error);
}

lode_status lode_output_create(struct lode_output *output, const char *path, bool force, lode_error *error)
{
    LODE_TRY(name_output(output, path, error));
    output->force = force;
    LODE_TRY(refuse_to_replace(output, error));
    LODE_TRY(take_holder(output, error));
    LODE_TRY(restore(output, error));
    LODE_TRY(refuse_to_replace(output, error));
    return make_directory(output, error);
}

lode_status lode_output_join(struct lode_output *output, const char *path, lode_error *error)
{
    LODE_TRY(name_output(output, path, error));
    output->holder = openat(output->parent, output->partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (output->holder >= 0)
        output->directory = openat(output->holder, new_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (output->directory >= 0)
        return LODE_OK;
    return lode_fail_errno(
        error, output->path,
        "cannot open the directory for parts of it, which all processes of a job must see");
}

lode_status lode_output_mkdir(struct lode_output *output, const char *name, lode_error *error)
{
    if (lode_mkdir_beneath(output->directory, name) == 0)
        return LODE_OK;
    return lode_fail_errno(error, name, "cannot make the directory");
}

bool lode_output_has(const struct lode_output *output, const char *name)
{
    int fd = lode_open_beneath(output->directory, name, O_PATH, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* ---- ending ---- */

/* The errno of it, or 0. Some file systems write directories at once and refuse to be asked for it. */
static int sync_directory(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
}

static bool may_be_directory(const struct dirent *entry)
{
    return entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
}

/* A file is on the disk when it was closed; its name, when its directory is. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than OUTPUT_MAX_DEPTH */
static lode_status sync_tree(int parent, const char *name, const char *path, unsigned depth,
                             lode_error *error)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && depth > 0 && (errno == ENOTDIR || errno == ELOOP))
        return LODE_OK;
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    if (directory == NULL) {
        lode_status status = lode_fail_errno(error, path, "cannot open a directory of it");
        close_fd(&fd);
        return status;
    }
    lode_status status = LODE_OK;
    while (status == LODE_OK && (entry = next_entry(directory)) != NULL)
        if (may_be_directory(entry) && depth < OUTPUT_MAX_DEPTH)
            status = sync_tree(fd, entry->d_name, path, depth + 1, error);
    if (status == LODE_OK && sync_directory(fd) != 0)
        status = lode_fail_errno(error, path, "cannot write a directory of it");
    closedir(directory);
    return status;
}

enum placing {
    PLACED_ALONE,    /* nothing was there */
    PLACED_EXCHANGE, /* what was there is `new` in the holder */
    PLACED_IN_STEPS  /* what was there is `old` in the holder */
};

static bool without_flags(void)
{
    return errno == EINVAL || errno == ENOSYS;
}

static lode_status place_alone(const struct lode_output *output, lode_error *error)
{
    const char *name = base_name(output);
    if (renameat2(output->holder, new_name, output->parent, name, RENAME_NOREPLACE) == 0)
        return LODE_OK;
    if (without_flags()) {
        bool taken = target_is_there(output);
        errno = EEXIST;
        if (!taken && renameat(output->holder, new_name, output->parent, name) == 0)
            return LODE_OK;
    }
    return lode_fail_errno(error, output->path, "cannot take its name");
}

/* Names are not as they were, and cannot be changed back. Nothing is cleared. */
static lode_status fail_astray(struct lode_output *output, int code, const char *what, lode_error *error)
{
    char text[512];
    snprintf(text, sizeof text, "%s %s", what, output->partial);
    output->held = false;
    errno = code;
    return lode_fail_errno(error, output->path, text);
}

static lode_status place_in_steps(struct lode_output *output, lode_error *error)
{
    const char *name = base_name(output);
    if (renameat(output->parent, name, output->holder, old_name) != 0)
        return lode_fail_errno(error, output->path, "cannot move what is there");
    if (renameat(output->holder, new_name, output->parent, name) == 0)
        return LODE_OK;
    int code = errno;
    if (renameat(output->holder, old_name, output->parent, name) == 0) {
        errno = code;
        return lode_fail_errno(error, output->path, "cannot take its name");
    }
    return fail_astray(output, code, "cannot take its name, and what was there is now in", error);
}

/* Takes the target's name: in one step where the file system can, else in two. */
static lode_status place(struct lode_output *output, enum placing *how, lode_error *error)
{
    *how = PLACED_ALONE;
    if (!output->force || !target_is_there(output))
        return place_alone(output, error);
    *how = PLACED_EXCHANGE;
    if (renameat2(output->holder, new_name, output->parent, base_name(output), RENAME_EXCHANGE) == 0)
        return LODE_OK;
    if (!without_flags())
        return lode_fail_errno(error, output->path, "cannot take its name");
    *how = PLACED_IN_STEPS;
    return place_in_steps(output, error);
}

static bool unplace(const struct lode_output *output, enum placing how)
{
    const char *name = base_name(output);
    if (how == PLACED_EXCHANGE)
        return renameat2(output->holder, new_name, output->parent, name, RENAME_EXCHANGE) == 0;
    return renameat(output->parent, name, output->holder, new_name) == 0 &&
           (how == PLACED_ALONE || renameat(output->holder, old_name, output->parent, name) == 0);
}

/* A name that a crash may take back is not given. */
static lode_status give_back(struct lode_output *output, enum placing how, int code, lode_error *error)
{
    bool undone = unplace(output, how);
    if (!undone && how != PLACED_ALONE)
        return fail_astray(output, code,
                           "cannot write its directory nor change names back; what was there is in", error);
    errno = code;
    return lode_fail_errno(error, output->path,
                           undone ? "cannot write its directory"
                                  : "it is there, but cannot write its directory");
}

lode_status lode_output_commit(struct lode_output *output, lode_error *error)
{
    enum placing how;
    LODE_TRY(sync_tree(output->holder, new_name, output->path, 0, error));
    LODE_TRY(place(output, &how, error));
    int code = sync_directory(output->parent);
    if (code != 0)
        return give_back(output, how, code, error);
    remove_holder(output);
    return LODE_OK;
}

void lode_output_close(struct lode_output *output)
{
    if (output->held)
        remove_holder(output);
    close_fd(&output->directory);
    close_fd(&output->lock);
    close_fd(&output->holder);
    close_fd(&output->parent);
    free(output->path);
    free(output->partial);
    *output = (struct lode_output){.parent = -1, .holder = -1, .lock = -1, .directory = -1};
}

/* ---- files ---- */

static lode_status open_file(struct lode_output_file *file, int directory, const char *path, const char *name,
                             int flags, lode_error *error)
{
    *file = (struct lode_output_file){.fd = -1, .name = name};
    file->buffer = malloc(OUTPUT_BUFFER);
    if (file->buffer == NULL)
        return lode_fail_memory(error);
    file->fd = lode_open_beneath(directory, path, O_RDWR | flags, 0666);
    if (file->fd >= 0)
        return LODE_OK;
    lode_status status = lode_fail_errno(error, name, flags ? "cannot create" : "cannot open");
    lode_output_file_abandon(file);
    return status;
}

lode_status lode_output_file_create(struct lode_output_file *file, struct lode_output *output,
                                    const char *name, lode_error *error)
{
    return open_file(file, output->directory, name, name, O_CREAT | O_EXCL, error);
}

lode_status lode_output_file_create_hidden(struct lode_output_file *file, struct lode_output *output,
                                           const char *name, lode_error *error)
{
    return open_file(file, output->holder, part_name, name, O_CREAT | O_EXCL, error);
}

lode_status lode_output_file_join(struct lode_output_file *file, const struct lode_output *output,
                                  const char *name, lode_error *error)
{
    return open_file(file, output->directory, name, name, 0, error);
}

void lode_output_file_remove(const struct lode_output *output, const char *name)
{
    unlinkat(output->directory, name, 0);
}

char *lode_output_file_path(const struct lode_output *output, const char *name)
{
    char *path;
    int folder = (int)(base_name(output) - output->path);
    if (asprintf(&path, "%.*s%s/%s/%s", folder, output->path, output->partial, new_name, name) < 0)
        return NULL;
    return path;
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

lode_status lode_output_file_show(struct lode_output_file *file, struct lode_output *output,
                                  lode_error *error)
{
    const char *name = file->name;
    LODE_TRY(lode_output_file_close(file, error));
    if (renameat(output->holder, part_name, output->directory, name) == 0)
        return LODE_OK;
    return lode_fail_errno(error, name, "cannot take its name");
}

void lode_output_file_abandon(struct lode_output_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->buffer);
    *file = (struct lode_output_file){.fd = -1};
}
