/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output that is there whole or not at all. It is written in a directory of its own inside a holder beside the target, .NAME.partial,
 * which nobody can take for a store. When all is on the disk, the directory takes the target's name in one step.
 *
 * The holder has
 *   lock  locked while a process writes; a holder whose lock is free was left by a process that is gone
 *   new   what is written; behind an exchange, what was replaced
 *   old   what is being replaced, where the file system cannot exchange two names: it goes back if the process was killed
 *   part  a file that has its name only when it is whole
 */
#ifndef LODE_BASE_OUTPUT_H
#define LODE_BASE_OUTPUT_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

struct lode_output {
    char *path;    /* of the target */
    char *partial; /* name of the holder */
    int parent;    /* the directory that both are in */
    int holder;
    int lock;
    int directory; /* the one that is written */
    bool force;    /* replace what is there */
    bool held;     /* the holder is ours, and to be cleared */
};

/*
 * Takes the target. Fails if something is there and `force` is not set, or if another process is writing it. Clears what a
 * process that was killed has left.
 */
lode_status lode_output_create(struct lode_output *output, const char *path, bool force, lode_error *error);
/* Opens an output that another process of the same job has created, to write to its files. Only who created it can commit it. */
lode_status lode_output_join(struct lode_output *output, const char *path, lode_error *error);
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
