/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects files of a store that shrink while they are mapped: reads return zeros up to the end of
 * the page and raise SIGBUS after it. A watch records the sizes of all files of a store and
 * compares them on request. The guard, which programs may install, handles SIGBUS: it maps zeros
 * and marks the watch.
 */
#ifndef LODE_BASE_WATCH_H
#define LODE_BASE_WATCH_H

#include <lode/status.h>
#include <stddef.h>
#include <sys/stat.h>

struct lode_watch;
struct lode_guarded;

/* A reference-counted watch of the store in a directory, kept open; NULL if out of memory. */
struct lode_watch *lode_watch_open(int directory);
struct lode_watch *lode_watch_keep(struct lode_watch *watch);
void lode_watch_release(struct lode_watch *watch);

/* Adds a file that is being opened. Does nothing without a watch, or if out of memory. */
void lode_watch_file(struct lode_watch *watch, const char *name, const struct stat *status);
/* LODE_ERR_IO with the file's name if a file has shrunk or was unreadable. NULL is allowed. */
lode_status lode_watch_check(struct lode_watch *watch, lode_error *error);
/* Likewise for all open stores. */
lode_status lode_watch_check_all(lode_error *error);

/* Part of this file was unreadable. */
void lode_watch_fault(struct lode_watch *watch, const char *name);

/* Registers a mapping with the guard; NULL if there is no guard or no memory. Borrows `name`. */
struct lode_guarded *lode_guard_add(struct lode_watch *watch, const char *name, void *mapping, size_t size);
/* The name of a guarded file of the store that was partly unreadable; NULL if none. */
const char *lode_guard_unread(const struct lode_watch *watch);
/* Call before munmap. NULL is allowed. */
void lode_guard_remove(struct lode_guarded *guarded);

#endif
