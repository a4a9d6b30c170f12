/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files an index is of, what it is called, and numbers in it. */
#include "base/memory/hash.h"
#include "format/zorka/index/index.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    QUIET_SECONDS = 2, /* a change in the same moment as another would not be seen */
    NUMBER_MOST = 10   /* bytes */
};

/* ---- numbers ---- */

int lode_zor_index_put(struct lode_blob *blob, uint64_t number)
{
    uint8_t bytes[NUMBER_MOST];
    size_t size = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[size++] = (uint8_t)(number | 0x80);
    bytes[size++] = (uint8_t)number;
    return lode_zor_index_put_bytes(blob, bytes, size);
}

int lode_zor_index_put_bytes(struct lode_blob *blob, const void *bytes, size_t size)
{
    size_t at = lode_blob_extend(blob, size);
    if (at == LODE_BLOB_FULL)
        return 0;
    if (size > 0)
        memcpy(blob->bytes + at, bytes, size);
    return 1;
}

/* ---- the key ---- */

/* A file as it is now, after its name. */
struct mark {
    uint64_t device, inode, size;
    int64_t changed, changed_ns, written, written_ns;
};

static bool mark_of(const struct lode_folder *folder, const char *file, struct mark *mark)
{
    struct stat about;
    if (folder->directory < 0 || fstatat(folder->directory, file, &about, 0) != 0)
        return false;
    *mark = (struct mark){(uint64_t)about.st_dev,         (uint64_t)about.st_ino,
                          (uint64_t)about.st_size,        (int64_t)about.st_ctim.tv_sec,
                          (int64_t)about.st_ctim.tv_nsec, (int64_t)about.st_mtim.tv_sec,
                          (int64_t)about.st_mtim.tv_nsec};
    return true;
}

void lode_zor_index_note(struct zor_index *self, const struct lode_folder *folder, const char *file)
{
    struct mark mark;
    if (self == NULL || self->directory == NULL)
        return;
    if (!mark_of(folder, file, &mark) || !lode_zor_index_put_bytes(&self->key, file, strlen(file) + 1) ||
        !lode_zor_index_put_bytes(&self->key, &mark, sizeof mark)) {
        self->directory = NULL; /* no index */
        return;
    }
    self->newest = mark.written > self->newest ? mark.written : self->newest;
    self->bytes += mark.size;
}

bool lode_zor_index_is_current(const struct zor_index *self, const struct lode_folder *folder)
{
    for (size_t at = 0; at < self->key.size; at += sizeof(struct mark)) {
        const char *file = (const char *)self->key.bytes + at;
        struct mark mark;
        at += strlen(file) + 1;
        if (!mark_of(folder, file, &mark) || memcmp(&mark, self->key.bytes + at, sizeof mark) != 0)
            return false;
    }
    return self->newest + QUIET_SECONDS < (int64_t)time(NULL);
}

bool lode_zor_index_is_possible(const struct zor_index *self)
{
    return self->directory && self->bytes >= ZOR_INDEX_STORE_LEAST;
}

/* After the directory, however its path is spelled. */
bool lode_zor_index_name(const struct lode_folder *folder, char name[ZOR_INDEX_NAME_SIZE])
{
    struct stat about;
    if (folder->directory < 0 || fstat(folder->directory, &about) != 0)
        return false;
    uint64_t key[] = {(uint64_t)about.st_dev, (uint64_t)about.st_ino};
    snprintf(name, ZOR_INDEX_NAME_SIZE, ZOR_INDEX_PREFIX "%016" PRIx64 ZOR_INDEX_SUFFIX,
             lode_hash_fixed(key, sizeof key));
    return true;
}

void lode_zor_index_free(struct zor_index *self)
{
    lode_blob_free(&self->key);
    lode_blob_free(&self->findings);
}
