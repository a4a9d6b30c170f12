/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding: functions, source files, load modules, metrics and profiles of a database by name. */
#ifndef LODE_UNSTABLE_FIND_H
#define LODE_UNSTABLE_FIND_H

#include <lode/unstable/match.h>

LODE_BEGIN_DECLS

typedef enum lode_found_kind {
    LODE_FOUND_FUNCTION, /* by its names in every form */
    LODE_FOUND_FILE,     /* by its path */
    LODE_FOUND_MODULE,   /* by its path */
    LODE_FOUND_METRIC,   /* by its name */
    LODE_FOUND_PROFILE   /* by its label, such as "rank 3 thread 0" */
} lode_found_kind;
#define LODE_FOUND_KINDS 5

typedef struct lode_found_row {
    lode_found_kind kind;
    uint32_t index; /* of lode_database_function and its kin */
    lode_match how;
} lode_found_row;

typedef struct lode_found lode_found;

/*
 * Finds what matches a text (lode/unstable/match.h) in one pass over all names: of each kind the
 * `limit` best ones (1 to 1,000), the better match first, then the shorter name, then the lower
 * index. `shown` is the form of names that the person sees. Memory grows with the limit only. It
 * finds nothing, and succeeds, where nothing matches. LODE_ERR_LIMIT if a regular expression took
 * too many steps. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_find(lode_found **out, const lode_database *db, const char *text,
                                            lode_name_form shown, size_t limit, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_found_free(lode_found *found);
/* All of these: MT: any thread. How many of a kind match, and how many of them are listed. */
LODE_API uint64_t lode_found_count(const lode_found *found, lode_found_kind kind);
LODE_API size_t lode_found_listed(const lode_found *found, lode_found_kind kind);
/* NULL if the index is out of range. */
LODE_API const lode_found_row *lode_found_at(const lode_found *found, lode_found_kind kind, size_t index);

LODE_END_DECLS
#endif
