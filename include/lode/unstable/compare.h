/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparisons: what changed between two runs, or two sets of runs, of a program. */
#ifndef LODE_UNSTABLE_COMPARE_H
#define LODE_UNSTABLE_COMPARE_H

#include <lode/hotspot.h>
#include <lode/unstable/spread.h>

LODE_BEGIN_DECLS

/*
 * Rules: names of functions, load modules and files without what changes from build to build, such
 * as clone suffixes and library versions. A rule is a pattern (a Perl-compatible regular
 * expression) and a replacement for every match of it. In a replacement, $1 to $9 are groups of
 * the pattern, $m is the load module as the rules leave it, #1 to #9 are a group that counts (the
 * 3 of the third lambda of a function): it is replaced by its rank among the names of a side that
 * are equal otherwise. A backslash takes the next character as it is.
 */
typedef struct lode_name_rules lode_name_rules;

typedef enum lode_name_subject {
    LODE_SUBJECT_NAME,   /* of a function, demangled */
    LODE_SUBJECT_MODULE, /* the last component of its path */
    LODE_SUBJECT_FILE    /* likewise */
} lode_name_subject;

typedef struct lode_name_rule {
    const char *id; /* of a rule that was given: "line 3" */
    lode_name_subject subject;
    const char *pattern, *replacement;
    const char *description; /* may be empty */
    int is_builtin;
} lode_name_rule;

/*
 * The built-in rules, and after them those of a text (NULL: none), one per line:
 * "SUBJECT /PATTERN/REPLACEMENT/ DESCRIPTION", where the subject is name, module or file and any
 * character that is no letter, digit or space may be used instead of the slash. "off ID" leaves out
 * a built-in rule. Empty lines and lines that begin with # say nothing. At most 64 rules;
 * LODE_ERR_ARGUMENT for what is not understood, with the line. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_name_rules_open(lode_name_rules **out, const char *text, size_t size,
                                                       lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_name_rules_close(lode_name_rules *rules);
/* MT: any thread. */
LODE_API size_t lode_name_rules_count(const lode_name_rules *rules);
/* In the order in which they apply; NULL if the index is out of range. MT: any thread. */
LODE_API const lode_name_rule *lode_name_rules_at(const lode_name_rules *rules, size_t index);

/*
 * Applies the rules to a name, as far as `capacity` goes; `length` (may be NULL) gets the whole
 * length. `module` is for $m and may be NULL. `changed` gets the indices of the first
 * `changed_capacity` rules that changed the name, and `changed_count` how many there are; both may
 * be NULL. What counts is "#". Names of more than 8 KiB stay as they are. LODE_ERR_LIMIT if a rule
 * that was given takes too many steps. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_name_rules_apply(const lode_name_rules *rules,
                                                        lode_name_subject subject, const char *name,
                                                        const char *module, char *buffer, size_t capacity,
                                                        size_t *length, uint32_t *changed,
                                                        size_t changed_capacity, size_t *changed_count,
                                                        lode_error *error);

/*
 * Keys: rows of different stores are the same if their keys are equal. A normalizer knows the names
 * of one side of a comparison, which decide the rank of what counts.
 */
typedef struct lode_normalizer lode_normalizer;

/* What is not known is an empty string. */
typedef struct lode_normal_key {
    const char *name; /* function, line or loop; by module or file, the same as that */
    const char *module;
    const char *file;
} lode_normal_key;

/*
 * The costs are those of the stores of one side, and must outlive it, as must the rules (NULL: the
 * built-in ones). MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_normalizer_open(lode_normalizer **out, const lode_name_rules *rules,
                                                       const lode_cost *const *costs, size_t count,
                                                       lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_normalizer_close(lode_normalizer *normalizer);
/*
 * The key of a row of one of the costs, as much of it as a struct of `key_size` bytes has. Strings
 * are valid as long as the normalizer. MT: one thread.
 */
LODE_API LODE_CHECKED lode_status lode_normalizer_key(lode_normalizer *normalizer,
                                                      const lode_hotspot *hotspot, lode_group_by by,
                                                      lode_normal_key *key, size_t key_size,
                                                      lode_error *error);

/* ---- flat comparison ---- */

typedef enum lode_compare_side {
    LODE_BASE,
    LODE_NEW
} lode_compare_side;

typedef struct lode_compare_options {
    size_t size;
    lode_group_by by;
    lode_name_form names;         /* simple: functions with one simple name are one row */
    const lode_name_rules *rules; /* NULL: the built-in ones */
    const lode_filter *filter;    /* by function or symbol: functions to compare; NULL: all */
    const double *base_scales;    /* factors for the costs of base, in their order; NULL: all 1 */
    const double *new_scales;     /* likewise of new */
} lode_compare_options;
#define LODE_COMPARE_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        sizeof(lode_compare_options), LODE_BY_FUNCTION, LODE_NAME_FULL, NULL, NULL, NULL, NULL               \
    }

