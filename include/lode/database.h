/* SPDX-License-Identifier: BSD-3-Clause */
/* A database: contexts, metrics, profiles, values and trace lines of one measured run. */
#ifndef LODE_DATABASE_H
#define LODE_DATABASE_H

#include <lode/status.h>
#include <stddef.h>

LODE_BEGIN_DECLS

typedef struct lode_database lode_database;

/* The parts of a database. Only LODE_PART_META and LODE_PART_PROFILE must be there. */
typedef enum lode_part {
    LODE_PART_META,    /* contexts, metrics, names */
    LODE_PART_PROFILE, /* values by profile */
    LODE_PART_CONTEXT, /* values by context */
    LODE_PART_TRACE    /* trace lines */
} lode_part;
#define LODE_PART_COUNT 4

/* One file of a database that lies in memory. The bytes must outlive the database. */
typedef struct lode_memory_file {
    const char *name; /* as in a directory, such as "meta.db" */
    const void *data;
    size_t size;
} lode_memory_file;

/*
 * Opens the database in a directory, or one that is a file, such as a profile of pprof, which is
 * read completely. The metadata is read and checked; values and samples stay in
 * the files, which are mapped and read when asked for. A file that shrinks while it is open ends
 * the process with SIGBUS, as with any mapped file, unless the program installs a guard (guard.h).
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_database_open(lode_database **out, const char *path,
                                                     lode_error *error);

/* The same, from files in memory. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_database_open_memory(lode_database **out,
                                                            const lode_memory_file *files, size_t file_count,
                                                            lode_error *error);

/* Closes a database and all that was borrowed from it. NULL is allowed. MT: one thread. */
LODE_API void lode_database_close(lode_database *db);

/* The format, such as "HPCToolkit 4.0". MT: any thread. */
LODE_API const char *lode_database_format(const lode_database *db);
/* The version of one part as written in its file; 0 and 0 for an absent one. MT: any thread. */
LODE_API void lode_database_version(const lode_database *db, lode_part part, unsigned *major,
                                    unsigned *minor);
/* The title, never NULL. MT: any thread. */
LODE_API const char *lode_database_title(const lode_database *db);
/* The description, never NULL. MT: any thread. */
LODE_API const char *lode_database_description(const lode_database *db);
/* Whether a part is there. MT: any thread. */
LODE_API int lode_database_has(const lode_database *db, lode_part part);
/*
 * The size of a part's file in bytes, 0 if it is absent. If the store is one file, that is the size
 * of LODE_PART_META, and other parts have the size that they take in memory. MT: any thread.
 */
LODE_API uint64_t lode_database_part_size(const lode_database *db, lode_part part);
/* The file name of a part, such as "cct.db". MT: any thread. */
LODE_API const char *lode_database_part_file(const lode_database *db, lode_part part);

LODE_END_DECLS
#endif
