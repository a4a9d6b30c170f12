/* SPDX-License-Identifier: BSD-3-Clause */
/* Slicing: a part of a database, as a database. lode_rewrite does the same for recordings. */
#ifndef LODE_UNSTABLE_SLICE_H
#define LODE_UNSTABLE_SLICE_H

#include <lode/metric.h>
#include <lode/name.h>
#include <lode/selection.h>
#include <lode/unstable/merge.h>

LODE_BEGIN_DECLS

/* What is left of a database. All parts apply together. */
typedef struct lode_database_slice {
    size_t size;
    const lode_selection *selection; /* NULL: all profiles */
    /*
     * A time window of the traces; `to` is exclusive; both 0: none. Metrics have no times: they are
     * replaced by "trace time (sec)", the time that samples last.
     */
    uint64_t from, to;
    /* a function, as in lode/unstable/match.h, which becomes an entry point; NULL: none */
    const char *focus;
    lode_name_form shown; /* the form of names in which `focus` was written */
    uint32_t depth;       /* levels of calls; 0: all */
    /* the least share of the total that a context has, with all below it; 0: none */
    double min_share;
    const lode_metric *metric; /* whose share counts; NULL: the default metric */
    int keep_contexts;         /* also those without values and samples */
} lode_database_slice;
#define LODE_DATABASE_SLICE_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_database_slice), NULL, 0, 0, NULL, LODE_NAME_FULL, 0, 0.0, NULL, 0                       \
    }

/*
 * Writes a slice of a database in HPCToolkit 4.0. What is left out of the tree goes into the own
 * cost of the nearest context that stays, so that costs add up; values at unlisted contexts do, if
 * contexts are left out for their depth, share or function. Of `input`, the label is not used; of
 * the options, what concerns runs and times. Output is reproducible. LODE_NOT_FOUND if no function
 * matches, or no profile is selected; LODE_ABSENT if there are no traces for a time window.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_slice_database(const lode_merge_input *input, const char *path,
                                                      const lode_database_slice *slice,
                                                      const lode_merge_options *options, lode_error *error);

LODE_END_DECLS
#endif
