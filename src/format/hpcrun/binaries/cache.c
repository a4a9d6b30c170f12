/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpcrun/binaries/cache.h"

#include "base/cache/folder.h"
#include "base/io/beneath.h"
#include "base/memory/hash.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    NAME_ROOM = 2 * SYMBOLS_BUILD_ID_MOST + 32,
    OFFSETS_MOST = 1 << 20, /* of an entry: with more, what is new replaces what is known */
    PUBLIC = S_IROTH | S_IRGRP
};

#define MAGIC  "LODESTC1"
#define SUFFIX ".lode-structure"

/* Numbers are in the byte order of the machine: elsewhere the checksum is another. */
struct header {
    char magic[8];
    uint64_t checksum; /* of all that comes after it */
    uint64_t program_size, program_seconds, program_nanoseconds;
    uint64_t binary_size;
    uint64_t offsets, answer; /* numbers of offsets, bytes of the answer */
};

/* ---- the directory ---- */

void lode_binary_cache_open(struct binary_cache *cache, const char *path, const char *program)
{
    *cache = BINARY_CACHE_NONE;
    if (path == NULL || program == NULL || stat(program, &cache->program) != 0)
        return;
    lode_cache_make(path);
    cache->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cache->directory >= 0 && fstat(cache->directory, &cache->about) != 0)
        lode_binary_cache_close(cache);
}

void lode_binary_cache_close(struct binary_cache *cache)
{
    if (cache->directory >= 0)
        close(cache->directory);
    cache->directory = -1;
}

/* The build id, and what the answer depends on besides: debug information and loops. */
static bool name_of(char name[NAME_ROOM], const struct binary_notes *notes,
                    const struct binary_request *request)
{
    int used = 0;
    for (size_t i = 0; i < notes->build_id_size; i++)
        used += snprintf(name + used, NAME_ROOM - (size_t)used, "%02x", notes->build_id[i]);
    snprintf(name + used, NAME_ROOM - (size_t)used, "-%s%s" SUFFIX, request->debug >= 0 ? "beside" : "inside",
             request->has_loops ? "-loops" : "");
    return notes->build_id_size >= 8;
}

/* ---- reading ---- */

/* An entry, or what becomes one. */
struct entry {
    struct lode_blob bytes;
    struct header header;
    uint64_t *offsets; /* rising */
    uint32_t count;
};

static void free_entry(struct entry *entry)
{
    lode_blob_free(&entry->bytes);
    free(entry->offsets);
}

static uint64_t checksum_of(const struct lode_blob *bytes)
{
    size_t from = offsetof(struct header, program_size);
    return lode_hash_fixed(bytes->bytes + from, bytes->size - from);
}

static struct header header_for(const struct binary_cache *cache, uint64_t binary_size)
{
    struct header header = {.program_size = (uint64_t)cache->program.st_size,
                            .program_seconds = (uint64_t)cache->program.st_mtim.tv_sec,
                            .program_nanoseconds = (uint64_t)cache->program.st_mtim.tv_nsec,
                            .binary_size = binary_size};
    memcpy(header.magic, MAGIC, sizeof header.magic);
    return header;
}

static bool is_trusted(const struct binary_cache *cache, const struct stat *about)
{
    bool is_known = about->st_uid == geteuid() || about->st_uid == 0 || about->st_uid == cache->about.st_uid;
    return is_known && (about->st_mode & (S_IWGRP | S_IWOTH)) == 0 && about->st_size <= BINARY_ENTRY_MOST;
}

static bool is_sound(const struct entry *entry, const struct header *wanted)
{
    const struct header *header = &entry->header;
    uint64_t rest = entry->bytes.size - sizeof *header;
    return memcmp(header->magic, wanted->magic, sizeof header->magic) == 0 &&
           header->program_size == wanted->program_size &&
           header->program_seconds == wanted->program_seconds &&
           header->program_nanoseconds == wanted->program_nanoseconds &&
           header->binary_size == wanted->binary_size && header->offsets <= rest / sizeof(uint64_t) &&
           header->answer == rest - header->offsets * sizeof(uint64_t) &&
           header->checksum == checksum_of(&entry->bytes);
}

