/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Truncates a file while it is read: preloaded, it counts the mappings and reads of one file, and
 * shrinks the file after one of them.
 *
 *   LODE_SHRINK_FILE  the path of the file
 *   LODE_SHRINK_AT    after which mapping or read of it, from 1
 *   LODE_SHRINK_TO    the new size
 */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define SHIM __attribute__((visibility("default")))

static void look(int fd)
{
    static atomic_int count;
    const char *path = getenv("LODE_SHRINK_FILE"), *at = getenv("LODE_SHRINK_AT"),
               *to = getenv("LODE_SHRINK_TO");
    struct stat wanted, read;
    if (fd < 0 || !path || !at || !to || stat(path, &wanted) != 0 || fstat(fd, &read) != 0 ||
        wanted.st_dev != read.st_dev || wanted.st_ino != read.st_ino)
        return;
    if (atomic_fetch_add(&count, 1) + 1 == strtol(at, NULL, 10) && truncate(path, strtol(to, NULL, 10)) != 0)
        abort();
}

typedef void *map_call(void *, size_t, int, int, int, off_t);
typedef ssize_t read_call(int, void *, size_t, off_t);

/* C knows no way from an object to a function but this one. */
static void find(const char *name, void *call, size_t size)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    memcpy(call, &found, size);
}

SHIM void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    map_call *call;
    find("mmap64", &call, sizeof call);
    void *mapping = call(address, size, protection, flags, fd, offset);
    look(fd);
    return mapping;
}

SHIM void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return mmap64(address, size, protection, flags, fd, offset);
}

SHIM ssize_t pread64(int fd, void *buffer, size_t size, off_t offset)
{
    read_call *call;
    find("pread64", &call, sizeof call);
    ssize_t got = call(fd, buffer, size, offset);
    look(fd);
    return got;
}

SHIM ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    return pread64(fd, buffer, size, offset);
}
