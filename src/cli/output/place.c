/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/place.h"

#include "output/report.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int place_is_free(const char *path, int force)
{
    struct stat found;
    if (lstat(path, &found) != 0)
        return EXIT_DONE;
    if (S_ISDIR(found.st_mode))
        return report("%s: is a directory", path);
    return !force && S_ISREG(found.st_mode) ? report("%s: already exists; use --force to replace it", path)
                                            : EXIT_DONE;
}

int place_open(out_place *place, const char *path)
{
    struct stat found;
    *place = (out_place){.path = path, .fd = -1, .file = {.fd = -1, .folder = -1}};
    if (strcmp(path, "-") == 0) {
        place->path = NULL;
        place->fd = STDOUT_FILENO;
        place->is_standard = 1;
        return EXIT_DONE;
    }
    if (lstat(path, &found) != 0 || S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))
        return EXIT_DONE;
    if (out_file_open(&place->file, path) != 0)
        return EXIT_TROUBLE;
    place->path = NULL;
    place->fd = place->file.fd;
    return EXIT_DONE;
}

void place_close(out_place *place, int is_complete)
{
    if (place->file.fd >= 0)
        out_file_close(&place->file, is_complete);
}

int place_write(void *user, const void *bytes, size_t size)
{
    out_place *place = user;
    const char *at = bytes;
    while (size > 0) {
        ssize_t count = write(place->fd, at, size);
        if (count < 0 && errno != EINTR) {
            place->is_broken = errno == EPIPE;
            return errno;
        }
        at += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    return 0;
}
