/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts for people and for programs. */
#include "commands/gate/gate.h"

#include "options/filter.h"
#include "output/out.h"
#include "output/report.h"

#include <lode/private/statistics.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MATCHED_LEAST 0.8 /* below this, a warning */

static const char *const outcome_names[] = {"pass", "fail", "cannot tell"};

const char *gate_outcome_name(gate_outcome outcome)
{
    return outcome_names[outcome];
}

void gate_subject(const gate_job *job, const gate_verdict *verdict, char *buffer, size_t capacity)
{
    const char *metric = verdict->metric == SIZE_MAX ? NULL : job->sides.metrics[verdict->metric].name;
    const char *name = verdict->name ? verdict->name : "everything";
    switch (verdict->limit->kind) {
    case GATE_ABSENT:
        (void)snprintf(buffer, capacity, "%.1000s", name);
        break;
    case GATE_IMBALANCE:
        (void)snprintf(buffer, capacity, "imbalance of %.200s", metric ? metric : "");
        break;
    case GATE_SUBTREE:
        (void)snprintf(buffer, capacity, "%.200s of %.1000s and what it calls", metric ? metric : "", name);
        break;
    case GATE_TOTAL:
    case GATE_METRIC:
    case GATE_FUNCTIONS:
    case GATE_FUNCTION:
        (void)snprintf(buffer, capacity, "%.200s of %.1000s", metric ? metric : "", name);
        break;
    }
}

static void describe_judged(const gate_job *job, const gate_verdict *verdict, char *buffer, size_t capacity)
{
    const lode_judgement *judgement = &verdict->judgement;
    char numbers[6 * NUMBER_SIZE], visible[64], runs[COUNTED_SIZE];
    judged_numbers(numbers, sizeof numbers, judgement, job->sides.metrics[verdict->metric].unit);
    judged_visible(visible, sizeof visible, judgement);
    judged_runs(runs, sizeof runs, verdict->outcome == GATE_CANNOT_TELL ? verdict->needed_runs : 0);
    (void)snprintf(buffer, capacity, "%s, limit %g%%; %s%s%s%s%.60s%s%.200s", numbers,
                   100 * verdict->limit->amount, visible, runs[0] ? "; " : "", runs,
                   verdict->reason ? "; " : "", verdict->reason ? verdict->reason : "",
                   verdict->within ? "; moved within " : "", verdict->within ? verdict->within : "");
}

void gate_numbers(const gate_job *job, const gate_verdict *verdict, char *buffer, size_t capacity)
{
    if (verdict->is_judged)
        describe_judged(job, verdict, buffer, capacity);
    else if (verdict->limit->kind == GATE_IMBALANCE)
        (void)snprintf(buffer, capacity, "%.1f%% -> %.1f%%, limit %g%%", 100 * verdict->judgement.base,
                       100 * verdict->judgement.new_value, 100 * verdict->limit->amount);
    else
        (void)snprintf(buffer, capacity, "%s", verdict->reason ? verdict->reason : "");
}

/* ---- text ---- */

static void say_matched(out *o, const gate_job *job)
{
    for (size_t i = 0; i < job->sides.metric_count; i++) {
        double base = lode_comparison_matched(job->comparison, LODE_BASE, i);
        double now = lode_comparison_matched(job->comparison, LODE_NEW, i);
        out_line(o, "matched by %s: %.1f%% of base, %.1f%% of new", job->sides.metrics[i].name, 100 * base,
                 100 * now);
        if (base < MATCHED_LEAST || now < MATCHED_LEAST)
            out_say(o, "warning: less than 80%% is matched: functions were renamed, or the programs differ");
    }
}

/* Of many functions, those that are beyond the limit, whether that is sure or not. */
static int is_shown(const gate_job *job, const gate_verdict *verdict)
{
    if (verdict->limit->kind != GATE_FUNCTIONS || verdict->outcome == GATE_FAIL || job->call->shared->verbose)
        return 1;
    return verdict->outcome == GATE_CANNOT_TELL &&
           verdict->judgement.ratio.value > 1 + verdict->limit->amount;
}

