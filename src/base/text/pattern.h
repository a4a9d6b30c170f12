/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patterns that a person types: "*" and "?" stand for any characters and for one, and match a whole
 * name; "/.../" is a regular expression, which matches anywhere. "…" and "..." stand for any
 * characters too, so that a name that was shortened for the screen is a pattern. A backslash takes
 * the next character as it is.
 */
#ifndef LODE_BASE_PATTERN_H
#define LODE_BASE_PATTERN_H

#include <lode/status.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    LODE_PATTERN_MAX = 4096 /* bytes */
};

struct lode_pattern;

/* Whether a text is a pattern rather than only a name. */
bool lode_pattern_is(const char *text);
/* LODE_ERR_ARGUMENT: not a regular expression. LODE_ERR_LIMIT: too long. */
lode_status lode_pattern_compile(struct lode_pattern **out, const char *text, lode_error *error);
/*
 * A regular expression of a file, in the syntax of RE2, that matches whole names. A name takes at
 * most `steps` steps. LODE_ERR_ARGUMENT: not one, or with what RE2 does not have.
 */
lode_status lode_pattern_compile_whole(struct lode_pattern **out, const char *text, unsigned steps,
                                       lode_error *error);
/* NULL is allowed. */
void lode_pattern_free(struct lode_pattern *pattern);
/*
 * Any number of threads at a time. Time is bounded: a name for which a regular expression takes too
 * many steps does not match, and neither does any after it; lode_pattern_gave_up says so.
 */
bool lode_pattern_matches(const struct lode_pattern *pattern, const char *name, size_t length);
bool lode_pattern_gave_up(const struct lode_pattern *pattern);

#endif
