/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several databases as one source of profiles. Contexts, functions, files and modules are the same
 * if their content is; equal siblings of one database are distinguished by their order. Inputs come
 * in an order that follows from their labels and contents, so that the order of arguments does not
 * matter.
 */
#ifndef LODE_TRANSFORM_MERGE_SOURCE_H
#define LODE_TRANSFORM_MERGE_SOURCE_H

#include "base/comm/comm.h"
#include "base/memory/map.h"
#include "base/pool.h"
#include "model/database/database.h"
#include "model/source.h"
#include "transform/merge/renumber.h"
#include <lode/unstable/slice.h>
#include <stdatomic.h>

enum {
    LODE_MERGE_MAX_IDS = 64,           /* of a tuple */
    LODE_MERGE_UNKNOWN_ID = UINT16_MAX /* for metrics that are not listed; others are smaller */
};

struct lode_merge_filter;

/* One database, and where its parts go. */
struct lode_merge_part {
    const lode_database *db;
    struct lode_merge_filter *filter; /* slice.h; NULL: everything stays */
    const char *directory;            /* NULL: none */
    const char *label;                /* NULL: none */
    uint32_t *contexts;               /* by index: its number; once numbered, its id */
    struct lode_map unlisted;         /* by id: the same */
    uint32_t *unlisted_ids;           /* rising */
    uint32_t unlisted_count;
    uint16_t *value_ids;                 /* by the database's id: the new one */
    uint32_t *metrics;                   /* by metric: its number in the list of all */
    uint32_t *scopes, *kinds;            /* likewise */
    uint32_t *trace_of;                  /* by profile: its trace line, or LODE_NONE */
    uint32_t run;                        /* parts of equal labels have equal ones */
    uint64_t start;                      /* of its samples; UINT64_MAX: there are none */
    uint64_t shift;                      /* subtracted from times */
    struct lode_renumbering renumbering; /* once numbered */
};

/* A profile of the new database. */
struct lode_merge_profile {
    uint32_t part, profile;
    uint64_t weight;
};

/* Items of one list in all parts: kinds of ids, scopes or metrics. */
struct lode_merge_item {
    const char *name, *key; /* the key is the complete content, and how many equal ones precede */
    const void *from;       /* the item of some part */
    uint32_t position;      /* the least in any part */
    uint32_t number;        /* in the order of addition */
};

struct lode_merge_list {
    struct lode_strings keys;
    struct lode_array items; /* of struct lode_merge_item, by number; then in their order */
    uint32_t *order;         /* by number: the position */
};

struct lode_merge_source {
    struct lode_profile_source base;
    const lode_merge_options *options;
    struct lode_comm *comm; /* NULL: this process alone */
    struct lode_merge_part *parts;
    uint32_t count;
    struct lode_merge_list kinds, scopes, metrics;
    const char **metric_names; /* by position, with suffixes */
    uint32_t *metric_of;       /* by id of values, once described */
    struct lode_arena arena;
    bool has_runs, has_traces;
    double divisor; /* of values: the number of runs, for means; else 1 */
    unsigned threads;
    uint32_t run_kind;

    const struct lode_description *about;
    struct lode_merge_profile *profiles; /* by new number, from 0 */
    uint32_t profile_count;
    struct lode_merge_slot *slots;
    unsigned slot_count;
    _Atomic uint64_t dropped; /* values that were left out */
};

/* Everything is borrowed. `slice`, of a single input, may be NULL. Close it in every case. */
lode_status lode_merge_source_open(struct lode_merge_source *self, const lode_merge_input *inputs,
                                   size_t count, const lode_database_slice *slice,
                                   const lode_merge_options *options, struct lode_comm *comm,
                                   lode_error *error);
void lode_merge_source_close(struct lode_merge_source *self);

/* Puts parts into their order. */
lode_status lode_merge_order_parts(struct lode_merge_source *self, lode_error *error);
/* Unifies kinds of ids, scopes and metrics: before anything is described. */
lode_status lode_merge_unify(struct lode_merge_source *self, lode_error *error);
void lode_merge_list_free(struct lode_merge_list *list);
/* The store whose metrics/default.yaml describes the result; NULL: none does. */
lode_status lode_merge_taxonomy(const struct lode_merge_source *self, const char **out, lode_error *error);

lode_status lode_merge_describe_metrics(struct lode_merge_source *self, struct lode_description *out,
                                        lode_error *error);
/* Modules, files, functions, contexts. */
lode_status lode_merge_describe_tree(struct lode_merge_source *self, struct lode_description *out,
                                     lode_error *error);
lode_status lode_merge_describe_unlisted(struct lode_merge_source *self, struct lode_description *out,
                                         lode_error *error);
/* Profiles and trace lines; then which of them are this rank's. */
lode_status lode_merge_describe_profiles(struct lode_merge_source *self, struct lode_description *out,
                                         lode_error *error);
/* Title and text. */
lode_status lode_merge_describe_texts(struct lode_merge_source *self, struct lode_description *out,
                                      lode_error *error);

/* Rank 0 reports a finding. */
lode_status lode_merge_report(const struct lode_merge_source *self, const char *rule, const char *file,
                              const char *text, lode_error *error);

static inline bool lode_merge_is_first(const struct lode_merge_source *self)
{
    return self->comm == NULL || self->comm->place.rank == 0;
}

#endif