static void say_verdict(out *o, const gate_job *job, const gate_verdict *verdict)
{
    static const out_style styles[] = {STYLE_PLAIN, STYLE_ERROR, STYLE_WARNING};
    static const char *const words[] = {"pass  ", "FAIL  ", "~     "};
    char subject[GATE_LINE_MAX + 200], numbers[512];
    gate_subject(job, verdict, subject, sizeof subject);
    gate_numbers(job, verdict, numbers, sizeof numbers);
    out_piece(o, styles[verdict->outcome], words[verdict->outcome]);
    out_line(o, "%s: %s", subject, numbers);
}

/* One line for all functions of a metric. */
static void say_functions(out *o, const gate_job *job, const gate_limit *limit, size_t metric)
{
    size_t counts[3] = {0};
    double least = HUGE_VAL, most = 0;
    for (size_t i = 0; i < job->count; i++) {
        const gate_verdict *verdict = &job->verdicts[i];
        if (verdict->limit != limit || verdict->metric != metric)
            continue;
        counts[verdict->outcome]++;
        least = fmin(least, verdict->judgement.smallest_visible);
        most = fmax(most, verdict->judgement.smallest_visible);
    }
    size_t count = counts[GATE_PASS] + counts[GATE_FAIL] + counts[GATE_CANNOT_TELL];
    char visible[100] = "";
    if (count > 0 && most > 0 && isfinite(least))
        (void)snprintf(visible, sizeof visible, "; visible from %.1f%% to %.1f%%", 100 * least, 100 * most);
    if (count > 0 && isfinite(least) && !isfinite(most))
        (void)snprintf(visible, sizeof visible, "; visible from %.1f%%", 100 * least);
    if (count > 0 && !isfinite(least))
        (void)snprintf(visible, sizeof visible, "; no change is visible");
    out_line(o, "      %s of %s of at least %g%%: %s within %g%%, %s beyond, %s cannot tell%s",
             job->sides.metrics[metric].name, COUNTED(count, "function", "functions"),
             100 * job->limits.min_share, GROUPED(counts[GATE_PASS]), 100 * limit->amount,
             GROUPED(counts[GATE_FAIL]), GROUPED(counts[GATE_CANNOT_TELL]), visible);
}

static void say_runs(out *o, const gate_job *job)
{
    out_line(o, "base: %s, new: %s", COUNTED(job->base_runs, "run", "runs"),
             COUNTED(job->new_runs, "run", "runs"));
    if (job->limits.statistic != STATISTIC_SUM)
        out_line(o, "costs of a run: the %s over its profiles", statistic_choices[job->limits.statistic]);
}

static void say_result(out *o, const gate_job *job)
{
    int is_single = job->base_runs == 1 && job->new_runs == 1, has_tests = job->rows > 0;
    if (is_single && has_tests)
        out_say(o, "note: with one run a side, run-to-run noise is not known%s",
                job->limits.statistic == STATISTIC_SUM ? "; intervals are those of the sampling error" : "");
    if (has_tests && !is_single)
        out_say(o, "%s together raise a false alarm in at most %g%% of comparisons",
                COUNTED(job->rows, "test", "tests"), 100 * job->limits.level);
    int has_failed =
        job->outcomes[GATE_FAIL] > 0 || (job->limits.fails_unsure && job->outcomes[GATE_CANNOT_TELL]);
    const char *word = has_failed ? "failed" : "passed";
    int is_text = out_format_of(o) == OUT_TEXT;
    if (is_text)
        out_piece(o, has_failed ? STYLE_ERROR : STYLE_HEADING, word);
    out_line(o, "%s: %s within limits, %s beyond, %s cannot tell", is_text ? "" : word,
             GROUPED(job->outcomes[GATE_PASS]), GROUPED(job->outcomes[GATE_FAIL]),
             GROUPED(job->outcomes[GATE_CANNOT_TELL]));
}

