/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/out_backend.h"

#include "alloc.h"
#include "interrupt.h"
#include "output/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES  100 /* to find a name that nobody has */
#define SUFFIX ".XXXXXX"

/* ---- files that take their name when they are complete ---- */

/* A name that cannot be foretold, so that nobody takes it first to be in the way. */
static void choose_name(char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    unsigned char chosen[sizeof SUFFIX - 2];
    char *end = name + strlen(name) - sizeof chosen;
    if (getrandom(chosen, sizeof chosen, 0) != (ssize_t)sizeof chosen)
        memset(chosen, getpid() & 0xff, sizeof chosen);
    for (size_t i = 0; i < sizeof chosen; i++)
        end[i] = letters[chosen[i] % (sizeof letters - 1)];
}

static int create(int folder, char *name)
{
    int fd = -1;
    for (unsigned i = 0; i < TRIES && fd < 0; i++) {
        choose_name(name);
        fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

static int open_unfinished(out_file *file)
{
    size_t size = strlen(file->name) + sizeof SUFFIX;
    file->unfinished = alloc_array(size, 1);
    snprintf(file->unfinished, size, "%s" SUFFIX, file->name);
    file->fd = interrupt_create(file->folder, file->unfinished, create);
    return file->fd < 0 ? -1 : 0;
}

/* ---- what is written in place ---- */

static int is_trusted(uid_t owner)
{
    return owner == 0 || owner == geteuid();
}

/* Whether nobody but us and root can change what a name in a folder means. */
static int is_safe(int folder, const struct stat *found)
{
    struct stat where;
    if (fstat(folder, &where) != 0)
        return 0;
    int others_write = (where.st_mode & (S_IWGRP | S_IWOTH)) && !(where.st_mode & S_ISVTX);
    return is_trusted(found->st_uid) && is_trusted(where.st_uid) && !others_write;
}

static int refuse(const char *path, const char *what)
{
    report("%s: %s that another user could have created; use a file instead", path, what);
    return -1;
}

/* Devices are the system's; others cannot make them. A link leads where its owner likes. */
static int open_in_place(out_file *file, const char *path, const struct stat *found)
{
    struct stat opened;
    if (S_ISLNK(found->st_mode)) {
        if (!is_safe(file->folder, found))
            return refuse(path, "it is a symbolic link");
        file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    } else {
        if (S_ISFIFO(found->st_mode) && !is_trusted(found->st_uid))
            return refuse(path, "it is a pipe");
        file->fd = openat(file->folder, file->name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
        if (file->fd >= 0 && (fstat(file->fd, &opened) != 0 || opened.st_ino != found->st_ino ||
                              opened.st_dev != found->st_dev))
            return refuse(path, "it was replaced by something");
    }
    if (file->fd < 0)
        report("%s: %s", path, strerror(errno));
    return file->fd < 0 ? -1 : 0;
}

/* ---- opening and closing ---- */

static int open_folder(const char *path, const char *name)
{
    char *folder = name > path ? strndup(path, (size_t)(name - path)) : strdup(".");
    if (!folder)
        exit(report("out of memory"));
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int code = errno;
    free(folder);
    errno = code;
    return fd;
}

static void close_all(out_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->folder >= 0)
        close(file->folder);
    free(file->unfinished);
    *file = (out_file){.fd = -1, .folder = -1};
}

int out_file_open(out_file *file, const char *path)
{
    struct stat found;
    const char *slash = strrchr(path, '/');
    *file = (out_file){.fd = -1, .name = slash ? slash + 1 : path};
    file->folder = open_folder(path, file->name);
    int is_there = file->folder >= 0 && fstatat(file->folder, file->name, &found, AT_SYMLINK_NOFOLLOW) == 0;
    int status = file->folder < 0 ? -1 : 0;
    if (status == 0 && is_there && !S_ISREG(found.st_mode)) {
        status = open_in_place(file, path, &found);
        close(file->folder);
        file->folder = -1;
    } else {
        if (status == 0)
            status = open_unfinished(file);
        if (status != 0)
            report("%s: %s", path, strerror(errno));
    }
    if (status != 0)
        close_all(file);
    return status;
}

/* Whether a name means the file that was written. */
static int is_ours(const out_file *file, const char *name)
{
    struct stat found, written;
    return fstatat(file->folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && fstat(file->fd, &written) == 0 &&
           found.st_ino == written.st_ino && found.st_dev == written.st_dev;
}

/* Until here nobody else could read it; now the user's mask says who can. */
static int take_name(const out_file *file)
{
    mode_t mask = umask(0);
    umask(mask);
    if (fsync(file->fd) != 0 || fchmod(file->fd, 0666 & ~mask) != 0)
        return errno;
    if (!is_ours(file, file->unfinished))
        return ESTALE;
    if (renameat(file->folder, file->unfinished, file->folder, file->name) != 0)
        return errno;
    interrupt_keep();
    return is_ours(file, file->name) ? 0 : ESTALE;
}

int out_file_close(out_file *file, int is_complete)
{
    int error = 0, takes_name = file->folder >= 0;
    if (takes_name) {
        error = is_complete ? take_name(file) : 0;
        if (!is_complete || error)
            unlinkat(file->folder, file->unfinished, 0);
        interrupt_keep();
    }
    /* A file that has its name was synced: it is complete, whatever close says. */
    if (file->fd >= 0 && close(file->fd) != 0 && !error && !takes_name)
        error = errno;
    file->fd = -1;
    close_all(file);
    return error;
}
