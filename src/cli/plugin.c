/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Directories that a path may have above it. */
#define DEPTH_MAX 128

/* Those who can change the program: they need no plug-in to run code. */
typedef struct trusted {
    char program[PATH_MAX]; /* "" if unknown */
    uid_t users[DEPTH_MAX + 2];
    gid_t groups[DEPTH_MAX];
    size_t user_count, group_count;
} trusted;

int plugin_is_possible(void)
{
    return PLUGINS_CAN_BE_LOADED;
}

int plugin_program(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    return path[0] == '/' && access(path, F_OK) == 0;
}

/* Cuts off the last part of an absolute path; 0 if there is none. */
static int to_parent(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || path[1] == '\0')
        return 0;
    slash[slash == path] = '\0';
    return 1;
}

/* Whether those whom a bit of the mode allows to write can replace the file, or what is in it. */
static int may_replace(const struct stat *about, mode_t bit)
{
    return (about->st_mode & bit) != 0 && !(S_ISDIR(about->st_mode) && (about->st_mode & S_ISVTX));
}

static void list_trusted(trusted *list)
{
    char path[PATH_MAX];
    struct stat about;
    list->users[0] = 0;
    list->users[1] = geteuid();
    list->user_count = 2;
    list->group_count = 0;
    if (!plugin_program(list->program)) {
        list->program[0] = '\0';
        return;
    }
    memcpy(path, list->program, sizeof path);
    for (size_t i = 0; i < DEPTH_MAX && stat(path, &about) == 0; i++) {
        list->users[list->user_count++] = about.st_uid;
        if (may_replace(&about, S_IWGRP))
            list->groups[list->group_count++] = about.st_gid;
        if (!to_parent(path))
            break;
    }
}

static int is_trusted_user(const trusted *list, uid_t user)
{
    for (size_t i = 0; i < list->user_count; i++)
        if (list->users[i] == user)
            return 1;
    return 0;
}

static int is_trusted_group(const trusted *list, gid_t group)
{
    for (size_t i = 0; i < list->group_count; i++)
        if (list->groups[i] == group)
            return 1;
    return 0;
}

/* Whether a directory is one of those that the program is in. */
static int is_above_program(const trusted *list, const char *directory)
{
    size_t length = strlen(directory);
    return strncmp(list->program, directory, length) == 0 && (length == 1 || list->program[length] == '/');
}

/*
 * NULL if nobody can change what is at `path` who cannot change the program. Above the directory of
 * the plug-in, others may create files, as in /tmp, but not rename directories.
 */
static const char *find_distrust(const trusted *list, const char *path, int is_above)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return "cannot be examined";
    if (!is_trusted_user(list, about.st_uid))
        return "belongs to another user";
    if (!is_above && (about.st_mode & S_IWOTH))
        return "can be changed by all users";
    if (may_replace(&about, S_IWOTH) && !is_above_program(list, path))
        return "can be changed by all users";
    if (may_replace(&about, S_IWGRP) && !is_trusted_group(list, about.st_gid))
        return "can be changed by its group";
    return NULL;
}

/* From the file up to the root: whoever can rename a directory can put another in its place. */
static void judge(plugin *found)
{
    static trusted list;
    char path[PATH_MAX];
    list_trusted(&list);
    memcpy(path, found->path, sizeof path);
    found->state = PLUGIN_FOUND;
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        const char *why = find_distrust(&list, path, depth > 1);
        if (why) {
            found->state = PLUGIN_REFUSED;
            snprintf(found->reason, sizeof found->reason, "%s %s", path, why);
            return;
        }
        if (!to_parent(path))
            return;
    }
    found->state = PLUGIN_REFUSED;
    snprintf(found->reason, sizeof found->reason, "%s is below too many directories", found->path);
}

/* The program of a build has its plug-ins elsewhere than an installed one; NULL past the last. */
static const char *relative_directory(const char *program_directory, size_t index)
{
    static const char build[] = "/src/cli";
    static const char *const of_builds[] = {"../mpi", "../view", "../tui", "../symbols", "../postgresql"};
    size_t length = strlen(program_directory);
    int is_build =
        length >= sizeof build - 1 && strcmp(program_directory + length - (sizeof build - 1), build) == 0;
    if (is_build)
        return index < sizeof of_builds / sizeof *of_builds ? of_builds[index] : NULL;
    return index == 0 ? PLUGIN_RELATIVE : NULL;
}

/* 0 past the last, and if the system does not say where the program is. */
static int find_beside_program(size_t index, char directory[PATH_MAX])
{
    char program[PATH_MAX], joined[2 * PATH_MAX];
    if (!plugin_program(program) || !to_parent(program))
        return 0;
    const char *relative = relative_directory(program, index);
    if (!relative)
        return 0;
    snprintf(joined, sizeof joined, "%s/%s", program, relative);
    /* A directory that does not exist yet keeps its dots. */
    if (!realpath(joined, directory))
        snprintf(directory, PATH_MAX, "%.*s", PATH_MAX - 1, joined);
    return 1;
}

int plugin_directory(size_t index, char directory[PATH_MAX])
{
    if (!plugin_is_possible())
        return 0;
    const char *named = secure_getenv("LODE_PLUGINS");
    if (named && named[0] != '\0') {
        snprintf(directory, PATH_MAX, "%s", named);
        return index == 0;
    }
    size_t beside = 0;
    int is_same = 0;
    for (; find_beside_program(beside, directory); beside++) {
        if (beside == index)
            return 1;
        /* The same directory once. */
        is_same |= strcmp(directory, PLUGIN_DIRECTORY) == 0;
    }
    snprintf(directory, PATH_MAX, "%s", PLUGIN_DIRECTORY);
    return index == beside && !is_same;
}

static void find(const char *name, const char *suffix, plugin *found)
{
    char directory[PATH_MAX], path[2 * PATH_MAX];
    memset(found, 0, sizeof *found);
    found->state = PLUGIN_MISSING;
    snprintf(found->path, sizeof found->path, "lode-%s%s", name, suffix);
    for (size_t i = 0; plugin_directory(i, directory); i++) {
        snprintf(path, sizeof path, "%s/lode-%s%s", directory, name, suffix);
        if (i == 0)
            snprintf(found->path, sizeof found->path, "%.*s", PATH_MAX - 1, path);
        /* Never below the current directory, which may be anybody's. */
        if (directory[0] != '/') {
            found->state = PLUGIN_REFUSED;
            snprintf(found->reason, sizeof found->reason, "LODE_PLUGINS is not an absolute path: %s",
                     directory);
            return;
        }
        char resolved[PATH_MAX];
        if (realpath(path, resolved)) {
            memcpy(found->path, resolved, sizeof resolved);
            judge(found);
            return;
        }
    }
}

void plugin_find(const char *name, plugin *found)
{
    find(name, ".so", found);
}

void plugin_find_program(const char *name, plugin *found)
{
    find(name, "", found);
}

void plugin_find_mpi(const char *name, plugin *found)
{
    char full[64];
    snprintf(full, sizeof full, "mpi-%s", name);
    plugin_find(full, found);
}
