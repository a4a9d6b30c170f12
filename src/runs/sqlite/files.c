/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/sqlite/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct catalogue_files {
    sqlite3_vfs vfs; /* first: SQLite hands it back */
    sqlite3_vfs *base;
    char name[48];
    char path[]; /* of the catalogue */
};

/* Of a journal that has the name of another file, nothing is looked at, and nothing is deleted. */
static int is_own(const catalogue_files *files, const char *path)
{
    size_t length = strlen(files->path);
    if (strncmp(path, files->path, length) != 0)
        return 0;
    return path[length] == '\0' || strcmp(path + length, "-journal") == 0 ||
           strcmp(path + length, "-wal") == 0;
}

static int check_access(sqlite3_vfs *vfs, const char *path, int flags, int *result)
{
    const catalogue_files *files = (const catalogue_files *)vfs;
    *result = 0;
    return is_own(files, path) ? files->base->xAccess(files->base, path, flags, result) : SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int has_sync)
{
    const catalogue_files *files = (const catalogue_files *)vfs;
    return is_own(files, path) ? files->base->xDelete(files->base, path, has_sync) : SQLITE_IOERR_DELETE;
}

catalogue_files *catalogue_files_open(const char *path)
{
    sqlite3_vfs *base = sqlite3_vfs_find(NULL);
    catalogue_files *files = base ? calloc(1, sizeof *files + strlen(path) + 1) : NULL;
    if (!files)
        return NULL;
    strcpy(files->path, path);
    snprintf(files->name, sizeof files->name, "lode-%p", (void *)files);
    files->base = base;
    /* All other methods need only what is copied. */
    files->vfs = *base;
    files->vfs.pNext = NULL;
    files->vfs.zName = files->name;
    files->vfs.xAccess = check_access;
    files->vfs.xDelete = delete_file;
    if (sqlite3_vfs_register(&files->vfs, 0) == SQLITE_OK)
        return files;
    free(files);
    return NULL;
}

const char *catalogue_files_name(const catalogue_files *files)
{
    return files->name;
}

void catalogue_files_close(catalogue_files *files)
{
    if (files)
        sqlite3_vfs_unregister(&files->vfs);
    free(files);
}

/* Whether anybody can create files beside this one. */
static int is_in_public(const char *path)
{
    struct stat status;
    char *folder = strndup(path, (size_t)(strrchr(path, '/') - path) + 1);
    int is_public = !folder || stat(folder, &status) != 0 || (status.st_mode & S_IWOTH) != 0;
    free(folder);
    return is_public;
}

static const char *problem_of(const char *path, const char *suffix, uid_t owner)
{
    struct stat status;
    char *journal = NULL;
    if (asprintf(&journal, "%s%s", path, suffix) < 0)
        return "out of memory";
    int found = lstat(journal, &status) == 0;
    int reason = errno;
    free(journal);
    if (!found)
        return reason == ENOENT ? NULL : strerror(reason);
    if (!S_ISREG(status.st_mode))
        return "its journal is not a regular file";
    int is_trusted = status.st_uid == owner || status.st_uid == geteuid() || status.st_uid == 0;
    return is_trusted || !is_in_public(path) ? NULL : "its journal belongs to another user";
}

const char *catalogue_journal_problem(const char *path, uid_t owner)
{
    /* The last two: of a catalogue that another program changed to a write-ahead log. */
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    const char *problem = NULL;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && !problem; i++)
        problem = problem_of(path, suffixes[i], owner);
    return problem;
}
