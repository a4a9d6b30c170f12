/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does the summary match the profiles?
 *
 * If cct.db is known to be the transpose of profile.db, it has the values of each context together,
 * by metric and in the order of profiles. Otherwise the summary's contexts are split into ranges of
 * a bounded number of accumulators. For each range, all profiles are read in order, each from its
 * first context in the range. Values are added in the same order both ways.
 *
 * Scope lex_aware at loops is compared with scope function of the summary itself (loops.h):
 * profiles of hpcprof have other values there.
 *
 * Memory: WINDOW_BYTES or 4 bytes per profile for each thread, 4 bytes per context, 24 per loop and
 * metric of the summary.
 */
#include "format/hpctoolkit/check/check.h"
#include "format/hpctoolkit/loops.h"
#include "model/database/block.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_BYTES = 8 << 20,
    GROUPS_PER_ITEM = 16 /* of cct.db */
};

/* Relative to the terms: the difference that another order of addition can make. */
#define LOOPS_CHECKED 1e-9

/* The accumulated values of one context and metric id. */
struct accumulator {
    double sum, squares, min, max;
    uint64_t count;
};

/* Which profiles have a metric at a context: those with the last stamp. */
struct stamps {
    uint32_t *by_profile, last;
};

struct summary {
    lode_block block;                 /* of profile 0 */
    uint32_t ids;                     /* known metric ids: accumulators per context */
    uint32_t contexts;                /* per range */
    struct accumulator *accumulators; /* [worker][context in range][id] */
    /* [worker][context in range][metric]: profiles that have the metric in any scope. */
    uint64_t *metric_seen;
    uint64_t *marks;         /* [worker][metric]: the last visit that found the metric */
    struct stamps *stamps;   /* [worker]; of cct.db only */
    struct lode_array loops; /* of struct loop_value, by index of context */
};

/* A context range being checked. */
struct window {
    struct hpct_check *check;
    const struct summary *summary;
    struct lode_report *report;
    uint32_t first, end; /* groups of the summary */
    struct accumulator *accumulators;
    uint64_t *metric_seen, *marks;
    uint64_t visits; /* groups of profiles so far */
};

static void accumulate(struct accumulator *to, double value)
{
    to->sum += value;
    to->squares += value * value;
    to->min = to->count == 0 || value < to->min ? value : to->min;
    to->max = to->count == 0 || value > to->max ? value : to->max;
    to->count++;
}

static void add_group(struct window *window, uint32_t position, const lode_block *block,
                      const lode_group *group)
{
    const struct hpct_check *check = window->check;
    struct accumulator *row = window->accumulators + (size_t)position * window->summary->ids;
    uint64_t *seen = window->metric_seen + (size_t)position * check->db->base.metric_count;
    window->visits++;
    for (uint64_t i = group->first; i < group->first + group->count; i++) {
        const struct hpct_metric_id *id = &check->values[block_value_key(block, i)];
        accumulate(&row[id->position], block_value(block, i));
        seen[id->metric] += window->marks[id->metric] != window->visits;
        window->marks[id->metric] = window->visits;
    }
}

static lode_status add_profile(struct window *window, uint32_t profile)
{
    const lode_block *summary = &window->summary->block;
    lode_block block;
    LODE_TRY(lode_profile_block(&window->check->db->base, profile, &block, window->report->error));
    uint32_t from = window->first == 0 ? 0 : block_group_key(summary, window->first);
    uint32_t at = window->first;
    for (uint32_t g = lode_block_seek(&block, 0, from); g < block.group_count; g++) {
        uint32_t key = block_group_key(&block, g);
        if (window->end < summary->group_count && key >= block_group_key(summary, window->end))
            break;
        at = lode_block_seek(summary, at, key);
        lode_group group;
        LODE_TRY(lode_block_group(&block, g, &group, window->report->error));
        if (at < window->end && block_group_key(summary, at) == key)
            add_group(window, at - window->first, &block, &group);
        else
            LODE_TRY(lode_report_add(window->report, RULE_SUMMARY_LACKS, block.file, LODE_NO_OFFSET,
                                     "context %" PRIu32 ": profile %" PRIu32 " has %" PRIu64
                                     " values, the summary has none",
                                     key, profile, group.count));
    }
    return LODE_OK;
}

