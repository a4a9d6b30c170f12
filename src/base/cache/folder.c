/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/cache/folder.h"

#include "base/memory/array.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES_MOST = 1 << 16, /* that are looked at */
    MODE_OTHERS = 077,
    MODE_WRITERS = 022
};

struct old {
    char *name;
    uint64_t size;
    struct timespec used;
};

void lode_cache_make(const char *path)
{
    char *copy = strdup(path);
    for (char *at = copy && copy[0] ? strchr(copy + 1, '/') : NULL; at; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(copy, S_IRWXU);
        *at = '/';
    }
    (void)mkdir(path, S_IRWXU);
    free(copy);
}

static int or_close(int fd, bool is_sound)
{
    if (fd >= 0 && is_sound)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int lode_cache_directory(const char *path, bool makes)
{
    struct stat status;
    if (path == NULL || path[0] != '/')
        return -1;
    if (makes)
        lode_cache_make(path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return or_close(fd, fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
                            (status.st_mode & MODE_WRITERS) == 0);
}

int lode_cache_file(int directory, const char *name)
{
    struct stat status;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return or_close(fd, fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                            status.st_uid == geteuid() && (status.st_mode & MODE_OTHERS) == 0);
}

bool lode_cache_read(int fd, uint64_t offset, uint64_t size, struct lode_blob *bytes)
{
    struct stat status;
    bytes->size = 0;
    if (fstat(fd, &status) != 0 || offset > (uint64_t)status.st_size ||
        size > (uint64_t)status.st_size - offset || lode_blob_extend(bytes, (size_t)size) == LODE_BLOB_FULL)
        return false;
    for (uint64_t done = 0; done < size;) {
        ssize_t count = pread(fd, bytes->bytes + done, (size_t)(size - done), (off_t)(offset + done));
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        done += count > 0 ? (uint64_t)count : 0;
    }
    return true;
}

static bool is_of_kind(const struct lode_cache_kind *kind, const char *name)
{
    size_t length = strlen(name), prefix = strlen(kind->prefix), suffix = strlen(kind->suffix);
    return length > prefix + suffix && strncmp(name, kind->prefix, prefix) == 0 &&
           strcmp(name + length - suffix, kind->suffix) == 0;
}

static int by_use(const void *left, const void *right)
{
    const struct old *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    if (a->used.tv_nsec != b->used.tv_nsec)
        return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* The size of all. */
static uint64_t list_files(DIR *stream, const struct lode_cache_kind *kind, struct lode_array *olds)
{
    const struct dirent *file;
    struct stat about;
    uint64_t total = 0;
    while ((file = readdir(stream)) != NULL) { /* NOLINT(concurrency-mt-unsafe): its own stream */
        if (!is_of_kind(kind, file->d_name) ||
            fstatat(dirfd(stream), file->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode))
            continue;
        char *name = strdup(file->d_name);
        struct old *old = name ? lode_array_push(olds) : NULL;
        if (old == NULL) {
            free(name);
            break;
        }
        *old = (struct old){name, (uint64_t)about.st_size, about.st_mtim};
        total += old->size;
    }
    return total;
}

void lode_cache_trim(int directory, const struct lode_cache_kind *kind, const char *kept)
{
    struct lode_array olds;
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (stream == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    lode_array_init(&olds, sizeof(struct old), FILES_MOST);
    uint64_t total = list_files(stream, kind, &olds);
    if (total > kind->most && olds.count > 1)
        qsort(olds.items, olds.count, sizeof(struct old), by_use);
    for (size_t i = 0; i < olds.count; i++) {
        const struct old *old = LODE_ARRAY_AT(&olds, struct old, i);
        if (total > kind->most && strcmp(old->name, kept) != 0 && unlinkat(directory, old->name, 0) == 0)
            total -= old->size;
        free(old->name);
    }
    lode_array_free(&olds);
    closedir(stream);
}
