/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that are similar to one that was not found. */
#ifndef LODE_ANALYSIS_NEAR_H
#define LODE_ANALYSIS_NEAR_H

#include "model/database/context.h"

enum {
    LODE_NEAR_WORD = 80, /* bytes of a name */
    LODE_NEAR_COUNT = 3,
    LODE_NEAR_SIZE = LODE_NEAR_COUNT * (LODE_NEAR_WORD + 8)
};

/* At most three simple names, quoted, the most similar first; "" if none is similar. */
void lode_near_names(const struct lode_context_tree *tree, const char *text, char names[LODE_NEAR_SIZE]);

#endif
