/* SPDX-License-Identifier: BSD-3-Clause */
/* Where tests find real databases, and files read into memory. */
#ifndef LODE_TESTS_CORPUS_H
#define LODE_TESTS_CORPUS_H

#include "format/hpctoolkit/wire.h"
#include <lode/database.h>
#include <stdbool.h>

/* The path of something in the corpus, or false if there is no corpus (then tests skip). */
bool corpus_path(char *buffer, size_t capacity, const char *name);

/* Whether the corpus is the project's own, tests/data. */
bool corpus_is_own(void);

/*
 * To be called before tests of which some may skip: cmocka prints "not ok # SKIP", which Meson
 * counts as a failure.
 */
void correct_skips(void);

/* The four files of a database, in memory; absent ones have size 0 and no entry in `files`. */
struct loaded_database {
    lode_memory_file files[HPCT_FILES];
    size_t count;
};
bool load_database(struct loaded_database *db, const char *corpus_name);
void unload_database(struct loaded_database *db);

#endif
