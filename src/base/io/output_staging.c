/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The staging directory. Others may be able to write to its parent, such as /tmp: they may have
 * created one of the same name with links in it, or may replace ours. So it has mode 0700, an
 * existing one is used only if it is ours, and all access is through its descriptor.
 */
#include "base/io/output_staging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_TRIES = 1000, /* to take a staging directory that others take and remove */
    OTHERS = 077      /* permissions of all but the owner */
};

static const char probe_name[] = "probe";

/* ---- names ---- */

const char *lode_output_base_name(const struct lode_output *output)
{
    const char *slash = strrchr(output->path, '/');
    return slash ? slash + 1 : output->path;
}

bool lode_output_is_there(int directory, const char *name)
{
    struct stat status;
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

bool lode_output_is_same(int directory, const char *name, int fd)
{
    struct stat found, opened;
    return fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &opened) == 0 &&
           found.st_ino == opened.st_ino && found.st_dev == opened.st_dev;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* readdir needs no lock: each stream is used by one thread only. */
struct dirent *lode_output_next_entry(DIR *directory)
{
    struct dirent *entry;
    do
        entry = readdir(directory); /* NOLINT(concurrency-mt-unsafe) */
    while (entry && is_dots(entry->d_name));
    return entry;
}

void lode_output_close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Opens a stream of an open directory; NULL and errno on failure. */
static DIR *list(int directory)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    int code = errno;
    if (stream == NULL)
        lode_output_close_fd(&fd);
    errno = code;
    return stream;
}

/* ---- removing ---- */

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than LODE_OUTPUT_MAX_DEPTH */
static int clear_inside(int directory, const char *except, unsigned depth)
{
    DIR *stream = list(directory);
    struct dirent *entry;
    if (stream == NULL)
        return errno;
    int first = 0;
    while ((entry = lode_output_next_entry(stream)) != NULL) {
        if (except && strcmp(entry->d_name, except) == 0)
            continue;
        int code = unlinkat(directory, entry->d_name, 0) == 0 ? 0 : errno;
        if (code == EISDIR && depth < LODE_OUTPUT_MAX_DEPTH) {
            int below = openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            code = below >= 0 ? clear_inside(below, NULL, depth + 1) : errno;
            lode_output_close_fd(&below);
            if (unlinkat(directory, entry->d_name, AT_REMOVEDIR) != 0 && code == 0)
                code = errno;
        }
        first = first == 0 ? code : first;
    }
    closedir(stream);
    return first;
}

int lode_staging_clear(const struct lode_output *output)
{
    return clear_inside(output->staging, LODE_STAGED_LOCK, 0);
}

/* Removes the lock last: until then the directory appears locked. */
void lode_staging_remove(struct lode_output *output)
{
    lode_staging_clear(output);
    unlinkat(output->staging, LODE_STAGED_LOCK, 0);
    if (lode_output_is_same(output->parent, output->partial, output->staging))
        unlinkat(output->parent, output->partial, AT_REMOVEDIR);
    output->held = false;
}

/* ---- ownership ---- */

static lode_status refuse(const struct lode_output *output, const char *why, lode_error *error)
{
    return lode_fail(error, LODE_ERR_IO, output->path, LODE_NO_OFFSET,
                     "staging directory %s %s; remove it, or use another output", output->partial, why);
}

/*
 * Some file systems do not keep owners and permissions. The directory counts as ours if it has the
 * same as a new file of ours gets there.
 */