static double expected_value(const lode_metric_statistic *statistic, const struct accumulator *from,
                             uint64_t metric_seen)
{
    enum lode_formula formula = lode_formula_of(statistic->formula);
    /* Counts profiles that have the metric here in any scope. */
    if (formula == LODE_FORMULA_ONE)
        return statistic->combine == LODE_COMBINE_SUM ? (double)metric_seen : 1.0;
    bool square = formula == LODE_FORMULA_SQUARE;
    double a = square ? from->min * from->min : from->min, b = square ? from->max * from->max : from->max;
    switch (statistic->combine) {
    case LODE_COMBINE_MIN:
        return fmin(a, b);
    case LODE_COMBINE_MAX:
        return fmax(a, b);
    default:
        return square ? from->squares : from->sum;
    }
}

/* The rule that a wrong statistic breaks. Known errors of hpcprof have their own rules. */
static unsigned rule_of_difference(const lode_metric_statistic *statistic, const struct accumulator *from,
                                   uint64_t metric_seen, double stored, double expected, const char **why)
{
    enum lode_formula formula = lode_formula_of(statistic->formula);
    *why = "";
    if (formula == LODE_FORMULA_SQUARE && lode_hpct_close_enough(stored, from->sum)) {
        *why = "; hpcprof stores the plain sum here, so deviations computed from it are wrong";
        return RULE_SUMMARY_SQUARES;
    }
    bool forgotten = stored == 0.0 || (stored > from->min && stored <= from->max);
    if (statistic->combine == LODE_COMBINE_MIN && from->count < metric_seen && forgotten) {
        *why = "; hpcprof forgets a minimum when a profile has the metric but not in this scope";
        return RULE_SUMMARY_MINIMUM;
    }
    if (statistic->scope->type == LODE_SCOPE_CUSTOM)
        return RULE_SUMMARY_LOOPS;
    return stored == 0.0 ? RULE_SUMMARY_LACKS : expected == 0.0 ? RULE_SUMMARY_EXTRA : RULE_SUMMARY_DIFFERS;
}

static lode_status differs(const struct window *window, uint32_t context, const lode_metric *metric,
                           const lode_metric_statistic *statistic, double stored, double expected,
                           unsigned rule, const char *why)
{
    const char *combine = lode_combine_name(statistic->combine);
    return lode_report_add(window->report, rule, window->summary->block.file, LODE_NO_OFFSET,
                           "context %" PRIu32
                           ", '%s', scope %s, %s of %s: %.17g is stored, profiles give %.17g%s",
                           context, metric->name, statistic->scope->name, combine ? combine : "?",
                           statistic->formula, stored, expected, why);
}

static bool is_known(const lode_metric_statistic *statistic)
{
    return lode_formula_of(statistic->formula) != LODE_FORMULA_OTHER && lode_combine_name(statistic->combine);
}

/* The accumulator of a metric under a scope, or NULL if profiles do not have it. */
static const struct accumulator *accumulator_of(const struct window *window, const struct accumulator *row,
                                                const lode_metric *metric, const lode_scope *scope)
{
    for (uint32_t i = 0; i < metric->scope_count; i++)
        if (metric->scopes[i].scope == scope)
            return &row[window->check->values[metric->scopes[i].id].position];
    return NULL;
}

/* ---- loops ---- */

/* The sum statistic of scope function, or NULL. */
static const lode_metric_statistic *function_sum(const lode_metric *metric)
{
    for (uint32_t i = 0; i < metric->statistic_count; i++) {
        const lode_metric_statistic *statistic = &metric->statistics[i];
        if (statistic->scope->type == LODE_SCOPE_TRANSITIVE && statistic->scope->propagation_index == 0 &&
            statistic->combine == LODE_COMBINE_SUM &&
            lode_formula_of(statistic->formula) == LODE_FORMULA_VALUE)
            return statistic;
    }
    return NULL;
}

