/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/io/output.h"

#include "base/io/beneath.h"
#include "base/io/output_staging.h"
#include "base/io/watch.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

/* ---- names ---- */

/* The target's path without trailing slashes. */
static char *copy_path(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return strndup(path, length);
}

/* Whether a path ends in a usable name: not "", "/", "." or "..". */
static bool ends_in_name(const struct lode_output *output)
{
    const char *name = lode_output_base_name(output);
    return name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static lode_status name_partial(struct lode_output *output, lode_error *error)
{
    if (asprintf(&output->partial, ".%s.partial", lode_output_base_name(output)) >= 0)
        return LODE_OK;
    output->partial = NULL;
    return lode_fail_memory(error);
}

static lode_status open_parent(struct lode_output *output, lode_error *error)
{
    size_t length = (size_t)(lode_output_base_name(output) - output->path);
    char *folder = length > 0 ? strndup(output->path, length) : strdup(".");
    LODE_TRY_ALLOC(folder, error);
    output->parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    lode_status status = LODE_OK;
    if (output->parent < 0)
        status = lode_fail_errno(error, output->path, "cannot open its parent directory");
    free(folder);
    return status;
}

static bool target_is_there(const struct lode_output *output)
{
    return lode_output_is_there(output->parent, lode_output_base_name(output));
}

static lode_status name_output(struct lode_output *output, const char *path, lode_error *error)
{
    *output = (struct lode_output)LODE_OUTPUT_INIT;
    output->path = copy_path(path);
    LODE_TRY_ALLOC(output->path, error);
    if (!ends_in_name(output))
        return lode_fail(error, LODE_ERR_ARGUMENT, path, LODE_NO_OFFSET, "invalid name for new output");
    LODE_TRY(open_parent(output, error));
    return name_partial(output, error);
}

/* ---- create ---- */

static lode_status check_replaced_file(const struct lode_output *output, int folder, const char *name,
                                       lode_error *error)
{
    struct stat found;
    if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0)
        return lode_fail_errno(error, output->path, "cannot stat the existing file");
    if (S_ISREG(found.st_mode))
        return LODE_OK;
    return lode_fail(error, LODE_ERR_UNSUPPORTED, output->path, LODE_NO_OFFSET,
                     "it is not a regular file, so it is not replaced");
}

/* Whether an existing target may be replaced. */
static lode_status check_replaced(const struct lode_output *output, int folder, const char *name,
                                  lode_error *error)
{
    if (output->is_file)
        return check_replaced_file(output, folder, name, error);
    int fd = openat(folder, name, OPEN_DIRECTORY);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        return lode_fail(error, LODE_ERR_UNSUPPORTED, output->path, LODE_NO_OFFSET,
                         "it is not a %s, so it is not replaced", output->replace->kind);
    if (fd < 0)
        return lode_fail_errno(error, output->path, "cannot read the existing directory");
    lode_status status = output->replace->check(fd, output->path, error);
    close(fd);
    return status;
}

static lode_status refuse_to_replace(const struct lode_output *output, lode_error *error)
{
    if (!target_is_there(output))
        return LODE_OK;
    if (output->replace)
        return check_replaced(output, output->parent, lode_output_base_name(output), error);
    return lode_fail(error, LODE_ERR_ARGUMENT, output->path, LODE_NO_OFFSET, "already exists");
}

/* Restores a target that an interrupted replacement had moved away. */
static lode_status restore(struct lode_output *output, lode_error *error)
{
    if (target_is_there(output) || !lode_output_is_there(output->staging, LODE_STAGED_OLD))
        return LODE_OK;
    if (renameat(output->staging, LODE_STAGED_OLD, output->parent, lode_output_base_name(output)) == 0)
        return LODE_OK;
    output->held = false;
    return lode_fail_errno(error, output->path, "cannot restore what a killed process moved away");
}

static lode_status open_new(struct lode_output *output, lode_error *error)
{
    output->directory = openat(output->staging, LODE_STAGED_NEW, OPEN_DIRECTORY);
    if (output->directory >= 0)
        return LODE_OK;
    return lode_fail_errno(error, output->path, "cannot open the staging directory");
}

