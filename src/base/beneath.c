/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

/* Takes the first component off a path. Returns 0, or -1 and errno if it could escape. */
static int next_component(const char **path, char *component)
{
    size_t length = strcspn(*path, "/");
    bool is_last = (*path)[length] == '\0';
    errno = length > NAME_MAX ? ENAMETOOLONG : EINVAL;
    if (length == 0 || length > NAME_MAX)
        return -1;
    memcpy(component, *path, length);
    component[length] = '\0';
    if (strcmp(component, ".") == 0 || strcmp(component, "..") == 0)
        return -1;
    *path = is_last ? NULL : *path + length + 1;
    return 0;
}

bool lode_is_beneath(const char *path)
{
    char component[NAME_MAX + 1];
    while (path)
        if (next_component(&path, component) != 0)
            return false;
    return true;
}

/* Preserves errno. */
static void close_quietly(int fd)
{
    int code = errno;
    close(fd);
    errno = code;
}

/* Opens the parent directory of `path` (made if `makes`) and copies the last component. */
static int descend(int directory, const char *path, bool makes, char *last)
{
    int at = openat(directory, ".", OPEN_DIRECTORY);
    if (at < 0 || next_component(&path, last) != 0) {
        if (at >= 0)
            close_quietly(at);
        return -1;
    }
    while (path) {
        bool is_there = !makes || mkdirat(at, last, 0777) == 0 || errno == EEXIST;
        int below = is_there ? openat(at, last, OPEN_DIRECTORY) : -1;
        close_quietly(at);
        at = below;
        if (at >= 0 && next_component(&path, last) != 0) {
            close_quietly(at);
            at = -1;
        }
        if (at < 0)
            return -1;
    }
    return at;
}

int lode_open_beneath(int directory, const char *path, int flags, mode_t mode)
{
    char name[NAME_MAX + 1];
    if (strchr(path, '/') == NULL)
        return next_component(&path, name) == 0
                   ? openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC, mode)
                   : -1;
    int at = descend(directory, path, false, name);
    if (at < 0)
        return -1;
    int fd = openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    close_quietly(at);
    return fd;
}

int lode_mkdir_beneath(int directory, const char *path)
{
    char name[NAME_MAX + 1];
    int at = descend(directory, path, true, name);
    if (at < 0)
        return -1;
    int made = mkdirat(at, name, 0777) == 0 || errno == EEXIST ? 0 : -1;
    close_quietly(at);
    return made;
}

/* ---- companion files ---- */

static lode_status check_companion(int fd, const char *path, lode_error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return lode_fail_errno(error, path, "cannot stat");
    if (!S_ISREG(status.st_mode))
        return lode_fail(error, LODE_ERR_IO, path, LODE_NO_OFFSET, "not a regular file");
    if (status.st_size > LODE_COMPANION_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, path, LODE_NO_OFFSET, "larger than the limit of %d MiB",
                         LODE_COMPANION_MAX >> 20);
    return LODE_OK;
}

lode_status lode_companion_open(int *fd, int directory, const char *path, lode_error *error)
{
    *fd = lode_open_beneath(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (*fd < 0 && errno == ENOENT)
        return LODE_ABSENT;
    if (*fd < 0 && errno == ELOOP)
        return lode_fail(error, LODE_ERR_IO, path, LODE_NO_OFFSET, "a symbolic link; not followed");
    if (*fd < 0)
        return lode_fail_errno(error, path, "cannot open");
    lode_status status = check_companion(*fd, path, error);
    if (status != LODE_OK) {
        close(*fd);
        *fd = -1;
    }
    return status;
}

/* Reads to the end of the file, which may have moved since it was opened. */
static lode_status read_all(int fd, const char *path, struct lode_blob *out, lode_error *error)
{
    enum {
        PIECE = 1 << 16
    };
    for (;;) {
        size_t before = out->size, at = lode_blob_reserve(out, PIECE, 1);
        if (at == LODE_BLOB_FULL)
            return lode_fail_memory(error);
        ssize_t got;
        do
            got = read(fd, out->bytes + at, PIECE);
        while (got < 0 && errno == EINTR);
        out->size = before + (got > 0 ? (size_t)got : 0);
        if (got < 0)
            return lode_fail_errno(error, path, "cannot read");
        if (out->size > LODE_COMPANION_MAX)
            return lode_fail(error, LODE_ERR_LIMIT, path, LODE_NO_OFFSET, "it grows while it is read");
        if (got == 0) {
            out->bytes[out->size] = '\0';
            return LODE_OK;
        }
    }
}

lode_status lode_companion_read(struct lode_blob *out, int directory, const char *path, lode_error *error)
{
    int fd;
    *out = (struct lode_blob){0};
    LODE_TRY(lode_companion_open(&fd, directory, path, error));
    lode_status status = read_all(fd, path, out, error);
    close(fd);
    if (status != LODE_OK)
        lode_blob_free(out);
    return status;
}
