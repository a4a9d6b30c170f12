/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the summary profile what the profiles give?
 *
 * The summary's contexts are cut into windows of a bounded number of accumulators. For a window, all profiles are
 * visited in their order, each from the first of its contexts that is in the window, and the statistics are compared.
 *
 * Memory: WINDOW_BYTES for each thread.
 */
#include "format/hpctoolkit/check.h"
#include "model/block.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    WINDOW_BYTES = 8 << 20
};

/* What the profiles give for one context and metric id. */
struct accumulator {
    double sum, squares, min, max;
    uint64_t count;
};

struct summary {
    lode_block block;                 /* of profile 0 */
    uint32_t ids;                     /* known metric ids: accumulators per context */
    uint32_t contexts;                /* per window */
    struct accumulator *accumulators; /* [worker][context in window][id] */
    /* [worker][context in window][metric]: profiles that have the metric in any scope. */
    uint64_t *metric_seen;
    uint64_t *marks; /* [worker][metric]: the last visit that met the metric */
};

/* A window under work. */
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
    /* The count is of profiles that have the metric here in any scope. */
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

/* The rule that a wrong statistic breaks. What hpcprof is known to write has rules of its own. */
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
    if (statistic->scope->type == LODE_SCOPE_CUSTOM) {
        *why = "; hpcprof stores another value in profiles for loops without samples of their own";
        return RULE_SUMMARY_LOOPS;
    }
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

static lode_status compare_context(const struct window *window, uint32_t group_index)
{
    const lode_database *db = &window->check->db->base;
    uint32_t position = group_index - window->first;
    const struct accumulator *row = window->accumulators + (size_t)position * window->summary->ids;
    const uint64_t *seen = window->metric_seen + (size_t)position * db->metric_count;
    lode_group group;
    LODE_TRY(lode_block_group(&window->summary->block, group_index, &group, window->report->error));
    for (uint32_t m = 0; m < db->metric_count; m++) {
        const lode_metric *metric = &db->metrics[m];
        for (uint32_t i = 0; i < metric->statistic_count; i++) {
            const lode_metric_statistic *statistic = &metric->statistics[i];
            const struct accumulator *from = accumulator_of(window, row, metric, statistic->scope);
            if (from == NULL || !is_known(statistic))
                continue;
            double stored, expected = seen[m] ? expected_value(statistic, from, seen[m]) : 0.0;
            lode_status status = lode_group_lookup(&window->summary->block, &group, statistic->id, &stored);
            if (status == LODE_NOT_FOUND && expected == 0.0)
                continue;
            if (lode_hpct_close_enough(stored, expected))
                continue;
            const char *why;
            unsigned rule = rule_of_difference(statistic, from, seen[m], stored, expected, &why);
            LODE_TRY(differs(window, group.key, metric, statistic, stored, expected, rule, why));
        }
    }
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
        status = lode_hpct_check_items(check, "recomputing the summary", items, check_window, &summary);
    free(summary.accumulators);
    free(summary.metric_seen);
    free(summary.marks);
    return status;
}
