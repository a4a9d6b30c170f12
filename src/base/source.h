/* SPDX-License-Identifier: BSD-3-Clause */
/* Where bytes come from: a folder hands out sources by name, from a directory (mapped) or from memory. */
#ifndef LODE_BASE_SOURCE_H
#define LODE_BASE_SOURCE_H

#include "base/arena.h"
#include "base/range.h"
#include "base/watch.h"
#include <lode/database.h>

/* Read-only bytes that stay where they are until the source is closed. */
struct lode_source {
    struct lode_range bytes;
    const char *name; /* borrowed from the caller of lode_source_open */
    void *mapping;    /* what close unmaps, or NULL */
    struct lode_watch *watch;
    struct lode_guarded *guarded;
};

struct lode_folder {
    int directory; /* -1: the folder is in memory */
    const lode_memory_file *files;
    size_t file_count;
    struct lode_watch *watch; /* of the files that come from here; NULL in memory */
};

lode_status lode_folder_open(struct lode_folder *folder, const char *path, lode_error *error);
/* A directory inside of one. */
lode_status lode_folder_open_in(struct lode_folder *folder, const struct lode_folder *outer, const char *name,
                                lode_error *error);
void lode_folder_open_memory(struct lode_folder *folder, const lode_memory_file *files, size_t count);
/* Another hold on the same folder. Names in memory are shared; the list of them is copied into the arena. */
lode_status lode_folder_copy(struct lode_folder *copy, const struct lode_folder *folder,
                             struct lode_arena *arena, lode_error *error);
/* All names in the folder, sorted by bytes, in the arena. */
lode_status lode_folder_list(const struct lode_folder *folder, struct lode_arena *arena, const char ***names,
                             size_t *count, lode_error *error);
/* The size of a file; LODE_ABSENT, without an error text, if there is none of this name, or it is no regular file. */
lode_status lode_folder_size(const struct lode_folder *folder, const char *name, uint64_t *size,
                             lode_error *error);
void lode_folder_close(struct lode_folder *folder);

/* LODE_ABSENT, without an error text, if the folder has no such file. `name` must outlive the source. */
lode_status lode_source_open(struct lode_source *source, const struct lode_folder *folder, const char *name,
                             lode_error *error);
void lode_source_close(struct lode_source *source);
/* The bytes of a source, which belong to it and must not outlive it; closing them does nothing. */
static inline struct lode_source lode_source_borrow(const struct lode_source *owner)
{
    return (struct lode_source){.bytes = owner->bytes, .name = owner->name};
}

#endif
