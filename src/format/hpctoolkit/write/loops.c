/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary of scope lex_aware at loops, if profiles may have hpcprof's values (loops.h). */
#include "format/hpctoolkit/loops.h"
#include "base/io/bytes.h"
#include "base/io/spool.h"
#include "base/memory/intern.h"
#include "format/hpctoolkit/write/write.h"
#include "model/database/block_builder.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The total of all profiles at a loop, of one metric. */
struct loop_total {
    double sum, squares, min, max;
    double whole, whole_squares, whole_max; /* of scope function: rounding is relative to these */
    uint32_t count;
};

struct loop_key {
    uint32_t context, other;
};

struct written_loops {
    uint32_t *metric_of;       /* by value id: the metric of a scope function, or LODE_NONE */
    bool *is_lexical;          /* by value id: scope lex_aware of a metric that has function too */
    struct lode_interner keys; /* of totals: struct loop_key with a metric */
    struct lode_array totals;
    struct lode_interner kept_keys; /* of kept: struct loop_key with a statistic */
    struct lode_array kept;         /* of double: statistics of the values' source */
};

static bool is_loop(const struct hpct_sink *sink, uint32_t id)
{
    return sink->is_loop && sink->is_loop[id];
}

static lode_status allocate_loops(struct hpct_sink *sink, lode_error *error)
{
    sink->enclosing_loop = calloc((size_t)sink->id_count + 1, sizeof *sink->enclosing_loop);
    sink->is_loop = calloc((size_t)sink->id_count + 1, sizeof *sink->is_loop);
    LODE_TRY_ALLOC(sink->enclosing_loop && sink->is_loop, error);
    return LODE_OK;
}

/* Unlisted contexts are no loops. */
lode_status lode_hpct_find_loops(struct hpct_sink *sink, lode_error *error)
{
    const struct lode_context_tree *tree = &sink->base.about->tree;
    uint32_t id = 0;
    while (id < tree->count && tree->nodes[id].lexical != LODE_LEXICAL_LOOP)
        id++;
    if (id == tree->count)
        return LODE_OK;
    LODE_TRY(allocate_loops(sink, error));
    for (; id < tree->count; id++)
        sink->is_loop[id] = tree->nodes[id].lexical == LODE_LEXICAL_LOOP;
    for (id = 1; id < tree->count; id++) {
        uint32_t parent = tree->nodes[id].parent;
        sink->enclosing_loop[id] = loops_enclosing(tree->nodes[id].propagation, parent, sink->is_loop[parent],
                                                   sink->enclosing_loop[parent]);
    }
    return LODE_OK;
}

/* Rank 0 knows the contexts; the others are told. */
static lode_status share_loops(struct hpct_sink *sink, lode_error *error)
{
    struct lode_comm *comm = sink->base.options.comm;
    uint64_t has_loops = sink->is_loop != NULL;
    if (comm == NULL || comm->place.size == 1)
        return LODE_OK;
    LODE_TRY(lode_comm_broadcast(comm, &has_loops, sizeof has_loops, error));
    if (!has_loops)
        return LODE_OK;
    if (!sink_is_first(&sink->base))
        LODE_TRY(allocate_loops(sink, error));
    LODE_TRY(lode_comm_broadcast(comm, sink->is_loop, sink->id_count * sizeof *sink->is_loop, error));
    return lode_comm_broadcast(comm, sink->enclosing_loop, sink->id_count * sizeof *sink->enclosing_loop,
                               error);
}