static bool take_offsets(struct entry *entry)
{
    entry->count = (uint32_t)entry->header.offsets;
    entry->offsets = malloc((entry->count + (size_t)1) * sizeof *entry->offsets);
    if (entry->offsets == NULL)
        return false;
    memcpy(entry->offsets, entry->bytes.bytes + sizeof entry->header, entry->count * sizeof *entry->offsets);
    for (uint32_t i = 1; i < entry->count; i++)
        if (entry->offsets[i] <= entry->offsets[i - 1])
            return false;
    return true;
}

/* Reads an entry; false: there is none that counts. Free it in every case. */
static bool read_entry(const struct binary_cache *cache, const char *name, uint64_t binary_size,
                       struct entry *entry)
{
    struct header wanted = header_for(cache, binary_size);
    struct lode_regular file;
    *entry = (struct entry){0};
    if (lode_regular_open(&file, cache->directory, name, NULL) != LODE_OK)
        return false;
    bool is_read = is_trusted(cache, &file.about) &&
                   lode_regular_read(&entry->bytes, file.fd, name, NULL) == LODE_OK &&
                   entry->bytes.size >= sizeof entry->header;
    lode_regular_close(&file);
    if (!is_read)
        return false;
    memcpy(&entry->header, entry->bytes.bytes, sizeof entry->header);
    return is_sound(entry, &wanted) && take_offsets(entry);
}

/* ---- writing ---- */

/* What others may read in a directory is of binaries that they may read. */
static bool mode_for(const struct binary_cache *cache, int binary, mode_t *mode)
{
    struct stat about;
    bool is_shared = (cache->about.st_mode & PUBLIC) != 0;
    *mode = S_IRUSR | S_IWUSR | (is_shared ? PUBLIC : 0);
    return !is_shared || (fstat(binary, &about) == 0 && (about.st_mode & S_IROTH));
}

/* Writes an entry under another name, which then becomes its own. */
static void write_entry(const struct binary_cache *cache, const char *name, int binary,
                        const struct lode_blob *bytes)
{
    char partial[NAME_ROOM + 32];
    mode_t mode;
    if (bytes->size > BINARY_ENTRY_MOST || !mode_for(cache, binary, &mode))
        return;
    snprintf(partial, sizeof partial, ".%s.%ld", name, (long)getpid());
    unlinkat(cache->directory, partial, 0);
    int fd = openat(cache->directory, partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    S_IRUSR | S_IWUSR);
    if (fd < 0)
        return;
    bool done = lode_binary_write(fd, bytes->bytes, bytes->size) && fchmod(fd, mode) == 0;
    done = close(fd) == 0 && done;
    if (!done || renameat(cache->directory, partial, cache->directory, name) != 0)
        unlinkat(cache->directory, partial, 0);
    else
        lode_cache_trim(cache->directory, &(struct lode_cache_kind){"", SUFFIX, BINARY_CACHE_MOST}, name);
}

static void keep_answer(const struct binary_cache *cache, const char *name, uint64_t binary_size,
                        const struct binary_request *request)
{
    struct lode_blob bytes = {0};
    struct header header = header_for(cache, binary_size);
    size_t offsets = request->count * sizeof *request->offsets, answer = request->raw->size;
    header.offsets = request->count;
    header.answer = answer;
    if (lode_blob_extend(&bytes, sizeof header + offsets + answer) == LODE_BLOB_FULL)
        return;
    memcpy(bytes.bytes, &header, sizeof header);
    memcpy(bytes.bytes + sizeof header, request->offsets, offsets);
    memcpy(bytes.bytes + sizeof header + offsets, request->raw->bytes, answer);
    header.checksum = checksum_of(&bytes);
    memcpy(bytes.bytes, &header, sizeof header);
    write_entry(cache, name, request->binary, &bytes);
    lode_blob_free(&bytes);
}

/* ---- asking ---- */

