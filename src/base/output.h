/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output that is written atomically. It is written in a staging directory beside the target, .NAME.partial, which nobody can take for a
 * store and nobody but its owner can reach. When all is on the disk, the new directory in it takes the target's name in one step.
 *
 * The staging directory has
 *   lock  locked while a process writes; one whose lock is free was left by a process that is gone
 *   new   what is written; after an exchange, what was replaced
 *   old   what is being replaced, where the file system cannot exchange two names: it goes back if the process was killed
 *   part  a file that has its name only when it is complete
 */
#ifndef LODE_BASE_OUTPUT_H
#define LODE_BASE_OUTPUT_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

/* What an output may replace. */
struct lode_replace {
    const char *kind; /* such as "database" */
    /* Fails unless all that is below a directory, which has this path, is part of one such store, or there is nothing. */
    lode_status (*check)(int directory, const char *path, lode_error *error);
};

struct lode_output {
    char *path;                         /* of the target */
    char *partial;                      /* name of the staging directory */
    int parent;                         /* the directory that both are in */
    int staging;                        /* the staging directory */
    int lock;                           /* in it */
    int directory;                      /* the one that is written */
    const struct lode_replace *replace; /* NULL: nothing is replaced */
    bool held;                          /* the staging directory is ours, and to be cleared */
};

/* What was never created can be closed. */
#define LODE_OUTPUT_INIT                                                                                     \
    {                                                                                                        \
        .parent = -1, .staging = -1, .lock = -1, .directory = -1                                             \
    }

/*
 * Takes the target. Fails if something is there that may not be replaced, if another process is writing it, or if the staging directory is
 * not ours. Clears what a process of ours that was killed has left. `replace` must outlive the output.
 */
lode_status lode_output_create(struct lode_output *output, const char *path,
                               const struct lode_replace *replace, lode_error *error);
/* A number by which another process of the same job knows the staging directory when it sees it. */
uint64_t lode_output_identity(const struct lode_output *output);
/* Opens an output that another process of the same job has created, to write to its files. Only who created it can commit it. */
lode_status lode_output_join(struct lode_output *output, const char *path, uint64_t identity,
                             lode_error *error);
/* Makes a directory below the output, with those above it. */
lode_status lode_output_mkdir(struct lode_output *output, const char *name, lode_error *error);
/* Whether there is a file or a directory of this name below the output. */
bool lode_output_has(const struct lode_output *output, const char *name);
/*
 * Puts everything in place. Files must be closed. After an error the target is as it was; if the disk does not even let the name
 * be given back, the error says where everything is.
 */
lode_status lode_output_commit(struct lode_output *output, lode_error *error);
/* Removes what was not committed, and frees all. */
void lode_output_close(struct lode_output *output);

/* A file of an output. */
struct lode_output_file {
    int fd;
    const char *name; /* borrowed */
    unsigned char *buffer;
    size_t used;   /* bytes in the buffer, which go to `size` - used */
    uint64_t size; /* of the file, with what is in the buffer */
};

lode_status lode_output_file_create(struct lode_output_file *file, struct lode_output *output,
                                    const char *name, lode_error *error);
/* The same, but the file is not in the directory until lode_output_file_show. One at a time. */
lode_status lode_output_file_create_hidden(struct lode_output_file *file, struct lode_output *output,
                                           const char *name, lode_error *error);
/* A file that another process has created: bytes go to places that are this one's alone. */
lode_status lode_output_file_join(struct lode_output_file *file, const struct lode_output *output,
                                  const char *name, lode_error *error);
/* Takes a file away that was abandoned. */
void lode_output_file_remove(const struct lode_output *output, const char *name);
/* Where a file of an output is until it is in place, in memory that the caller frees; NULL if there is none. */
char *lode_output_file_path(const struct lode_output *output, const char *name);
/* Appends. */
lode_status lode_output_write(struct lode_output_file *file, const void *bytes, size_t size,
                              lode_error *error);
/* Appends zeros up to a multiple of `alignment`. */
lode_status lode_output_align(struct lode_output_file *file, unsigned alignment, lode_error *error);
/* Writes at a place; what is appended does not move. Several threads may do so at once. */
lode_status lode_output_write_at(const struct lode_output_file *file, uint64_t offset, const void *bytes,
                                 size_t size, lode_error *error);
/* Hands over to the system what is in the buffer, so that it can be read or mapped. */
lode_status lode_output_flush(struct lode_output_file *file, lode_error *error);
/* Flushes, waits until all is on the disk, and closes. */
lode_status lode_output_file_close(struct lode_output_file *file, lode_error *error);
/* The same for a hidden file, which then, in one step, takes its name. */
lode_status lode_output_file_show(struct lode_output_file *file, struct lode_output *output,
                                  lode_error *error);
/* Closes without regard to what was written. */
void lode_output_file_abandon(struct lode_output_file *file);

#endif
