/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the files of a store are still what they were when they were opened. A mapped file that shrinks gives zeros up to the end of its
 * page and SIGBUS behind it. A watch remembers the sizes of all files of a store and compares them when it is asked; a guard, which the
 * program installs if it wants to, turns the signal into zeros and a mark in the watch.
 */
#ifndef LODE_BASE_WATCH_H
#define LODE_BASE_WATCH_H

#include <lode/status.h>
#include <stddef.h>
#include <sys/stat.h>

struct lode_watch;
struct lode_guarded;

/* Of the store in a directory, which is kept open; NULL if there is no memory. Whoever keeps one has a hold on it. */
struct lode_watch *lode_watch_open(int directory);
struct lode_watch *lode_watch_keep(struct lode_watch *watch);
void lode_watch_release(struct lode_watch *watch);

/* A file of the store that is being opened. Without a watch, or without memory, it is not watched. */
void lode_watch_file(struct lode_watch *watch, const char *name, const struct stat *status);
/* LODE_ERR_IO, with the file's name, if one has shrunk or could not be read. NULL is allowed. */
lode_status lode_watch_check(struct lode_watch *watch, lode_error *error);
/* The same of all stores that are open. */
lode_status lode_watch_check_all(lode_error *error);

/* A part of this file could not be read. */
void lode_watch_fault(struct lode_watch *watch, const char *name);

/* Lets the guard know a mapping of a file; NULL if there is no guard, or no memory. The name must outlive it. */
struct lode_guarded *lode_guard_add(struct lode_watch *watch, const char *name, void *mapping, size_t size);
/* The name of a guarded file of the store, a part of which could not be read; NULL if there is none. */
const char *lode_guard_unread(const struct lode_watch *watch);
/* Before the mapping goes. NULL is allowed. */
void lode_guard_remove(struct lode_guarded *guarded);

#endif