/* Only metrics that have both scopes are computed. */
static void find_scopes(const struct hpct_sink *sink, struct written_loops *loops)
{
    for (uint32_t m = 0; m < sink->base.about->metric_count; m++) {
        const struct lode_metric *metric = &sink->base.about->metrics[m];
        uint32_t function = LODE_NONE, lexical = LODE_NONE;
        for (size_t i = 0; i < metric->scope_count; i++) {
            const lode_metric_scope *instance = &metric->scopes[i];
            const lode_scope *scope = instance->scope;
            if (scope->type == LODE_SCOPE_TRANSITIVE && scope->propagation_index == 0)
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

lode_status lode_hpct_sum_loops(struct hpct_sink *sink, lode_error *error)
{
    struct written_loops *loops = sink->loops = calloc(1, sizeof *loops);
    if (loops == NULL)
        return lode_fail_memory(error);
    lode_interner_init(&loops->keys, sizeof(struct loop_key));
    lode_interner_init(&loops->kept_keys, sizeof(struct loop_key));
    lode_array_init(&loops->totals, sizeof(struct loop_total), UINT32_MAX);
    lode_array_init(&loops->kept, sizeof(double), UINT32_MAX);
    loops->metric_of = calloc((size_t)sink->value_ids + 1, sizeof *loops->metric_of);
    loops->is_lexical = calloc((size_t)sink->value_ids + 1, sizeof *loops->is_lexical);
    if (!loops->metric_of || !loops->is_lexical)
        return lode_fail_memory(error);
    for (uint32_t id = 0; id < sink->value_ids; id++)
        loops->metric_of[id] = LODE_NONE;
    find_scopes(sink, loops);
    return share_loops(sink, error);
}

void lode_hpct_free_loops(struct hpct_sink *sink)
{
    struct written_loops *loops = sink->loops;
    free(sink->enclosing_loop);
    free(sink->is_loop);
    sink->enclosing_loop = NULL;
    sink->is_loop = NULL;
    if (loops == NULL)
        return;
    free(loops->metric_of);
    free(loops->is_lexical);
    lode_interner_free(&loops->keys);
    lode_interner_free(&loops->kept_keys);
    lode_array_free(&loops->totals);
    lode_array_free(&loops->kept);
    free(loops);
    sink->loops = NULL;
}

lode_status lode_hpct_keep_statistics(struct hpct_sink *sink, const lode_block *block, lode_error *error)
{
    struct written_loops *loops = sink->loops;
    for (uint32_t g = 0; g < block->group_count; g++) {
        lode_group group;
        LODE_TRY(lode_block_group(block, g, &group, error));
        for (uint64_t i = group.first; i < group.first + group.count && is_loop(sink, group.key); i++) {
            struct loop_key key = {group.key, block_value_key(block, i)};
            bool added = false;
            uint32_t number = lode_interner_add(&loops->kept_keys, &key, &added);
            double *kept = added ? lode_array_push(&loops->kept) : NULL;
            if (number == LODE_NO_NUMBER || (added && kept == NULL))
                return lode_fail_memory(error);
            if (kept)
                *kept = block_value(block, i);
        }
    }
    return LODE_OK;
}

lode_status lode_hpct_collect_loops(const struct hpct_sink *sink, const lode_block *block,
                                    struct lode_array *values, lode_error *error)
{
    const struct written_loops *loops = sink->loops;
    for (uint32_t g = 0; g < block->group_count; g++) {
        uint32_t context = block_group_key(block, g);
        lode_group group;
        if (!is_loop(sink, context))
            continue;
        LODE_TRY(lode_block_group(block, g, &group, error));
        for (uint64_t i = group.first; i < group.first + group.count; i++) {
            uint32_t metric = loops->metric_of[block_value_key(block, i)];
            if (metric != LODE_NONE)
                LODE_TRY(lode_loops_add(values, context, sink->enclosing_loop[context], metric,
                                        block_value(block, i), error));
        }
    }
    lode_loops_round(values);
    return LODE_OK;
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

lode_status lode_hpct_add_loops(struct hpct_sink *sink, const struct lode_array *values, lode_error *error)
{
    struct written_loops *loops = sink->loops;
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

/* ---- in place ---- */

/* The loop values of this rank's profiles, one after the other; `counts` is by profile. */
struct spooled {
    struct lode_spool spool;
    uint64_t *counts;
};

static lode_status read_block(const struct hpct_sink *sink, const struct wire_Profile *record,
                              struct lode_blob *bytes, lode_block *out, lode_error *error)
{
    size_t values = (size_t)record->nValues * BLOCK_VALUE_SIZE,
           groups = (size_t)record->nCtxs * BLOCK_GROUP_SIZE;
    bytes->size = 0;
    /* One byte more: an empty profile has a block, too. */
    if (lode_blob_reserve(bytes, values + groups + 1, 1) == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    const struct lode_output_file *file = &sink->files[HPCT_PROFILE];
    LODE_TRY(lode_output_read_at(file, record->pValues, bytes->bytes, values, error));
    LODE_TRY(lode_output_read_at(file, record->pCtxIndices, bytes->bytes + values, groups, error));
    *out = block_of_profile(bytes->bytes + values, record->nCtxs, bytes->bytes, record->nValues);
    return LODE_OK;
}

static lode_status spool_profiles(struct hpct_sink *sink, const struct written_share *share,
                                  struct spooled *out, lode_error *error)
{
    struct lode_array values;
    struct lode_blob bytes = {0};
    lode_status status = LODE_OK;
    lode_array_init(&values, sizeof(struct loop_value), SIZE_MAX);
    for (uint32_t i = 0; i < share->count && status == LODE_OK; i++) {
        lode_block block;
        values.count = 0;
        status = read_block(sink, &share->records[i], &bytes, &block, error);
        if (status == LODE_OK)
            status = lode_hpct_collect_loops(sink, &block, &values, error);
        out->counts[i] = values.count;
        if (status == LODE_OK && values.count > 0)
            status =
                lode_spool_write(&out->spool, values.items, values.count * sizeof(struct loop_value), error);
    }
    lode_array_free(&values);
    lode_blob_free(&bytes);
    return status == LODE_OK ? lode_spool_flush(&out->spool, error) : status;
}

static lode_status add_spooled(struct hpct_sink *sink, const struct written_share *share,
                               const struct spooled *from, lode_error *error)
{
    struct lode_blob bytes = {0};
    uint64_t at = 0;
    lode_status status = LODE_OK;
    for (uint32_t i = 0; i < share->count && status == LODE_OK; i++) {
        size_t size = (size_t)from->counts[i] * sizeof(struct loop_value);
        bytes.size = 0;
        if (size == 0)
            continue;
        if (lode_blob_reserve(&bytes, size, 1) == LODE_BLOB_FULL)
            status = lode_fail_memory(error);
        if (status == LODE_OK)
            status = lode_spool_read(&from->spool, at, bytes.bytes, size, error);
        struct lode_array values = {.items = bytes.bytes, .count = from->counts[i]};
        if (status == LODE_OK)
            status = lode_hpct_add_loops(sink, &values, error);
        at += size;
    }
    lode_blob_free(&bytes);
    return status;
}

/* Totals and their keys, to another rank and from one. */
static lode_status send_totals(struct hpct_sink *sink, uint32_t to, lode_error *error)
{
    struct lode_comm *comm = sink->base.options.comm;
    const struct written_loops *loops = sink->loops;
    uint64_t count = loops->totals.count;
    LODE_TRY(lode_comm_send(comm, to, &count, sizeof count, error));
    LODE_TRY(lode_comm_send(comm, to, loops->keys.items.items, count * sizeof(struct loop_key), error));
    return lode_comm_send(comm, to, loops->totals.items, count * sizeof(struct loop_total), error);
}

static lode_status put_totals(struct written_loops *loops, const struct loop_key *keys,
                              const struct loop_total *totals, uint64_t count, lode_error *error)
{
    lode_interner_clear(&loops->keys);
    loops->totals.count = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct loop_total *total = lode_array_push(&loops->totals);
        if (total == NULL || lode_interner_add(&loops->keys, &keys[i], NULL) == LODE_NO_NUMBER)
            return lode_fail_memory(error);
        *total = totals[i];
    }
    return LODE_OK;
}

static lode_status receive_totals(struct hpct_sink *sink, uint32_t from, lode_error *error)
{
    struct lode_comm *comm = sink->base.options.comm;
    uint64_t count;
    LODE_TRY(lode_comm_receive(comm, from, &count, sizeof count, error));
    struct loop_key *keys = calloc((size_t)count + 1, sizeof *keys);
    struct loop_total *totals = calloc((size_t)count + 1, sizeof *totals);
    lode_status status = keys && totals ? LODE_OK : lode_fail_memory(error);
    if (status == LODE_OK)
        status = lode_comm_receive(comm, from, keys, count * sizeof *keys, error);
    if (status == LODE_OK)
        status = lode_comm_receive(comm, from, totals, count * sizeof *totals, error);
    if (status == LODE_OK)
        status = put_totals(sink->loops, keys, totals, count, error);
    free(keys);
    free(totals);
    return status;
}

/* Each rank continues the totals of the one before it, and all get those of the last. */
static lode_status chain(struct hpct_sink *sink, const struct written_share *share,
                         const struct spooled *from, lode_error *error)
{
    const struct lode_comm_place *place = &sink->base.options.comm->place;
    uint32_t last = place->size - 1;
    if (place->rank > 0)
        LODE_TRY(receive_totals(sink, place->rank - 1, error));
    LODE_TRY(add_spooled(sink, share, from, error));
    if (place->rank < last)
        LODE_TRY(send_totals(sink, place->rank + 1, error));
    if (place->rank < last)
        return receive_totals(sink, last, error);
    for (uint32_t rank = 0; rank < last; rank++)
        LODE_TRY(send_totals(sink, rank, error));
    return LODE_OK;
}

lode_status lode_hpct_add_placed_loops(struct hpct_sink *sink, const struct written_share *share,
                                       lode_error *error)
{
    struct spooled spooled = {.spool = LODE_SPOOL_INIT,
                              .counts = calloc((size_t)share->count + 1, sizeof *spooled.counts)};
    char name[32];
    snprintf(name, sizeof name, ".loops-%u", sink->base.options.comm->place.rank);
    lode_status status = spooled.counts
                             ? lode_spool_open(&spooled.spool, lode_sink_scratch(&sink->base), name, error)
                             : lode_fail_memory(error);
    if (status == LODE_OK)
        status = spool_profiles(sink, share, &spooled, error);
    if (status == LODE_OK)
        status = chain(sink, share, &spooled, error);
    lode_spool_close(&spooled.spool);
    free(spooled.counts);
    return status;
}

/* The statistic, and its maximal rounding error. */
static double computed_value(const struct loop_total *total, const lode_metric_statistic *statistic,
                             bool folds_squares, double *rounding)
{
    bool square = lode_formula_of(statistic->formula) == LODE_FORMULA_SQUARE && !folds_squares;
    double a = square ? total->min * total->min : total->min;
    double b = square ? total->max * total->max : total->max;
    *rounding = square ? total->whole_squares : total->whole;
    if (statistic->combine == LODE_COMBINE_SUM)
        return square ? total->squares : total->sum;
    *rounding = square ? total->whole_max * total->whole_max : total->whole_max;
    return statistic->combine == LODE_COMBINE_MIN ? fmin(a, b) : fmax(a, b);
}

bool lode_hpct_loop_statistic(const struct hpct_sink *sink, uint32_t context, uint32_t metric,
                              const lode_metric_statistic *statistic, double *out)
{
    const struct written_loops *loops = sink->loops;
    if (loops == NULL || !is_loop(sink, context) || !loops->is_lexical[sink->value_of[statistic->id]] ||
        lode_formula_of(statistic->formula) == LODE_FORMULA_ONE)
        return false;
    uint32_t total = lode_interner_find(&loops->keys, &(struct loop_key){context, metric});
    uint32_t stored = lode_interner_find(&loops->kept_keys, &(struct loop_key){context, statistic->id});
    double kept = stored == LODE_NO_NUMBER ? 0.0 : *LODE_ARRAY_AT(&loops->kept, double, stored);
    double rounding = 0.0;
    *out = 0.0;
    if (total != LODE_NO_NUMBER)
        *out = computed_value(LODE_ARRAY_AT(&loops->totals, struct loop_total, total), statistic,
                              sink->base.about->folds_squares, &rounding);
    if (fabs(*out - kept) <= LOOPS_ROUNDING * rounding)
        *out = kept;
    return true;
}