static lode_status add_loop(struct summary *summary, const lode_database *db, const lode_context *loop,
                            uint32_t enclosing, lode_error *error)
{
    lode_group group;
    lode_status found = lode_block_find(&summary->block, loop->id, &group, error);
    if (found != LODE_OK)
        return found == LODE_NOT_FOUND ? LODE_OK : found;
    for (uint32_t m = 0; m < db->metric_count; m++) {
        const lode_metric_statistic *sum = function_sum(&db->metrics[m]);
        double value;
        if (sum && lode_group_lookup(&summary->block, &group, sum->id, &value) == LODE_OK)
            LODE_TRY(lode_loops_add(&summary->loops, loop->index, enclosing, m, value, error));
    }
    return LODE_OK;
}

static lode_status find_loops(struct summary *summary, const lode_database *db, lode_error *error)
{
    const lode_context *nodes = db->tree.nodes;
    uint32_t *enclosing = calloc((size_t)db->tree.count + 1, sizeof *enclosing);
    lode_status status = enclosing ? LODE_OK : lode_fail_memory(error);
    lode_array_init(&summary->loops, sizeof(struct loop_value), SIZE_MAX);
    for (uint32_t i = 1; i < db->tree.count && status == LODE_OK; i++) {
        uint32_t parent = nodes[i].parent;
        enclosing[i] = loops_enclosing(nodes[i].propagation, parent,
                                       nodes[parent].lexical == LODE_LEXICAL_LOOP, enclosing[parent]);
        if (nodes[i].lexical == LODE_LEXICAL_LOOP)
            status = add_loop(summary, db, &nodes[i], enclosing[i], error);
    }
    free(enclosing);
    return status;
}

/* Whether a statistic is of lex_aware at a loop, which is not compared with profiles. */
static bool is_of_loop(const lode_context *context, const lode_metric *metric,
                       const lode_metric_statistic *statistic)
{
    return statistic->scope->type == LODE_SCOPE_CUSTOM && strcmp(statistic->scope->name, LOOPS_SCOPE) == 0 &&
           context && context->lexical == LODE_LEXICAL_LOOP &&
           lode_formula_of(statistic->formula) != LODE_FORMULA_ONE && function_sum(metric);
}

/* Only the sum of a loop is known. */
static bool is_right_at_loop(const struct summary *summary, const lode_context *context,
                             const lode_metric *metric, const lode_metric_statistic *statistic, double stored)
{
    if (statistic->combine != LODE_COMBINE_SUM || lode_formula_of(statistic->formula) != LODE_FORMULA_VALUE)
        return true;
    const struct loop_value *loop = lode_loops_find(&summary->loops, context->index, metric->index);
    return loop ? fabs(stored - loop->value) <= LOOPS_CHECKED * fabs(loop->whole) : stored == 0.0;
}

/* ---- comparing ---- */

/* A context of the summary, and its accumulators. */
struct compared {
    const lode_context *context; /* NULL if meta.db does not list it */
    lode_group group;
    const struct accumulator *row;
    const uint64_t *seen; /* by metric */
};

static lode_status compare_statistic(const struct window *window, const struct compared *self,
                                     const lode_metric *metric, const lode_metric_statistic *statistic)
{
    const struct summary *summary = window->summary;
    const struct accumulator *from = accumulator_of(window, self->row, metric, statistic->scope);
    uint64_t seen = self->seen[metric->index];
    if (from == NULL || !is_known(statistic))
        return LODE_OK;
    double stored, expected = seen ? expected_value(statistic, from, seen) : 0.0;
    lode_status status = lode_group_lookup(&summary->block, &self->group, statistic->id, &stored);
    if (status == LODE_NOT_FOUND && expected == 0.0)
        return LODE_OK;
    if (is_of_loop(self->context, metric, statistic)) {
        if (is_right_at_loop(summary, self->context, metric, statistic, stored))
            return LODE_OK;
        return differs(window, self->group.key, metric, statistic, stored, expected, RULE_SUMMARY_LOOPS,
                       "; it differs from scope function without inner loops");
    }
    if (lode_hpct_close_enough(stored, expected))
        return LODE_OK;
    const char *why;
    unsigned rule = rule_of_difference(statistic, from, seen, stored, expected, &why);
    return differs(window, self->group.key, metric, statistic, stored, expected, rule, why);
}