static lode_status make_file(struct lode_output *output, lode_error *error)
{
    output->directory =
        openat(output->staging, LODE_STAGED_NEW, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (output->directory >= 0)
        return LODE_OK;
    return lode_fail_errno(error, output->path, "cannot create it in the staging directory");
}

static lode_status make_new(struct lode_output *output, lode_error *error)
{
    errno = lode_staging_clear(output);
    if (errno != 0)
        return lode_fail_errno(error, output->path, "cannot remove what a killed process left");
    if (output->is_file)
        return make_file(output, error);
    if (mkdirat(output->staging, LODE_STAGED_NEW, 0777) != 0)
        return lode_fail_errno(error, output->path, "cannot create a staging directory");
    return open_new(output, error);
}

static lode_status create(struct lode_output *output, const struct lode_replace *replace, lode_error *error)
{
    output->replace = replace;
    /* Check what may be replaced only while no other process can be replacing it. */
    if (replace == NULL)
        LODE_TRY(refuse_to_replace(output, error));
    LODE_TRY(lode_staging_take(output, error));
    LODE_TRY(restore(output, error));
    LODE_TRY(refuse_to_replace(output, error));
    return make_new(output, error);
}

lode_status lode_output_create(struct lode_output *output, const char *path,
                               const struct lode_replace *replace, lode_error *error)
{
    LODE_TRY(name_output(output, path, error));
    return create(output, replace, error);
}

lode_status lode_output_create_file(struct lode_output *output, const char *path, bool force,
                                    lode_error *error)
{
    static const struct lode_replace any_file = {"file", NULL};
    LODE_TRY(name_output(output, path, error));
    output->is_file = true;
    return create(output, force ? &any_file : NULL, error);
}

uint64_t lode_output_identity(const struct lode_output *output)
{
    struct stat status;
    return fstat(output->staging, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

lode_status lode_output_join(struct lode_output *output, const char *path, uint64_t identity,
                             lode_error *error)
{
    LODE_TRY(name_output(output, path, error));
    LODE_TRY(lode_staging_join(output, identity, error));
    return open_new(output, error);
}

lode_status lode_output_mkdir(struct lode_output *output, const char *name, lode_error *error)
{
    if (lode_mkdir_beneath(output->directory, name) == 0)
        return LODE_OK;
    return lode_fail_errno(error, name, "cannot create the directory");
}

lode_status lode_output_scratch(struct lode_output *scratch, const struct lode_output *output,
                                lode_error *error)
{
    static const char name[] = LODE_STAGED_SCRATCH "/" LODE_STAGED_NEW;
    *scratch = (struct lode_output)LODE_OUTPUT_INIT;
    scratch->path = strdup(output->path);
    if (scratch->path == NULL ||
        asprintf(&scratch->partial, "%s/%s", output->partial, LODE_STAGED_SCRATCH) < 0) {
        scratch->partial = NULL;
        return lode_fail_memory(error);
    }
    if (lode_mkdir_beneath(output->staging, name) != 0)
        return lode_fail_errno(error, output->path, "cannot create a staging directory");
    scratch->directory = openat(output->staging, name, OPEN_DIRECTORY);
    if (scratch->directory < 0)
        return lode_fail_errno(error, output->path, "cannot open the staging directory");
    return LODE_OK;
}

lode_status lode_output_adopt(struct lode_output *output, const struct lode_output *scratch, const char *name,
                              lode_error *error)
{
    if (renameat(scratch->directory, name, output->directory, name) == 0)
        return LODE_OK;
    return lode_fail_errno(error, name, "cannot rename");
}

bool lode_output_has(const struct lode_output *output, const char *name)
{
    int fd = lode_open_beneath(output->directory, name, O_PATH, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* ---- commit ---- */

/* Returns errno or 0. Some file systems write directories synchronously and reject fsync. */
static int sync_directory(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
}

static bool may_be_directory(const struct dirent *entry)
{
    return entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
}

/* Closing a file syncs it; its name is durable once its directory is synced. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than LODE_OUTPUT_MAX_DEPTH */
static lode_status sync_tree(int parent, const char *name, const char *path, unsigned depth,
                             lode_error *error)
{
    int fd = openat(parent, name, OPEN_DIRECTORY);
    if (fd < 0 && depth > 0 && (errno == ENOTDIR || errno == ELOOP))
        return LODE_OK;
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    if (directory == NULL) {
        lode_status status = lode_fail_errno(error, path, "cannot open one of its directories");
        lode_output_close_fd(&fd);
        return status;
    }
    lode_status status = LODE_OK;
    while (status == LODE_OK && (entry = lode_output_next_entry(directory)) != NULL)
        if (may_be_directory(entry) && depth < LODE_OUTPUT_MAX_DEPTH)
            status = sync_tree(fd, entry->d_name, path, depth + 1, error);
    if (status == LODE_OK && sync_directory(fd) != 0)
        status = lode_fail_errno(error, path, "cannot sync one of its directories");
    closedir(directory);
    return status;
}

static lode_status sync_new(const struct lode_output *output, lode_error *error)
{
    if (!output->is_file)
        return sync_tree(output->staging, LODE_STAGED_NEW, output->path, 0, error);
    if (fsync(output->directory) == 0)
        return LODE_OK;
    return lode_fail_errno(error, output->path, "cannot sync it");
}

enum placing {
    PLACED_ALONE,    /* there was no target */
    PLACED_EXCHANGE, /* the old target is `new` in the staging directory */
    PLACED_IN_STEPS  /* the old target is `old` in the staging directory */
};

static bool without_flags(void)
{
    return errno == EINVAL || errno == ENOSYS;
}

static lode_status place_alone(const struct lode_output *output, lode_error *error)
{
    const char *name = lode_output_base_name(output);
    if (renameat2(output->staging, LODE_STAGED_NEW, output->parent, name, RENAME_NOREPLACE) == 0)
        return LODE_OK;
    if (without_flags()) {
        bool taken = target_is_there(output);
        errno = EEXIST;
        if (!taken && renameat(output->staging, LODE_STAGED_NEW, output->parent, name) == 0)
            return LODE_OK;
    }
    return lode_fail_errno(error, output->path, "cannot rename it");
}

/* Renames failed halfway and cannot be undone: nothing is removed. */
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
    const char *name = lode_output_base_name(output);
    if (renameat(output->parent, name, output->staging, LODE_STAGED_OLD) != 0)
        return lode_fail_errno(error, output->path, "cannot move the existing content");
    if (renameat(output->staging, LODE_STAGED_NEW, output->parent, name) == 0)
        return LODE_OK;
    int code = errno;
    if (renameat(output->staging, LODE_STAGED_OLD, output->parent, name) == 0) {
        errno = code;
        return lode_fail_errno(error, output->path, "cannot rename it");
    }
    return fail_astray(output, code, "cannot rename it; the old content is now in", error);
}

/* Renames to the target atomically if the file system can, otherwise in two steps. */
static lode_status place(struct lode_output *output, enum placing *how, lode_error *error)
{
    *how = PLACED_ALONE;
    if (!output->replace || !target_is_there(output))
        return place_alone(output, error);
    *how = PLACED_EXCHANGE;
    if (renameat2(output->staging, LODE_STAGED_NEW, output->parent, lode_output_base_name(output),
                  RENAME_EXCHANGE) == 0)
        return LODE_OK;
    if (!without_flags())
        return lode_fail_errno(error, output->path, "cannot rename it");
    *how = PLACED_IN_STEPS;
    return place_in_steps(output, error);
}

/* Undoes only our own rename: whatever others put there stays. */
static bool unplace(struct lode_output *output, enum placing how)
{
    const char *name = lode_output_base_name(output);
    if (!lode_output_is_same(output->parent, name, output->directory))
        return false;
    if (how == PLACED_EXCHANGE)
        return renameat2(output->staging, LODE_STAGED_NEW, output->parent, name, RENAME_EXCHANGE) == 0;
    return renameat(output->parent, name, output->staging, LODE_STAGED_NEW) == 0 &&
           (how == PLACED_ALONE || renameat(output->staging, LODE_STAGED_OLD, output->parent, name) == 0);
}

/* Undoes a rename that cannot be made durable. */
static lode_status give_back(struct lode_output *output, enum placing how, int code, lode_error *error)
{
    bool undone = unplace(output, how);
    if (!undone && how != PLACED_ALONE)
        return fail_astray(output, code,
                           "cannot sync its directory or undo the rename; the old content is in", error);
    errno = code;
    return lode_fail_errno(error, output->path,
                           undone ? "cannot sync its directory"
                                  : "it exists, but its directory cannot be synced");
}

/* Checks the replaced store again, now that no other process can reach it. */
static lode_status check_moved(struct lode_output *output, enum placing how, lode_error *error)
{
    if (how == PLACED_ALONE)
        return LODE_OK;
    lode_status status = check_replaced(output, output->staging,
                                        how == PLACED_EXCHANGE ? LODE_STAGED_NEW : LODE_STAGED_OLD, error);
    if (status != LODE_OK && !unplace(output, how))
        return fail_astray(output, EBUSY, "the old content has changed, and is now in", error);
    return status;
}

/* Checks that the directory to be renamed is the one that was written. */
static lode_status check_new(const struct lode_output *output, int folder, const char *name,
                             lode_error *error)
{
    if (lode_output_is_same(folder, name, output->directory))
        return LODE_OK;
    return lode_fail(error, LODE_ERR_IO, output->path, LODE_NO_OFFSET,
                     "another process replaced what was written");
}

lode_status lode_output_commit(struct lode_output *output, lode_error *error)
{
    enum placing how;
    /* Do not commit an output whose input has shrunk. */
    LODE_TRY(lode_watch_check_all(error));
    LODE_TRY(sync_new(output, error));
    LODE_TRY(check_new(output, output->staging, LODE_STAGED_NEW, error));
    LODE_TRY(place(output, &how, error));
    lode_status status = check_new(output, output->parent, lode_output_base_name(output), error);
    if (status != LODE_OK) {
        output->held = how == PLACED_ALONE;
        return status;
    }
    LODE_TRY(check_moved(output, how, error));
    int code = sync_directory(output->parent);
    if (code != 0)
        return give_back(output, how, code, error);
    lode_staging_remove(output);
    return LODE_OK;
}

void lode_output_close(struct lode_output *output)
{
    if (output->held)
        lode_staging_remove(output);
    lode_output_close_fd(&output->directory);
    lode_output_close_fd(&output->lock);
    lode_output_close_fd(&output->staging);
    lode_output_close_fd(&output->parent);
    free(output->path);
    free(output->partial);
    *output = (struct lode_output)LODE_OUTPUT_INIT;
}
