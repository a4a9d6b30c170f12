/* SPDX-License-Identifier: BSD-3-Clause */
/* Selections of profiles, written such as rank=0-15,thread=0. */
#ifndef LODE_SELECTION_H
#define LODE_SELECTION_H

#include <lode/database.h>

LODE_BEGIN_DECLS

typedef struct lode_selection lode_selection;

/*
 * Reads a selection. Terms are separated by commas and must all hold; a term is KIND=RANGES, where
 * KIND names a kind of id without regard to case, or is "profile" for the profile's index, and
 * RANGES are numbers or ranges a-b joined by "+": rank=0-3+8,thread=0. A physical id (NODE) is
 * matched by its logical number. A profile without an id of a kind that is asked for is not
 * selected. Summaries never are. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_selection_parse(lode_selection **out, const lode_database *db,
                                                       const char *text, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_selection_free(lode_selection *selection);
/* A NULL selection has all profiles but the summaries. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_selection_has(const lode_selection *selection, const lode_database *db,
                                                     uint32_t profile, int *selected, lode_error *error);

LODE_END_DECLS
#endif