static lode_status compare_context(const struct window *window, uint32_t group_index)
{
    const lode_database *db = &window->check->db->base;
    uint32_t position = group_index - window->first;
    struct compared self = {.row = window->accumulators + (size_t)position * window->summary->ids,
                            .seen = window->metric_seen + (size_t)position * db->metric_count};
    LODE_TRY(lode_block_group(&window->summary->block, group_index, &self.group, window->report->error));
    uint32_t index = lode_context_tree_find(&db->tree, self.group.key);
    self.context = index == LODE_NO_INDEX ? NULL : &db->tree.nodes[index];
    for (uint32_t m = 0; m < db->metric_count; m++)
        for (uint32_t i = 0; i < db->metrics[m].statistic_count; i++)
            LODE_TRY(compare_statistic(window, &self, &db->metrics[m], &db->metrics[m].statistics[i]));
    return LODE_OK;
}

static lode_status check_window(struct hpct_check *check, void *context, uint64_t item, unsigned worker,
                                struct lode_report *report)
{
    const struct summary *summary = context;
    const lode_database *db = &check->db->base;
    uint64_t first = item * summary->contexts, end = first + summary->contexts;
    struct window window = {
        .check = check,
        .summary = summary,
        .report = report,
        .first = (uint32_t)first,
        .end = (uint32_t)(end < summary->block.group_count ? end : summary->block.group_count)};
    size_t row = (size_t)worker * summary->contexts;
    window.accumulators = summary->accumulators + row * summary->ids;
    window.metric_seen = summary->metric_seen + row * db->metric_count;
    window.marks = summary->marks + (size_t)worker * db->metric_count;
    for (uint32_t m = 0; m < db->metric_count; m++)
        window.marks[m] = 0;
    for (size_t i = 0; i < (size_t)summary->contexts * summary->ids; i++)
        window.accumulators[i] = (struct accumulator){0};
    for (size_t i = 0; i < (size_t)summary->contexts * db->metric_count; i++)
        window.metric_seen[i] = 0;
    for (uint32_t p = 1; p < db->profile_count; p++)
        if (!lode_profile_is_summary(db, p))
            LODE_TRY(add_profile(&window, p));
    for (uint32_t g = window.first; g < window.end; g++)
        LODE_TRY(compare_context(&window, g));
    return LODE_OK;
}

/* ---- from cct.db ---- */

/* Values of one context and metric id, in the order of profiles. */
static void accumulate_column(struct accumulator *to, const uint8_t *at, uint64_t count)
{
    double first = get_f64le(at + WIRE_ContextValue_value);
    struct accumulator own = {first, first * first, first, first, count};
    for (uint64_t i = 1; i < count; i++) {
        double value = get_f64le(at + i * WIRE_ContextValue_SIZE + WIRE_ContextValue_value);
        own.sum += value;
        own.squares += value * value;
        own.min = value < own.min ? value : own.min;
        own.max = value > own.max ? value : own.max;
    }
    *to = own;
}

/* Gives profiles a stamp; returns how many did not have it. */
static uint64_t stamp_profiles(struct stamps *stamps, const uint8_t *at, uint64_t count)
{
    uint64_t fresh = 0;
    uint32_t *by_profile = stamps->by_profile, stamp = stamps->last;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t profile = get_u32le(at + i * WIRE_ContextValue_SIZE);
        fresh += by_profile[profile] != stamp;
        by_profile[profile] = stamp;
    }
    return fresh;
}

