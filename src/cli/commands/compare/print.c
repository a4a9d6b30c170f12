/* SPDX-License-Identifier: BSD-3-Clause */
/* A comparison as a table, and what stands above and below it. */
#include "commands/compare/compare.h"

#include "alloc.h"
#include "options/filter.h"
#include "output/out.h"
#include "output/report.h"
#include "text/label.h"

#include <lode/private/statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_MATCHED 0.8 /* of either side; below, a comparison says little */
#define STYLE_FASTER  STYLE_SERIES

const char *compare_verdict_word(const side_metric *metric, lode_verdict verdict)
{
    int is_time = metric->unit == UNIT_SECONDS || metric->unit == UNIT_NANOSECONDS;
    switch (verdict) {
    case LODE_VERDICT_LESS:
        return is_time ? "faster" : "less";
    case LODE_VERDICT_MORE:
        return is_time ? "slower" : "more";
    case LODE_VERDICT_SAME:
        return "same";
    case LODE_VERDICT_CANNOT_TELL:
        break;
    }
    return "~";
}

/* ---- above ---- */

static size_t shown_count(const compare_job *job, const compare_table *table)
{
    uint64_t limit = job->call->shared->limit;
    return limit && limit < table->count ? (size_t)limit : table->count;
}

static const char *kind_of(const side_run *run)
{
    return run->kind == LODE_STORE_RECORDING ? "recording" : "database";
}

static void write_stores(out *o, const compare_job *job, const char *key, size_t first, size_t count)
{
    int is_text = out_format_of(o) == OUT_TEXT;
    if (out_format_of(o) == OUT_JSON) {
        out_break(o);
        out_array(o, key);
    }
    for (size_t i = first; i < first + count; i++) {
        const side_run *run = &job->sides.runs[i];
        uint32_t profiles = lode_cost_profiles(run->costs[0].cost);
        char words[COUNTED_SIZE];
        if (out_format_of(o) == OUT_JSON) {
            OUT_OBJECT(o, NULL, "store", run->path, "kind", kind_of(run), "profiles", profiles);
        }
        out_entry(o, i == first || !is_text ? key : "", "%s (%s)", run->path,
                  run->kind == LODE_STORE_RECORDING
                      ? rec_count_tracks(words, &run->recording, rec_track_count(&run->recording))
                      : format_counted(words, profiles, "profile", "profiles"));
    }
    if (out_format_of(o) == OUT_JSON)
        out_array_end(o);
}

void compare_heading(out *o, const compare_job *job)
{
    out_labels(o, 6);
    write_stores(o, job, "base", 0, job->base_runs);
    write_stores(o, job, "new", job->base_runs, job->new_runs);
    OUT_FIELDS(o, "by", job->by_name, "selection", job->call->shared->profiles, "is_inclusive",
               job->options->inclusive, "is_normalized", job->options->normalize, "statistic",
               statistic_choices[job->options->statistic], "confidence_percent",
               100 * job->options->confidence);
}

/* Rows that changed, largest first: what they are of the change of the total. */
static void say_explained(out *o, const compare_table *table)
{
    enum {
        SHOWN = 3
    };
    size_t count = 0;
    double sum = 0;
    char names[SHOWN * 120] = "", share[NUMBER_SIZE];
    for (size_t i = 0; i < table->count; i++) {
        const compare_amounts *amounts = &table->rows[i].amounts;
        if (amounts->verdict != LODE_VERDICT_LESS && amounts->verdict != LODE_VERDICT_MORE)
            continue;
        sum += amounts->difference;
        size_t length = strlen(names);
        if (count++ < SHOWN)
            (void)snprintf(names + length, sizeof names - length, "%s%.100s", length ? ", " : "",
                           table->rows[i].name);
    }
    if (count == 0)
        return;
    format_percent(share, table->total.difference != 0 ? sum / table->total.difference : 0);
    int is_sure = table->total.verdict == LODE_VERDICT_LESS || table->total.verdict == LODE_VERDICT_MORE;
    out_say(o, "%s changed beyond noise%s%s: %s%s", COUNTED(count, "row", "rows"),
            is_sure ? " and explain " : "", is_sure ? share : "", names, count > SHOWN ? ", ..." : "");
}

