/* SPDX-License-Identifier: BSD-3-Clause */
/* Activities of functions, and of contexts along their call paths. */
#ifndef LODE_ANALYSIS_ACTIVITY_H
#define LODE_ANALYSIS_ACTIVITY_H

#include "analysis/kinds/kind_name.h"
#include "model/database/context.h"
#include <lode/unstable/kind.h>
#include <stddef.h>

/* What decided about a function. */
enum lode_decided {
    LODE_DECIDED_DEFAULT, /* no rule */
    LODE_DECIDED_USER,    /* a rule of the user */
    LODE_DECIDED_NAME,    /* a rule for the name */
    LODE_DECIDED_MODULE   /* a rule for the load module */
};

/* What a function does, and why Lode thinks so. */
struct lode_decision {
    lode_activity activity;
    lode_effect effect;
    enum lode_decided decided;
    struct lode_text word; /* of the rule; empty: none */
    unsigned line;         /* of the rules of the user */
};

/* By the rules of the user first; all but the last may be NULL. `is_stub`: of a library. */
struct lode_decision lode_decide(const lode_kind_rules *rules, const char *module, const char *name,
                                 bool is_stub);
/* By those of the library only. */
struct lode_decision lode_decide_names(const char *module, const char *name, bool is_stub);
/* "*" stands for any characters, "?" for one. */
bool lode_activity_matches(const char *pattern, struct lode_text text);

/*
 * Of a function of a recording. Calls of library functions carry the module of the program, but are
 * known to be stubs; what no rule knows there passes time on to its caller.
 */
struct lode_decision lode_decide_call(const lode_kind_rules *rules, const lode_function *function);
/* What the costs of a function belong to, if those of its caller belong to `above`. */
unsigned lode_activity_below(unsigned above, unsigned activity);

/* Of the function that a context begins or is in. `rules` may be NULL. */
lode_activity lode_activity_of_context(const lode_kind_rules *rules, const lode_context *context);

/*
 * What the costs of contexts belong to, by index of context: the outermost library function below
 * the innermost function of the application; what only passes time on, such as libstdc++, belongs
 * to its caller. A byte is a lode_activity; LODE_ACTIVITY_COUNT: no function of an application or
 * of an active library is above. `is_own`: whether a context begins a function of the application.
 * `leaves`: by index of function, those that call no other: their names alone can say that they are
 * of a library; NULL: none.
 */
lode_status lode_activity_paths(unsigned char *paths, unsigned char *is_own,
                                const struct lode_context_tree *tree, const lode_kind_rules *rules,
                                const unsigned char *leaves, lode_error *error);

#endif
