/* SPDX-License-Identifier: BSD-3-Clause */
/* The staging directory of an output (base/output.h), for the files that make up outputs. */
#ifndef LODE_BASE_OUTPUT_STAGING_H
#define LODE_BASE_OUTPUT_STAGING_H

#include "base/output.h"
#include <dirent.h>

/* Its entries. */
#define LODE_STAGED_LOCK "lock"
#define LODE_STAGED_NEW  "new"
#define LODE_STAGED_OLD  "old"
#define LODE_STAGED_PART "part"

enum {
    LODE_OUTPUT_MAX_DEPTH = 64 /* of directories below the output */
};

/* The last component of the target's path. */
const char *lode_output_base_name(const struct lode_output *output);
/* Whether something has this name, links to nowhere included. */
bool lode_output_is_there(int directory, const char *name);
/* Whether a name means the file that a descriptor has. */
bool lode_output_is_same(int directory, const char *name, int fd);
/* The next entry that is neither "." nor "..". The stream is the caller's own. */
struct dirent *lode_output_next_entry(DIR *directory);
void lode_output_close_fd(int *fd);

/*
 * Makes the staging directory and locks it, or takes one that a process which is gone has left, if it is ours. Refuses one that belongs to
 * somebody else, that others can reach, or that holds what no output has.
 */
lode_status lode_staging_take(struct lode_output *output, lode_error *error);
/* Opens one that another process of the same job has made. */
lode_status lode_staging_join(struct lode_output *output, uint64_t inode, lode_error *error);
/* All but the lock goes. Returns the errno of what went wrong first, or 0. */
int lode_staging_clear(const struct lode_output *output);
/* Removes it with all that is in it. */
void lode_staging_remove(struct lode_output *output);

#endif
