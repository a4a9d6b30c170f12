/* SPDX-License-Identifier: BSD-3-Clause */
/* The files: rank 0 lists them, each rank looks at the id tuples of some, and all know them. */
#include "base/comm/pack.h"
#include "base/io/bytes.h"
#include "format/hpcrun/read/files.h"
#include "format/hpcrun/source/source.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ID_BYTES = 512,       /* of a profile's values, that are read at first */
    ENTRY_BYTES = 1 << 12 /* what a profile counts besides its bytes: the cost of opening it */
};

/* ---- listing, on rank 0 ---- */

/* The number of a directory, added if it is new; LODE_NONE if out of memory. */
static uint32_t add_directory(struct hpcrun_source *source, const char *path, size_t length, bool is_argument)
{
    for (uint32_t i = 0; i < source->directories.count; i++) {
        struct hpcrun_directory *known = hpcrun_directory(source, i);
        if (strlen(known->path) == length && memcmp(known->path, path, length) == 0) {
            known->is_argument |= is_argument;
            return i;
        }
    }
    struct hpcrun_directory *added = lode_array_push(&source->directories);
    char *copy = lode_arena_alloc(&source->arena, length + 1, 1);
    if (added == NULL || copy == NULL)
        return LODE_NONE;
    memcpy(copy, path, length);
    *added = (struct hpcrun_directory){.path = copy, .is_argument = is_argument};
    return (uint32_t)source->directories.count - 1;
}

static lode_status open_directory(struct hpcrun_source *source, uint32_t number, lode_error *error)
{
    struct hpcrun_directory *directory = hpcrun_directory(source, number);
    if (directory->is_open)
        return LODE_OK;
    LODE_TRY(lode_folder_open(&directory->folder, directory->path, error));
    directory->folder.follows_links = !directory->is_argument;
    directory->is_open = true;
    return LODE_OK;
}

/* Packs a profile of a directory, and its trace, which may be NULL. */
static lode_status list_file(uint32_t directory, const struct hpcrun_listed *file, struct lode_blob *blob,
                             uint64_t *count, lode_error *error)
{
    const struct hpcrun_listed *trace = file->partner;
    LODE_TRY_ALLOC(pack_number(blob, directory) && pack_number(blob, file->size) &&
                       pack_number(blob, trace ? trace->size : 0) && pack_string(blob, file->name) &&
                       pack_string(blob, trace ? trace->name : ""),
                   error);
    ++*count;
    return LODE_OK;
}

/* A file that the user named, whatever it is, with the trace that is called like it. */
static lode_status list_named(struct hpcrun_source *source, uint32_t directory, const char *name,
                              struct lode_blob *blob, uint64_t *count, lode_error *error)
{
    const struct lode_folder *folder = &hpcrun_directory(source, directory)->folder;
    size_t stem = lode_hpcrun_stem(name), size = stem + sizeof HPCRUN_TRACE_SUFFIX;
    char *called = malloc(size);
    LODE_TRY_ALLOC(called, error);
    snprintf(called, size, "%.*s%s", (int)stem, name, HPCRUN_TRACE_SUFFIX);
    struct hpcrun_listed trace = {.name = called, .kind = HPCRUN_FILE_TRACE};
    struct hpcrun_listed file = {.name = name, .kind = HPCRUN_FILE_PROFILE};
    lode_status found = lode_folder_size(folder, called, &trace.size, error);
    file.partner = found == LODE_OK && strcmp(called, name) != 0 ? &trace : NULL;
    lode_status status = found == LODE_ABSENT ? LODE_OK : found;
    if (status == LODE_OK)
        status = lode_folder_size(folder, name, &file.size, error);
    if (status == LODE_OK)
        status = list_file(directory, &file, blob, count, error);
    free(called);
    return status == LODE_ABSENT ? LODE_OK : status;
}

static lode_status list_directory(struct hpcrun_source *source, uint32_t directory, struct lode_blob *blob,
                                  uint64_t *count, lode_error *error)
{
    struct lode_arena arena;
    struct hpcrun_listed *files;
    size_t file_count = 0;
    lode_arena_init(&arena, SIZE_MAX);
    lode_status status = lode_hpcrun_list_files(&hpcrun_directory(source, directory)->folder, &arena, &files,
                                                &file_count, error);
    for (size_t i = 0; i < file_count && status == LODE_OK; i++)
        if (files[i].kind == HPCRUN_FILE_PROFILE)
            status = list_file(directory, &files[i], blob, count, error);
    lode_arena_free(&arena);
    return status;
}

