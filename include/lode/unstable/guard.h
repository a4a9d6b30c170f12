/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For programs that must not end when a file becomes shorter, or cannot be read, while it is open.
 *
 * The files of a store are mapped. If another process truncates one, reading after its new end
 * raises SIGBUS, which ends the process. A program that installs the guard before it opens stores
 * continues: missing bytes are read as zeros, and the store is marked. Functions that open, check
 * or write a store then fail with LODE_ERR_IO and the name of the file. Answers (hotspots, views,
 * blocks, events) may be computed from zeros: ask lode_database_intact or lode_recording_intact
 * before you trust them. A program that may not handle signals can read the files itself and use
 * lode_database_open_memory or lode_recording_open_memory.
 */
#ifndef LODE_UNSTABLE_GUARD_H
#define LODE_UNSTABLE_GUARD_H

#include <lode/database.h>
#include <lode/event.h>
#include <lode/status.h>

LODE_BEGIN_DECLS

/*
 * Handles SIGBUS for the process, for stores that are opened from now on; a second call does
 * nothing. SIGBUS at other addresses goes to the handler that was there before. MT: one thread.
 */
LODE_API LODE_CHECKED lode_status lode_guard_install(lode_error *error);

/*
 * Gives the pages of all files that are mapped under the guard back to the system, for a process
 * that has a memory budget. They are read again when they are needed. MT: any thread.
 */
LODE_API void lode_guard_drop_pages(void);

/*
 * LODE_ERR_IO, with the name of the file, if a file of the store has become shorter since it was
 * opened, or could not be read. It costs a system call for each file; it needs no guard. MT: any
 * thread.
 */
LODE_API LODE_CHECKED lode_status lode_database_intact(const lode_database *db, lode_error *error);
LODE_API LODE_CHECKED lode_status lode_recording_intact(const lode_recording *recording, lode_error *error);

/* The same for all stores that this process has open. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_guard_check(lode_error *error);

/*
 * Whether a store is the one that was seen before. Looks at the files of a store, at those of the
 * directories in it, and no deeper: the name, the size and the first and last 4 KiB of each.
 * `content` is the same for a copy, on any machine; `identity` also differs if a file was replaced
 * or written to since. Either may be NULL. Files that differ only further inside have the same
 * content. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_store_fingerprint(const char *path, uint64_t *content,
                                                         uint64_t *identity, lode_error *error);

LODE_END_DECLS
#endif
