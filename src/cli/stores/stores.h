/* SPDX-License-Identifier: BSD-3-Clause */
/* The stores that people mean: by a directory, a file in it, the one around it, or nothing. */
#ifndef CLI_STORES_H
#define CLI_STORES_H

#include <lode/unstable.h>

/*
 * The path of the store that `path` means: a store, the store that contains this file, or the only
 * store of these kinds (FOR_...) in this directory. NULL if there is none; free() it.
 */
char *store_meant(const char *path, unsigned kinds);

/*
 * The store in the current directory, which may be one itself. NULL after a message if there is
 * none, or more than one: `argument`, unless it is NULL, is missing in `command`. free() it.
 */
char *store_default(unsigned kinds, const char *argument, const char *command);

/*
 * The directory for what is expensive to find again: LODE_CACHE, else that of the user. NULL: there
 * is none, or nothing is to be kept (LODE_CACHE is empty); free() it.
 */
char *store_cache(void);

/* The size of the files of a store that are read whole when it is opened. */
uint64_t store_bytes(const char *path);

/* A message: measurements are not for this command. Returns EXIT_TROUBLE. */
int store_unanalysed(const char *path);

/* A message about a store that did not open. Returns EXIT_TROUBLE. */
int store_unopened(const char *path, const lode_error *error);

#endif