/* A directory, or a file in one. */
static lode_status list_path(struct hpcrun_source *source, const char *path, struct lode_blob *blob,
                             uint64_t *count, lode_error *error)
{
    struct stat found;
    uint64_t before = *count;
    if (stat(path, &found) != 0)
        return lode_fail_errno(error, path, "cannot open");
    bool is_directory = S_ISDIR(found.st_mode);
    struct lode_access access = lode_access_of(&found);
    source->base.access =
        source->directories.count == 0 ? access : lode_access_both(source->base.access, access);
    const char *slash = is_directory ? NULL : strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = is_directory ? strlen(path) : slash == path ? 1 : slash ? (size_t)(slash - path) : 1;
    uint32_t directory = add_directory(source, is_directory || slash ? path : ".", length, is_directory);
    LODE_TRY_ALLOC(directory != LODE_NONE, error);
    LODE_TRY(open_directory(source, directory, error));
    LODE_TRY(is_directory ? list_directory(source, directory, blob, count, error)
                          : list_named(source, directory, name, blob, count, error));
    if (*count == before)
        return lode_fail(error, LODE_ERR_IO, path, LODE_NO_OFFSET, HPCRUN_NO_PROFILES);
    return LODE_OK;
}

/* ---- from rank 0 to all ---- */

static lode_status pack_list(struct hpcrun_source *source, struct lode_blob *blob, lode_error *error)
{
    struct lode_blob files = {0};
    uint64_t count = 0;
    lode_status status = LODE_OK;
    for (size_t i = 0; i < source->input->count && status == LODE_OK; i++)
        status = list_path(source, source->input->paths[i], &files, &count, error);
    bool done = status != LODE_OK || pack_number(blob, source->directories.count);
    for (uint32_t i = 0; i < source->directories.count && done; i++)
        done = pack_string(blob, hpcrun_directory(source, i)->path) &&
               pack_number(blob, hpcrun_directory(source, i)->is_argument);
    done = done && pack_number(blob, count) && pack_bytes(blob, files.bytes, files.size);
    lode_blob_free(&files);
    return done ? status : lode_fail_memory(error);
}