/* ---- tables ---- */

static const out_column columns[] = {
    {"outcome", "Outcome", OUT_STRING, OUT_DATA_ONLY},
    {"limit", "Limit", OUT_STRING, OUT_DATA_ONLY},
    {"subject", "Subject", OUT_STRING, OUT_DATA_ONLY},
    {"name", "Name", OUT_STRING, OUT_DATA_ONLY},
    {"metric", "Metric", OUT_STRING, OUT_DATA_ONLY},
    {"base", "Base", OUT_REAL, OUT_DATA_ONLY},
    {"new", "New", OUT_REAL, OUT_DATA_ONLY},
    {"change_percent", "Change", OUT_PERCENT, OUT_DATA_ONLY},
    {"low_percent", "From", OUT_PERCENT, OUT_DATA_ONLY},
    {"high_percent", "To", OUT_PERCENT, OUT_DATA_ONLY},
    {"limit_percent", "Limit", OUT_PERCENT, OUT_DATA_ONLY},
    {"smallest_visible_percent", "Visible from", OUT_PERCENT, OUT_DATA_ONLY},
    {"share_percent", "Share", OUT_PERCENT, OUT_DATA_ONLY},
    {"p", "p", OUT_REAL, OUT_DATA_ONLY},
    {"method", "Method", OUT_STRING, OUT_DATA_ONLY},
    {"moved_within", "Moved within", OUT_STRING, OUT_DATA_ONLY},
    {"reason", "Reason", OUT_PROSE, OUT_DATA_ONLY},
    {"needed_runs", "Runs needed", OUT_INTEGER, OUT_DATA_ONLY},
};

static const char *method_name(const gate_verdict *verdict)
{
    return verdict->is_judged ? judged_method(&verdict->judgement) : "exact";
}

static void write_row(out *o, const gate_job *job, const gate_verdict *verdict)
{
    char limit[GATE_LINE_MAX + 100], subject[GATE_LINE_MAX + 200];
    const lode_judgement *judgement = &verdict->judgement;
    int is_judged = verdict->is_judged, is_imbalance = verdict->limit->kind == GATE_IMBALANCE;
    gate_limit_text(verdict->limit, limit, sizeof limit);
    gate_subject(job, verdict, subject, sizeof subject);
    out_row(o, STYLE_PLAIN);
    OUT_CELLS(o, gate_outcome_name(verdict->outcome), limit, subject, verdict->name,
              verdict->metric == SIZE_MAX ? NULL : job->sides.metrics[verdict->metric].name,
              is_judged || is_imbalance ? out_finite(judgement->base) : out_none(),
              is_judged || is_imbalance ? out_finite(judgement->new_value) : out_none(),
              is_judged ? out_finite(judgement->ratio.value - 1) : out_none(),
              is_judged ? out_finite(judgement->ratio.low - 1) : out_none(),
              is_judged ? out_finite(judgement->ratio.high - 1) : out_none(),
              verdict->limit->kind != GATE_ABSENT ? out_finite(verdict->limit->amount) : out_none(),
              is_judged ? out_finite(judgement->smallest_visible) : out_none(),
              is_judged ? out_finite(verdict->share) : out_none(),
              is_judged ? out_finite(verdict->adjusted) : out_none());
    OUT_CELLS(o, method_name(verdict), verdict->within, verdict->reason,
              out_u64_if(is_judged, verdict->needed_runs));
    out_row_end(o);
}

static void write_matched(out *o, const gate_job *job)
{
    static const out_column matched_columns[] = {
        {"metric", "Metric", OUT_STRING, OUT_DATA_ONLY},
        {"is_exact", "Exact", OUT_BOOL, OUT_DATA_ONLY},
        {"base_percent", "Of base", OUT_PERCENT, OUT_DATA_ONLY},
        {"new_percent", "Of new", OUT_PERCENT, OUT_DATA_ONLY},
        {"not_judged", "Not judged", OUT_PROSE, OUT_DATA_ONLY},
    };
    out_table(o, OUT_SIDE, "matched", matched_columns, 5, UNIT_COUNT);
    for (size_t i = 0; i < job->sides.metric_count; i++) {
        OUT_ROW(o, STYLE_PLAIN, job->sides.metrics[i].name, (uint64_t)job->sides.metrics[i].is_exact,
                lode_comparison_matched(job->comparison, LODE_BASE, i),
                lode_comparison_matched(job->comparison, LODE_NEW, i), job->skipped[i]);
    }
    out_table_end(o);
}