static bool is_as_ours(int directory, const struct stat *found)
{
    struct stat probe;
    int fd = openat(directory, probe_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_known = fd >= 0 && fstat(fd, &probe) == 0;
    if (fd >= 0)
        unlinkat(directory, probe_name, 0);
    lode_output_close_fd(&fd);
    return is_known && probe.st_uid == found->st_uid &&
           ((probe.st_mode & OTHERS) || !(found->st_mode & OTHERS));
}

/* It must be on the file system of the output: another one could report any owner. */
static lode_status check_ours(const struct lode_output *output, lode_error *error)
{
    struct stat found, parent;
    if (fstat(output->staging, &found) != 0 || fstat(output->parent, &parent) != 0)
        return lode_fail_errno(error, output->path, "cannot stat the staging directory");
    if (found.st_dev != parent.st_dev)
        return refuse(output, "is on another file system", error);
    bool is_private = !(found.st_mode & OTHERS);
    if ((found.st_uid == geteuid() && is_private) || is_as_ours(output->staging, &found))
        return LODE_OK;
    return refuse(output,
                  found.st_uid == geteuid() ? "is accessible to other users" : "belongs to another user",
                  error);
}

/* Names that a killed process may have left. */
static bool is_staged_name(const char *name)
{
    static const char *const names[] = {LODE_STAGED_LOCK, LODE_STAGED_NEW,     LODE_STAGED_OLD,
                                        LODE_STAGED_PART, LODE_STAGED_SCRATCH, probe_name};
    static const char *const spools[] = {"rows-", "samples-"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof spools / sizeof *spools; i++)
        if (strncmp(name, spools[i], strlen(spools[i])) == 0)
            return true;
    return false;
}

/* A directory that only happens to have the name is not removed. */
static lode_status check_leftover(const struct lode_output *output, lode_error *error)
{
    DIR *stream = list(output->staging);
    struct dirent *entry;
    if (stream == NULL)
        return lode_fail_errno(error, output->path, "cannot list the staging directory");
    lode_status status = LODE_OK;
    while (status == LODE_OK && (entry = lode_output_next_entry(stream)) != NULL) {
        char why[sizeof entry->d_name + 32];
        snprintf(why, sizeof why, "contains the foreign file %s", entry->d_name);
        if (!is_staged_name(entry->d_name))
            status = refuse(output, why, error);
    }
    closedir(stream);
    return status;
}

/* ---- locking ---- */

/* If files cannot be locked, the creator owns the directory. `created`: we made the lock file. */
static lode_status lock_staging(struct lode_output *output, bool made, bool created, lode_error *error)
{
    if (flock(output->lock, LOCK_EX | LOCK_NB) == 0)
        return LODE_OK;
    if (errno == EWOULDBLOCK)
        return lode_fail(error, LODE_ERR_IO, output->path, LODE_NO_OFFSET,
                         "another process is writing it (%s is locked)", output->partial);
    if (errno != ENOSYS && errno != EOPNOTSUPP)
        return lode_fail_errno(error, output->path, "cannot lock the staging directory");
    if (made)
        return LODE_OK;
    if (created)
        unlinkat(output->staging, LODE_STAGED_LOCK, 0);
    bool moved = !lode_output_is_there(output->parent, lode_output_base_name(output)) &&
                 lode_output_is_there(output->staging, LODE_STAGED_OLD);
    return lode_fail(
        error, LODE_ERR_IO, output->path, LODE_NO_OFFSET,
        "another process is writing it, or was killed; this file system has no locks. If no process is writing, %sremove %s",
        moved ? "move back the old content, which is 'old' in it, and " : "", output->partial);
}

static int open_staging(const struct lode_output *output)
{
    return openat(output->parent, output->partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Sets `held`, unless the previous owner of the lock removed the directory meanwhile. */
static lode_status lock_or_leave(struct lode_output *output, bool made, lode_error *error)
{
    output->lock = openat(output->staging, LODE_STAGED_LOCK, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    bool created = output->lock < 0 && errno == ENOENT;
    if (created)
        output->lock = openat(output->staging, LODE_STAGED_LOCK,
                              O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (created && output->lock < 0 && (errno == EEXIST || errno == ENOENT))
        return LODE_OK;
    if (output->lock < 0)
        return lode_fail_errno(error, output->path, "cannot create a lock");
    LODE_TRY(lock_staging(output, made, created, error));
    output->held = lode_output_is_same(output->staging, LODE_STAGED_LOCK, output->lock);
    return LODE_OK;
}

static lode_status open_and_lock(struct lode_output *output, bool made, lode_error *error)
{
    output->staging = open_staging(output);
    if (output->staging < 0 && errno == ENOENT)
        return LODE_OK;
    if (output->staging < 0 && (errno == ENOTDIR || errno == ELOOP))
        return refuse(output, "is not a directory", error);
    if (output->staging < 0 && errno == EACCES)
        return refuse(output, "cannot be opened", error);
    if (output->staging < 0)
        return lode_fail_errno(error, output->path, "cannot open the staging directory");
    LODE_TRY(check_ours(output, error));
    LODE_TRY(check_leftover(output, error));
    return lock_or_leave(output, made, error);
}

static lode_status try_staging(struct lode_output *output, lode_error *error)
{
    bool made = mkdirat(output->parent, output->partial, 0700) == 0;
    if (!made && errno != EEXIST)
        return lode_fail_errno(error, output->path, "cannot create a staging directory");
    lode_status status = open_and_lock(output, made, error);
    if (status != LODE_OK && made)
        unlinkat(output->parent, output->partial, AT_REMOVEDIR);
    return status;
}

lode_status lode_staging_take(struct lode_output *output, lode_error *error)
{
    for (unsigned i = 0; i < MAX_TRIES; i++) {
        LODE_TRY(try_staging(output, error));
        if (output->held)
            return LODE_OK;
        lode_output_close_fd(&output->lock);
        lode_output_close_fd(&output->staging);
    }
    return lode_fail(error, LODE_ERR_IO, output->path, LODE_NO_OFFSET, "other processes are writing it");
}

lode_status lode_staging_join(struct lode_output *output, uint64_t inode, lode_error *error)
{
    struct stat found;
    output->staging = open_staging(output);
    if (output->staging < 0 || fstat(output->staging, &found) != 0)
        return lode_fail_errno(error, output->path,
                               "cannot open the staging directory, which all processes of a job must share");
    LODE_TRY(check_ours(output, error));
    if ((uint64_t)found.st_ino == inode)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_IO, output->path, LODE_NO_OFFSET,
                     "%s differs from the directory of rank 0; all processes of a job must share it",
                     output->partial);
}