static const char *keep_text(struct hpcrun_source *source, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = lode_arena_alloc(&source->arena, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

static lode_status unpack_list(struct hpcrun_source *source, const unsigned char *at, lode_error *error)
{
    for (uint64_t left = unpack_number(&at); left > 0; left--) {
        const char *path = unpack_string(&at);
        bool is_argument = unpack_number(&at) != 0;
        uint32_t number = add_directory(source, path, strlen(path), is_argument);
        LODE_TRY_ALLOC(number != LODE_NONE, error);
        LODE_TRY(open_directory(source, number, error));
    }
    uint64_t count = unpack_number(&at);
    if (count >= LODE_NONE)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "more profiles than can be numbered");
    source->entries = calloc((size_t)count + 1, sizeof *source->entries);
    LODE_TRY_ALLOC(source->entries, error);
    source->entry_count = (uint32_t)count;
    for (uint32_t i = 0; i < source->entry_count; i++) {
        struct hpcrun_entry *entry = &source->entries[i];
        entry->listed = i;
        entry->directory = (uint32_t)unpack_number(&at);
        entry->bytes = unpack_number(&at);
        entry->trace_bytes = unpack_number(&at);
        entry->name = keep_text(source, unpack_string(&at));
        entry->trace = keep_text(source, unpack_string(&at));
        LODE_TRY_ALLOC(entry->name && entry->trace, error);
    }
    return LODE_OK;
}

/* ---- id tuples ---- */

/* Reads at a position; false if the file has less. */
static bool read_at(int fd, uint64_t offset, void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* The ids of a tuple at `offset` into a blob: a count and the ids as in the file. */
static bool read_ids(int fd, uint64_t size, struct lode_blob *blob)
{
    uint8_t footer[HPCRUN_Footer_SIZE], bytes[ID_BYTES];
    struct hpcrun_Footer parts;
    if (size < sizeof footer || !read_at(fd, size - sizeof footer, footer, sizeof footer))
        return false;
    lode_hpcrun_read_Footer(&parts, footer);
    uint64_t at = parts.values_start;
    if (parts.magic != HPCRUN_FOOTER_MAGIC || at > size || size - at < sizeof(uint16_t))
        return false;
    size_t first = size - at < sizeof bytes ? (size_t)(size - at) : sizeof bytes;
    if (!read_at(fd, at, bytes, first))
        return false;
    size_t wanted = (size_t)get_u16be(bytes) * HPCRUN_Id_SIZE, more = sizeof(uint16_t);
    if (wanted > size - at - more)
        return false;
    size_t end = lode_blob_extend(blob, sizeof(uint64_t) + wanted);
    if (end == LODE_BLOB_FULL)
        return false;
    uint64_t count = get_u16be(bytes);
    memcpy(blob->bytes + end, &count, sizeof count);
    if (wanted <= first - more)
        memcpy(blob->bytes + end + sizeof count, bytes + more, wanted);
    else if (!read_at(fd, at + more, blob->bytes + end + sizeof count, wanted))
        blob->size = end;
    return blob->size > end;
}

/* Files without an id tuple have none for now: reading them tells why. */
static bool look_at(const struct hpcrun_source *source, const struct hpcrun_entry *entry,
                    struct lode_blob *blob)
{
    int fd = lode_folder_open_fd(&hpcrun_directory(source, entry->directory)->folder, entry->name);
    struct stat found;
    bool done = fd >= 0 && fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
                read_ids(fd, (uint64_t)found.st_size, blob);
    if (fd >= 0)
        close(fd);
    return done || pack_number(blob, 0);
}

static lode_status take_ids(struct hpcrun_source *source, const unsigned char *at, lode_error *error)
{
    for (uint32_t i = 0; i < source->entry_count; i++) {
        struct hpcrun_entry *entry = &source->entries[i];
        entry->id_count = (uint32_t)unpack_number(&at);
        entry->raw_ids =
            lode_arena_alloc(&source->arena, (size_t)entry->id_count + 1, sizeof *entry->raw_ids);
        LODE_TRY_ALLOC(entry->raw_ids, error);
        for (uint32_t k = 0; k < entry->id_count; k++, at += HPCRUN_Id_SIZE)
            lode_hpcrun_read_Id(&entry->raw_ids[k], at);
    }
    return LODE_OK;
}

static lode_status find_ids(struct hpcrun_source *source, lode_error *error)
{
    const struct lode_comm_place *place = &source->comm->place;
    uint64_t count = source->entry_count, size, begin = count * place->rank / place->size,
             end = count * (place->rank + (uint64_t)1) / place->size;
    struct lode_blob blob = {0};
    void *all = NULL;
    bool done = true;
    for (uint64_t i = begin; i < end && done; i++)
        done = look_at(source, &source->entries[i], &blob);
    lode_status status =
        done ? lode_comm_gather(source->comm, blob.bytes, blob.size, true, &all, &size, NULL, error)
             : lode_fail_memory(error);
    if (status == LODE_OK)
        status = take_ids(source, all, error);
    free(all);
    lode_blob_free(&blob);
    return status;
}

lode_status lode_hpcrun_list_inputs(struct hpcrun_source *source, lode_error *error)
{
    struct lode_blob blob = {0};
    lode_status status = LODE_OK;
    if (source->comm->place.rank == 0)
        status = pack_list(source, &blob, error);
    if (status == LODE_OK)
        status = lode_comm_broadcast_blob(source->comm, &blob, error);
    if (status == LODE_OK)
        status = unpack_list(source, blob.bytes, error);
    lode_blob_free(&blob);
    if (status == LODE_OK)
        status = find_ids(source, error);
    return status;
}

/* ---- shares ---- */

/* Cuts the sorted entries into one share of each rank, by bytes. */
static void cut_shares(struct hpcrun_source *source)
{
    const struct lode_comm_place *place = &source->comm->place;
    uint64_t total = 0, before = 0;
    for (uint32_t i = 0; i < source->entry_count; i++)
        total += source->entries[i].bytes + source->entries[i].trace_bytes + ENTRY_BYTES;
    source->first = source->share = 0;
    for (uint32_t i = 0; i < source->entry_count; i++) {
        uint64_t weight = source->entries[i].bytes + source->entries[i].trace_bytes + ENTRY_BYTES;
        uint32_t rank = (uint32_t)(((double)before + (double)weight / 2) / (double)total * place->size);
        source->first += rank < place->rank;
        source->share += rank == place->rank;
        before += weight;
    }
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* As the numbers will be: those that are given later are given in the order of physical ids. */
static int compare_entries(const void *left, const void *right)
{
    const struct hpcrun_entry *a = left, *b = right;
    int order = 0;
    for (uint32_t i = 0; i < a->id_count && i < b->id_count && order == 0; i++) {
        const struct hpcrun_Id *x = &a->raw_ids[i], *y = &b->raw_ids[i];
        order = compare_numbers(x->kind & HPCRUN_ID_KIND, y->kind & HPCRUN_ID_KIND);
        if (order == 0 && !hpcrun_id_is_numbered(x) && !hpcrun_id_is_numbered(y))
            order = compare_numbers(x->logical, y->logical);
        if (order == 0)
            order = compare_numbers(x->physical, y->physical);
    }
    if (order == 0)
        order = compare_numbers(a->id_count, b->id_count);
    return order ? order : compare_numbers(a->listed, b->listed);
}

lode_status lode_hpcrun_sort_inputs(struct hpcrun_source *source, lode_error *error)
{
    if (source->entry_count > 1)
        qsort(source->entries, source->entry_count, sizeof *source->entries, compare_entries);
    cut_shares(source);
    source->reads = calloc((size_t)source->share + 1, sizeof *source->reads);
    LODE_TRY_ALLOC(source->reads, error);
    return LODE_OK;
}
