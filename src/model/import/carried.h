/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an imported profile has and a database cannot hold: labels of samples, original names
 * of types and units, and metadata. An export to the format that it came from writes it back.
 *
 * Sums of samples with labels are kept by context and by set of labels, beside the values of the
 * database, which are sums over all samples. A set is a chain of labels in their order.
 */
#ifndef LODE_MODEL_CARRIED_H
#define LODE_MODEL_CARRIED_H

#include "base/memory/array.h"
#include "base/memory/intern.h"
#include "base/memory/map.h"
#include "model/wide.h"
#include <stdbool.h>

/* Without padding: compared byte by byte. Strings are numbers of the import; 0 of `text`: none. */
struct lode_carried_label {
    int64_t number;
    uint32_t key, text, unit, is_text;
};

/* A set: the set of the labels before its last one, LODE_NO_NUMBER for none, and that label. */
struct lode_carried_set {
    uint32_t before, label;
};

struct lode_carried_row {
    uint32_t context, set;
};

struct lode_carried_type {
    const char *type, *unit;
};

struct lode_carried {
    struct lode_array types; /* struct lode_carried_type, by metric */
    struct lode_carried_type period_type;
    int64_t period, time, duration;
    const char *default_type, *drop_frames, *keep_frames, *url; /* "": none */
    struct lode_array comments;                                 /* const char * */

    const struct lode_strings *strings; /* of labels */
    struct lode_interner labels, sets;
    struct lode_map row_of; /* from context and set */
    struct lode_array rows; /* struct lode_carried_row */
    struct lode_array sums; /* lode_wide: [row][metric] */
    uint64_t bytes, most;   /* about, and their limit */
    bool is_cut;            /* labels of some samples are not kept */
};

/* NULL if out of memory. */
struct lode_carried *lode_carried_new(size_t metrics, uint64_t most_bytes);
/* NULL is allowed. */
void lode_carried_free(struct lode_carried *self);
/* The set of one more label. False if out of memory. */
bool lode_carried_extend(struct lode_carried *self, uint32_t *set, const struct lode_carried_label *label);
/* Adds numbers, one for each metric. Beyond the limit nothing is added. False if out of memory. */
bool lode_carried_add(struct lode_carried *self, uint32_t context, uint32_t set, const lode_wide *values);

/* The text of a finding when a database is made of such a profile. */
#define LODE_LABELS_DROPPED "labels of samples were omitted: only an export to pprof keeps them"

/* Whether samples have labels; NULL is allowed. */
static inline bool carried_has_labels(const struct lode_carried *self)
{
    return self && (self->rows.count > 0 || self->is_cut);
}

static inline const struct lode_carried_row *carried_row(const struct lode_carried *self, size_t index)
{
    return LODE_ARRAY_AT(&self->rows, struct lode_carried_row, index);
}

#endif
