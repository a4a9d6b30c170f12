/* SPDX-License-Identifier: BSD-3-Clause */
/* Enumerations, as the type of a lode_argument. */
#ifndef LODE_MODEL_ARGUMENT_H
#define LODE_MODEL_ARGUMENT_H

#include <lode/event.h>

struct lode_enumerator {
    const char *name;
    int64_t value;
};

/* What the `type` of a LODE_VALUE_ENUM points to. */
struct lode_enumeration {
    const struct lode_enumerator *items; /* by rising value; of equal ones, the first counts */
    size_t count;
};

#endif
