/* SPDX-License-Identifier: BSD-3-Clause */
/* Metadata of traces: their ids, which are stored nowhere else, and their chunks. */
#ifndef LODE_ZORKA_META_H
#define LODE_ZORKA_META_H

#include "base/io/range.h"
#include "base/memory/array.h"
#include "model/finding.h"

/* The id of a trace: 128 bits; both 0: not known. */
struct zor_id {
    uint64_t high, low;
};

static inline bool zor_id_is_known(struct zor_id id)
{
    return (id.high | id.low) != 0;
}

static inline bool zor_id_is_same(struct zor_id a, struct zor_id b)
{
    return a.high == b.high && a.low == b.low;
}

/* Metadata of a trace in a chunk. */
struct zor_meta {
    uint64_t chunk;  /* offset of its header */
    uint64_t offset; /* where the trace begins or continues in the payload */
    struct zor_id id;
    bool is_continued; /* it begins in another chunk */
    bool has_error;    /* it failed; only of writers whose call flag of bit 1 means errors */
};

struct zor_metas {
    struct lode_array items; /* struct zor_meta, by (chunk, offset) */
};

void lode_zor_metas_init(struct zor_metas *metas);
void lode_zor_metas_free(struct zor_metas *metas);
/* Reads qmeta.idx, written until 2019. */
lode_status lode_zor_read_qmeta(struct zor_metas *metas, struct lode_range bytes, const char *file,
                                struct lode_report *report);
/* Finds records in a database file written from 2019 on, ignoring its structure. */
lode_status lode_zor_carve(struct zor_metas *metas, struct lode_range bytes, lode_error *error);
/* Sorts them, when all are read. */
void lode_zor_metas_sort(struct zor_metas *metas);
/* The metadata of the trace that begins or continues at an offset of a chunk's payload, or NULL. */
const struct zor_meta *lode_zor_meta(const struct zor_metas *metas, uint64_t chunk, uint64_t offset);

#endif
