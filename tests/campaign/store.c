/* SPDX-License-Identifier: BSD-3-Clause */
#include "store.h"

#include <fcntl.h>
#include <ftw.h>
#include <lz4.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    PATH_SIZE = 4096,
    HEADER = 16,             /* of traces.dat, and of a chunk */
    MOST_UNPACKED = 1 << 20, /* of a chunk */
    OPEN_DIRECTORIES = 16
};

static void *or_abort(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

void piece_resize(struct piece *piece, size_t size)
{
    piece->bytes = or_abort(realloc(piece->bytes, size + 1));
    if (size > piece->size)
        memset(piece->bytes + piece->size, 0, size - piece->size);
    piece->size = size;
}

static struct piece *piece_add(struct store *store, const char *name, const unsigned char *bytes, size_t size)
{
    store->pieces = or_abort(realloc(store->pieces, (store->count + 1) * sizeof *store->pieces));
    struct piece *piece = &store->pieces[store->count++];
    *piece = (struct piece){.name = or_abort(strdup(name))};
    piece_resize(piece, size);
    if (size > 0)
        memcpy(piece->bytes, bytes, size);
    return piece;
}

void piece_remove(struct store *store, size_t index)
{
    free(store->pieces[index].name);
    free(store->pieces[index].bytes);
    store->count--;
    memmove(&store->pieces[index], &store->pieces[index + 1], (store->count - index) * sizeof *store->pieces);
}

/* nftw has no word for its caller. */
static struct {
    struct store *store;
    size_t prefix, most, bytes;
} walk;

/* Long symbol lists only cost time. The number of symbols, now wrong, becomes a comment. */
static size_t first_lines(unsigned char *bytes, size_t size)
{
    static const char number[] = "# symbols:";
    size_t kept = size > walk.most ? walk.most : size;
    if (kept == size || memchr(bytes, 0, size) != NULL)
        return size;
    while (kept > 0 && bytes[kept - 1] != '\n')
        kept--;
    bytes[kept] = '\0';
    char *at = strstr((char *)bytes, number);
    if (at)
        memcpy(at, "# .......:", strlen(number));
    return kept;
}

static int load_file(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)place;
    if (kind != FTW_F)
        return 0;
    size_t size = (size_t)status->st_size;
    unsigned char *bytes = or_abort(malloc(size + 1));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_read = fd >= 0 && read(fd, bytes, size) == (ssize_t)size;
    if (fd >= 0)
        close(fd);
    if (is_read)
        piece_add(walk.store, path + walk.prefix, bytes, first_lines(bytes, size));
    free(bytes);
    return is_read ? 0 : -1;
}

static int by_name(const void *a, const void *b)
{
    const struct piece *first = a, *second = b;
    return strcmp(first->name, second->name);
}

bool store_load(struct store *store, const char *path, size_t most)
{
    *store = (struct store){.label = or_abort(strdup(path))};
    walk.store = store;
    walk.prefix = strlen(path) + 1;
    walk.most = most;
    bool is_loaded = nftw(path, load_file, OPEN_DIRECTORIES, FTW_PHYS) == 0 && store->count > 0;
    /* Directories have no order; what a seed makes must not depend on it. */
    if (store->count > 0)
        qsort(store->pieces, store->count, sizeof *store->pieces, by_name);
    return is_loaded;
}

void store_copy(struct store *to, const struct store *from)
{
    *to = (struct store){.label = or_abort(strdup(from->label))};
    for (size_t i = 0; i < from->count; i++)
        piece_add(to, from->pieces[i].name, from->pieces[i].bytes, from->pieces[i].size);
}

void store_free(struct store *store)
{
    while (store->count > 0)
        piece_remove(store, store->count - 1);
    free(store->pieces);
    free(store->label);
    *store = (struct store){0};
}

size_t store_total_bytes(const struct store *store)
{
    size_t bytes = 0;
    for (size_t i = 0; i < store->count; i++)
        bytes += store->pieces[i].size;
    return bytes;
}

