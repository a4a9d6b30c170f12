/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/io/input.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/io/beneath.h"
#include "base/memory/array.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

lode_status lode_folder_open(struct lode_folder *folder, const char *path, lode_error *error)
{
    *folder = (struct lode_folder){.directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (folder->directory < 0)
        return lode_fail_errno(error, path, "cannot open the directory");
    folder->watch = lode_watch_open(folder->directory);
    if (folder->watch)
        return LODE_OK;
    lode_folder_close(folder);
    return lode_fail_memory(error);
}

lode_status lode_folder_open_file(struct lode_folder *folder, const char *path, lode_error *error)
{
    const char *slash = strrchr(path, '/');
    char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (parent == NULL)
        return lode_fail_memory(error);
    lode_status status = lode_folder_open(folder, parent, error);
    free(parent);
    folder->single = slash ? slash + 1 : path;
    folder->follows_links = true;
    return status;
}

lode_status lode_folder_open_in(struct lode_folder *folder, const struct lode_folder *outer, const char *name,
                                lode_error *error)
{
    int fd = lode_open_inside(outer->directory, name, O_RDONLY | O_DIRECTORY);
    *folder = (struct lode_folder){.directory = fd};
    if (fd < 0 && (errno == EXDEV || errno == ELOOP))
        return lode_open_failed(name, error);
    return fd < 0 ? lode_fail_errno(error, name, "cannot open the directory") : LODE_OK;
}

lode_status lode_folder_find_in(struct lode_folder *folder, const struct lode_folder *outer, const char *name,
                                lode_error *error)
{
    struct stat found;
    int known = fstatat(outer->directory, name, &found, 0);
    if (known != 0 ? errno == ENOENT : !S_ISDIR(found.st_mode))
        return lode_fail(error, LODE_ABSENT, name, LODE_NO_OFFSET, "no such directory");
    return lode_folder_open_in(folder, outer, name, error);
}

void lode_folder_open_memory(struct lode_folder *folder, const lode_memory_file *files, size_t count)
{
    *folder = (struct lode_folder){.directory = -1, .files = files, .file_count = count};
}

void lode_folder_close(struct lode_folder *folder)
{
    if (folder->directory >= 0)
        close(folder->directory);
    lode_watch_release(folder->watch);
    folder->directory = -1;
    folder->watch = NULL;
}

lode_status lode_folder_copy(struct lode_folder *copy, const struct lode_folder *folder,
                             struct lode_arena *arena, lode_error *error)
{
    *copy = *folder;
    if (folder->directory >= 0) {
        copy->directory = fcntl(folder->directory, F_DUPFD_CLOEXEC, 0);
        copy->watch = lode_watch_keep(folder->watch);
        return copy->directory < 0 ? lode_fail_errno(error, NULL, "cannot reopen the directory") : LODE_OK;
    }
    lode_memory_file *files = lode_arena_alloc(arena, folder->file_count, sizeof *files);
    LODE_TRY_ALLOC(files, error);
    if (folder->file_count > 0)
        memcpy(files, folder->files, folder->file_count * sizeof *files);
    copy->files = files;
    return LODE_OK;
}

static bool add_name(struct lode_array *names, struct lode_arena *arena, const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy = lode_arena_alloc(arena, size, 1);
    const char **slot = copy ? lode_array_push(names) : NULL;
    if (slot == NULL)
        return false;
    memcpy(copy, name, size);
    *slot = copy;
    return true;
}

static lode_status list_directory(int directory, struct lode_array *names, struct lode_arena *arena,
                                  lode_error *error)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (stream == NULL) {
        if (fd >= 0)
            close(fd);
        return lode_fail_errno(error, NULL, "cannot list the directory");
    }
    bool fits = true;
    const struct dirent *entry;
    errno = 0;
    /* readdir needs no lock: each stream is used by one thread only. */
    while (fits && (entry = readdir(stream)) != NULL) // NOLINT(concurrency-mt-unsafe)
        fits = add_name(names, arena, entry->d_name);
    lode_status status = !fits   ? lode_fail_memory(error)
                         : errno ? lode_fail_errno(error, NULL, "cannot list the directory")
                                 : LODE_OK;
    closedir(stream);
    return status;
}

lode_status lode_folder_list(const struct lode_folder *folder, struct lode_arena *arena, const char ***names,
                             size_t *count, lode_error *error)
{
    struct lode_array found;
    lode_status status = LODE_OK;
    lode_array_init(&found, sizeof(const char *), SIZE_MAX);
    if (folder->single)
        status = add_name(&found, arena, folder->single) ? LODE_OK : lode_fail_memory(error);
    else if (folder->directory >= 0)
        status = list_directory(folder->directory, &found, arena, error);
    for (size_t i = 0; folder->directory < 0 && i < folder->file_count && status == LODE_OK; i++)
        if (!add_name(&found, arena, folder->files[i].name))
            status = lode_fail_memory(error);
    *names = status == LODE_OK ? lode_arena_alloc(arena, found.count, sizeof **names) : NULL;
    *count = 0;
    if (status == LODE_OK && *names == NULL)
        status = lode_fail_memory(error);
    if (status == LODE_OK && found.count > 0) {
        qsort(found.items, found.count, sizeof(const char *), lode_compare_strings);
        memcpy(*names, found.items, found.count * sizeof(const char *));
        *count = found.count;
    }
    lode_array_free(&found);
    return status;
}

