/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline.h"

struct counts_sink {
    struct lode_sink base;
    struct sink_totals totals;
};

struct sink_totals counted;

static struct sink_totals *totals_of(struct lode_sink *base)
{
    return &((struct counts_sink *)base)->totals;
}

static lode_status seal(struct lode_sink *base, lode_error *error)
{
    const struct lode_description *about = base->about;
    (void)error;
    *totals_of(base) = (struct sink_totals){.id_kinds = about->id_kind_count,
                                            .metrics = about->metric_count,
                                            .modules = about->module_count,
                                            .files = about->file_count,
                                            .functions = about->function_count,
                                            .contexts = about->tree.count};
    return LODE_OK;
}

static lode_status append(struct lode_sink *base, void *scratch, const struct lode_id_tuple *ids,
                          const lode_block *block, lode_error *error)
{
    struct sink_totals *totals = totals_of(base);
    (void)scratch;
    (void)ids;
    (void)error;
    totals->profiles++;
    totals->values += block->value_count;
    for (uint64_t i = 0; i < block->value_count; i++)
        totals->sum += block_value(block, i);
    return LODE_OK;
}

static lode_status append_samples(struct lode_sink *base, uint32_t line, const lode_trace_line *samples,
                                  lode_error *error)
{
    (void)line;
    (void)error;
    totals_of(base)->samples += samples->sample_count;
    return LODE_OK;
}

static lode_status finish(struct lode_sink *base, lode_error *error)
{
    (void)error;
    counted = *totals_of(base);
    return LODE_OK;
}

const struct lode_sink_ops counts_sink = {.size = sizeof(struct counts_sink),
                                          .seal = seal,
                                          .append = append,
                                          .append_samples = append_samples,
                                          .finish = finish};