static void write_tables(out *o, const gate_job *job)
{
    int has_failed =
        job->outcomes[GATE_FAIL] > 0 || (job->limits.fails_unsure && job->outcomes[GATE_CANNOT_TELL]);
    OUT_FIELDS(o, "outcome", has_failed ? "fail" : "pass", "base_runs", job->base_runs, "new_runs",
               job->new_runs, "statistic", statistic_choices[job->limits.statistic], "level",
               job->limits.level, "tests", job->rows);
    write_matched(o, job);
    out_fact_rows(o, job->count, job->count);
    out_table(o, OUT_MAIN, "rows", columns, sizeof columns / sizeof *columns, UNIT_COUNT);
    for (size_t i = 0; i < job->count; i++)
        write_row(o, job, &job->verdicts[i]);
    out_table_end(o);
}

/* A table for a pull request: what is shown as lines of text elsewhere. */
static void write_markdown(out *o, const gate_job *job)
{
    static const out_column shown[] = {
        {"outcome", "Verdict", OUT_STRING, OUT_ALWAYS},
        {"subject", "Of", OUT_STRING, OUT_ALWAYS},
        {"numbers", "Numbers", OUT_PROSE, OUT_ALWAYS},
    };
    char subject[GATE_LINE_MAX + 200], numbers[512];
    out_table(o, OUT_MAIN, "rows", shown, 3, UNIT_COUNT);
    for (size_t i = 0; i < job->count; i++) {
        const gate_verdict *verdict = &job->verdicts[i];
        if (!is_shown(job, verdict))
            continue;
        gate_subject(job, verdict, subject, sizeof subject);
        gate_numbers(job, verdict, numbers, sizeof numbers);
        OUT_ROW(o, STYLE_PLAIN, gate_outcome_name(verdict->outcome), subject, numbers);
    }
    out_table_end(o);
}

static void say_verdicts(out *o, const gate_job *job)
{
    for (size_t i = 0; i < job->count; i++)
        if (is_shown(job, &job->verdicts[i]))
            say_verdict(o, job, &job->verdicts[i]);
}

static void say_skipped(out *o, const gate_job *job)
{
    for (size_t i = 0; i < job->sides.metric_count; i++)
        if (job->skipped[i])
            out_line(o, "not judged: %s: %s", job->sides.metrics[i].name, job->skipped[i]);
        else if (job->sides.metrics[i].is_running && job->has_default_metrics)
            out_line(o, "not judged: off-CPU time: it depends on the machine (--metric time judges it)");
    filter_say_hidden(o, lode_comparison_hidden(job->comparison));
}

void gate_print(gate_job *job)
{
    out *o = job->call->out;
    out_begin(o, SCHEMA_GATE, NULL);
    if (out_format_of(o) == OUT_JSON || out_format_of(o) == OUT_CSV) {
        write_tables(o, job);
        out_end(o);
        return;
    }
    say_runs(o, job);
    say_matched(o, job);
    if (out_format_of(o) == OUT_MARKDOWN)
        write_markdown(o, job);
    else
        say_verdicts(o, job);
    for (size_t i = 0; i < job->limits.count; i++)
        for (size_t j = 0; job->limits.limits[i].kind == GATE_FUNCTIONS && j < job->sides.metric_count; j++)
            if (!job->skipped[j])
                say_functions(o, job, &job->limits.limits[i], j);
    say_skipped(o, job);
    say_result(o, job);
    out_end(o);
}
