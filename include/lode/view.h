/* SPDX-License-Identifier: BSD-3-Clause */
/* Views: the context tree as a person reads it, top-down or by callers. */
#ifndef LODE_VIEW_H
#define LODE_VIEW_H

#include <lode/cost.h>
#include <lode/name.h>

LODE_BEGIN_DECLS

typedef enum lode_view_mode {
    LODE_VIEW_TOP_DOWN, /* from the entry points to what they call */
    LODE_VIEW_CALLERS,  /* from the functions with the highest exclusive cost to their callers */
    LODE_VIEW_FLAT,     /* functions with their loops and lines; recursion counts once */
    /* from the functions of the focus to their callers, by inclusive cost; recursion counts once */
    LODE_VIEW_CALLERS_OF
} lode_view_mode;

typedef struct lode_view_options {
    size_t size;
    lode_view_mode mode;
    unsigned depth;       /* deeper rows are omitted; 0: no limit */
    double min_fraction;  /* rows below this share of the total are omitted; 0.01 is 1 % */
    const char *focus;    /* start at the functions that this name means (match.h); NULL: all */
    int lines;            /* show source lines as nodes of their own */
    size_t max_rows;      /* 0: no bound */
    lode_name_form names; /* in which the focus is compared first */
    /* Call paths to show: through functions to include, and not through functions to exclude. */
    const lode_filter *filter; /* NULL: all */
    /*
     * Top-down: begins with the row that this context belongs to, and takes time for the rows
     * beside and below the path to it only. NULL: everything
     */
    const lode_context *at;
    int merge_recursion; /* a function that calls itself directly is one row */
    /*
     * Only the rows below the row of this path, which have depth 0 then: each context is one of the
     * row below the row of the context before it. NULL: from the first rows on
     */
    const lode_context *const *path;
    size_t path_count;
    size_t skip; /* so many of the rows of depth 0 are left out, with what is below them */
} lode_view_options;
#define LODE_VIEW_OPTIONS_INIT                                                                               \
    {                                                                                                        \
        sizeof(lode_view_options), LODE_VIEW_TOP_DOWN, 0, 0.01, NULL, 0, 0, LODE_NAME_FULL, NULL, NULL, 0,   \
            NULL, 0, 0                                                                                       \
    }

/*
 * A row, in depth-first order, siblings by falling inclusive cost. Contexts under the same
 * parent row with the same meaning (function, loop, line) are one row; top-down, calls and
 * inlined copies of a function are two. In a view by callers, `inclusive` of a row is the part
 * of the first row's exclusive cost that came through this caller, and `exclusive` is the same
 * at depth 0 and 0 below. In a view by callers of the focus, it is the part of the inclusive
 * cost, and `exclusive` at depth 0 is that of the function. In a flat view, `exclusive` of a
 * function includes its loops and lines.
 */
typedef struct lode_view_row {
    unsigned depth;
    int hot;    /* on the hot path: from the first row down the most expensive child */
    int folded; /* children were left out by depth, share or number of rows */
    double inclusive;
    double exclusive;
    uint32_t contexts;           /* how many contexts it stands for */
    uint64_t calls;              /* of a call tree, top-down: how many calls; else 0 */
    const lode_context *context; /* the first of them: names the row */
    uint32_t call_line;          /* the line it is called from, if it is the same for all; else 0 */
    const lode_file *call_file;
    /* Rows directly below it, and of these, those left out by depth or share, and their cost. */
    uint32_t children, omitted;
    double omitted_inclusive;
} lode_view_row;

typedef struct lode_view lode_view;

/*
 * LODE_NOT_FOUND if no function matches the focus, or `at` or a context of `path` has no row.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_view_build(lode_view **out, const lode_cost *cost,
                                                  const lode_view_options *options, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_view_free(lode_view *view);
/* MT: any thread. */
LODE_API size_t lode_view_count(const lode_view *view);
/* NULL if the index is out of range. */
LODE_API const lode_view_row *lode_view_at(const lode_view *view, size_t index);
/* Whether there are more rows than max_rows. MT: any thread. */
LODE_API int lode_view_is_cut(const lode_view *view);
/* How many rows there are without max_rows, or more if lode_view_has_more. MT: any thread. */
LODE_API uint64_t lode_view_total(const lode_view *view);
/* Whether so many rows were left out that they were not counted to the end. MT: any thread. */
LODE_API int lode_view_has_more(const lode_view *view);
/* Rows that min_fraction left out, not counting those below them. MT: any thread. */
LODE_API uint64_t lode_view_omitted_by_share(const lode_view *view);
/* Rows that only the depth left out, not counting those below them. MT: any thread. */
LODE_API uint64_t lode_view_omitted_by_depth(const lode_view *view);

/*
 * The costs of the rows of a view by another metric of the same database: for each row, what the
 * row of the same call path has in a view of that metric, and 0 if it has none. `options` are those
 * that the view was built with; both arrays have lode_view_count items. LODE_ERR_ARGUMENT for a
 * cost of another database. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_view_costs(const lode_view *view, const lode_cost *cost,
                                                  const lode_view_options *options, double *inclusive,
                                                  double *exclusive, lode_error *error);

/*
 * Outlines: views that are expanded one node at a time. Rows are those that lode_view_build has,
 * with those that `skip` and `max_rows` leave out. A node is a number that means the same until the
 * outline closes; LODE_OUTLINE_ROOT has the first rows below it.
 */
typedef struct lode_outline lode_outline;
#define LODE_OUTLINE_ROOT 0u

/*
 * Looks at every context once. The cost must outlive the outline; the options need not.
 * LODE_NOT_FOUND if no function matches the focus. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_outline_open(lode_outline **out, const lode_cost *cost,
                                                    const lode_view_options *options, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_outline_close(lode_outline *outline);
/*
 * The children of a node: `count` nodes from `first` on, siblings as in a view. Time and memory
 * grow with them and with what is directly below them (by callers: with the contexts of the node),
 * not with the tree; the second time it takes none. LODE_NOT_FOUND for a node that there is not.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_outline_expand(lode_outline *outline, uint32_t node, uint32_t *first,
                                                      uint32_t *count, lode_error *error);
/*
 * The row of a node, as much of it as a struct of `row_size` bytes (sizeof(lode_view_row)) has, and
 * whether there are contexts below it, which need not be worth rows; `has_more` may be NULL.
 * `folded` is known when the node is expanded. LODE_NOT_FOUND for the root, and for a node that
 * there is not. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_outline_row(lode_outline *outline, uint32_t node, lode_view_row *row,
                                                   size_t row_size, int *has_more);

LODE_END_DECLS
#endif