enum {
    LODE_ONLY_IN_BASE = 1, /* in no run of the other side */
    LODE_ONLY_IN_NEW = 2,
    LODE_MATCHED_SIMPLE = 4,   /* template arguments or parameters differ */
    LODE_MOVED = 8,            /* between rows of `moved_within`, whose sum hardly changed */
    LODE_PERHAPS_RENAMED = 16, /* only on one side, and looks like `renamed` on the other */
};

typedef struct lode_compare_row {
    lode_normal_key key;
    /* As it is in the first run of a side that has it; NULL: in none. */
    const lode_hotspot *base_hotspot, *new_hotspot;
    unsigned marks;
    const char *moved_within; /* in the first metric; NULL without the mark */
    size_t renamed;           /* the row of the other side, with the mark */
} lode_compare_row;

typedef struct lode_comparison lode_comparison;

/*
 * Compares costs by function, line, loop, module or file. A side has the costs of the metrics of
 * its first run, then of its second run, and so on; all runs have the same metrics in the same
 * order. Factors make costs of different units comparable. Rows are paired by their keys, never by
 * their costs; what is left is paired without template arguments and parameters if only one
 * function of either side has that name. Exchanging the sides exchanges their numbers and nothing
 * else. Rows are in the order of the change of exclusive cost of the first metric per run, the
 * largest first. The costs must outlive it. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_compare(lode_comparison **out, const lode_cost *const *base_costs,
                                               size_t base_runs, const lode_cost *const *new_costs,
                                               size_t new_runs, size_t metrics,
                                               const lode_compare_options *options, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_comparison_free(lode_comparison *comparison);
/* MT: any thread. */
LODE_API size_t lode_comparison_count(const lode_comparison *comparison);
/* NULL if the index is out of range. MT: any thread. */
LODE_API const lode_compare_row *lode_comparison_at(const lode_comparison *comparison, size_t index);
/* The cost of a row in a run, scaled; 0 where there is none. MT: any thread. */
LODE_API double lode_comparison_exclusive(const lode_comparison *comparison, size_t row,
                                          lode_compare_side side, size_t run, size_t metric);
LODE_API double lode_comparison_inclusive(const lode_comparison *comparison, size_t row,
                                          lode_compare_side side, size_t run, size_t metric);
/* The cost of everything in a run, scaled. MT: any thread. */
LODE_API double lode_comparison_total(const lode_comparison *comparison, lode_compare_side side, size_t run,
                                      size_t metric);
/*
 * The share of the exclusive costs of a side (of absolute values, of all its runs) in rows that
 * both sides have; 1 if there are no costs. MT: any thread.
 */
LODE_API double lode_comparison_matched(const lode_comparison *comparison, lode_compare_side side,
                                        size_t metric);
/*
 * Within what the cost of a row in one metric moved: a class, a file, or a function that it is
 * called by or calls, where all changes together nearly cancel. NULL: it did not move, or rows are
 * no functions. MT: any thread.
 */
LODE_API const char *lode_comparison_moved(const lode_comparison *comparison, size_t row, size_t metric);
/* How many functions the filter hid, on the side with more of them. MT: any thread. */
LODE_API size_t lode_comparison_hidden(const lode_comparison *comparison);

/*
 * By function: the contexts of a run whose own costs are the exclusive cost of a row, in the
 * order of the tree, at most `capacity`; `count` is how many there are. None by anything else.
 * Looks at every context. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_comparison_contexts(const lode_comparison *comparison, size_t row,
                                                           lode_compare_side side, size_t run,
                                                           const lode_context **contexts, size_t capacity,
                                                           size_t *count, lode_error *error);

typedef struct lode_compare_profiles_options {
    size_t size;
    lode_profile_statistic statistic;
    /* Those that the costs were computed for, by run; NULL: all profiles. */
    const lode_selection *const *base_selections, *const *new_selections;
    uint64_t memory;  /* as in lode_spread_rows_options */
    unsigned threads; /* 0: one per processor */
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool; /* NULL: threads are started for this call */
} lode_compare_profiles_options;
#define LODE_COMPARE_PROFILES_OPTIONS_INIT                                                                   \
    {                                                                                                        \
        sizeof(lode_compare_profiles_options), LODE_PROFILES_MIN, NULL, NULL, 0, 0, NULL, NULL, NULL         \
    }

/*
 * Replaces the costs of rows and of everything, which are sums over profiles, by another statistic
 * over them. Which rows there are, their order, marks and matched shares stay those of sums.
 * LODE_ERR_ARGUMENT unless the comparison is by function and all costs are of databases;
 * LODE_ERR_UNSUPPORTED if they are those of a time window. MT: one thread.
 */
