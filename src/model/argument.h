/* SPDX-License-Identifier: BSD-3-Clause */
/* Enumerations and structures, as the type of a lode_argument. */
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

struct lode_label;

/* What the `type` of a LODE_VALUE_STRUCTURE points to: the format's way to write its bytes out. */
struct lode_structure {
    void (*put)(const struct lode_structure *self, struct lode_label *label, const void *bytes,
                size_t length);
};

/* The value alone, without what stands behind it. */
void lode_argument_put(struct lode_label *label, const lode_argument *argument);

#endif
