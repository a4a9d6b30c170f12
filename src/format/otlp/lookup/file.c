/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an index is, and which files it is of. */
#include "base/cache/folder.h"
#include "base/memory/hash.h"
#include "format/otlp/lookup/lookup.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    QUIET_SECONDS = 2,
    MODE_OTHERS = 077,
    MODE_WRITERS = 022
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
        lode_cache_make(path);
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

void lode_otlp_lookup_trim(int directory, const char *kept)
{
    lode_cache_trim(directory, &(struct lode_cache_kind){LOOKUP_PREFIX, LOOKUP_SUFFIX, LOOKUP_ALL_MOST},
                    kept);
}
