/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary of the scope lex_aware at loops, of profiles whose own values there may be those of hpcprof (loops.h). */
#include "base/intern.h"
#include "format/hpctoolkit/loops.h"
#include "format/hpctoolkit/write.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What all profiles have at a loop, of one metric. */
struct loop_total {
    double sum, squares, min, max;
    double whole, whole_squares, whole_max; /* of scope function: what rounding is relative to */
    uint32_t count;
};

struct loop_key {
    uint32_t context, other;
};

struct written_loops {
    uint32_t *enclosing;       /* by id of context */
    uint32_t *metric_of;       /* by value id: the metric whose scope function it is, or LODE_NONE */
    bool *is_lexical;          /* by value id: it is of scope lex_aware, and the metric has function too */
    struct lode_interner keys; /* of totals: struct loop_key with a metric */
    struct lode_array totals;
    struct lode_interner kept_keys; /* of kept: struct loop_key with a statistic */
    struct lode_array kept;         /* of double: statistics that the source of the values has */
};

static void find_enclosing(const lode_writer *writer, uint32_t *enclosing)
{
    for (uint32_t id = 1; id <= writer->listed; id++) {
        uint32_t parent = writer->numbered[id].parent;
        enclosing[id] = loops_enclosing(writer->numbered[id].propagation, parent,
                                        writer->numbered[parent].loop, enclosing[parent]);
    }
}

/* Only metrics that have both scopes are computed. */
static void find_scopes(const lode_writer *writer, struct written_loops *loops)
{
    for (uint32_t m = 0; m < writer->metrics.count; m++) {
        const struct written_metric *metric = WRITTEN(writer, metrics, metric, m);
        uint32_t function = LODE_NONE, lexical = LODE_NONE;
        for (size_t i = 0; i < metric->scopes.count; i++) {
            const struct written_metric_scope *instance =
                LODE_ARRAY_AT(&metric->scopes, struct written_metric_scope, i);
            const struct written_scope *scope = WRITTEN(writer, scopes, scope, instance->scope);
            if (scope->type == LODE_SCOPE_TRANSITIVE && scope->bit == 0)
                function = instance->id;
            if (scope->type == LODE_SCOPE_CUSTOM && strcmp(scope->name, LOOPS_SCOPE) == 0)
                lexical = instance->id;
        }
        if (function == LODE_NONE || lexical == LODE_NONE)
            continue;
        loops->metric_of[function] = m;
        loops->is_lexical[lexical] = true;
    }
}

lode_status lode_writer_sum_loops(lode_writer *writer, lode_error *error)
{
    struct written_loops *loops = writer->loops = calloc(1, sizeof *loops);
    if (loops == NULL)
        return lode_fail_memory(error);
    lode_interner_init(&loops->keys, sizeof(struct loop_key));
    lode_interner_init(&loops->kept_keys, sizeof(struct loop_key));
    lode_array_init(&loops->totals, sizeof(struct loop_total), UINT32_MAX);
    lode_array_init(&loops->kept, sizeof(double), UINT32_MAX);
    loops->enclosing = calloc((size_t)writer->listed + 1, sizeof *loops->enclosing);
    loops->metric_of = calloc((size_t)writer->value_ids + 1, sizeof *loops->metric_of);
    loops->is_lexical = calloc((size_t)writer->value_ids + 1, sizeof *loops->is_lexical);
    if (!loops->enclosing || !loops->metric_of || !loops->is_lexical)
        return lode_fail_memory(error);
    for (uint32_t id = 0; id < writer->value_ids; id++)
        loops->metric_of[id] = LODE_NONE;
    find_enclosing(writer, loops->enclosing);
    find_scopes(writer, loops);
    return LODE_OK;
}

void lode_writer_free_loops(lode_writer *writer)
{
    struct written_loops *loops = writer->loops;
    if (loops == NULL)
        return;
    free(loops->enclosing);
    free(loops->metric_of);
    free(loops->is_lexical);
    lode_interner_free(&loops->keys);
    lode_interner_free(&loops->kept_keys);
    lode_array_free(&loops->totals);
    lode_array_free(&loops->kept);
    free(loops);
    writer->loops = NULL;
}

