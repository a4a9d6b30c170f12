/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that a person types, and the functions that they mean. */
#ifndef LODE_UNSTABLE_MATCH_H
#define LODE_UNSTABLE_MATCH_H

#include <lode/calltree.h>
#include <lode/cost.h>
#include <lode/name.h>

LODE_BEGIN_DECLS

/*
 * How well a name matches what was typed; a larger number is better. A function has several names:
 * its label, its name in every lode_name_form, and its name in the files. The best one counts.
 */
typedef enum lode_match {
    LODE_MATCH_NONE,
    LODE_MATCH_PATTERN,        /* a pattern matches it */
    LODE_MATCH_PART_ANY_CASE,  /* it contains the text (case-insensitive) */
    LODE_MATCH_PART,           /* it contains the text */
    LODE_MATCH_WHOLE_ANY_CASE, /* it is the text (case-insensitive) */
    LODE_MATCH_WHOLE,          /* it is the text */
    LODE_MATCH_SHOWN           /* it is the text, in the form in which names are shown */
} lode_match;

/*
 * What was typed. "NAME [WHERE]" is NAME in a module, a file or at a line: WHERE is a path, the
 * last component of one, or "FILE:LINE". A pattern has "*" for any characters and "?" for one, and
 * matches a whole name; "…" and "..." stand for any characters too, as names end that are
 * shortened; a backslash takes the next character as it is. "/EXPRESSION/" is a Perl-compatible
 * regular expression, which matches anywhere.
 */
typedef struct lode_matcher lode_matcher;

/*
 * `shown` is the form of the names that the person sees. LODE_ERR_ARGUMENT for an empty text and
 * for what is no regular expression. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_matcher_open(lode_matcher **out, const char *text,
                                                    lode_name_form shown, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_matcher_close(lode_matcher *matcher);
/* Names of more than 8 KiB are compared as they are in the files. MT: any thread. */
LODE_API lode_match lode_matcher_function(const lode_matcher *matcher, const lode_function *function);
/* Any text, such as a path, as it is; LODE_MATCH_SHOWN is never returned. MT: any thread. */
LODE_API lode_match lode_matcher_text(const lode_matcher *matcher, const char *text);
/* A context by its label too. MT: any thread. */
LODE_API lode_match lode_matcher_context(const lode_matcher *matcher, const lode_context *context);
/*
 * LODE_ERR_LIMIT if a regular expression took too many steps for some name: then it did not match
 * that name and those after it. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_matcher_status(const lode_matcher *matcher, lode_error *error);

/*
 * The functions of a tree that a name means: those that match best. All functions that have the
 * typed text as a name, first in the form that is shown, then in others; if there are none,
 * those that have it in another case; and so on down to those that match the pattern.
 */
typedef struct lode_matches lode_matches;

/*
 * Searches the functions, entry points and code without a function of the tree that the costs are
 * of. LODE_NOT_FOUND if there is none; the error has names that are similar. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_matches_find(lode_matches **out, const lode_cost *cost,
                                                    const char *text, lode_name_form shown,
                                                    lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_matches_free(lode_matches *matches);
/* All of these: MT: any thread. How well all of them match. */
LODE_API lode_match lode_matches_how(const lode_matches *matches);
/* How many functions there are. */
LODE_API size_t lode_matches_count(const lode_matches *matches);
/* The first context of each, in the order of the tree; NULL if the index is out of range. */
LODE_API const lode_context *lode_matches_at(const lode_matches *matches, size_t index);
/* Whether a context of the tree begins one of the functions: a call of it, or an inlined copy. */
LODE_API int lode_matches_has(const lode_matches *matches, const lode_context *context);
/*
 * As lode_neighbours_compute, for functions that were found before, in the tree of the same costs.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_neighbours_of(lode_neighbours **out, const lode_calltree *tree,
                                                     const lode_matches *matches, lode_neighbour which,
                                                     lode_error *error);

/*
 * Filters: functions to show, and functions to hide. A pattern is a whole name in any form, or a
 * pattern as above; "module:PATTERN" and "file:PATTERN" compare the path of the load module or of
 * the source file, or its last component. A function is shown if some pattern to include matches it
 * (or there is none), and no pattern to exclude does. Whether a function is shown depends on that
 * function alone. Case matters. lode/name.h declares the type.
 */

/*
 * LODE_ERR_ARGUMENT for an empty pattern and for what is no regular expression; at most 64 of each.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_filter_open(lode_filter **out, const char *const *include,
                                                   size_t include_count, const char *const *exclude,
                                                   size_t exclude_count, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_filter_close(lode_filter *filter);
/* A NULL filter shows everything. MT: any thread. */
LODE_API int lode_filter_shows_function(const lode_filter *filter, const lode_function *function);
/* The same for what a context begins; one without a function has a label and a location. */
LODE_API int lode_filter_shows_context(const lode_filter *filter, const lode_context *context);
/* As lode_matcher_status. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_filter_status(const lode_filter *filter, lode_error *error);

LODE_END_DECLS
#endif
