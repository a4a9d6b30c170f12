/* SPDX-License-Identifier: BSD-3-Clause */
/* Flame graphs: boxes as wide as the costs of a context tree, one level of calls below another. */
#ifndef LODE_UNSTABLE_FLAME_H
#define LODE_UNSTABLE_FLAME_H

#include <lode/unstable/kind.h>
#include <lode/view.h>

LODE_BEGIN_DECLS

typedef enum lode_flame_mode {
    LODE_FLAME_TOP_DOWN,  /* an icicle: entry points first, what they call below */
    LODE_FLAME_BOTTOM_UP, /* functions by exclusive cost first, their callers below */
    LODE_FLAME_SANDWICH   /* the functions of the focus: callers above, callees below */
} lode_flame_mode;

typedef struct lode_flame_options {
    size_t size;
    lode_flame_mode mode;
    const char *focus;            /* functions to begin with (lode/unstable/match.h); NULL: all */
    lode_name_form names;         /* in which the focus is compared first */
    const lode_filter *filter;    /* as for views */
    const lode_context *at;       /* top-down: as for views */
    int merge_recursion;          /* as for views */
    double width;                 /* of the picture, in pixels */
    double min_width;             /* pixels; narrower boxes are merged */
    unsigned depth;               /* levels in each direction; 0: no limit */
    size_t max_boxes;             /* deeper levels are left out */
    const lode_kind_rules *kinds; /* that decide first; NULL: none */
} lode_flame_options;
#define LODE_FLAME_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_flame_options), LODE_FLAME_TOP_DOWN, NULL, LODE_NAME_FULL, NULL, NULL, 0, 1200.0, 0.5,   \
            0, 20000, NULL                                                                                   \
    }

#define LODE_FLAME_NO_PARENT UINT32_MAX

/*
 * A box. Boxes come level by level, from the left to the right; siblings by falling cost, so that
 * narrow ones are neighbours: those below min_width are one box without a context, unless they are
 * too narrow together. What is left of a box right of its children is its own cost.
 */
typedef struct lode_flame_box {
    double x, width; /* fractions of the whole picture */
    int level;       /* 0, 1, 2... down; callers of a sandwich are -1, -2... */
    uint32_t parent; /* the index of the box that it continues, or LODE_FLAME_NO_PARENT */
    uint32_t more;   /* how many rows are merged because they are narrow; 0: a row of its own */
    int folded;      /* there is more below, which depth or max_boxes left out */
    lode_kind kind;
    /* As in lode_view_row; of merged rows, the sum of inclusive costs. */
    double inclusive, exclusive;
    uint64_t calls;
    uint32_t contexts;
    const lode_context *context; /* NULL: merged rows */
} lode_flame_box;

typedef struct lode_flame lode_flame;

/*
 * Time and memory grow with the boxes, and with the contexts that are looked at for them. The
 * result depends on nothing but the cost and the options. LODE_NOT_FOUND if no function matches the
 * focus, or the context is not in the tree. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_flame_build(lode_flame **out, const lode_cost *cost,
                                                   const lode_flame_options *options, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_flame_free(lode_flame *flame);
/* All of these: MT: any thread. */
LODE_API size_t lode_flame_count(const lode_flame *flame);
/* NULL if the index is out of range. */
LODE_API const lode_flame_box *lode_flame_at(const lode_flame *flame, size_t index);
/*
 * What the whole width stands for: the sum of the boxes of level 0; of absolute costs if any is
 * negative.
 */
LODE_API double lode_flame_whole(const lode_flame *flame);
/* The least and the greatest level; 0 and -1 without boxes. */
LODE_API int lode_flame_first_level(const lode_flame *flame);
LODE_API int lode_flame_last_level(const lode_flame *flame);
/* Whether max_boxes left boxes out. */
LODE_API int lode_flame_is_cut(const lode_flame *flame);
/* Rows that are merged with others because they are narrow, without those below them. */
LODE_API uint64_t lode_flame_merged(const lode_flame *flame);

LODE_END_DECLS
#endif
