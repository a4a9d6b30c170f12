/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic output: a directory, or a single file. It is written to a staging directory beside the
 * target, .NAME.partial, which cannot be mistaken for a store and is accessible to its owner only.
 * When all is synced to disk, the new directory or file in it is renamed to the target in one step.
 *
 * The staging directory has
 *   lock  locked while a process writes; if the lock is free, the process has gone
 *   new   the new directory, or the new file; after an exchange, the replaced one
 *   old   the replaced one, if the file system cannot exchange names; restored after a kill
 *   part  a file that gets its name only when it is complete
 *   scratch  outputs that become a part of this one
 */
#ifndef LODE_BASE_OUTPUT_H
#define LODE_BASE_OUTPUT_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

/* What an output may replace. */
struct lode_replace {
    const char *kind; /* such as "database" */
    /* Fails unless all in the directory `path` is part of one such store, or it is empty. */
    lode_status (*check)(int directory, const char *path, lode_error *error);
};

struct lode_output {
    char *path;                         /* of the target */
    char *partial;                      /* name of the staging directory */
    int parent;                         /* the directory that both are in */
    int staging;                        /* the staging directory */
    int lock;                           /* in the staging directory */
    int directory;                      /* the one being written; of a single file, that file */
    const struct lode_replace *replace; /* NULL: nothing is replaced */
    bool held;                          /* we own the staging directory and must remove it */
    bool is_file;                       /* the target is a single file */
};

/* An output that was never created can be closed. */
#define LODE_OUTPUT_INIT                                                                                     \
    {                                                                                                        \
        .parent = -1, .staging = -1, .lock = -1, .directory = -1                                             \
    }

/*
 * Fails if the target exists and may not be replaced, if another process is writing it, or if the
 * staging directory is not ours. Removes what a killed process of ours left. `replace` must outlive
 * the output.
 */
lode_status lode_output_create(struct lode_output *output, const char *path,
                               const struct lode_replace *replace, lode_error *error);
/*
 * The same for a target that is a single file: lode_output_file_single opens it. With `force`, it
 * replaces a regular file, and nothing else.
 */
lode_status lode_output_create_file(struct lode_output *output, const char *path, bool force,
                                    lode_error *error);
/* Identifies the staging directory for other processes of the same job. */
uint64_t lode_output_identity(const struct lode_output *output);
/* Opens an output that another process of the job created. Only its creator can commit it. */
lode_status lode_output_join(struct lode_output *output, const char *path, uint64_t identity,
                             lode_error *error);
/* Like mkdir -p below the output. */
lode_status lode_output_mkdir(struct lode_output *output, const char *name, lode_error *error);
/*
 * A directory in the staging directory in which other outputs can be written, in an output of its
 * own that can only be closed. What is left there is removed with the staging directory.
 */
lode_status lode_output_scratch(struct lode_output *scratch, const struct lode_output *output,
                                lode_error *error);
/* Moves a directory from there to the output. */
lode_status lode_output_adopt(struct lode_output *output, const struct lode_output *scratch, const char *name,
                              lode_error *error);
/* Whether a file or directory of this name exists below the output. */
bool lode_output_has(const struct lode_output *output, const char *name);
/*
 * Commits the output. Files must be closed. After an error the target is unchanged; if the rename
 * cannot be undone, the error says where everything is.
 */
lode_status lode_output_commit(struct lode_output *output, lode_error *error);
/* Removes what was not committed and frees everything. */
void lode_output_close(struct lode_output *output);

/* A file of an output. */
struct lode_output_file {
    int fd;
    const char *name; /* borrowed */
    unsigned char *buffer;
    size_t used;      /* bytes in the buffer, for offset `size` - used */
    uint64_t size;    /* of the file, including the buffer */
    uint64_t started; /* appended bytes that the disk was told to begin with */
};

lode_status lode_output_file_create(struct lode_output_file *file, struct lode_output *output,
                                    const char *name, lode_error *error);
/* Likewise, but hidden until lode_output_file_show. One at a time. */
lode_status lode_output_file_create_hidden(struct lode_output_file *file, struct lode_output *output,
                                           const char *name, lode_error *error);
/* The file of an output that is a single file. Once. */
lode_status lode_output_file_single(struct lode_output_file *file, struct lode_output *output,
                                    lode_error *error);
/* Opens a file that another process created; the processes write disjoint ranges. */
lode_status lode_output_file_join(struct lode_output_file *file, const struct lode_output *output,
                                  const char *name, lode_error *error);
/* Removes an abandoned file. */
void lode_output_file_remove(const struct lode_output *output, const char *name);
/*
 * The path of a file before the commit; the caller frees it. `name` is not used if the output is a
 * single file. NULL if out of memory.
 */
char *lode_output_file_path(const struct lode_output *output, const char *name);
/* Appends. */
lode_status lode_output_write(struct lode_output_file *file, const void *bytes, size_t size,
                              lode_error *error);
/* Appends zeros up to a multiple of `alignment`. */
lode_status lode_output_align(struct lode_output_file *file, unsigned alignment, lode_error *error);
/* Writes at an offset; does not move the append position. MT: several threads may write at once. */
lode_status lode_output_write_at(const struct lode_output_file *file, uint64_t offset, const void *bytes,
                                 size_t size, lode_error *error);
/* Reads what was written at an offset and is not in the buffer. MT: like writing. */
lode_status lode_output_read_at(const struct lode_output_file *file, uint64_t offset, void *bytes,
                                size_t size, lode_error *error);
/* Flushes the buffer to the system, so that the file can be read or mapped. */
lode_status lode_output_flush(struct lode_output_file *file, lode_error *error);
/* Flushes, syncs to disk and closes. */
lode_status lode_output_file_close(struct lode_output_file *file, lode_error *error);
/* Likewise for a hidden file, which then gets its name atomically. */
lode_status lode_output_file_show(struct lode_output_file *file, struct lode_output *output,
                                  lode_error *error);
/* Closes and discards errors. */
void lode_output_file_abandon(struct lode_output_file *file);

#endif
