/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/io/watch.h"

#include "base/error.h"
#include "base/memory/arena.h"
#include "base/memory/array.h"
#include "base/memory/hash.h"
#include "base/memory/map.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct watched {
    const char *name;
    dev_t device;
    ino_t inode;
    off_t size; /* the largest size at open */
    bool unread;
};

struct lode_watch {
    struct lode_watch *before, *next; /* in the list of all */
    unsigned holds;                   /* references; protected by the lock of the list */
    int directory;
    pthread_mutex_t lock; /* protects the fields below */
    struct lode_arena names;
    struct lode_array files; /* struct watched */
    struct lode_map index;   /* from a hash of the name to the newest of `files` */
};

/* All open stores. */
static struct lode_watch *watches;
static pthread_mutex_t watches_lock = PTHREAD_MUTEX_INITIALIZER;

struct lode_watch *lode_watch_open(int directory)
{
    struct lode_watch *watch = calloc(1, sizeof *watch);
    int fd = watch ? fcntl(directory, F_DUPFD_CLOEXEC, 0) : -1;
    if (fd < 0) {
        free(watch);
        return NULL;
    }
    watch->holds = 1;
    watch->directory = fd;
    pthread_mutex_init(&watch->lock, NULL);
    lode_arena_init(&watch->names, SIZE_MAX);
    lode_array_init(&watch->files, sizeof(struct watched), UINT32_MAX - 1);
    lode_map_init(&watch->index);
    pthread_mutex_lock(&watches_lock);
    watch->next = watches;
    if (watches)
        watches->before = watch;
    watches = watch;
    pthread_mutex_unlock(&watches_lock);
    return watch;
}

struct lode_watch *lode_watch_keep(struct lode_watch *watch)
{
    if (watch == NULL)
        return NULL;
    pthread_mutex_lock(&watches_lock);
    watch->holds++;
    pthread_mutex_unlock(&watches_lock);
    return watch;
}

void lode_watch_release(struct lode_watch *watch)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watches_lock);
    bool is_last = --watch->holds == 0;
    if (is_last && watch->before)
        watch->before->next = watch->next;
    if (is_last && watch->next)
        watch->next->before = watch->before;
    if (is_last && watches == watch)
        watches = watch->next;
    pthread_mutex_unlock(&watches_lock);
    if (!is_last)
        return;
    close(watch->directory);
    lode_map_free(&watch->index);
    lode_array_free(&watch->files);
    lode_arena_free(&watch->names);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

static void add_file(struct lode_watch *watch, const char *name, const struct stat *status)
{
    bool is_new;
    uint32_t *slot = lode_map_add(&watch->index, lode_hash_text(name), (uint32_t)watch->files.count, &is_new);
    if (slot == NULL)
        return;
    /* The slot of a file that ran out of memory may be past the end. */
    struct watched *file =
        is_new || *slot >= watch->files.count ? NULL : LODE_ARRAY_AT(&watch->files, struct watched, *slot);
    if (file && file->device == status->st_dev && file->inode == status->st_ino) {
        file->size = file->size > status->st_size ? file->size : status->st_size;
        return;
    }
    size_t size = strlen(name) + 1;
    char *copy = lode_arena_alloc(&watch->names, size, 1);
    file = copy ? lode_array_push(&watch->files) : NULL;
    if (file == NULL)
        return;
    memcpy(copy, name, size);
    *file = (struct watched){copy, status->st_dev, status->st_ino, status->st_size, false};
    *slot = (uint32_t)watch->files.count - 1;
}

void lode_watch_file(struct lode_watch *watch, const char *name, const struct stat *status)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watch->lock);
    add_file(watch, name, status);
    pthread_mutex_unlock(&watch->lock);
}

void lode_watch_fault(struct lode_watch *watch, const char *name)
{
    pthread_mutex_lock(&watch->lock);
    const uint32_t *slot = lode_map_get(&watch->index, lode_hash_text(name));
    if (slot && *slot < watch->files.count)
        LODE_ARRAY_AT(&watch->files, struct watched, *slot)->unread = true;
    pthread_mutex_unlock(&watch->lock);
}

/* A replaced or removed file is fine: the old one is still open. */
static bool has_shrunk(const struct lode_watch *watch, const struct watched *file)
{
    struct stat now;
    return fstatat(watch->directory, file->name, &now, 0) == 0 && now.st_dev == file->device &&
           now.st_ino == file->inode && now.st_size < file->size;
}

lode_status lode_watch_check(struct lode_watch *watch, lode_error *error)
{
    if (watch == NULL)
        return LODE_OK;
    lode_status status = LODE_OK;
    const char *unread = lode_guard_unread(watch);
    pthread_mutex_lock(&watch->lock);
    for (size_t i = 0; i < watch->files.count && status == LODE_OK; i++) {
        const struct watched *file = LODE_ARRAY_AT(&watch->files, struct watched, i);
        if (has_shrunk(watch, file))
            status = lode_fail(error, LODE_ERR_IO, file->name, LODE_NO_OFFSET,
                               "the file shrank while it was read");
        else if (file->unread)
            unread = file->name;
    }
    pthread_mutex_unlock(&watch->lock);
    if (status == LODE_OK && unread)
        status =
            lode_fail(error, LODE_ERR_IO, unread, LODE_NO_OFFSET, "a part of the file could not be read");
    return status;
}

lode_status lode_watch_check_all(lode_error *error)
{
    lode_status status = LODE_OK;
    pthread_mutex_lock(&watches_lock);
    for (struct lode_watch *watch = watches; watch && status == LODE_OK; watch = watch->next)
        status = lode_watch_check(watch, error);
    pthread_mutex_unlock(&watches_lock);
    return status;
}
