/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call stacks and their own cost: the contexts of a database or of the call tree of a recording,
 * reduced to what formats for stacks have.
 *
 * A position is a frame, the line in it and the position that it was called from. A line is where a
 * frame calls the next one, or where its cost is. Contexts at the same position are added up.
 * Positions are in depth-first order, so that the positions below one are a range; position 0 is
 * the empty stack.
 *
 * Own costs are whole numbers. They are rounded as a running sum in that order, so that the sum of
 * any subtree is off by at most 1, and the total is exact.
 */
#ifndef LODE_EXPORT_STACKS_H
#define LODE_EXPORT_STACKS_H

#include "export/export.h"
#include "export/frames.h"

struct lode_position {
    uint32_t caller; /* a position */
    uint32_t frame;
    uint32_t line;  /* 0: not known */
    uint32_t depth; /* of position 0: 0 */
    uint32_t end;   /* the position after those below this one */
    bool inlined;   /* into its caller */
};

/* What is counted. */
struct lode_stack_metric {
    char name[256], unit[32];
    double scale; /* from the values of the store */
};

/* What the format wants. */
struct lode_stack_form {
    bool by_name;     /* functions of one name are one frame */
    bool lines;       /* without being asked */
    bool has_inline;  /* inlined functions are marked */
    bool no_negative; /* negative costs become 0 */
    bool one_metric;  /* of a database, the first is exported */
    bool carries;     /* types and units of an imported profile stay, and all are exported */
    uint32_t depth;   /* levels that readers can take; 0: any */
    uint64_t limit;   /* of totals; nanoseconds become microseconds beyond it; 0: none */
};

/* Whose stacks these are. */
struct lode_stack_group {
    char label[256]; /* "rank 3 thread 0"; "": all */
    struct {
        char key[32], value[32];
    } ids[8];
    unsigned id_count;
};

struct lode_stacks {
    struct lode_export *job;
    struct lode_stack_form form;
    struct lode_export_frames frames;
    struct lode_stack_metric *metrics;
    size_t metric_count;
    /* Of the current group: */
    struct lode_stack_group group;
    struct lode_position *positions;
    uint32_t count;
    int64_t *values;  /* own cost: position * metric_count + metric */
    uint64_t clamped; /* negative values that became 0, in all groups */
    uint64_t cut;     /* contexts below the levels that readers can take, in all groups */
    struct lode_stack_build *build;
    uint32_t next; /* profile or track */
};

/* Opens them; lode_stacks_close is due in any case. LODE_ABSENT: there are no metrics. */
lode_status lode_stacks_open(struct lode_stacks *stacks, struct lode_export *job,
                             const struct lode_stack_form *form, lode_error *error);
/* The next group: one of all, or each profile or track. LODE_END after the last one. */
lode_status lode_stacks_next(struct lode_stacks *stacks, lode_error *error);
/* Reports what was lost. */
lode_status lode_stacks_report(struct lode_stacks *stacks, lode_error *error);
void lode_stacks_close(struct lode_stacks *stacks);

/* What an imported profile has to write back; NULL: nothing, or the format does not. */
const struct lode_carried *lode_stacks_carried(const struct lode_stacks *stacks);
/* The index in the database of a metric. */
uint32_t lode_stacks_metric(const struct lode_stacks *stacks, size_t metric);
/* The position that the cost of a context is at; LODE_NO_NUMBER: it is not exported. */
uint32_t lode_stacks_position(const struct lode_stacks *stacks, uint32_t context);

/* Whether a position has a cost of its own. */
bool lode_stacks_has_value(const struct lode_stacks *stacks, uint32_t position);
/* Sums over each position and all below it, like `values`; free() it. NULL if out of memory. */
int64_t *lode_stacks_inclusive(const struct lode_stacks *stacks);

#endif