/* ---- directories ---- */

static void make_parents(char *path, size_t from)
{
    for (char *at = strchr(path + from, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
}

static bool save_piece(const struct piece *piece, const char *folder)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, piece->name);
    make_parents(path, strlen(folder) + 1);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool is_written = write(fd, piece->bytes, piece->size) == (ssize_t)piece->size;
    return close(fd) == 0 && is_written;
}

bool store_save(const struct store *store, const char *path)
{
    bool is_saved = mkdir(path, 0700) == 0;
    for (size_t i = 0; is_saved && i < store->count; i++)
        is_saved = save_piece(&store->pieces[i], path);
    return is_saved;
}

static int add_size(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)path, (void)place;
    if (kind == FTW_F)
        walk.bytes += (size_t)status->st_size;
    return 0;
}

size_t tree_bytes(const char *path)
{
    walk.bytes = 0;
    nftw(path, add_size, OPEN_DIRECTORIES, FTW_PHYS);
    return walk.bytes;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

void tree_remove(const char *path)
{
    nftw(path, remove_entry, OPEN_DIRECTORIES, FTW_PHYS | FTW_DEPTH);
}

/* ---- trace stores ---- */

static uint32_t big32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_big32(unsigned char *at, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(number >> (24 - 8 * i));
}

static bool inflate_raw(unsigned char *out, size_t size, const unsigned char *in, size_t packed)
{
    z_stream stream = {.avail_in = (uInt)packed, .avail_out = (uInt)size, .next_out = out};
    unsigned char *copy = or_abort(malloc(packed + 1));
    memcpy(copy, in, packed);
    stream.next_in = copy;
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        abort();
    inflate(&stream, Z_SYNC_FLUSH);
    inflateEnd(&stream);
    free(copy);
    return stream.avail_out == 0;
}

static bool unpack_chunk(unsigned char *out, size_t size, const unsigned char *in, size_t packed)
{
    return inflate_raw(out, size, in, packed) ||
           LZ4_decompress_safe((const char *)in, (char *)out, (int)packed, (int)size) == (int)size;
}

/* The whole file in *out, or false. */
static bool unpack_traces(struct piece *out, const struct piece *in)
{
    size_t at = HEADER;
    if (in->size < HEADER || memcmp(in->bytes, "ZTS0", 4) != 0 || (in->bytes[7] & 15) == 0)
        return false;
    piece_resize(out, HEADER);
    memcpy(out->bytes, in->bytes, HEADER);
    put_big32(out->bytes + 4, 0);
    while (in->size - at >= HEADER && memcmp(in->bytes + at, "ZCH0", 4) == 0) {
        size_t packed = big32(in->bytes + at + 4), size = big32(in->bytes + at + 8), end = out->size;
        if (packed > in->size - at - HEADER || size > MOST_UNPACKED)
            return false;
        piece_resize(out, end + HEADER + size);
        memcpy(out->bytes + end, in->bytes + at, HEADER);
        put_big32(out->bytes + end + 4, (uint32_t)size);
        if (!unpack_chunk(out->bytes + end + HEADER, size, in->bytes + at + HEADER, packed))
            return false;
        at += HEADER + packed;
    }
    return out->size > HEADER;
}

bool store_unpack(struct store *to, const struct store *from)
{
    static const char name[] = "traces.dat";
    bool is_unpacked = false;
    store_copy(to, from);
    for (size_t i = 0; i < to->count; i++) {
        struct piece *piece = &to->pieces[i], plain = {0};
        size_t length = strlen(piece->name);
        if (length < strlen(name) || strcmp(piece->name + length - strlen(name), name) != 0)
            continue;
        if (unpack_traces(&plain, piece)) {
            piece_resize(piece, plain.size);
            memcpy(piece->bytes, plain.bytes, plain.size);
            is_unpacked = true;
        }
        free(plain.bytes);
    }
    return is_unpacked;
}
