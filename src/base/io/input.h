/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder opens inputs by name, from a directory (mapped) or from memory. */
#ifndef LODE_BASE_INPUT_H
#define LODE_BASE_INPUT_H

#include "base/io/range.h"
#include "base/io/watch.h"
#include "base/memory/arena.h"
#include <lode/database.h>
#include <stdbool.h>

/* Read-only bytes that are valid until the input is closed. */
struct lode_input {
    struct lode_range bytes;
    const char *name; /* borrowed from the caller of lode_input_open */
    void *mapping;    /* for munmap, or NULL */
    struct lode_watch *watch;
    struct lode_guarded *guarded;
};

struct lode_folder {
    int directory; /* -1: in memory */
    const lode_memory_file *files;
    size_t file_count;
    const char *single;       /* of a store that is one file: its name, the only one; borrowed */
    bool follows_links;       /* files are named by the user, not by a store */
    struct lode_watch *watch; /* of files opened from here; NULL in memory */
};

lode_status lode_folder_open(struct lode_folder *folder, const char *path, lode_error *error);
/* A file as a folder that has nothing else. `path` must outlive it. */
lode_status lode_folder_open_file(struct lode_folder *folder, const char *path, lode_error *error);
/* A directory inside a folder. */
lode_status lode_folder_open_in(struct lode_folder *folder, const struct lode_folder *outer, const char *name,
                                lode_error *error);
/* The same for one that need not exist: then LODE_ABSENT. */
lode_status lode_folder_find_in(struct lode_folder *folder, const struct lode_folder *outer, const char *name,
                                lode_error *error);
/* Opens a file for reading, whatever it is. Links do not lead out of a store. -1 and errno. */
int lode_folder_open_fd(const struct lode_folder *folder, const char *name);
void lode_folder_open_memory(struct lode_folder *folder, const lode_memory_file *files, size_t count);
/* Another reference to the same folder. Copies the list of names in memory to the arena. */
lode_status lode_folder_copy(struct lode_folder *copy, const struct lode_folder *folder,
                             struct lode_arena *arena, lode_error *error);
/* The name of the only file; NULL if there may be others. In memory, a folder of one file. */
static inline const char *lode_folder_only(const struct lode_folder *folder)
{
    bool is_one = folder->directory < 0 && folder->file_count == 1;
    return is_one ? folder->files[0].name : folder->single;
}
/* All names in the folder, sorted by bytes, in the arena. */
lode_status lode_folder_list(const struct lode_folder *folder, struct lode_arena *arena, const char ***names,
                             size_t *count, lode_error *error);
/* The size of a file; LODE_ABSENT without an error message if it is not a regular file. */
lode_status lode_folder_size(const struct lode_folder *folder, const char *name, uint64_t *size,
                             lode_error *error);
/* For a look at what a store is, which maps nothing: whether there is a file, of any kind. */
bool lode_folder_has(const struct lode_folder *folder, const char *name);
/* Whether a regular file begins with these bytes, at most 64. */
bool lode_folder_begins(const struct lode_folder *folder, const char *name, const void *bytes, size_t size);
void lode_folder_close(struct lode_folder *folder);

/* LODE_ABSENT without an error message if there is no such file. `name` must outlive the input. */
lode_status lode_input_open(struct lode_input *input, const struct lode_folder *folder, const char *name,
                            lode_error *error);
void lode_input_close(struct lode_input *input);
/* An input that borrows the bytes of another and must not outlive it; closing it does nothing. */
static inline struct lode_input lode_input_borrow(const struct lode_input *owner)
{
    return (struct lode_input){.bytes = owner->bytes, .name = owner->name};
}

#endif
