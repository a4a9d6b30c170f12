/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/record/record.h"

#include "launcher.h"
#include "output/report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NUMBER_MAX  1000000u
#define SUFFIX      ".data"
#define PERF_HEADER 104 /* bytes; the size of what was recorded is at 48 */
#define PERF_SIZE   48

/* ---- names ---- */

static void set_paths(store_place *place, record_tool tool)
{
    snprintf(place->store, PATH_MAX, "%.*s%s", PATH_MAX - 16, place->name, tool == TOOL_PERF ? SUFFIX : "");
    snprintf(place->about, PATH_MAX, "%.*s.json", PATH_MAX - 16, place->name);
}

/* The part before the number: what is asked for, or the program and, of tasks, the rank. */
static void find_stem(const plan *p, char stem[PATH_MAX])
{
    const launch task = launcher_find();
    const char *named = p->options->name;
    if (named) {
        size_t length = strlen(named), suffix = strlen(SUFFIX);
        int has_suffix = length > suffix && strcmp(named + length - suffix, SUFFIX) == 0;
        snprintf(stem, PATH_MAX - 32, "%.*s", (int)(has_suffix ? length - suffix : length), named);
        return;
    }
    char name[64] = "process";
    if (p->program->count) {
        memcpy(name, p->program->name, sizeof name);
    } else {
        char path[64], comm[64] = "";
        snprintf(path, sizeof path, "/proc/%llu/comm", (unsigned long long)p->options->pid);
        FILE *file = fopen(path, "re");
        if (file && fgets(comm, sizeof comm, file))
            comm[strcspn(comm, "\n")] = '\0';
        if (file)
            fclose(file);
        program_name(comm[0] ? comm : name, name);
    }
    if (task.name && launcher_has_others(&task))
        snprintf(stem, PATH_MAX, "lode-%s-rank%llu", name, (unsigned long long)task.rank);
    else
        snprintf(stem, PATH_MAX, "lode-%s", name);
}

static int is_there(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* Stores of all tools have one sequence of numbers. */
static int is_free(const store_place *place)
{
    char other[PATH_MAX];
    snprintf(other, sizeof other, "%.*s%s", PATH_MAX - 16, place->name, SUFFIX);
    return !is_there(place->name) && !is_there(place->about) && !is_there(other);
}

/* ---- taking one ---- */

/* 0, or errno. */
static int create(const char *path, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/*
 * The small file is the claim: who creates it has the name. perf writes into a file that is there;
 * the other tools make their directories themselves, and follow no link when they do.
 */
static int take(const store_place *place, record_tool tool)
{
    int code = create(place->about, 0666);
    if (code == 0 && tool == TOOL_PERF) {
        code = create(place->store, 0600);
        if (code)
            unlink(place->about);
    }
    return code;
}

static int fail(const char *path, int code)
{
    if (code == EEXIST)
        report("%s: already exists; nothing is overwritten", path);
    else
        report("%s cannot be created: %s", path, strerror(code));
    return RECORD_FAILED;
}

static int take_named(store_place *place, const plan *p, const char *stem, int is_rehearsal)
{
    snprintf(place->name, PATH_MAX, "%s", stem);
    set_paths(place, p->tool);
    int code = !is_free(place) ? EEXIST : is_rehearsal ? 0 : take(place, p->tool);
    return code ? fail(code == EEXIST && !is_there(place->store) ? place->about : place->store, code)
                : EXIT_DONE;
}

int place_take(store_place *place, const plan *p, int is_rehearsal)
{
    char stem[PATH_MAX];
    unsigned from = place->number + 1;
    *place = (store_place){0};
    find_stem(p, stem);
    if (p->options->name && p->options->repeat == 0)
        return take_named(place, p, stem, is_rehearsal);
    for (unsigned number = from; number < NUMBER_MAX; number++) {
        place->number = number;
        snprintf(place->name, PATH_MAX, "%.*s-%u", PATH_MAX - 32, stem, number);
        set_paths(place, p->tool);
        int code = !is_free(place) ? EEXIST : is_rehearsal ? 0 : take(place, p->tool);
        if (code == 0)
            return EXIT_DONE;
        if (code != EEXIST)
            return fail(place->about, code);
    }
    return fail(stem, EEXIST);
}

void place_sibling(const store_place *place, const plan *p, unsigned number, char store[PATH_MAX])
{
    store_place other = {.number = number};
    size_t length = strrchr(place->name, '-') ? (size_t)(strrchr(place->name, '-') - place->name) : 0;
    snprintf(other.name, PATH_MAX, "%.*s-%u", (int)(length < PATH_MAX - 32 ? length : PATH_MAX - 32),
             place->name, number);
    set_paths(&other, p->tool);
    memcpy(store, other.store, PATH_MAX);
}

/* ---- what has become of it ---- */

/* A perf that was killed, or met a full disk, has left this size at 0. */
static int is_complete(const char *path)
{
    unsigned char header[PERF_HEADER];
    static const unsigned char none[8];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int is = fd >= 0 && read(fd, header, sizeof header) == (ssize_t)sizeof header &&
             memcmp(header + PERF_SIZE, none, sizeof none) != 0;
    if (fd >= 0)
        close(fd);
    return is;
}

uint64_t place_bytes(const store_place *place)
{
    struct stat status;
    uint64_t sum = 0;
    if (lstat(place->store, &status) != 0 || !S_ISDIR(status.st_mode))
        return S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    DIR *folder = opendir(place->store);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) /* NOLINT(concurrency-mt-unsafe) */
        if (fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode))
            sum += (uint64_t)status.st_size;
    if (folder)
        closedir(folder);
    return sum;
}

int place_is_filled(const store_place *place, record_tool tool)
{
    return tool == TOOL_PERF ? is_complete(place->store) : place_bytes(place) > 0;
}

void place_discard(const store_place *place)
{
    struct stat status;
    if (lstat(place->store, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        unlink(place->store);
    if (!is_there(place->store) || rmdir(place->store) == 0)
        unlink(place->about);
}
