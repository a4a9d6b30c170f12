/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks a database. Reading meta.db checks its structure (read.h); the rest is here. Work is split
 * into items for any thread; findings are reported in the order of items.
 */
#ifndef LODE_FORMAT_HPCTOOLKIT_CHECK_H
#define LODE_FORMAT_HPCTOOLKIT_CHECK_H

#include "base/comm/comm.h"
#include "base/error.h"
#include "format/hpctoolkit/check/sums.h"
#include "format/hpctoolkit/read.h"

/* The meaning of a value's metric id. */
struct hpct_metric_id {
    bool known;
    uint8_t type;      /* lode_scope_type */
    uint8_t bit;       /* of a transitive scope */
    uint16_t metric;   /* index */
    uint32_t position; /* counts known ids from 0 */
    uint64_t factor;   /* of values: of sums */
};

/* One kind of finding in a trace line: its count, and its first sample. */
struct hpct_tally {
    uint64_t count, first;
};

static inline void hpct_tally_add(struct hpct_tally *tally, bool found, uint64_t sample)
{
    if (found && tally->count++ == 0)
        tally->first = sample;
}

/* Reports the findings in a line of `file` whose samples begin at `start`. */
lode_status lode_hpct_tally_report(const struct hpct_tally *tally, unsigned rule, const char *file,
                                   uint32_t line, uint64_t start, const char *what,
                                   struct lode_report *report);
/* Counts samples of a line at unknown contexts. */
struct hpct_tally lode_hpct_unknown_contexts(const struct lode_context_tree *tree,
                                             const lode_trace_line *line);

/* Shared by the parts of a check. Each rank has one; between phases, all are the same. */
struct hpct_check {
    struct hpct_database *db;
    struct lode_report report;
    const lode_check_options *options;
    struct lode_comm *comm; /* NULL: there are no other ranks */
    unsigned threads;
    /* By id: values of profiles, and of summaries. */
    struct hpct_metric_id *values, *statistics;
    uint32_t value_ids;                       /* how many are known */
    uint8_t *measured;                        /* by profile: 1 unless it is a summary */
    uint8_t *adds_up;                         /* by profile: 1 if its scopes are right */
    struct hpct_key key;                      /* of factors */
    struct hpct_factors *factors;             /* NULL: no sums are needed */
    struct hpct_sum profile_sum, context_sum; /* of profile.db without summaries, and of cct.db */
    bool tables_sound;                        /* of meta.db */
    bool meta_sound;                          /* metrics and contexts are complete */
    /* All blocks or lines are inside their file and in order. */
    bool profiles_sound, contexts_sound, traces_sound;
    bool is_transpose; /* cct.db has the values of profile.db */
};

lode_status lode_hpct_check(const struct lode_folder *folder, const lode_check_options *options,
                            lode_check_result *result, lode_error *error);
/* The same for an older layout. */
lode_status lode_hpct_check_layout(const struct lode_folder *folder, const struct hpct_layout *layout,
                                   const lode_check_options *options, lode_check_result *result,
                                   lode_error *error);

/*
 * Work on items 0 .. count - 1. Each call gets its own report; `worker` is below check->threads,
 * and the items of a worker rise. Of ranks, each works on contiguous items of the same total
 * weight; without weights, of the same number.
 */
typedef lode_status (*hpct_check_fn)(struct hpct_check *check, void *context, uint64_t item, unsigned worker,
                                     struct lode_report *report);
struct hpct_items {
    const char *phase;
    uint64_t count;
    hpct_check_fn work;
    void *context;
    uint64_t (*weight)(const struct hpct_check *check, const void *context, uint64_t item);
};
/* Collective. Afterwards all ranks have the counts of all findings; rank 0 passes them on. */
lode_status lode_hpct_check_items(struct hpct_check *check, const struct hpct_items *items);
/* Whether all ranks come to the same step with the same files and findings. Collective. */
lode_status lode_hpct_check_agree(struct hpct_check *check, const char *step, uint64_t count);
/* Adds up numbers of all ranks. Collective. */
lode_status lode_hpct_check_sum(struct hpct_check *check, uint64_t *numbers, size_t count);

/* Weights: the bytes of what an item reads. Of profiles, lines, and ranges of contexts. */
uint64_t lode_hpct_profile_weight(const struct hpct_check *check, const void *context, uint64_t item);
uint64_t lode_hpct_line_weight(const struct hpct_check *check, const void *context, uint64_t item);
uint64_t lode_hpct_context_weight(const struct hpct_check *check, const void *context, uint64_t item);
/* Likewise of one context. */
uint64_t lode_hpct_context_bytes(const struct hpct_check *check, uint32_t context);

/* Contexts of cct.db per item: few enough to balance the load. */
uint64_t lode_hpct_contexts_per_item(const struct hpct_check *check);
uint64_t lode_hpct_context_items(const struct hpct_check *check);

/* The byte range of a piece in a file; false if it is empty. */
typedef bool (*hpct_extent_fn)(const struct hpct_database *db, uint64_t index, uint64_t *start,
                               uint64_t *end);
/* Finds objects, called `what`, of `pieces` extents that overlap each other or a section. */
lode_status lode_hpct_check_extents(struct hpct_check *check, enum hpct_file_id file, unsigned rule,
                                    const char *what, uint64_t count, unsigned pieces, hpct_extent_fn extent);

/* Structure. */
lode_status lode_hpct_check_profiles(struct hpct_check *check);
lode_status lode_hpct_check_contexts(struct hpct_check *check);
lode_status lode_hpct_check_traces(struct hpct_check *check);

/* Consistency; each requires that the structure of its input is valid. */
lode_status lode_hpct_check_trace_contexts(struct hpct_check *check);
lode_status lode_hpct_check_transpose(struct hpct_check *check);
lode_status lode_hpct_check_scopes(struct hpct_check *check);
lode_status lode_hpct_check_summary(struct hpct_check *check);

/* Whether two sums of the same numbers in different orders count as equal. */
bool lode_hpct_close_enough(double a, double b);

#endif
