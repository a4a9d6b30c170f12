/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas of computed metrics, from hpcrun's notation to that of metrics/default.yaml. */
#ifndef LODE_FORMAT_HPCRUN_FORMULA_H
#define LODE_FORMAT_HPCRUN_FORMULA_H

#include "base/memory/blob.h"
#include <stdbool.h>

/* Text that is being written. */
struct hpcrun_text {
    struct lode_blob blob;
    bool failed; /* out of memory */
};

void lode_hpcrun_put(struct hpcrun_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts the name of a metric's sum under a scope; false if there is none. In taxonomy.c. */
bool lode_hpcrun_put_metric(struct hpcrun_text *text, const char *name, size_t length, const char *scope,
                            const void *context);

/*
 * Puts a formula whose metrics are names between the bytes 1 and 2: numbers, + - * / ^, unary -,
 * parentheses, min() and max(). False if it is none, or if a metric does not have the scope.
 */
bool lode_hpcrun_put_formula(struct hpcrun_text *text, const char *formula, const char *scope,
                             const void *context);

#endif
