/* SPDX-License-Identifier: BSD-3-Clause */
/* Enumerations and structures: the types of a lode_argument. */
#ifndef LODE_MODEL_ARGUMENT_H
#define LODE_MODEL_ARGUMENT_H

#include <lode/event.h>

struct lode_enumerator {
    const char *name;
    int64_t value;
};

/* The `type` of a LODE_VALUE_ENUM. */
struct lode_enumeration {
    const struct lode_enumerator *items; /* by ascending value; of equal values the first is used */
    size_t count;
};

struct lode_label;

/* The `type` of a LODE_VALUE_STRUCTURE: formats its bytes. */
struct lode_structure {
    void (*put)(const struct lode_structure *self, struct lode_label *label, const void *bytes,
                size_t length);
};

/* The value alone, without the trailing label. */
void lode_argument_put(struct lode_label *label, const lode_argument *argument);

#endif
