/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts spans by trace: they are distributed to buckets by a hash of the trace as they are read,
 * and each bucket is sorted on its own. Beyond a memory budget, buckets are on disk, and so is the
 * result. The order is the same for any budget and any number of threads: by the hash, then the
 * trace id, then the span id, then as added.
 */
#ifndef LODE_OTLP_SORT_H
#define LODE_OTLP_SORT_H

#include "base/io/backed.h"
#include "base/memory/pages.h"
#include "format/otlp/span.h"

struct otlp_sorter;

/* An array in memory, or in a file. */
struct otlp_spans {
    struct lode_pages pages;
    struct lode_backed backed;
};
#define OTLP_SPANS_INIT                                                                                      \
    {                                                                                                        \
        {NULL, 0}, LODE_BACKED_INIT                                                                          \
    }
void lode_otlp_spans_free(struct otlp_spans *spans);
/* The first bits of the hash of a trace: spans are sorted by them. */
size_t lode_otlp_bucket(const uint64_t trace[2], unsigned bits);

/* `bytes` is about how many there are to read; `memory` is the budget for spans. */
lode_status lode_otlp_sorter_open(struct otlp_sorter **out, uint64_t bytes, uint64_t memory,
                                  lode_error *error);
void lode_otlp_sorter_close(struct otlp_sorter *sorter);
lode_status lode_otlp_sorter_add(struct otlp_sorter *sorter, const struct otlp_span *span, lode_error *error);
/* How many there are. */
uint64_t lode_otlp_sorter_count(const struct otlp_sorter *sorter);
/* Moves all spans to `out`, sorted; they are at `*spans`. */
lode_status lode_otlp_sorter_finish(struct otlp_sorter *sorter, unsigned threads, struct otlp_spans *out,
                                    struct otlp_span **spans, lode_error *error);

#endif
