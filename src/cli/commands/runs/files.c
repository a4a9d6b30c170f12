/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of stores, by which a catalogue knows them again. */
#include "commands/runs/runs.h"

#include "output/report.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A look at the files of a store ends here. */
#define FILES_MAX 100000
#define DEPTH_MAX 8

typedef struct sizes {
    uint64_t bytes, modified;
    size_t files;
} sizes;

static void add_file(sizes *s, const struct stat *status)
{
    uint64_t modified =
        (uint64_t)status->st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)status->st_mtim.tv_nsec;
    s->bytes += (uint64_t)status->st_size;
    s->modified = status->st_mtim.tv_sec >= 0 && modified > s->modified ? modified : s->modified;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as DEPTH_MAX
static void measure(sizes *s, int folder, int depth)
{
    DIR *stream = folder >= 0 ? fdopendir(folder) : NULL;
    const struct dirent *entry;
    while (stream && s->files < FILES_MAX && (entry = readdir(stream))) { /* NOLINT(concurrency-mt-unsafe) */
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        s->files++;
        if (S_ISREG(status.st_mode))
            add_file(s, &status);
        else if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX)
            measure(s, openat(dirfd(stream), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                    depth + 1);
    }
    if (stream)
        closedir(stream);
    else if (folder >= 0)
        close(folder);
}

void runs_measure_files(const char *path, uint64_t *bytes, uint64_t *modified)
{
    sizes s = {0};
    struct stat status;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        add_file(&s, &status);
    else
        measure(&s, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
    *bytes = s.bytes;
    *modified = s.modified;
}

/* ---- the store of a run ---- */

typedef struct found_store {
    char *path;
    int is_same; /* as when it was added */
} found_store;

static int find_store(void *user, const run_record *run)
{
    found_store *found = user;
    uint64_t bytes, modified;
    runs_measure_files(run->path, &bytes, &modified);
    found->path = runs_copy(run->path);
    found->is_same = bytes == run->bytes && modified == run->modified;
    return 0;
}

int runs_store_of(const char *address, const char *project, int64_t run, char **path)
{
    const runs_options options = {.catalogue = address, .project = project};
    catalogue *c = NULL;
    catalogue_error error;
    found_store found = {0};
    int status = runs_open(&c, &options, CATALOGUE_READ);
    int code = status == EXIT_DONE ? catalogue_read(c, run, find_store, &found, &error) : 0;
    catalogue_close(c);
    if (code < 0)
        status = runs_failed(&error);
    else if (code > 0)
        status = report("the catalogue has no run %" PRId64, run);
    else if (status == EXIT_DONE && access(found.path, F_OK) != 0)
        status = report("the store of run %" PRId64 " is not on this machine any more: %s", run, found.path);
    else if (status == EXIT_DONE && !found.is_same)
        status = report("the store of run %" PRId64 " has changed since it was added: %s", run, found.path);
    *path = found.path;
    return status;
}
