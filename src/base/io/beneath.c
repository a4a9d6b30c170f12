/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/io/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    /* As a place only: a directory that may be searched need not be readable. */
    OPEN_DIRECTORY = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
    RENAMES_MOST = 16 /* during which a file is opened again */
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

/* Takes permissions away that a directory does not give. */
static void pass_through(int directory, mode_t *ways)
{
    struct stat about;
    if (ways)
        *ways &= fstat(directory, &about) == 0 ? about.st_mode : 0;
}

/*
 * Opens the parent directory of `path` (made if `makes`) and copies the last component. `ways` is
 * narrowed to what all directories permit; may be NULL.
 */
static int descend(int directory, const char *path, bool makes, char *last, mode_t *ways)
{
    int at = openat(directory, ".", OPEN_DIRECTORY);
    if (at < 0 || next_component(&path, last) != 0) {
        if (at >= 0)
            close_quietly(at);
        return -1;
    }
    pass_through(at, ways);
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
        pass_through(at, ways);
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
    int at = descend(directory, path, false, name, NULL);
    if (at < 0)
        return -1;
    int fd = openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    close_quietly(at);
    return fd;
}

int lode_open_inside(int directory, const char *name, int flags)
{
    struct open_how how = {.flags = (unsigned)flags | (unsigned)O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int fd = -1;
    /* EAGAIN: something was renamed meanwhile, so that the kernel cannot tell where ".." leads. */
    for (int i = 0; i < RENAMES_MOST && (i == 0 || (fd < 0 && errno == EAGAIN)); i++)
        fd = (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
    /* EPERM: of sandboxes that do not know it. */
    bool is_unavailable = fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN);
    return is_unavailable ? lode_open_beneath(directory, name, flags, 0) : fd;
}

lode_status lode_open_failed(const char *name, lode_error *error)
{
    if (errno == ENOENT)
        return LODE_ABSENT;
    if (errno == EXDEV || errno == ELOOP)
        return lode_fail(error, LODE_ERR_IO, name, LODE_NO_OFFSET,
                         "a symbolic link that leads out of the store; not followed");
    return lode_fail_errno(error, name, "cannot open");
}

int lode_mkdir_beneath(int directory, const char *path)
{
    char name[NAME_MAX + 1];
    int at = descend(directory, path, true, name, NULL);
    if (at < 0)
        return -1;
    int made = mkdirat(at, name, 0777) == 0 || errno == EEXIST ? 0 : -1;
    close_quietly(at);
    return made;
}

/* ---- regular files ---- */

/* Whether the kernel makes up what is read: such files have no size, and reading may block. */
static bool is_of_kernel(int fd)
{
    static const uint32_t kinds[] = {PROC_SUPER_MAGIC,    SYSFS_MAGIC,      DEBUGFS_MAGIC,
                                     TRACEFS_MAGIC,       SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC,
                                     CGROUP2_SUPER_MAGIC, SELINUX_MAGIC,    EFIVARFS_MAGIC,
                                     DEVPTS_SUPER_MAGIC,  BPF_FS_MAGIC,     PSTOREFS_MAGIC};
    struct statfs system;
    if (fstatfs(fd, &system) != 0)
        return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((uint32_t)system.f_type == kinds[i])
            return true;
    return false;
}

static lode_status not_regular(const char *path, lode_error *error)
{
    return lode_fail(error, LODE_ERR_IO, path, LODE_NO_OFFSET, "not a regular file");
}

static lode_status not_open(const char *path, lode_error *error)
{
    if (errno == ENOENT)
        return LODE_ABSENT;
    if (errno == ELOOP)
        return lode_fail(error, LODE_ERR_IO, path, LODE_NO_OFFSET, "a symbolic link; not followed");
    return lode_fail_errno(error, path, "cannot open");
}

/* Opening a device or a pipe can do something: looks first. What is opened is looked at again. */
static lode_status open_regular(struct lode_regular *out, int at, const char *name, const char *path,
                                lode_error *error)
{
    if (fstatat(at, name, &out->about, AT_SYMLINK_NOFOLLOW) != 0)
        return not_open(path, error);
    if (S_ISLNK(out->about.st_mode)) {
        errno = ELOOP;
        return not_open(path, error);
    }
    if (!S_ISREG(out->about.st_mode))
        return not_regular(path, error);
    out->fd = openat(at, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
    if (out->fd < 0)
        return not_open(path, error);
    if (fstat(out->fd, &out->about) != 0)
        return lode_fail_errno(error, path, "cannot stat");
    return S_ISREG(out->about.st_mode) && !is_of_kernel(out->fd) ? LODE_OK : not_regular(path, error);
}

lode_status lode_regular_open(struct lode_regular *out, int directory, const char *path, lode_error *error)
{
    char name[NAME_MAX + 1];
    *out = (struct lode_regular){.fd = -1, .ways = (mode_t)~0u};
    int at = descend(directory, path, false, name, &out->ways);
    if (at < 0)
        return not_open(path, error);
    lode_status status = open_regular(out, at, name, path, error);
    close(at);
    if (status != LODE_OK)
        lode_regular_close(out);
    return status;
}

void lode_regular_close(struct lode_regular *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
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

lode_status lode_regular_read(struct lode_blob *out, int fd, const char *path, lode_error *error)
{
    *out = (struct lode_blob){0};
    lode_status status = read_all(fd, path, out, error);
    if (status != LODE_OK)
        lode_blob_free(out);
    return status;
}

/* ---- companion files ---- */

lode_status lode_companion_open(int *fd, int directory, const char *path, lode_error *error)
{
    struct lode_regular file;
    *fd = -1;
    LODE_TRY(lode_regular_open(&file, directory, path, error));
    if (file.about.st_size > LODE_COMPANION_MAX) {
        lode_regular_close(&file);
        return lode_fail(error, LODE_ERR_LIMIT, path, LODE_NO_OFFSET, "larger than the limit of %d MiB",
                         LODE_COMPANION_MAX >> 20);
    }
    *fd = file.fd;
    return LODE_OK;
}

lode_status lode_companion_read(struct lode_blob *out, int directory, const char *path, lode_error *error)
{
    int fd;
    *out = (struct lode_blob){0};
    LODE_TRY(lode_companion_open(&fd, directory, path, error));
    lode_status status = lode_regular_read(out, fd, path, error);
    close(fd);
    return status;
}