static void say_speed(out *o, const compare_table *table)
{
    char change[NUMBER_SIZE], low[NUMBER_SIZE], high[NUMBER_SIZE];
    if (!table->is_equal_speed)
        return;
    judged_change(change, table->speed.value);
    judged_change(low, table->speed.low);
    judged_change(high, table->speed.high);
    out_say(
        o,
        "rows are compared at equal speed of runs: new against base %s as a whole, within noise (%s to %s)",
        change, low, high);
}

static void say_verdict(out *o, const compare_job *job, const compare_table *table)
{
    const compare_amounts *total = &table->total;
    const side_metric *metric = &job->sides.metrics[table->metric];
    char visible[NUMBER_SIZE], low[NUMBER_SIZE], high[NUMBER_SIZE], runs[COUNTED_SIZE];
    if (!total->has_verdict)
        return;
    format_percent(visible, total->judgement.smallest_visible);
    format_percent(low, total->judgement.ratio.low - 1);
    format_percent(high, total->judgement.ratio.high - 1);
    out_say(o, "total: %s; interval of the change %s to %s; smallest change that these runs show: %s",
            total->verdict == LODE_VERDICT_CANNOT_TELL ? "cannot tell"
                                                       : compare_verdict_word(metric, total->verdict),
            low, high, isfinite(total->judgement.smallest_visible) ? visible : "none");
    judged_runs(runs, sizeof runs, total->judgement.needed_runs);
    if (runs[0])
        out_say(o, "%s to tell, if noise and change stay as they are", runs);
    say_explained(o, table);
    say_speed(o, table);
}

void compare_say_metric(out *o, const compare_job *job, const compare_table *table)
{
    const side_metric *metric = &job->sides.metrics[table->metric];
    const compare_amounts *total = &table->total;
    char base[NUMBER_SIZE], new_value[NUMBER_SIZE], difference[NUMBER_SIZE], ratio[NUMBER_SIZE];
    char of_base[NUMBER_SIZE], of_new[NUMBER_SIZE];
    double matched_base = lode_comparison_matched(job->comparison, LODE_BASE, table->metric);
    double matched_new = lode_comparison_matched(job->comparison, LODE_NEW, table->metric);
    format_amount(base, total->base, metric->unit);
    format_amount(new_value, total->new_value, metric->unit);
    format_amount(difference, total->difference, metric->unit);
    format_percent(ratio, total->ratio - 1);
    format_percent(of_base, matched_base);
    format_percent(of_new, matched_new);
    out_gap(o);
    if (job->options->statistic != STATISTIC_SUM)
        out_say(o, "costs of a run: the %s over its profiles", statistic_choices[job->options->statistic]);
    if (total->difference == 0)
        out_say(o, "%s: %s in base and new", metric->name, base);
    else
        out_say(o, "%s: %s in base, %s in new: %s%s (%s%s)%s", metric->name, base, new_value,
                total->difference > 0 ? "+" : "", difference, total->ratio > 1 ? "+" : "", ratio,
                total->is_beyond == 0 ? ", within sampling error" : "");
    say_verdict(o, job, table);
    if (metric->is_running && job->call->shared->metrics.count == 0)
        out_say(o, "off-CPU time is left out; '--metric time' includes it");
    out_say(o, "matched: %s of base, %s of new", of_base, of_new);
    if (matched_base < LEAST_MATCHED || matched_new < LEAST_MATCHED)
        out_say(o, "warning: less than 80%% is matched: rows may be the same code under other names (see "
                   "--explain-match and --name-rules)");
    out_gap(o);
}

/* ---- metrics as a table ---- */