static void advance_stamp(struct stamps *stamps, uint32_t profiles)
{
    if (++stamps->last != 0)
        return;
    memset(stamps->by_profile, 0, profiles * sizeof *stamps->by_profile);
    stamps->last = 1;
}

static lode_status accumulate_metric(struct window *window, struct stamps *stamps, const lode_metric *metric,
                                     uint32_t position, const lode_block *block)
{
    uint64_t seen = 0;
    uint32_t columns = 0;
    lode_group first;
    for (uint32_t i = 0; i < metric->scope_count; i++, position++) {
        uint16_t id = metric->scopes[i].id;
        lode_group group;
        lode_status status = window->check->values[id].position == position
                                 ? lode_block_find(block, id, &group, window->report->error)
                                 : LODE_NOT_FOUND;
        if (status < 0)
            return status;
        if (status == LODE_NOT_FOUND || group.count == 0)
            continue;
        const uint8_t *at = block->values + group.first * WIRE_ContextValue_SIZE;
        accumulate_column(&window->accumulators[position], at, group.count);
        /* The profiles of the only column are known without stamps. */
        if (columns++ == 0) {
            seen = group.count;
            first = group;
            continue;
        }
        if (columns == 2) {
            advance_stamp(stamps, window->check->db->base.profile_count);
            seen = stamp_profiles(stamps, block->values + first.first * WIRE_ContextValue_SIZE, first.count);
        }
        seen += stamp_profiles(stamps, at, group.count);
    }
    window->metric_seen[metric->index] = seen;
    return LODE_OK;
}

static lode_status check_columns(struct window *window, struct stamps *stamps, uint32_t group)
{
    const struct hpct_check *check = window->check;
    const lode_database *db = &check->db->base;
    uint32_t context = block_group_key(&window->summary->block, group), position = 0;
    lode_block block = {0};
    window->first = group;
    memset(window->accumulators, 0, window->summary->ids * sizeof *window->accumulators);
    memset(window->metric_seen, 0, db->metric_count * sizeof *window->metric_seen);
    if (context < check->db->contexts.count)
        LODE_TRY(lode_context_block(db, context, &block, window->report->error));
    for (uint32_t m = 0; m < db->metric_count && block.value_count > 0; m++) {
        LODE_TRY(accumulate_metric(window, stamps, &db->metrics[m], position, &block));
        position += db->metrics[m].scope_count;
    }
    return compare_context(window, group);
}

static lode_status check_column_range(struct hpct_check *check, void *context, uint64_t item, unsigned worker,
                                      struct lode_report *report)
{
    const struct summary *summary = context;
    uint64_t first = item * GROUPS_PER_ITEM, end = first + GROUPS_PER_ITEM;
    struct window window = {.check = check,
                            .summary = summary,
                            .report = report,
                            .accumulators = summary->accumulators + (size_t)worker * summary->ids,
                            .metric_seen =
                                summary->metric_seen + (size_t)worker * check->db->base.metric_count};
    for (uint64_t g = first; g < end && g < summary->block.group_count; g++)
        LODE_TRY(check_columns(&window, &summary->stamps[worker], (uint32_t)g));
    return LODE_OK;
}

static uint64_t weigh_column_range(const struct hpct_check *check, const void *context, uint64_t item)
{
    const struct summary *summary = context;
    uint64_t first = item * GROUPS_PER_ITEM, end = first + GROUPS_PER_ITEM, sum = 0;
    for (uint64_t g = first; g < end && g < summary->block.group_count; g++) {
        uint32_t key = block_group_key(&summary->block, (uint32_t)g);
        sum += key < check->db->contexts.count ? lode_hpct_context_bytes(check, key) : 1;
    }
    return sum;
}

/* Whether cct.db can be read instead of profile.db: the summary lacks no context. */
static bool has_columns(const struct hpct_check *check, const lode_block *summary)
{
    uint32_t at = 0;
    if (!check->is_transpose)
        return false;
    for (uint32_t i = 0; i < check->db->contexts.count; i++) {
        struct wire_ContextInfo context;
        lode_hpct_context(check->db, i, &context);
        if (context.nValues == 0)
            continue;
        while (at < summary->group_count && block_group_key(summary, at) < i)
            at++;
        if (at == summary->group_count || block_group_key(summary, at) != i)
            return false;
    }
    return true;
}

