/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline.h"

static lode_status append(struct lode_sink *self, void *scratch, const struct lode_id_tuple *ids,
                          const lode_block *block, lode_error *error)
{
    (void)self;
    (void)scratch;
    (void)ids;
    (void)block;
    (void)error;
    return LODE_OK;
}

static lode_status append_samples(struct lode_sink *self, uint32_t line, const lode_trace_line *samples,
                                  lode_error *error)
{
    (void)self;
    (void)line;
    (void)samples;
    (void)error;
    return LODE_OK;
}

const struct lode_sink_ops null_sink = {
    .size = sizeof(struct lode_sink), .append = append, .append_samples = append_samples};
