/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an index is, and which files it is of. */
#include "base/cache/folder.h"
#include "base/memory/hash.h"
#include "format/otlp/lookup/lookup.h"
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

enum {
    QUIET_SECONDS = 2
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

void lode_otlp_lookup_trim(int directory, const char *kept)
{
    lode_cache_trim(directory, &(struct lode_cache_kind){LOOKUP_PREFIX, LOOKUP_SUFFIX, LOOKUP_ALL_MOST},
                    kept);
}
