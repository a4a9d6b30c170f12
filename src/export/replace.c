/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/replace.h"

#include "base/io/beneath.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK      "lode-export.txt"
#define MARK_TEXT "Written by lode export --format "

enum {
    MAX_DEPTH = 4 /* of directories below an export */
};

lode_status lode_export_mark(struct lode_output *output, const char *format, lode_error *error)
{
    struct lode_output_file file;
    char text[128];
    snprintf(text, sizeof text, MARK_TEXT "%s\n", format);
    LODE_TRY(lode_output_file_create(&file, output, MARK, error));
    lode_status status = lode_output_write(&file, text, strlen(text), error);
    if (status == LODE_OK)
        return lode_output_file_close(&file, error);
    lode_output_file_abandon(&file);
    return status;
}

static bool has_mark(int directory)
{
    char text[sizeof MARK_TEXT - 1];
    int fd = lode_open_beneath(directory, MARK, O_RDONLY | O_NOFOLLOW, 0);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof text);
    close(fd);
    return got == (ssize_t)sizeof text && memcmp(text, MARK_TEXT, sizeof text) == 0;
}

/* Names of files that exports write. */
static bool is_exported(const char *name)
{
    static const char *const suffixes[] = {".parquet", ".csv", ".jsonl", ".otf2",
                                           ".def",     ".evt", ".gz",    ".zst"};
    size_t length = strlen(name);
    if (strcmp(name, MARK) == 0)
        return true;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t size = strlen(suffixes[i]);
        if (length > size && strcmp(name + length - size, suffixes[i]) == 0)
            return true;
    }
    return false;
}

static lode_status check_tree(int directory, const char *path, unsigned depth, lode_error *error);

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than MAX_DEPTH */
static lode_status check_entry(int directory, const char *name, const char *path, unsigned depth,
                               lode_error *error)
{
    struct stat found;
    if (fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) != 0)
        return lode_fail_errno(error, path, "cannot stat one of its files");
    if (S_ISREG(found.st_mode) && is_exported(name))
        return LODE_OK;
    if (!S_ISDIR(found.st_mode) || depth >= MAX_DEPTH)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET,
                         "it contains '%s', which no export wrote, so it is not replaced", name);
    int below = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0)
        return lode_fail_errno(error, path, "cannot open one of its directories");
    lode_status status = check_tree(below, path, depth + 1, error);
    close(below);
    return status;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than MAX_DEPTH */
static lode_status check_tree(int directory, const char *path, unsigned depth, lode_error *error)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    lode_status status = LODE_OK;
    if (stream == NULL) {
        status = lode_fail_errno(error, path, "cannot list it");
        if (fd >= 0)
            close(fd);
        return status;
    }
    /* One thread has the stream. */
    while (status == LODE_OK && (entry = readdir(stream)) != NULL) /* NOLINT(concurrency-mt-unsafe) */
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = check_entry(directory, entry->d_name, path, depth, error);
    closedir(stream);
    return status;
}

static bool is_empty(int directory)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    unsigned count = 0;
    while (stream && count < 3 && readdir(stream) != NULL) /* NOLINT(concurrency-mt-unsafe) */
        count++;
    if (stream)
        closedir(stream);
    return stream != NULL && count == 2;
}

static lode_status check_export(int directory, const char *path, lode_error *error)
{
    if (is_empty(directory))
        return LODE_OK;
    if (has_mark(directory))
        return check_tree(directory, path, 0, error);
    return lode_fail(error, LODE_ERR_UNSUPPORTED, path, LODE_NO_OFFSET,
                     "it was not written by an export, so it is not replaced");
}

const struct lode_replace lode_replace_export = {"directory of an export", check_export};
