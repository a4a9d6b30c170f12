/* SPDX-License-Identifier: BSD-3-Clause */
/* Source text: the lines of a source file that a store names. */
#ifndef LODE_UNSTABLE_SOURCE_H
#define LODE_UNSTABLE_SOURCE_H

#include <lode/context.h>

LODE_BEGIN_DECLS

/*
 * Where to look for source files. With a prefix, the directory replaces that beginning of the
 * recorded path (complete components). Without, the directory is tried with the recorded path and,
 * if there is no such file, with ever fewer of its leading components (at most the last 32 count).
 */
typedef struct lode_source_path {
    const char *prefix; /* NULL: none */
    const char *directory;
} lode_source_path;

typedef struct lode_source_options {
    size_t size;
    const char *database; /* directory of a database, for copied files; NULL: none */
    const lode_source_path *paths;
    size_t path_count; /* the first path that has the file wins, before the copy in the database */
} lode_source_options;
#define LODE_SOURCE_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_source_options), NULL, NULL, 0                                                           \
    }

typedef struct lode_source_text lode_source_text;

/*
 * Reads a source file. Recorded paths are not trusted: nothing outside of the given directories and
 * of the folder src of the database is read, symbolic links below them are not followed, and only
 * regular files of at most 64 MiB are read. LODE_ABSENT if there is no such file. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_source_text_open(lode_source_text **out, const lode_file *file,
                                                        const lode_source_options *options,
                                                        lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_source_text_close(lode_source_text *text);
/* The path that it was read from. MT: any thread. */
LODE_API const char *lode_source_text_origin(const lode_source_text *text);
/* How many lines it has. MT: any thread. */
LODE_API uint64_t lode_source_text_line_count(const lode_source_text *text);
/*
 * A line, counted from 1, without its line feed (and carriage return). It may contain any bytes,
 * and no NUL ends it. NULL past the last. MT: any thread.
 */
LODE_API const char *lode_source_text_line(const lode_source_text *text, uint64_t number, size_t *length);

LODE_END_DECLS
#endif
