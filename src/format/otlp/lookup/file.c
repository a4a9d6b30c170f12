/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an index is, and which files it is of. */
#include "base/memory/hash.h"
#include "format/otlp/lookup/lookup.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    QUIET_SECONDS = 2,
    MODE_OTHERS = 077,
    MODE_WRITERS = 022,
    MODE_FOLDER = 0700,
    INDEXES_MOST = 4096 /* that are looked at */
};

static bool stat_file(const struct otlp_recording *rec, uint32_t file, struct stat *status)
{
    return rec->folder.directory >= 0 &&
           fstatat(rec->folder.directory, rec->files[file].name, status, 0) == 0;
}

bool lode_otlp_lookup_key(const struct otlp_recording *rec, struct lode_blob *key)
{
    struct otlp_put put = {key, false};
    for (uint32_t i = 0; i < rec->file_count; i++) {
        struct stat status;
        const char *name = rec->files[i].name;
        if (!stat_file(rec, i, &status))
            return false;
        lode_otlp_put_bytes(&put, 1, (struct lode_range){(const uint8_t *)name, strlen(name)});
        lode_otlp_put_number(&put, 2, (uint64_t)status.st_size);
        lode_otlp_put_number(&put, 3, (uint64_t)status.st_mtim.tv_sec);
        lode_otlp_put_number(&put, 4, (uint64_t)status.st_mtim.tv_nsec);
        lode_otlp_put_number(&put, 5, (uint64_t)status.st_ino);
        lode_otlp_put_number(&put, 6, (uint64_t)status.st_dev);
    }
    return !put.has_failed;
}

bool lode_otlp_lookup_is_quiet(const struct otlp_recording *rec)
{
    struct stat status;
    time_t now = time(NULL);
    for (uint32_t i = 0; i < rec->file_count; i++)
        if (!stat_file(rec, i, &status) || status.st_mtim.tv_sec > now - QUIET_SECONDS)
            return false;
    return true;
}

/* After the directory or the file, however its path is spelled. */
bool lode_otlp_lookup_name(const struct otlp_recording *rec, char name[LOOKUP_NAME_SIZE])
{
    struct stat status;
    bool is_single = lode_folder_only(&rec->folder) != NULL;
    if (rec->folder.directory < 0 || rec->file_count == 0)
        return false;
    if (is_single ? !stat_file(rec, 0, &status) : fstat(rec->folder.directory, &status) != 0)
        return false;
    uint64_t key[] = {(uint64_t)status.st_dev, (uint64_t)status.st_ino};
    snprintf(name, LOOKUP_NAME_SIZE, LOOKUP_PREFIX "%016" PRIx64 LOOKUP_SUFFIX,
             lode_hash_fixed(key, sizeof key));
    return true;
}

/* ---- the directory ---- */

static void make_folders(const char *path)
{
    char *copy = strdup(path);
    for (char *at = copy ? strchr(copy + 1, '/') : NULL; at; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(copy, MODE_FOLDER); /* what matters is whether the last one can be opened */
        *at = '/';
    }
    (void)mkdir(path, MODE_FOLDER);
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

int lode_otlp_lookup_directory(const char *path, bool makes)
{
    struct stat status;
    if (path == NULL || path[0] != '/')
        return -1;
    if (makes)
        make_folders(path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return or_close(fd, fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
                            (status.st_mode & MODE_WRITERS) == 0);
}

int lode_otlp_lookup_file(int directory, const char *name)
{
    struct stat status;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return or_close(fd, fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                            status.st_uid == geteuid() && (status.st_mode & MODE_OTHERS) == 0);
}

bool lode_otlp_lookup_read(int fd, uint64_t offset, uint64_t size, struct lode_blob *bytes)
{
    struct stat status;
    bytes->size = 0;
    if (fstat(fd, &status) != 0 || offset > (uint64_t)status.st_size ||
        size > (uint64_t)status.st_size - offset || lode_blob_extend(bytes, (size_t)size) == LODE_BLOB_FULL)
        return false;
    for (uint64_t done = 0; done < size;) {
        ssize_t count = pread(fd, bytes->bytes + done, (size_t)(size - done), (off_t)(offset + done));
        if (count <= 0 && errno != EINTR)
            return false;
        done += count > 0 ? (uint64_t)count : 0;
    }
    return true;
}

/* ---- the limit of all ---- */

struct old {
    char name[LOOKUP_NAME_SIZE];
    uint64_t size;
    time_t used;
};

static bool is_index(const char *name)
{
    size_t length = strlen(name), suffix = strlen(LOOKUP_SUFFIX);
    return length < LOOKUP_NAME_SIZE && length > suffix &&
           strncmp(name, LOOKUP_PREFIX, strlen(LOOKUP_PREFIX)) == 0 &&
           strcmp(name + length - suffix, LOOKUP_SUFFIX) == 0;
}

static int compare_old(const void *left, const void *right)
{
    const struct old *a = left, *b = right;
    return a->used != b->used ? (a->used > b->used) - (a->used < b->used) : strcmp(a->name, b->name);
}

static size_t list_old(int directory, DIR *stream, struct old *old, uint64_t *sum)
{
    size_t count = 0;
    const struct dirent *entry;
    struct stat status;
    *sum = 0;
    while (count < INDEXES_MOST && (entry = readdir(stream)) != NULL) { /* NOLINT(concurrency-mt-unsafe) */
        if (!is_index(entry->d_name) ||
            fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
            continue;
        memcpy(old[count].name, entry->d_name, strlen(entry->d_name) + 1);
        old[count].size = (uint64_t)status.st_size;
        old[count++].used = status.st_mtim.tv_sec;
        *sum += (uint64_t)status.st_size;
    }
    return count;
}

void lode_otlp_lookup_trim(int directory, const char *kept)
{
    struct old *old = calloc(INDEXES_MOST, sizeof *old);
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    uint64_t sum = 0;
    size_t count = old && stream ? list_old(directory, stream, old, &sum) : 0;
    if (count > 0)
        qsort(old, count, sizeof *old, compare_old);
    for (size_t i = 0; i < count && sum > LOOKUP_ALL_MOST; i++)
        if (strcmp(old[i].name, kept) != 0 && unlinkat(directory, old[i].name, 0) == 0)
            sum -= old[i].size;
    if (stream)
        closedir(stream);
    else if (fd >= 0)
        close(fd);
    free(old);
}
