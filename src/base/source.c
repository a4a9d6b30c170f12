/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/source.h"

#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

lode_status lode_folder_open(struct lode_folder *folder, const char *path, lode_error *error)
{
    *folder = (struct lode_folder){.directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return folder->directory < 0 ? lode_fail_errno(error, path, "cannot open the directory") : LODE_OK;
}

void lode_folder_open_memory(struct lode_folder *folder, const lode_memory_file *files, size_t count)
{
    *folder = (struct lode_folder){.directory = -1, .files = files, .file_count = count};
}

void lode_folder_close(struct lode_folder *folder)
{
    if (folder->directory >= 0)
        close(folder->directory);
    folder->directory = -1;
}

static lode_status source_map(struct lode_source *source, int fd, lode_error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return lode_fail_errno(error, source->name, "cannot stat");
    if (!S_ISREG(status.st_mode))
        return lode_fail(error, LODE_ERR_IO, source->name, LODE_NO_OFFSET, "not a regular file");
    if (status.st_size == 0)
        return LODE_OK;
    if ((uintmax_t)status.st_size > SIZE_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, source->name, LODE_NO_OFFSET,
                         "the file is larger than the address space");
    void *mapping = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (mapping == MAP_FAILED)
        return lode_fail_errno(error, source->name, "cannot map");
    source->mapping = mapping;
    source->bytes = (struct lode_span){mapping, (uint64_t)status.st_size};
    return LODE_OK;
}

static lode_status source_open_file(struct lode_source *source, int directory, lode_error *error)
{
    int fd = openat(directory, source->name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return LODE_ABSENT;
    if (fd < 0)
        return lode_fail_errno(error, source->name, "cannot open");
    lode_status status = source_map(source, fd, error);
    close(fd);
    return status;
}

lode_status lode_source_open(struct lode_source *source, const struct lode_folder *folder, const char *name,
                             lode_error *error)
{
    static const uint8_t empty[1];
    *source = (struct lode_source){.bytes = {empty, 0}, .name = name};
    if (folder->directory >= 0)
        return source_open_file(source, folder->directory, error);
    for (size_t i = 0; i < folder->file_count; i++) {
        const lode_memory_file *file = &folder->files[i];
        if (strcmp(file->name, name) != 0)
            continue;
        if (file->size > 0)
            source->bytes = (struct lode_span){file->data, file->size};
        return LODE_OK;
    }
    return LODE_ABSENT;
}

void lode_source_close(struct lode_source *source)
{
    if (source->mapping)
        munmap(source->mapping, (size_t)source->bytes.size);
    *source = (struct lode_source){0};
}