LODE_API LODE_CHECKED lode_status lode_comparison_over_profiles(lode_comparison *comparison,
                                                                const lode_compare_profiles_options *options,
                                                                lode_error *error);

typedef struct lode_compare_by_profile_options {
    size_t size;
    size_t metric;
    const size_t *rows; /* which ones, each once */
    size_t row_count;
    int is_inclusive;                /* inclusive costs instead of exclusive ones */
    const lode_selection *selection; /* that of the costs; NULL: all profiles */
    unsigned threads;                /* 0: one per processor */
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool; /* NULL: threads are started for this call */
} lode_compare_by_profile_options;
#define LODE_COMPARE_BY_PROFILE_OPTIONS_INIT                                                                 \
    {                                                                                                        \
        sizeof(lode_compare_by_profile_options), 0, NULL, 0, 0, NULL, 0, NULL, NULL, NULL                    \
    }

/*
 * What rows cost in each profile of a run. `values` has room for the number of rows times the
 * number of profiles of the database, and holds those of the first row first; 0 where a profile has
 * no cost of a row. Fails as lode_comparison_over_profiles does. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_comparison_by_profile(const lode_comparison *comparison,
                                                             lode_compare_side side, size_t run,
                                                             const lode_compare_by_profile_options *options,
                                                             double *values, lode_error *error);

/* ---- trees ---- */

typedef struct lode_compare_tree_options {
    size_t size;
    const lode_name_rules *rules; /* NULL: the built-in ones */
    const double *base_scales;    /* factors for the costs of base, in their order; NULL: all 1 */
    const double *new_scales;     /* likewise of new */
    int fold_loops;               /* loops are part of their functions too */
} lode_compare_tree_options;
#define LODE_COMPARE_TREE_OPTIONS_INIT                                                                       \
    {                                                                                                        \
        sizeof(lode_compare_tree_options), NULL, NULL, NULL, 0                                               \
    }

/*
 * A function or loop under its callers, on both sides or one of them. Costs are means over the runs
 * of a side, by lode_compare_side. The inclusive cost is the own cost and that of the children, so
 * a node that has no counterpart and was looked through does not include what was paired beside it.
 */
typedef struct lode_compare_node {
    uint32_t parent; /* node; of the root, itself */
    unsigned depth;  /* 0: the root */
    uint32_t child_count;
    unsigned marks;                                 /* LODE_ONLY_IN_BASE and its like */
    const lode_context *base_context, *new_context; /* one of them; NULL: not on that side */
    double own[2], inclusive[2], calls[2];
    double gross;     /* the sum of absolute changes of own cost, of the node and all below it */
    uint32_t renamed; /* the node of the other side, with the mark */
} lode_compare_node;

typedef struct lode_compared_tree lode_compared_tree;

/*
 * Pairs two trees from the root down, each the trees of its runs in one, with lines folded into
 * functions and loops. Nodes are paired by their keys; then by simple names; loops by lines
 * relative to their function, else in the order of lines if they call about the same. A node
 * without a counterpart is looked through: what is below it is paired with what is left on the
 * other side, as if it were inlined. Every context is in one node, so own costs add up to those of
 * the sides. Time and memory grow with the contexts. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_compare_trees(lode_compared_tree **out,
                                                     const lode_cost *const *base_costs, size_t base_runs,
                                                     const lode_cost *const *new_costs, size_t new_runs,
                                                     const lode_compare_tree_options *options,
                                                     lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_compared_tree_free(lode_compared_tree *tree);
/* Node 0 is the root: everything. Parents precede children. MT: any thread. */
LODE_API uint32_t lode_compared_tree_count(const lode_compared_tree *tree);
/*
 * A node, as much of it as a struct of `node_size` bytes has. LODE_NOT_FOUND if there is none. MT:
 * any thread.
 */
LODE_API LODE_CHECKED lode_status lode_compared_tree_node(const lode_compared_tree *tree, uint32_t index,
                                                          lode_compare_node *node, size_t node_size);
/* The children of a node, the largest gross change first; NULL if none. MT: any thread. */
LODE_API const uint32_t *lode_compared_tree_children(const lode_compared_tree *tree, uint32_t index,
                                                     uint32_t *count);
/* The normalised name of a node, as lode/name.h. MT: any thread. */
LODE_API size_t lode_compared_tree_name(const lode_compared_tree *tree, uint32_t index, char *buffer,
                                        size_t capacity);
/* The cost of everything. MT: any thread. */
LODE_API double lode_compared_tree_total(const lode_compared_tree *tree, lode_compare_side side);
/* The share of own costs (absolute values) in nodes of both sides. MT: any thread. */
LODE_API double lode_compared_tree_matched(const lode_compared_tree *tree, lode_compare_side side);

LODE_END_DECLS
#endif
