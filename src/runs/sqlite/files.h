/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which files SQLite may look for and delete: the catalogue and its journals. A journal that
 * somebody else wrote can name any file as a "super-journal", which SQLite deletes after a
 * rollback.
 */
#ifndef RUNS_SQLITE_FILES_H
#define RUNS_SQLITE_FILES_H

#define sqlite3_api runs_sqlite_functions
#include <sqlite3ext.h>
#include <sys/types.h>

/* Loaded when a catalogue is opened. */
extern const sqlite3_api_routines *sqlite3_api;

typedef struct catalogue_files catalogue_files;

/* By the absolute path of a catalogue. NULL: no memory. */
catalogue_files *catalogue_files_open(const char *path);
/* The name for sqlite3_open_v2. */
const char *catalogue_files_name(const catalogue_files *files);
/* After the connection is closed. NULL is allowed. */
void catalogue_files_close(catalogue_files *files);

/*
 * Why the journal beside a catalogue, if there is one, must not be used; NULL if it may be. `path`
 * is absolute.
 */
const char *catalogue_journal_problem(const char *path, uid_t owner);

#endif