lode_status lode_writer_keep_statistic(lode_writer *writer, uint32_t context, uint16_t statistic,
                                       double value, lode_error *error)
{
    struct written_loops *loops = writer->loops;
    uint32_t id = context == LODE_NONE ? 0 : writer->id_of[context];
    bool added = false;
    if (!writer->numbered[id].loop)
        return LODE_OK;
    if (lode_interner_add(&loops->kept_keys, &(struct loop_key){id, statistic}, &added) == LODE_NO_NUMBER)
        return lode_fail_memory(error);
    double *kept = added ? lode_array_push(&loops->kept) : NULL;
    if (added && kept == NULL)
        return lode_fail_memory(error);
    if (kept)
        *kept = value;
    return LODE_OK;
}

lode_status lode_writer_collect_loop(const lode_writer *writer, struct lode_array *values, uint32_t context,
                                     uint16_t id, double value, lode_error *error)
{
    const struct written_loops *loops = writer->loops;
    uint32_t metric = loops->metric_of[id];
    if (metric == LODE_NONE)
        return LODE_OK;
    return lode_loops_add(values, context, loops->enclosing[context], metric, value, error);
}

static void add_total(struct loop_total *to, const struct loop_value *from)
{
    double value = from->value, whole = fabs(from->whole);
    to->whole += whole;
    to->whole_squares += whole * whole;
    to->whole_max = fmax(to->whole_max, whole);
    if (value == 0.0)
        return;
    to->sum += value;
    to->squares += value * value;
    to->min = to->count == 0 || value < to->min ? value : to->min;
    to->max = to->count == 0 || value > to->max ? value : to->max;
    to->count++;
}

lode_status lode_writer_add_loops(lode_writer *writer, const struct lode_array *values, lode_error *error)
{
    struct written_loops *loops = writer->loops;
    for (size_t i = 0; i < values->count; i++) {
        const struct loop_value *value = LODE_ARRAY_AT(values, struct loop_value, i);
        bool added;
        struct loop_key key = {value->loop, value->metric};
        uint32_t number = lode_interner_add(&loops->keys, &key, &added);
        if (number == LODE_NO_NUMBER || (added && lode_array_push(&loops->totals) == NULL))
            return lode_fail_memory(error);
        add_total(LODE_ARRAY_AT(&loops->totals, struct loop_total, number), value);
    }
    return LODE_OK;
}

/* Of the statistic, and what an error by rounding may be. */
static double computed_value(const struct loop_total *total, const struct written_statistic *statistic,
                             double *rounding)
{
    bool square = lode_formula_of(statistic->formula) == LODE_FORMULA_SQUARE;
    double a = square ? total->min * total->min : total->min;
    double b = square ? total->max * total->max : total->max;
    *rounding = square ? total->whole_squares : total->whole;
    if (statistic->combine == LODE_COMBINE_SUM)
        return square ? total->squares : total->sum;
    *rounding = square ? total->whole_max * total->whole_max : total->whole_max;
    return statistic->combine == LODE_COMBINE_MIN ? fmin(a, b) : fmax(a, b);
}

bool lode_writer_loop_statistic(const lode_writer *writer, uint32_t context, uint32_t metric,
                                const struct written_statistic *statistic, double *out)
{
    const struct written_loops *loops = writer->loops;
    if (loops == NULL || !writer->numbered[context].loop || !loops->is_lexical[statistic->value_id] ||
        lode_formula_of(statistic->formula) == LODE_FORMULA_ONE)
        return false;
    uint32_t total = lode_interner_find(&loops->keys, &(struct loop_key){context, metric});
    uint32_t stored = lode_interner_find(&loops->kept_keys, &(struct loop_key){context, statistic->id});
    double kept = stored == LODE_NO_NUMBER ? 0.0 : *LODE_ARRAY_AT(&loops->kept, double, stored);
    double rounding = 0.0;
    *out = 0.0;
    if (total != LODE_NO_NUMBER)
        *out = computed_value(LODE_ARRAY_AT(&loops->totals, struct loop_total, total), statistic, &rounding);
    if (fabs(*out - kept) <= LOOPS_ROUNDING * rounding)
        *out = kept;
    return true;
}
