/* SPDX-License-Identifier: BSD-3-Clause */
/* The staging directory of an output (base/io/output.h); private to the output files. */
#ifndef LODE_BASE_OUTPUT_STAGING_H
#define LODE_BASE_OUTPUT_STAGING_H

#include "base/io/output.h"
#include <dirent.h>

/* Its entries. */
#define LODE_STAGED_LOCK    "lock"
#define LODE_STAGED_NEW     "new"
#define LODE_STAGED_OLD     "old"
#define LODE_STAGED_PART    "part"
#define LODE_STAGED_SCRATCH "scratch"

enum {
    LODE_OUTPUT_MAX_DEPTH = 64 /* of directories below the output */
};

/* The last component of the target's path. */
const char *lode_output_base_name(const struct lode_output *output);
/* Whether this name exists, also as a dangling link. */
bool lode_output_is_there(int directory, const char *name);
/* Whether a name refers to the file of a descriptor. */
bool lode_output_is_same(int directory, const char *name, int fd);
/* The next entry that is neither "." nor "..". One thread per stream. */
struct dirent *lode_output_next_entry(DIR *directory);
void lode_output_close_fd(int *fd);

/*
 * Makes and locks the staging directory, or takes over one that a dead process of ours left.
 * Rejects one that belongs to someone else, that others can access, or that has unknown entries.
 */
lode_status lode_staging_take(struct lode_output *output, lode_error *error);
/* Opens one that another process of the same job created. */
lode_status lode_staging_join(struct lode_output *output, uint64_t inode, lode_error *error);
/* Removes all but the lock. Returns the first errno, or 0. */
int lode_staging_clear(const struct lode_output *output);
/* Removes it with its contents. */
void lode_staging_remove(struct lode_output *output);

#endif
