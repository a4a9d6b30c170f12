/* SPDX-License-Identifier: BSD-3-Clause */
/* The two halves of a filter, for views that show paths. */
#ifndef LODE_MODEL_FILTER_H
#define LODE_MODEL_FILTER_H

#include <lode/unstable/match.h>
#include <stdbool.h>

/* Whether there is a pattern to include. */
bool lode_filter_has_include(const lode_filter *filter);
/* Whether one of them matches what a context begins, and whether a pattern to exclude does. */
bool lode_filter_includes(const lode_filter *filter, const lode_context *context);
bool lode_filter_excludes(const lode_filter *filter, const lode_context *context);

#endif
