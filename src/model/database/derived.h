/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas over metrics, and lists of them. */
#ifndef LODE_MODEL_DERIVED_H
#define LODE_MODEL_DERIVED_H

#include "base/memory/array.h"
#include <lode/unstable/derived.h>

struct lode_derived_list {
    struct lode_array items; /* of lode_derived * */
};

/* A formula as written, with a name and a description (may be NULL); nothing else is tried. */
lode_status lode_derived_make(lode_derived **out, const lode_database *db, const char *formula,
                              const char *name, const char *description, lode_error *error);

/* Adds it and takes it over, unless the list has one of that name or is full; then frees it. */
void lode_derived_list_add(lode_derived_list *list, lode_derived *derived);

/*
 * Adds the formulas of the text of a metric taxonomy (metrics/default.yaml). What is not understood
 * is skipped; only lack of memory is an error.
 */
lode_status lode_taxonomy_read(lode_derived_list *list, const lode_database *db, const char *text,
                               size_t size, lode_error *error);

#endif
