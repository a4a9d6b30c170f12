/* SPDX-License-Identifier: BSD-3-Clause */
/* For the files import*.c. */
#ifndef LODE_MODEL_IMPORT_PARTS_H
#define LODE_MODEL_IMPORT_PARTS_H

#include "model/import/import.h"

/* A value's id is its metric times this, plus its scope; so are ids of statistics. */
enum scope {
    SCOPE_POINT,
    SCOPE_FUNCTION,
    SCOPE_LEXICAL,
    SCOPE_EXECUTION,
    SCOPES
};

/* Describes and seals. Strings stay with the import. */
lode_status lode_import_describe(const struct lode_import *import, struct lode_description *about,
                                 lode_error *error);

#endif
