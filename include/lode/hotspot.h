/* SPDX-License-Identifier: BSD-3-Clause */
/* Hotspots: costs added up by function, line, loop, module, file or kind of function. */
#ifndef LODE_HOTSPOT_H
#define LODE_HOTSPOT_H

#include <lode/cost.h>
#include <lode/distribution.h>
#include <lode/name.h>

LODE_BEGIN_DECLS

typedef enum lode_group_by {
    LODE_BY_FUNCTION, /* functions with one name are one row */
    LODE_BY_LINE,
    LODE_BY_LOOP,
    LODE_BY_MODULE,
    LODE_BY_FILE,
    /* as by line, but the cost of a function without lines is at the line of its definition */
    LODE_BY_SOURCE_LINE,
    LODE_BY_SYMBOL, /* functions with one name, module, address and location */
    LODE_BY_KIND    /* functions of one lode_kind (lode/unstable/kind.h) */
} lode_group_by;

typedef enum lode_hotspot_sort {
    LODE_SORT_EXCLUSIVE,
    LODE_SORT_INCLUSIVE,
    LODE_SORT_NAME
} lode_hotspot_sort;

/*
 * One row. Inclusive counts a recursive function once, at its outermost context; exclusive is the
 * cost at contexts that belong to the row's key, without calls (for a loop: without inner loops
 * too). What only stands in for a key counts only where contexts that have the key from it have
 * costs of their own: entry points and the global context, and by line whatever is no source line.
 * So inclusive is never less than exclusive, unless costs are negative. What is set depends on the
 * key.
 */
typedef struct lode_hotspot {
    double inclusive;
    double exclusive;
    uint32_t contexts; /* how many contexts were added up */
    /* of lines and loops: the one they are in; NULL if none, or several */
    const lode_function *function;
    const lode_file *file;
    const lode_module *module;
    uint32_t line;
    /* one of the contexts; its label names the row if nothing above does */
    const lode_context *sample;
    /* by function or kind: how many there are; file, line, module: those of all, or not set */
    uint32_t functions;
    uint64_t kind; /* by kind: a lode_kind */
    lode_group_by by;
    uint64_t several_modules; /* by function: they are of several; `module` is not set */
} lode_hotspot;

typedef struct lode_hotspots lode_hotspots;

typedef struct lode_hotspot_options {
    size_t size;
    lode_group_by by;
    lode_hotspot_sort sort;
    lode_name_form names;         /* by function: the names that are compared, and sorted by */
    const lode_filter *filter;    /* by function or symbol: functions to show; NULL: all */
    const lode_kind_rules *kinds; /* by kind: rules that decide first; NULL: none */
} lode_hotspot_options;
#define LODE_HOTSPOT_OPTIONS_INIT                                                                            \
    {                                                                                                        \
        sizeof(lode_hotspot_options), LODE_BY_FUNCTION, LODE_SORT_EXCLUSIVE, LODE_NAME_FULL, NULL, NULL      \
    }

/* Rows with any cost, sorted; ties in the order of names. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_hotspots_compute(lode_hotspots **out, const lode_cost *cost,
                                                        lode_group_by by, lode_hotspot_sort sort,
                                                        lode_error *error);
/* The same with more options, which may be NULL. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_hotspots_select(lode_hotspots **out, const lode_cost *cost,
                                                       const lode_hotspot_options *options,
                                                       lode_error *error);
/* The same rows in another order, without adding up again. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_hotspots_sorted(lode_hotspots **out, const lode_hotspots *hotspots,
                                                       lode_hotspot_sort sort, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_hotspots_free(lode_hotspots *hotspots);
/* MT: any thread. */
LODE_API size_t lode_hotspots_count(const lode_hotspots *hotspots);
/* How many functions the filter hid. MT: any thread. */
LODE_API size_t lode_hotspots_hidden(const lode_hotspots *hotspots);
/* NULL if the index is out of range. MT: any thread. */
LODE_API const lode_hotspot *lode_hotspots_at(const lode_hotspots *hotspots, size_t index);
/* The name of a row for people, as in lode/name.h. MT: any thread. */
LODE_API size_t lode_hotspot_label(const lode_hotspot *hotspot, char *buffer, size_t capacity);

/* The contexts of a row, and how its costs spread over profiles. */
typedef struct lode_hotspot_detail {
    const lode_context *const *contexts; /* in the order of the tree */
    size_t context_count;
    /* of functions and symbols of a database, over profiles that have the metric; else all zero */
    lode_distribution inclusive, exclusive;
} lode_hotspot_detail;

/*
 * The detail of a row of hotspots of these costs; `selection` is that of the costs, or NULL. The
 * filter and the rules for kinds of the options must still be there. LODE_NOT_FOUND if the index is
 * out of range. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_hotspots_detail(lode_hotspot_detail **out,
                                                       const lode_hotspots *hotspots, size_t index,
                                                       const lode_cost *cost, const lode_selection *selection,
                                                       lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_hotspot_detail_free(lode_hotspot_detail *detail);

LODE_END_DECLS
#endif
