/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MACHINE_LINE = 4096, /* bytes; the kernel allows no longer paths */
    MACHINE_LIST = 4 * MACHINE_LINE,
    MACHINE_GROUPS = 64
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The beginning of a small file of the kernel; "" if it cannot be read. */
static void read_text(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t got = file < 0 ? 0 : 1;
    while (got > 0 && used < size - 1) {
        got = read(file, text + used, size - 1 - used);
        used += got > 0 ? (size_t)got : 0;
    }
    text[used] = '\0';
    if (file >= 0)
        close(file);
}

/* UINT64_MAX if there is none: "max" is one way to say so. */
static uint64_t read_limit(const char *path)
{
    char text[32], *end;
    read_text(path, text, sizeof text);
    errno = 0;
    unsigned long long limit = strtoull(text, &end, 10);
    return errno == 0 && end > text && text[0] != '-' && limit > 0 ? limit : UINT64_MAX;
}

/* Of a group and all above it. In a container, only the last ones may be there. */
static uint64_t limit_upwards(const char *root, const char *path, const char *file, uint64_t limit)
{
    char name[2 * MACHINE_LINE];
    for (size_t length = strlen(path);; length--) {
        int used = snprintf(name, sizeof name, "%s%.*s/%s", root, (int)length, path, file);
        if (used > 0 && (size_t)used < sizeof name)
            limit = smaller(limit, read_limit(name));
        while (length > 0 && path[length - 1] != '/')
            length--;
        if (length == 0)
            return limit;
    }
}

/* "0::PATH", or "N:CONTROLLERS:PATH" of version 1. */
static uint64_t limit_of_line(char *line, const char *root, uint64_t limit)
{
    char folder[MACHINE_LINE];
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL)
        return limit;
    *controllers++ = '\0';
    *path++ = '\0';
    if (controllers[0] == '\0')
        return limit_upwards(root, path, "memory.max", limit);
    if (strstr(controllers, "memory") == NULL)
        return limit;
    snprintf(folder, sizeof folder, "%s/memory", root);
    return limit_upwards(folder, path, "memory.limit_in_bytes", limit);
}

uint64_t lode_machine_limit(const char *list, const char *root, uint64_t limit)
{
    char text[MACHINE_LIST], *rest = NULL;
    read_text(list, text, sizeof text);
    char *line = strtok_r(text, "\n", &rest);
    for (unsigned i = 0; i < MACHINE_GROUPS && line; i++) {
        limit = limit_of_line(line, root, limit);
        line = strtok_r(NULL, "\n", &rest);
    }
    return limit;
}

uint64_t lode_machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t memory = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
    memory = lode_machine_limit("/proc/self/cgroup", "/sys/fs/cgroup", memory);
    return memory == UINT64_MAX ? 0 : memory;
}
