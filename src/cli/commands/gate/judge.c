/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verdicts: each limit, applied to the totals and functions that it is about. Judgements are those
 * of `lode compare`: of all rows of a metric together.
 */
#include "commands/gate/gate.h"

#include "alloc.h"
#include "output/report.h"
#include "text/label.h"

#include <lode/private/statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOTAL_ROW SIZE_MAX

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(alloc_array(size, 1), text, size);
}

static gate_verdict *add_verdict(gate_job *job, const gate_limit *limit, size_t metric)
{
    job->verdicts = alloc_grow(job->verdicts, &job->capacity, job->count, sizeof *job->verdicts);
    gate_verdict *verdict = &job->verdicts[job->count++];
    *verdict = (gate_verdict){.limit = limit,
                              .metric = metric,
                              .share = (double)NAN,
                              .adjusted = (double)NAN,
                              .outcome = GATE_PASS};
    return verdict;
}

/* ---- values ---- */

static judged_question question_of(const gate_job *job, size_t metric, int is_inclusive)
{
    return (judged_question){.sides = &job->sides,
                             .comparison = job->comparison,
                             .base_runs = job->base_runs,
                             .new_runs = job->new_runs,
                             .metric = metric,
                             .is_inclusive = is_inclusive,
                             .level = job->limits.level};
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* The share of a row in the total of a side: the median of its runs. */
static double share_of(const gate_job *job, size_t row, size_t first, size_t count, size_t metric)
{
    judged_question question = question_of(job, metric, 0);
    double *shares = alloc_array(count, sizeof *shares), result;
    for (size_t i = 0; i < count; i++) {
        double total = judged_value(&question, TOTAL_ROW, first + i, 0);
        shares[i] = total > 0 ? judged_value(&question, row, first + i, 0) / total : 0;
    }
    qsort(shares, count, sizeof *shares, compare_doubles);
    result = (shares[(count - 1) / 2] + shares[count / 2]) / 2;
    free(shares);
    return result;
}

static double larger_share(const gate_job *job, size_t row, size_t metric)
{
    double base = share_of(job, row, 0, job->base_runs, metric);
    double new_share = share_of(job, row, job->base_runs, job->new_runs, metric);
    return base > new_share ? base : new_share;
}

/* Judgements of a metric, made when they are first needed; NULL after a message. */
static const lode_judgements *judgements_of(gate_job *job, size_t metric, int is_inclusive)
{
    lode_judgements **judgements = &job->judgements[2 * metric + (size_t)is_inclusive];
    judged_question question = question_of(job, metric, is_inclusive);
    if (!*judgements)
        *judgements = judged_make(&question);
    return *judgements;
}

static int judge_values(gate_job *job, gate_verdict *verdict, size_t row, int is_inclusive)
{
    const lode_judgements *judgements = judgements_of(job, verdict->metric, is_inclusive);
    if (!judgements)
        return EXIT_TROUBLE;
    verdict->is_judged = 1;
    if (row == TOTAL_ROW)
        lode_judgements_total(judgements, &verdict->judgement);
    else if (lode_judgements_at(judgements, row, 1, &verdict->judgement) != LODE_OK)
        return report("row %s is not judged", GROUPED(row));
    return EXIT_DONE;
}

/* ---- rows ---- */

/* A row that a limit is about, before it is judged. */
typedef struct gate_row {
    const gate_limit *limit;
    size_t row, metric;
    int is_inclusive;
} gate_row;

typedef struct gate_rows {
    gate_row *items;
    size_t count, capacity;
} gate_rows;

static void add_row(gate_rows *rows, const gate_limit *limit, size_t row, size_t metric)
{
    rows->items = alloc_grow(rows->items, &rows->capacity, rows->count, sizeof *rows->items);
    rows->items[rows->count++] = (gate_row){limit, row, metric, limit->kind == GATE_SUBTREE};
}

/* Which metric a name means; SIZE_MAX if none of those that were opened. */
static size_t find_metric(const gate_job *job, const char *name)
{
    for (size_t i = 0; i < job->sides.metric_count; i++)
        if (strcmp(name, job->sides.metrics[i].name) == 0 ||
            (job->sides.names[i] && strcmp(name, job->sides.names[i]) == 0))
            return i;
    return SIZE_MAX;
}

/* A metric that has a limit of its own does not have the one for all. */
static int has_own_limit(const gate_job *job, size_t metric)
{
    for (size_t i = 0; i < job->limits.count; i++)
        if (job->limits.limits[i].kind == GATE_METRIC &&
            find_metric(job, job->limits.limits[i].name) == metric)
            return 1;
    return 0;
}

static lode_match best_match(const lode_matcher *matcher, const lode_compare_row *row, int is_new_only)
{
    lode_match best = LODE_MATCH_NONE, other;
    if (row->base_hotspot && !is_new_only)
        best = lode_matcher_context(matcher, row->base_hotspot->sample);
    if (row->new_hotspot && (other = lode_matcher_context(matcher, row->new_hotspot->sample)) > best)
        best = other;
    return best;
}

/*
 * The rows that a name means: those that match best. With `rows` NULL, only how many there are on
 * the new side.
 */
static int find_rows(gate_job *job, const gate_limit *limit, gate_rows *rows, size_t *found)
{
    lode_matcher *matcher;
    lode_error error = {0};
    size_t count = lode_comparison_count(job->comparison);
    lode_match best = LODE_MATCH_NONE;
    *found = 0;
    if (lode_matcher_open(&matcher, limit->name, name_form(job->names), &error) != LODE_OK)
        return report("%s", error.text);
    for (size_t i = 0; i < count; i++) {
        lode_match match = best_match(matcher, lode_comparison_at(job->comparison, i), rows == NULL);
        best = match > best ? match : best;
    }
    /* What must not appear is a whole name or a pattern, not a part of a name. */
    int is_part = best == LODE_MATCH_PART || best == LODE_MATCH_PART_ANY_CASE;
    for (size_t i = 0; best != LODE_MATCH_NONE && !(rows == NULL && is_part) && i < count; i++) {
        if (best_match(matcher, lode_comparison_at(job->comparison, i), rows == NULL) != best)
            continue;
        ++*found;
        for (size_t j = 0; rows && j < job->sides.metric_count; j++)
            if (!job->skipped[j])
                add_row(rows, limit, i, j);
    }
    lode_status status = lode_matcher_status(matcher, &error);
    lode_matcher_close(matcher);
    return status == LODE_OK ? EXIT_DONE : report("%s", error.text);
}

static int collect_named(gate_job *job, const gate_limit *limit, gate_rows *rows)
{
    size_t found;
    int status = find_rows(job, limit, rows, &found);
    if (status == EXIT_DONE && found == 0)
        return report("no function of either side is named '%.200s'", limit->name);
    return status;
}

static int judge_absent(gate_job *job, const gate_limit *limit)
{
    size_t found;
    int status = find_rows(job, limit, NULL, &found);
    gate_verdict *verdict = add_verdict(job, limit, SIZE_MAX);
    verdict->name = copy_text(limit->name);
    verdict->outcome = found ? GATE_FAIL : GATE_PASS;
    verdict->reason = found ? "it is in the new runs" : "it is not in the new runs";
    return status;
}

static void collect_functions(const gate_job *job, const gate_limit *limit, gate_rows *rows)
{
    for (size_t metric = 0; metric < job->sides.metric_count; metric++)
        for (size_t i = 0; !job->skipped[metric] && i < lode_comparison_count(job->comparison); i++)
            if (larger_share(job, i, metric) >= job->limits.min_share)
                add_row(rows, limit, i, metric);
}

/* ---- imbalance ---- */

static int imbalance_of(side_run *run, size_t metric, double *result)
{
    lode_spread_options options = LODE_SPREAD_OPTIONS_INIT;
    lode_spread *spread = NULL;
    lode_error error = {0};
    lode_distribution distribution;
    options.metric = lode_cost_metric(run->costs[metric].cost);
    options.selection = run->database.selection;
    if (lode_spread_compute(&spread, run->database.db, &options, &error) != LODE_OK)
        return session_error(&run->database, &error);
    size_t count = lode_spread_count(spread);
    double *values = alloc_array(count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = lode_spread_at(spread, i)->total;
    lode_distribution_of(&distribution, values, count);
    *result = distribution.imbalance;
    free(values);
    lode_spread_free(spread);
    return EXIT_DONE;
}

/* The median of the runs of one side. */
static int side_imbalance(gate_job *job, size_t first, size_t count, size_t metric, double *result)
{
    double *values = alloc_array(count, sizeof *values);
    int status = EXIT_DONE;
    for (size_t i = 0; i < count && status == EXIT_DONE; i++)
        status = imbalance_of(&job->sides.runs[first + i], metric, &values[i]);
    qsort(values, count, sizeof *values, compare_doubles);
    *result = (values[(count - 1) / 2] + values[count / 2]) / 2;
    free(values);
    return status;
}

static int judge_imbalance(gate_job *job, const gate_limit *limit)
{
    int status = EXIT_DONE;
    if (!side_has_only(&job->sides, LODE_STORE_DATABASE))
        return report("--max-imbalance is for databases");
    for (size_t metric = 0; metric < job->sides.metric_count && status == EXIT_DONE; metric++) {
        gate_verdict *verdict = add_verdict(job, limit, metric);
        status = side_imbalance(job, 0, job->base_runs, metric, &verdict->judgement.base);
        if (status == EXIT_DONE)
            status =
                side_imbalance(job, job->base_runs, job->new_runs, metric, &verdict->judgement.new_value);
        verdict->outcome = verdict->judgement.new_value > limit->amount ? GATE_FAIL : GATE_PASS;
    }
    return status;
}

/* ---- all limits ---- */

static int collect(gate_job *job, const gate_limit *limit, gate_rows *rows)
{
    size_t metric;
    switch (limit->kind) {
    case GATE_TOTAL:
        for (metric = 0; metric < job->sides.metric_count; metric++)
            if (!has_own_limit(job, metric) && !job->skipped[metric])
                add_row(rows, limit, TOTAL_ROW, metric);
        return EXIT_DONE;
    case GATE_METRIC:
        metric = find_metric(job, limit->name);
        if (metric != SIZE_MAX)
            add_row(rows, limit, TOTAL_ROW, metric);
        return metric != SIZE_MAX ? EXIT_DONE : report("there is no metric '%.200s'", limit->name);
    case GATE_FUNCTIONS:
        collect_functions(job, limit, rows);
        return EXIT_DONE;
    case GATE_FUNCTION:
    case GATE_SUBTREE:
        return collect_named(job, limit, rows);
    case GATE_ABSENT:
        return judge_absent(job, limit);
    case GATE_IMBALANCE:
        return judge_imbalance(job, limit);
    }
    return EXIT_DONE;
}

static char *name_of(const gate_job *job, const lode_compare_row *row)
{
    label l = {0};
    const lode_hotspot *hotspot = row->new_hotspot ? row->new_hotspot : row->base_hotspot;
    char *name = copy_text(hotspot ? label_context_as(&l, hotspot->sample, job->names) : row->key.name);
    label_free(&l);
    return name;
}

static int judge_rows(gate_job *job, const gate_rows *rows)
{
    int status = EXIT_DONE;
    for (size_t i = 0; i < rows->count && status == EXIT_DONE; i++) {
        const gate_row *row = &rows->items[i];
        gate_verdict *verdict = add_verdict(job, row->limit, row->metric);
        status = judge_values(job, verdict, row->row, row->is_inclusive);
        if (row->row == TOTAL_ROW)
            continue;
        const lode_compare_row *compared = lode_comparison_at(job->comparison, row->row);
        verdict->name = name_of(job, compared);
        verdict->share = larger_share(job, row->row, row->metric);
        const char *within = lode_comparison_moved(job->comparison, row->row, row->metric);
        if (within && !row->is_inclusive)
            verdict->within = copy_text(within);
        if ((compared->marks & LODE_PERHAPS_RENAMED) && compared->new_hotspot)
            verdict->reason = "perhaps another function of the base was renamed to this";
    }
    return status;
}

/* The tests that share the level, of all metrics that are judged. */
static size_t count_tests(const gate_job *job)
{
    size_t tests = 0;
    for (size_t i = 0; i < 2 * job->sides.metric_count; i++)
        if (job->judgements[i])
            tests += lode_judgements_tests(job->judgements[i]);
    return tests;
}

static void decide(const gate_job *job, gate_verdict *verdict)
{
    static const gate_outcome outcomes[] = {GATE_PASS, GATE_FAIL, GATE_CANNOT_TELL};
    const lode_judgement *judgement = &verdict->judgement;
    double limit = verdict->limit->amount;
    double floor = job->limits.floors[job->sides.metrics[verdict->metric].unit];
    int is_more = judgement->ratio.value > 1 + limit;
    verdict->adjusted = lode_judgement_p_beyond(judgement, limit);
    verdict->needed_runs = lode_judgement_runs(judgement, limit);
    verdict->outcome = outcomes[lode_judgement_outcome(judgement, limit)];
    if (is_more && floor > 0 && judgement->new_value - judgement->base < floor) {
        verdict->outcome = GATE_PASS;
        verdict->reason = "the change is below the floor";
    } else if (is_more && verdict->within) {
        verdict->outcome = GATE_PASS;
    } else if (verdict->outcome == GATE_FAIL && verdict->reason) {
        verdict->outcome = GATE_CANNOT_TELL;
    } else if (verdict->outcome != GATE_FAIL) {
        verdict->reason =
            judgement->method == LODE_JUDGE_NONE ? "run-to-run noise is not known: give more runs" : NULL;
    }
}

int gate_judge(gate_job *job)
{
    gate_rows rows = {0};
    int status = EXIT_DONE;
    for (size_t i = 0; i < job->limits.count && status == EXIT_DONE; i++)
        status = collect(job, &job->limits.limits[i], &rows);
    if (status == EXIT_DONE)
        status = judge_rows(job, &rows);
    free(rows.items);
    job->rows = count_tests(job);
    for (size_t i = 0; i < job->count && status == EXIT_DONE; i++) {
        if (job->verdicts[i].is_judged)
            decide(job, &job->verdicts[i]);
        job->outcomes[job->verdicts[i].outcome]++;
    }
    return status;
}
