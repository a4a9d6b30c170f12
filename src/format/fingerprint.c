/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"
#include "base/io/bytes.h"
#include "base/memory/hash.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lode/unstable/guard.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_SIZE    4096
#define ENTRIES_MAX 65536 /* of a directory */
#define DEPTH_MAX   1     /* directories in the store, but none in them */

/* Sums do not depend on the order in which directories list their files. */
struct sums {
    uint64_t content, identity;
};

static uint64_t hash_words(const uint64_t *words, size_t count)
{
    unsigned char bytes[8 * sizeof *words];
    for (size_t i = 0; i < count; i++)
        put_u64le(bytes + 8 * i, words[i]);
    return lode_hash_fixed(bytes, 8 * count);
}

static uint64_t hash_part(int file, off_t offset)
{
    unsigned char bytes[END_SIZE];
    size_t size = 0;
    for (;;) {
        ssize_t part = pread(file, bytes + size, sizeof bytes - size, offset + (off_t)size);
        if (part < 0 && errno == EINTR)
            continue;
        size += part > 0 ? (size_t)part : 0;
        if (part <= 0 || size == sizeof bytes)
            return lode_hash_fixed(bytes, size);
    }
}

static void add_file(struct sums *sums, uint64_t name, int file, const struct stat *about)
{
    off_t last = about->st_size > END_SIZE ? about->st_size - END_SIZE : 0;
    const uint64_t content[] = {name, (uint64_t)about->st_size, hash_part(file, 0), hash_part(file, last)};
    uint64_t hash = hash_words(content, 4);
    const uint64_t identity[] = {hash, (uint64_t)about->st_ino, (uint64_t)about->st_mtim.tv_sec,
                                 (uint64_t)about->st_mtim.tv_nsec};
    sums->content += hash;
    sums->identity += hash_words(identity, 4);
}

static lode_status add_directory(struct sums *sums, uint64_t above, int directory, int depth,
                                 lode_error *error);

/* What is gone, or no file, is no part of the store. */
/* NOLINTNEXTLINE(misc-no-recursion): DEPTH_MAX bounds it */
static lode_status add_entry(struct sums *sums, uint64_t above, int directory, const char *entry, int depth,
                             lode_error *error)
{
    const uint64_t path[] = {above, lode_hash_fixed(entry, strlen(entry))};
    uint64_t name = hash_words(path, 2);
    struct stat about;
    int file = openat(directory, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return LODE_OK;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode))
        add_file(sums, name, file, &about);
    else if (depth < DEPTH_MAX && S_ISDIR(about.st_mode))
        return add_directory(sums, name, file, depth + 1, error);
    close(file);
    return LODE_OK;
}

/* Closes the directory. */
/* NOLINTNEXTLINE(misc-no-recursion): the same */
static lode_status add_directory(struct sums *sums, uint64_t above, int directory, int depth,
                                 lode_error *error)
{
    lode_status status = LODE_OK;
    DIR *list = fdopendir(directory);
    const struct dirent *entry;
    if (!list) {
        close(directory);
        return lode_fail_errno(error, NULL, "cannot list the store");
    }
    size_t count = 0;
    while (status == LODE_OK && (entry = readdir(list))) { // NOLINT(concurrency-mt-unsafe): its own list
        if (entry->d_name[0] == '.')
            continue;
        if (++count > ENTRIES_MAX)
            status =
                lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET, "too many files in a store");
        else
            status = add_entry(sums, above, dirfd(list), entry->d_name, depth, error);
    }
    closedir(list);
    return status;
}

lode_status lode_store_fingerprint(const char *path, uint64_t *content, uint64_t *identity, lode_error *error)
{
    struct sums sums = {0};
    struct stat about;
    lode_status status = LODE_OK;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0) {
        status = lode_fail_errno(error, path, "cannot open");
        if (file >= 0)
            close(file);
        return status;
    }
    if (S_ISDIR(about.st_mode)) {
        status = add_directory(&sums, 0, file, 0, error);
    } else {
        add_file(&sums, 0, file, &about);
        close(file);
    }
    if (content)
        *content = sums.content;
    if (identity)
        *identity = sums.identity;
    return status;
}
