/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A valid trace store whose index of requests is the fuzzer's, with the key of the store and right
 * checksums. Input: a size of one byte and what follows the key (layouts and counts); a size of one
 * byte and findings; then blocks, each after its size of two bytes.
 */
#include "format/zorka/index/index.h"
#include "minizor.h"
#include <fcntl.h>
#include <lode/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/dev/shm/lode-fuzz-zorka-XXXXXX";
static char store_path[64], cache_path[64], index_path[160];
static struct lode_blob key;

static void path_of(char path[160], const char *name)
{
    snprintf(path, 160, "%s/%s", store_path, name);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) != 0)
        abort();
}

static void remove_all(void)
{
    lode_memory_file files[MINIZOR_FILES];
    struct minizor store = {0};
    char path[160];
    minizor_make(&store, 0, false);
    minizor_describe(&store);
    size_t count = minizor_list(&store, files);
    for (size_t i = 0; i < count; i++) {
        path_of(path, files[i].name);
        unlink(path);
    }
    minizor_free(&store);
    lode_blob_free(&key);
    unlink(index_path);
    rmdir(store_path);
    rmdir(cache_path);
    rmdir(folder);
}

static lode_recording *open_store(void)
{
    lode_recording_options options = LODE_RECORDING_OPTIONS_INIT;
    lode_recording *recording = NULL;
    options.index_directory = cache_path;
    options.threads = 1;
    return lode_recording_open(&recording, store_path, &options, NULL) == LODE_OK ? recording : NULL;
}

/* The store is large enough to have an index, and old. */
static void make_store(void)
{
    static const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    lode_memory_file files[MINIZOR_FILES];
    struct minizor store = {0};
    char path[160];
    minizor_make(&store, 0, false);
    minizor_describe(&store);
    size_t count = minizor_list(&store, files);
    for (size_t i = 0; i < count; i++) {
        path_of(path, files[i].name);
        write_file(path, files[i].data, files[i].size);
        if (strstr(path, ".props") && truncate(path, ZOR_INDEX_STORE_LEAST) != 0)
            abort();
        if (utimensat(AT_FDCWD, path, old, 0) != 0)
            abort();
    }
    minizor_free(&store);
}

/* The key follows its size, of one or two bytes, at the beginning of the part about the store. */
static void read_key(void)
{
    struct lode_blob whole = {0};
    struct zor_index_head head;
    struct lode_folder opened;
    char name[ZOR_INDEX_NAME_SIZE];
    if (lode_folder_open(&opened, store_path, NULL) != LODE_OK || !lode_zor_index_name(&opened, name))
        abort();
    lode_folder_close(&opened);
    snprintf(index_path, sizeof index_path, "%s/%s", cache_path, name);
    int fd = open(index_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        lode_blob_extend(&whole, (size_t)head.size) == LODE_BLOB_FULL ||
        pread(fd, whole.bytes, whole.size, (off_t)head.offset) != (ssize_t)whole.size)
        abort();
    close(fd);
    size_t size = whole.bytes[0] & 0x7f, begin = 1;
    for (; whole.bytes[begin - 1] & 0x80; begin++)
        size |= (size_t)(whole.bytes[begin] & 0x7f) << 7 * begin;
    if (!lode_zor_index_put_bytes(&key, whole.bytes + begin, size))
        abort();
    lode_blob_free(&whole);
}

static void prepare(void)
{
    static bool is_there;
    if (is_there)
        return;
    is_there = true;
    if (!mkdtemp(folder) || atexit(remove_all) != 0)
        abort();
    snprintf(store_path, sizeof store_path, "%s/store", folder);
    snprintf(cache_path, sizeof cache_path, "%s/cache", folder);
    if (mkdir(store_path, 0700) != 0)
        abort();
    make_store();
    lode_recording_close(open_store());
    read_key();
}

static void put(struct lode_blob *blob, const void *bytes, size_t size)
{
    if (!lode_zor_index_put_bytes(blob, bytes, size))
        abort();
}

static void put_number(struct lode_blob *blob, uint64_t number)
{
    if (!lode_zor_index_put(blob, number))
        abort();
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A part after its size; moves on. */
static struct lode_range take(const uint8_t **at, size_t *left, size_t width)
{
    size_t size = 0;
    for (size_t i = 0; i<width && * left> 0; i++, (*left)--)
        size = size << 8 | *(*at)++;
    size = least(size, *left);
    struct lode_range part = {*at, size};
    *at += size;
    *left -= size;
    return part;
}

static void write_index(const uint8_t *data, size_t size)
{
    struct lode_blob file = {0}, table = {0}, whole = {0};
    struct zor_index_head head = {.magic = ZOR_INDEX_MAGIC};
    struct lode_range counts = take(&data, &size, 1), findings = take(&data, &size, 1);
    put(&file, &head, sizeof head);
    while (size > 0) {
        struct lode_range block = take(&data, &size, 2);
        put(&file, block.data, (size_t)block.size);
        put_number(&table, block.size);
        put_number(&table, lode_hash_fixed(block.data, (size_t)block.size));
    }
    put_number(&whole, key.size);
    put(&whole, key.bytes, key.size);
    put(&whole, counts.data, (size_t)counts.size);
    put_number(&whole, table.size);
    put(&whole, table.bytes, table.size);
    put_number(&whole, findings.size);
    put(&whole, findings.data, (size_t)findings.size);
    head.offset = file.size;
    head.size = whole.size;
    head.checksum = lode_hash_fixed(whole.bytes, whole.size);
    memcpy(file.bytes, &head, sizeof head);
    put(&file, whole.bytes, whole.size);
    write_file(index_path, file.bytes, file.size);
    lode_blob_free(&file);
    lode_blob_free(&table);
    lode_blob_free(&whole);
}

static void walk_track(const lode_recording *recording, uint32_t index)
{
    const lode_track *track = lode_recording_track(recording, index);
    lode_cursor *cursor;
    const lode_event *events;
    size_t count;
    uint64_t last = 0;
    if (strlen(track->name) == 0 || (strlen(track->id) != 0 && strlen(track->id) != 32))
        abort();
    if (lode_cursor_open(&cursor, recording, index, NULL, NULL) != LODE_OK)
        return;
    while (lode_cursor_next(cursor, &events, &count, NULL) == LODE_OK)
        for (size_t i = 0; i < count; i++) {
            if (events[i].time < last)
                abort();
            last = events[i].time;
        }
    lode_cursor_close(cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    prepare();
    write_index(data, size);
    lode_recording *recording = open_store();
    if (recording == NULL)
        abort();
    for (uint32_t i = 0; i < lode_recording_track_count(recording); i++)
        walk_track(recording, i);
    lode_recording_close(recording);
    return 0;
}