lode_status lode_folder_size(const struct lode_folder *folder, const char *name, uint64_t *size,
                             lode_error *error)
{
    struct stat status;
    *size = 0;
    if (folder->directory < 0) {
        struct lode_input input;
        LODE_TRY(lode_input_open(&input, folder, name, error));
        *size = input.bytes.size;
        return LODE_OK;
    }
    if (fstatat(folder->directory, name, &status, 0) != 0)
        return errno == ENOENT ? LODE_ABSENT : lode_fail_errno(error, name, "cannot stat");
    if (!S_ISREG(status.st_mode))
        return LODE_ABSENT;
    lode_watch_file(folder->watch, name, &status);
    *size = (uint64_t)status.st_size;
    return LODE_OK;
}

static lode_status source_map(struct lode_input *input, struct lode_watch *watch, int fd, lode_error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return lode_fail_errno(error, input->name, "cannot stat");
    if (!S_ISREG(status.st_mode))
        return lode_fail(error, LODE_ERR_IO, input->name, LODE_NO_OFFSET, "not a regular file");
    if (status.st_size == 0)
        return LODE_OK;
    if ((uintmax_t)status.st_size > SIZE_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, input->name, LODE_NO_OFFSET,
                         "the file is larger than the address space");
    void *mapping = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (mapping == MAP_FAILED)
        return lode_fail_errno(error, input->name, "cannot map");
    lode_watch_file(watch, input->name, &status);
    input->mapping = mapping;
    input->watch = lode_watch_keep(watch);
    input->guarded = lode_guard_add(watch, input->name, mapping, (size_t)status.st_size);
    input->bytes = (struct lode_range){mapping, (uint64_t)status.st_size};
    return LODE_OK;
}

int lode_folder_open_fd(const struct lode_folder *folder, const char *name)
{
    /* Opening must not wait for a pipe; it is rejected once open. */
    int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
    return folder->follows_links ? openat(folder->directory, name, flags | O_CLOEXEC)
                                 : lode_open_inside(folder->directory, name, flags);
}

static lode_status source_open_file(struct lode_input *input, const struct lode_folder *folder,
                                    lode_error *error)
{
    int fd = lode_folder_open_fd(folder, input->name);
    if (fd < 0)
        return lode_open_failed(input->name, error);
    lode_status status = source_map(input, folder->watch, fd, error);
    close(fd);
    return status;
}

lode_status lode_input_open(struct lode_input *input, const struct lode_folder *folder, const char *name,
                            lode_error *error)
{
    static const uint8_t empty[1];
    *input = (struct lode_input){.bytes = {empty, 0}, .name = name};
    if (folder->directory >= 0)
        return source_open_file(input, folder, error);
    for (size_t i = 0; i < folder->file_count; i++) {
        const lode_memory_file *file = &folder->files[i];
        if (strcmp(file->name, name) != 0)
            continue;
        if (file->size > 0)
            input->bytes = (struct lode_range){file->data, file->size};
        return LODE_OK;
    }
    return LODE_ABSENT;
}

void lode_input_close(struct lode_input *input)
{
    lode_guard_remove(input->guarded);
    if (input->mapping)
        munmap(input->mapping, (size_t)input->bytes.size);
    lode_watch_release(input->watch);
    *input = (struct lode_input){0};
}

/* ---- a look ---- */

bool lode_folder_has(const struct lode_folder *folder, const char *name)
{
    struct lode_input input;
    if (folder->directory < 0)
        return lode_input_open(&input, folder, name, NULL) == LODE_OK;
    int fd = lode_folder_open_fd(folder, name);
    if (fd < 0)
        return errno != ENOENT;
    close(fd);
    return true;
}

static bool begins(int fd, struct lode_watch *watch, const char *name, const void *bytes, size_t size)
{
    struct stat status;
    uint8_t own[64];
    if (size > sizeof own || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    lode_watch_file(watch, name, &status);
    return pread(fd, own, size, 0) == (ssize_t)size && memcmp(own, bytes, size) == 0;
}

bool lode_folder_begins(const struct lode_folder *folder, const char *name, const void *bytes, size_t size)
{
    struct lode_input input;
    if (folder->directory < 0)
        return lode_input_open(&input, folder, name, NULL) == LODE_OK && input.bytes.size >= size &&
               memcmp(input.bytes.data, bytes, size) == 0;
    int fd = lode_folder_open_fd(folder, name);
    bool does = fd >= 0 && begins(fd, folder->watch, name, bytes, size);
    if (fd >= 0)
        close(fd);
    return does;
}