/* Whether all offsets are among those of an entry; makes `all` of both. */
static bool merge(const struct entry *entry, const struct binary_request *request, uint64_t *all,
                  uint32_t *count)
{
    uint32_t known = 0, asked = 0;
    *count = 0;
    while (known < entry->count || asked < request->count) {
        bool is_known = asked == request->count ||
                        (known < entry->count && entry->offsets[known] <= request->offsets[asked]);
        uint64_t next = is_known ? entry->offsets[known] : request->offsets[asked];
        known += known < entry->count && entry->offsets[known] == next;
        asked += asked < request->count && request->offsets[asked] == next;
        all[(*count)++] = next;
    }
    return *count == entry->count;
}

static lode_status restrict_to(struct binary_reply *reply, const struct binary_request *request,
                               lode_error *error)
{
    LODE_TRY_ALLOC(lode_binary_select(reply, request->offsets, request->count), error);
    return LODE_OK;
}

/* Asks about `all` offsets, and keeps the answer. LODE_END: no answer. */
static lode_status ask_all(const struct binary_cache *cache, const char *name, uint64_t binary_size,
                           struct binary_reply *reply, const struct binary_request *request,
                           const uint64_t *all, uint32_t count, lode_error *error)
{
    struct binary_request larger = *request;
    struct lode_blob raw = {0};
    larger.offsets = all;
    larger.count = count;
    larger.raw = &raw;
    lode_status status = lode_binary_ask(reply, &larger, error);
    /* What was not analysed for want of time depends on what else was asked about. */
    bool is_whole = status == LODE_OK && !reply->has_some_loops;
    if (is_whole)
        keep_answer(cache, name, binary_size, &larger);
    lode_blob_free(&raw);
    return status == LODE_OK && !is_whole && count > request->count ? LODE_END : status;
}

/* With what is known of a binary. LODE_END: that does not help. */
static lode_status ask_with(const struct binary_cache *cache, const char *name, uint64_t binary_size,
                            struct binary_reply *reply, const struct binary_request *request,
                            struct entry *entry, lode_error *error)
{
    uint32_t count;
    uint64_t *all = calloc((size_t)entry->count + request->count + 1, sizeof *all);
    LODE_TRY_ALLOC(all, error);
    lode_status status = LODE_END;
    if (merge(entry, request, all, &count)) {
        struct binary_request known = *request;
        size_t skipped = sizeof entry->header + entry->count * sizeof *entry->offsets;
        known.offsets = entry->offsets;
        known.count = entry->count;
        lode_binary_init(reply);
        if (lode_binary_parse(reply, (struct lode_range){entry->bytes.bytes + skipped, entry->header.answer},
                              &known)) {
            utimensat(cache->directory, name, NULL, AT_SYMLINK_NOFOLLOW);
            status = LODE_OK;
        } else
            lode_binary_free(reply);
    }
    if (status == LODE_END && count <= OFFSETS_MOST) {
        status = ask_all(cache, name, binary_size, reply, request, all, count, error);
        if (status == LODE_END)
            lode_binary_free(reply);
    }
    free(all);
    return status;
}

lode_status lode_binary_ask_cached(struct binary_cache *cache, const struct binary_notes *notes,
                                   struct binary_reply *reply, const struct binary_request *request,
                                   lode_error *error)
{
    char name[NAME_ROOM];
    struct stat about;
    struct entry entry = {0};
    bool is_cached = cache && cache->directory >= 0 && !request->is_all && !request->symbols_only &&
                     name_of(name, notes, request) && fstat(request->binary, &about) == 0;
    if (!is_cached) {
        LODE_TRY(lode_binary_ask(reply, request, error));
        return request->is_all ? LODE_OK : restrict_to(reply, request, error);
    }
    uint64_t size = (uint64_t)about.st_size;
    lode_status status = LODE_END;
    bool is_known = read_entry(cache, name, size, &entry) && entry.count > 0;
    if (is_known)
        status = ask_with(cache, name, size, reply, request, &entry, error);
    if (status == LODE_END)
        status = ask_all(cache, name, size, reply, request, request->offsets, request->count, error);
    free_entry(&entry);
    return status == LODE_OK ? restrict_to(reply, request, error) : status;
}