static const out_column metric_columns[] = {
    {"name", "", OUT_STRING, OUT_DATA_ONLY},
    {"unit", "", OUT_STRING, OUT_DATA_ONLY},
    {"is_exact", "", OUT_BOOL, OUT_DATA_ONLY},
    {"base", "", OUT_REAL, OUT_DATA_ONLY},
    {"new", "", OUT_REAL, OUT_DATA_ONLY},
    {"difference", "", OUT_CHANGE, OUT_DATA_ONLY},
    {"ratio", "", OUT_RATIO, OUT_DATA_ONLY},
    {"gross", "", OUT_REAL, OUT_DATA_ONLY},
    {"matched_base_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"matched_new_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"sampling_error", "", OUT_REAL, OUT_DATA_ONLY},
    {"is_beyond_sampling_error", "", OUT_BOOL, OUT_DATA_ONLY},
    {"verdict", "", OUT_STRING, OUT_DATA_ONLY},
    {"p", "", OUT_REAL, OUT_DATA_ONLY},
    {"ratio_low", "", OUT_REAL, OUT_DATA_ONLY},
    {"ratio_high", "", OUT_REAL, OUT_DATA_ONLY},
    {"smallest_visible_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"needed_runs", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"unchanged_count", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"test_count", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"pooled_count", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"is_equal_speed", "", OUT_BOOL, OUT_DATA_ONLY},
    {"speed_ratio", "", OUT_REAL, OUT_DATA_ONLY},
};
#define METRIC_COLUMN_COUNT (sizeof metric_columns / sizeof *metric_columns)

/* Text says "new" where there is no ratio. */
static out_value ratio_value(const out *o, double ratio)
{
    return out_real_if(out_is_prose(o) ? !isnan(ratio) : isfinite(ratio), ratio);
}

static void sampling_cells(out *o, const compare_amounts *amounts)
{
    OUT_CELLS(o, out_finite(amounts->error), out_u64_if(amounts->is_beyond >= 0, amounts->is_beyond > 0));
}

static const char *verdict_name(lode_verdict verdict)
{
    static const char *const names[] = {"cannot tell", "same", "less", "more"};
    return names[verdict];
}

static void verdict_cells(out *o, const compare_amounts *amounts)
{
    if (!amounts->has_verdict) {
        for (int i = 0; i < 5; i++)
            OUT_CELLS(o, out_none());
        return;
    }
    OUT_CELLS(o, verdict_name(amounts->verdict), out_finite(amounts->adjusted_p),
              out_finite(amounts->judgement.ratio.low), out_finite(amounts->judgement.ratio.high),
              out_finite(amounts->judgement.smallest_visible));
}

static void write_metrics(out *o, const compare_job *job, const compare_table *tables)
{
    static const char *const units[] = {"", "s", "ns", "bytes"};
    if (out_is_prose(o))
        return;
    out_table(o, OUT_SIDE, "metrics", metric_columns, METRIC_COLUMN_COUNT, UNIT_COUNT);
    for (size_t i = 0; i < job->sides.metric_count; i++) {
        const side_metric *metric = &job->sides.metrics[i];
        const compare_amounts *total = &tables[i].total;
        out_row(o, STYLE_PLAIN);
        OUT_CELLS(o, metric->name, metric->unit == UNIT_COUNT ? NULL : units[metric->unit],
                  (uint64_t)metric->is_exact, total->base, total->new_value, total->difference,
                  out_finite(total->ratio), tables[i].gross,
                  lode_comparison_matched(job->comparison, LODE_BASE, i),
                  lode_comparison_matched(job->comparison, LODE_NEW, i));
        sampling_cells(o, total);
        verdict_cells(o, total);
        OUT_CELLS(o, out_u64_if(total->has_verdict, total->judgement.needed_runs), tables[i].unchanged,
                  tables[i].tests, tables[i].pooled_count, (uint64_t)tables[i].is_equal_speed,
                  out_finite(tables[i].has_speed ? tables[i].speed.value : (double)NAN));
        out_row_end(o);
    }
    out_table_end(o);
}

/* ---- rows ---- */

enum {
    COLUMN_SHARE = 5,
    COLUMN_RANKS = 14,
    COLUMN_MARK = 16,
    COLUMN_NAME = 17,
    COLUMN_NOTE = 18,
    COLUMN_COUNT = 30
};

static const out_column all_columns[COLUMN_COUNT] = {
    {"metric", "", OUT_STRING, OUT_DATA_ONLY},
    {"base", "Base", OUT_REAL, OUT_ALWAYS},
    {"new", "New", OUT_REAL, OUT_ALWAYS},
    {"difference", "Difference", OUT_CHANGE, OUT_ALWAYS},
    {"ratio", "Change", OUT_RATIO, OUT_ALWAYS},
    {"share_percent", "Share", OUT_PERCENT, OUT_IF_WIDE},
    {"share_of_base_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"sampling_error", "", OUT_REAL, OUT_DATA_ONLY},
    {"is_beyond_sampling_error", "", OUT_BOOL, OUT_DATA_ONLY},
    {"verdict", "", OUT_STRING, OUT_DATA_ONLY},
    {"p", "", OUT_REAL, OUT_DATA_ONLY},
    {"ratio_low", "", OUT_REAL, OUT_DATA_ONLY},
    {"ratio_high", "", OUT_REAL, OUT_DATA_ONLY},
    {"smallest_visible_percent", "", OUT_PERCENT, OUT_DATA_ONLY},
    {"ranks", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"ranks_with_sign", "", OUT_INTEGER, OUT_DATA_ONLY},
    {"mark", "", OUT_PROSE, OUT_TEXT_ONLY},
    {"name", "", OUT_STRING, OUT_ALWAYS},
    {"note", "", OUT_PROSE, OUT_NEVER},
    {"base_exclusive", "", OUT_REAL, OUT_DATA_ONLY},
    {"new_exclusive", "", OUT_REAL, OUT_DATA_ONLY},
    {"base_inclusive", "", OUT_REAL, OUT_DATA_ONLY},
    {"new_inclusive", "", OUT_REAL, OUT_DATA_ONLY},
    {"only_in", "", OUT_STRING, OUT_DATA_ONLY},
    {"moved_within", "", OUT_STRING, OUT_DATA_ONLY},
    {"perhaps_renamed", "", OUT_STRING, OUT_DATA_ONLY},
    {"base_name", "", OUT_STRING, OUT_DATA_ONLY},
    {"new_name", "", OUT_STRING, OUT_DATA_ONLY},
    {"is_pooled", "", OUT_BOOL, OUT_DATA_ONLY},
    {"needed_runs", "", OUT_INTEGER, OUT_DATA_ONLY},
};

static int is_pooled(const compare_amounts *amounts)
{
    return (amounts->judgement.flags & LODE_JUDGED_POOLED) != 0;
}

static const char *mark_of(const compare_job *job, const compare_table *table, const compare_row *row,
                           char ranks[NUMBER_SIZE])
{
    const compare_amounts *amounts = &row->amounts;
    if (amounts->has_verdict && is_pooled(amounts))
        return ".";
    if (amounts->has_verdict)
        return compare_verdict_word(&job->sides.metrics[table->metric], amounts->verdict);
    if (amounts->is_beyond == 0)
        return "~";
    if (row->ranks < 2)
        return "";
    snprintf(ranks, NUMBER_SIZE, "%u/%u", row->ranks_same, row->ranks);
    return ranks;
}

/* Columns that nothing is in are left out. */
static void set_columns(out_column columns[COLUMN_COUNT], const out *o, const compare_job *job,
                        const compare_table *table)
{
    char ranks[NUMBER_SIZE];
    int has_mark = 0, has_note = 0;
    for (size_t i = 0; i < shown_count(job, table); i++) {
        has_mark |= mark_of(job, table, &table->rows[i], ranks)[0] != '\0';
        has_note |= (table->rows[i].row->marks & (LODE_MOVED | LODE_PERHAPS_RENAMED)) != 0;
    }

    memcpy(columns, all_columns, sizeof all_columns);
    columns[COLUMN_NAME].title = title_of_hotspots(job->by);
    if (!has_mark)
        columns[COLUMN_MARK].visibility = OUT_NEVER;
    if (out_format_of(o) == OUT_MARKDOWN && has_note)
        columns[COLUMN_NOTE].visibility = OUT_TEXT_ONLY;
}

/* Colours are for what is known. */
static out_style style_of(const compare_amounts *amounts)
{
    int is_more = amounts->difference > 0;
    int is_known = amounts->has_verdict
                       ? amounts->verdict == LODE_VERDICT_LESS || amounts->verdict == LODE_VERDICT_MORE
                       : amounts->is_beyond != 0;
    if (amounts->difference == 0 || !is_known)
        return STYLE_DIM;
    return is_more ? STYLE_HOT : STYLE_FASTER;
}

/* "moved within X", "perhaps renamed from Y"; NULL if there is nothing to say. free() it. */
static char *note_of(const compare_job *job, const compare_row *row, char **renamed)
{
    char *note = NULL;
    int length = 0;
    const lode_compare_row *other = lode_comparison_at(job->comparison, row->row->renamed);
    *renamed = NULL;
    if (row->row->marks & LODE_PERHAPS_RENAMED && other)
        *renamed = compare_name(job, other, other->base_hotspot ? other->base_hotspot : other->new_hotspot);
    if (*renamed)
        length = asprintf(&note, "perhaps renamed %s %s", row->row->new_hotspot ? "from" : "to", *renamed);
    else if (row->row->marks & LODE_MOVED)
        length = asprintf(&note, "moved within %s", row->row->moved_within);
    return length < 0 ? NULL : note;
}

static void write_name_cells(out *o, const compare_job *job, const compare_row *row, const char *renamed)
{
    unsigned marks = row->row->marks;
    char *base = compare_name(job, row->row, row->row->base_hotspot);
    char *new_name = compare_name(job, row->row, row->row->new_hotspot);
    OUT_CELLS(o,
              marks & LODE_ONLY_IN_BASE  ? "base"
              : marks & LODE_ONLY_IN_NEW ? "new"
                                         : NULL,
              marks & LODE_MOVED ? row->row->moved_within : NULL, renamed, base, new_name);
    free(base);
    free(new_name);
}

/* A share of a change that nearly cancels out says nothing. */
static int has_share(const compare_table *table)
{
    return fabs(table->total.difference) >= 0.5 * table->gross && table->total.difference != 0;
}

static void write_row(out *o, const compare_job *job, const compare_table *table, const compare_row *row)
{
    const compare_amounts *amounts = &row->amounts;
    char ranks[NUMBER_SIZE], *renamed, *note = note_of(job, row, &renamed);
    out_row(o, style_of(amounts));
    OUT_CELLS(o, job->sides.metrics[table->metric].name, amounts->base, amounts->new_value,
              amounts->difference, ratio_value(o, amounts->ratio),
              has_share(table) || (!out_is_prose(o) && table->total.difference != 0)
                  ? out_real(amounts->difference / table->total.difference)
                  : out_none(),
              table->total.base != 0 ? out_real(amounts->difference / table->total.base) : out_none());
    sampling_cells(o, amounts);
    verdict_cells(o, amounts);
    OUT_CELLS(o, out_u64_if(row->ranks > 0, row->ranks), out_u64_if(row->ranks > 0, row->ranks_same),
              mark_of(job, table, row, ranks), row->name, note, row->base_exclusive, row->new_exclusive,
              row->base_inclusive, row->new_inclusive);
    write_name_cells(o, job, row, renamed);
    OUT_CELLS(o, (uint64_t)is_pooled(amounts),
              out_u64_if(amounts->has_verdict, amounts->judgement.needed_runs));
    out_row_end(o);
    if (note)
        out_note(o, STYLE_DIM, note);
    free(note);
    free(renamed);
}

static void write_table(out *o, const compare_job *job, const compare_table *table)
{
    size_t shown = shown_count(job, table);
    for (size_t i = 0; i < shown; i++)
        write_row(o, job, table, &table->rows[i]);
}

/* Text has one table for each metric, data one for all. */
static void write_rows(out *o, const compare_job *job, const compare_table *tables)
{
    out_column columns[COLUMN_COUNT];
    size_t count = job->sides.metric_count, shown = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        shown += shown_count(job, &tables[i]);
        all += tables[i].count;
    }
    memcpy(columns, all_columns, sizeof all_columns);
    out_fact_rows(o, shown, all);
    write_metrics(o, job, tables);
    if (!out_is_prose(o))
        out_table(o, OUT_MAIN, "rows", columns, COLUMN_COUNT, UNIT_COUNT);
    for (size_t i = 0; i < count; i++) {
        if (out_is_prose(o)) {
            compare_say_metric(o, job, &tables[i]);
            set_columns(columns, o, job, &tables[i]);
            if (tables[i].count)
                out_table(o, OUT_MAIN, "rows", columns, COLUMN_COUNT, job->sides.metrics[i].unit);
        }
        out_unit(o, job->sides.metrics[i].unit);
        write_table(o, job, &tables[i]);
        if (out_is_prose(o) && tables[i].count)
            out_table_end(o);
        out_shown(o, shown_count(job, &tables[i]), tables[i].count, "rows");
        if (tables[i].count == 0)
            out_say(o, "No %s changed.", job->by_name);
    }
    if (!out_is_prose(o))
        out_table_end(o);
}

/* ---- below ---- */

/* What the marks of several runs mean, and what small rows did together. */
static void say_tests(out *o, const compare_job *job, const compare_table *table)
{
    char numbers[4 * NUMBER_SIZE];
    const side_metric *metric = &job->sides.metrics[table->metric];
    if (table->tests > 0)
        out_say(o, "~: cannot tell; %s of %s together raise a false alarm in at most %g%% of comparisons",
                COUNTED(table->tests, "test", "tests"), metric->name, 100 * (1 - job->options->confidence));
    if (!table->has_pooled)
        return;
    judged_numbers(numbers, sizeof numbers, &table->pooled.judgement, metric->unit);
    out_say(o, ".: %s below 0.5%% of the total, judged together: %s, %s",
            COUNTED(table->pooled_count, "row", "rows"), numbers,
            compare_verdict_word(metric, table->pooled.verdict));
}

void compare_footing(out *o, const compare_job *job, const compare_table *tables)
{
    int has_mark = 0, has_ranks = 0, is_noisy = 0;
    for (size_t i = 0; i < job->sides.metric_count; i++) {
        is_noisy |= !job->sides.metrics[i].is_exact && tables[i].count > 0;
        for (size_t k = 0; k < shown_count(job, &tables[i]); k++) {
            has_mark |= !tables[i].rows[k].amounts.has_verdict && tables[i].rows[k].amounts.is_beyond == 0;
            has_ranks |= tables[i].rows[k].ranks > 1;
        }
    }
    filter_say_hidden(o, lode_comparison_hidden(job->comparison));
    if (job->base_runs + job->new_runs > 2) {
        for (size_t i = 0; i < job->sides.metric_count; i++)
            say_tests(o, job, &tables[i]);
        return;
    }
    if (has_mark)
        out_say(o, "~: within sampling error");
    if (has_ranks)
        out_say(o, "N/M: the difference has this sign in N of M profiles");
    if (is_noisy)
        out_say(o, "Run-to-run noise is not known: compare several runs (--base, --new).");
}

int compare_print_rows(compare_job *job)
{
    size_t count = job->sides.metric_count;
    compare_table *tables = alloc_array(count, sizeof *tables);
    int status = EXIT_DONE;
    for (size_t i = 0; i < count && status == EXIT_DONE; i++)
        status = compare_table_make(&tables[i], job, i);
    uint64_t limit = job->call->shared->limit;
    if (status == EXIT_DONE)
        status = compare_count_ranks(job, tables, limit ? (size_t)limit : SIZE_MAX);
    if (status == EXIT_DONE) {
        out *o = job->call->out;
        out_begin(o, SCHEMA_COMPARE, NULL);
        compare_heading(o, job);
        if (out_is_prose(o))
            compare_print_kinds(o, job);
        write_rows(o, job, tables);
        compare_footing(o, job, tables);
        if (!out_is_prose(o))
            compare_print_kinds(o, job);
        out_end(o);
    }
    for (size_t i = 0; i < count; i++)
        compare_table_free(&tables[i]);
    free(tables);
    return status;
}