static lode_status check_all_columns(struct hpct_check *check, struct summary *summary)
{
    uint32_t profiles = check->db->base.profile_count;
    lode_status status = LODE_OK;
    summary->stamps = calloc(check->threads, sizeof *summary->stamps);
    LODE_TRY_ALLOC(summary->stamps, check->report.error);
    for (unsigned i = 0; i < check->threads && status == LODE_OK; i++) {
        summary->stamps[i].by_profile = calloc(profiles, sizeof(uint32_t));
        if (summary->stamps[i].by_profile == NULL)
            status = lode_fail_memory(check->report.error);
    }
    uint64_t items = ((uint64_t)summary->block.group_count + GROUPS_PER_ITEM - 1) / GROUPS_PER_ITEM;
    if (status == LODE_OK)
        status = lode_hpct_check_items(check, &(struct hpct_items){.phase = "recomputing the summary",
                                                                   .count = items,
                                                                   .work = check_column_range,
                                                                   .context = summary,
                                                                   .weight = weigh_column_range});
    for (unsigned i = 0; i < check->threads; i++)
        free(summary->stamps[i].by_profile);
    free(summary->stamps);
    return status;
}

/* ---- all ---- */

static lode_status note_formulas(struct hpct_check *check)
{
    const lode_database *db = &check->db->base;
    for (uint32_t m = 0; m < db->metric_count; m++)
        for (uint32_t i = 0; i < db->metrics[m].statistic_count; i++)
            if (!is_known(&db->metrics[m].statistics[i]))
                LODE_TRY(lode_report_add(&check->report, RULE_SUMMARY_FORMULA,
                                         lode_hpct_specs[HPCT_META].name, LODE_NO_OFFSET,
                                         "metric '%s': the statistic '%s' is not recomputed",
                                         db->metrics[m].name, db->metrics[m].statistics[i].formula));
    return LODE_OK;
}

lode_status lode_hpct_check_summary(struct hpct_check *check)
{
    const lode_database *db = &check->db->base;
    struct summary summary = {.ids = check->value_ids};
    LODE_TRY(note_formulas(check));
    if (db->profile_count == 0 || summary.ids == 0)
        return LODE_OK;
    LODE_TRY(lode_profile_block(db, 0, &summary.block, check->report.error));
    size_t bytes = summary.ids * sizeof(struct accumulator) + db->metric_count * sizeof(uint64_t);
    uint64_t fits = WINDOW_BYTES / bytes, needed = summary.block.group_count ? summary.block.group_count : 1;
    bool columns = has_columns(check, &summary.block);
    fits = columns ? 1 : fits;
    summary.contexts = (uint32_t)(fits < 1 ? 1 : fits < needed ? fits : needed);
    uint64_t items = (needed + summary.contexts - 1) / summary.contexts;
    size_t rows = (size_t)summary.contexts * check->threads;
    summary.accumulators = calloc(rows * summary.ids, sizeof *summary.accumulators);
    summary.metric_seen = calloc(rows * db->metric_count, sizeof *summary.metric_seen);
    summary.marks = calloc((size_t)check->threads * db->metric_count, sizeof *summary.marks);
    lode_status status = summary.accumulators && summary.metric_seen && summary.marks
                             ? LODE_OK
                             : lode_fail_memory(check->report.error);
    if (status == LODE_OK)
        status = find_loops(&summary, db, check->report.error);
    if (status == LODE_OK)
        status = columns
                     ? check_all_columns(check, &summary)
                     : lode_hpct_check_items(check, &(struct hpct_items){.phase = "recomputing the summary",
                                                                         .count = items,
                                                                         .work = check_window,
                                                                         .context = &summary});
    lode_array_free(&summary.loops);
    free(summary.accumulators);
    free(summary.metric_seen);
    free(summary.marks);
    return status;
}
