/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode compare --by rank`: which profiles changed, and how consistently. */
#include "alloc.h"
#include "commands/compare/compare.h"
#include "commands/compare/spread.h"
#include "commands/context/find.h"
#include "output/report.h"
#include "text/label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-14 /* relative: of sums in another order */

typedef struct profile_row {
    const spread_entry *base, *new_entry; /* NULL: only in the other one */
    double base_value, new_value, difference;
} profile_row;

typedef struct profile_answer {
    compare_job *job;
    spread_side sides[2];
    profile_row *rows;
    size_t count, contexts[2];
    size_t both, more, less;
    double median;
    lode_distribution distributions[2];
} profile_answer;

/* ---- values ---- */

static int find_contexts(profile_answer *a, size_t side, const lode_context ***contexts)
{
    context_matches matches = {0};
    lode_error error = {0};
    side_run *run = &a->job->sides.runs[side];
    const char *name = a->job->options->function;
    int status = EXIT_DONE;
    if (context_find(&matches, run->costs[0].cost, name, &error) != LODE_OK)
        status = session_error(&run->database, &error);
    *contexts = alloc_array(matches.count + 1, sizeof **contexts);
    for (size_t i = 0; i < matches.count; i++)
        if (enclosing_function(matches.items[i].context) == matches.items[i].context)
            (*contexts)[a->contexts[side]++] = matches.items[i].context;
    if (status == EXIT_DONE && a->contexts[side] == 0)
        status = report("%s: no function matches '%s'", run->path, name);
    context_matches_free(&matches);
    return status;
}

static int read_side(profile_answer *a, size_t side)
{
    const lode_context **contexts = NULL;
    const compare_options *options = a->job->options;
    side_run *run = &a->job->sides.runs[side];
    int status = spread_side_open(&a->sides[side], run, options->by);
    if (status == EXIT_DONE && options->function)
        status = find_contexts(a, side, &contexts);
    if (status == EXIT_DONE)
        status = spread_side_values(&a->sides[side], run, 0, options->inclusive, contexts, a->contexts[side]);
    free(contexts);
    return status;
}

/* ---- rows ---- */

static void add_row(profile_answer *a, const spread_entry *base, const spread_entry *new_entry)
{
    profile_row row = {.base = base, .new_entry = new_entry};
    row.base_value = base ? base->value : 0;
    row.new_value = new_entry ? new_entry->value : 0;
    row.difference = row.new_value - row.base_value;
    if (fabs(row.difference) <= ROUNDING * (fabs(row.base_value) + fabs(row.new_value)))
        row.difference = 0;
    if (base && new_entry) {
        a->both++;
        a->more += row.difference > 0;
        a->less += row.difference < 0;
    }
    a->rows[a->count++] = row;
}

/* Both sides are sorted by name. */
static void pair_entries(profile_answer *a)
{
    const spread_side *base = &a->sides[0], *other = &a->sides[1];
    size_t i = 0, k = 0;
    a->rows = alloc_array(base->count + other->count + 1, sizeof *a->rows);
    while (i < base->count || k < other->count) {
        int order = i == base->count    ? 1
                    : k == other->count ? -1
                                        : strverscmp(base->entries[i].name, other->entries[k].name);
        add_row(a, order <= 0 ? &base->entries[i] : NULL, order >= 0 ? &other->entries[k] : NULL);
        i += order <= 0;
        k += order >= 0;
    }
}

static void measure(profile_answer *a)
{
    lode_distribution differences;
    double *values = alloc_array(a->count + 1, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++)
        if (a->rows[i].base && a->rows[i].new_entry)
            values[count++] = a->rows[i].difference;
    lode_distribution_of(&differences, values, count);
    a->median = differences.p50;
    for (size_t side = 0; side < 2; side++) {
        for (count = 0; count < a->sides[side].count; count++)
            values[count] = a->sides[side].entries[count].value;
        lode_distribution_of(&a->distributions[side], values, count);
    }
    free(values);
}

static const char *name_of(const profile_row *row)
{
    return row->base ? row->base->name : row->new_entry->name;
}

static double sort_key(const profile_row *row, int sort)
{
    switch (sort) {
    case COMPARE_BY_RATIO:
        return row->base_value > 0 && row->new_value > 0 ? fabs(log(row->new_value / row->base_value))
                                                         : (double)INFINITY;
    case COMPARE_BY_BASE:
        return row->base_value;
    case COMPARE_BY_NEW:
        return row->new_value;
    case COMPARE_BY_NAME:
        return 0;
    default:
        return fabs(row->difference);
    }
}

static int compare_rows(const void *left, const void *right, void *sort)
{
    const profile_row *a = left, *b = right;
    double x = sort_key(a, *(const int *)sort), y = sort_key(b, *(const int *)sort);
    return x > y ? -1 : x < y ? 1 : strverscmp(name_of(a), name_of(b));
}

/* ---- output ---- */

static const out_column columns[] = {
    {"base", "Base", OUT_REAL, OUT_ALWAYS},
    {"new", "New", OUT_REAL, OUT_ALWAYS},
    {"difference", "Difference", OUT_CHANGE, OUT_ALWAYS},
    {"ratio", "Change", OUT_RATIO, OUT_ALWAYS},
    {"name", "Profile", OUT_STRING, OUT_ALWAYS},
    {"only_in", "", OUT_STRING, OUT_DATA_ONLY},
};
#define COLUMN_COUNT (sizeof columns / sizeof *columns)

static void write_row(out *o, const profile_row *row)
{
    OUT_ROW(o,
            row->difference > 0   ? STYLE_HOT
            : row->difference < 0 ? STYLE_SERIES
                                  : STYLE_DIM,
            row->base_value, row->new_value, row->difference,
            row->base_value != 0 || (row->new_value != 0 && out_is_prose(o))
                ? out_real(row->new_value / row->base_value)
                : out_none(),
            name_of(row),
            !row->new_entry ? "base"
            : !row->base    ? "new"
                            : NULL);
}

static void write_heading(out *o, const profile_answer *a)
{
    const side_metric *metric = &a->job->sides.metrics[0];
    const lode_distribution *base = &a->distributions[0], *other = &a->distributions[1];
    char median[NUMBER_SIZE], before[NUMBER_SIZE], after[NUMBER_SIZE];
    const char *function = a->job->options->function;
    format_amount(median, a->median, metric->unit);
    format_percent(before, base->imbalance);
    format_percent(after, other->imbalance);
    OUT_FIELDS(o, "metric", metric->name, "function", function, "matched_count", a->both, "more_count",
               a->more, "less_count", a->less, "median_difference", a->median, "base_imbalance",
               base->imbalance, "new_imbalance", other->imbalance);
    out_gap(o);
    out_say(o, "%s%s%s by %s", metric->name, function ? " of " : "", function ? function : "",
            a->job->by_name);
    out_say(o, "more in %zu, less in %zu of %zu that both have; median difference %s%s", a->more, a->less,
            a->both, a->median > 0 ? "+" : "", median);
    out_say(o, "imbalance (max/mean - 1): %s in base, %s in new", before, after);
    out_gap(o);
}

static void write_answer(out *o, const profile_answer *a)
{
    uint64_t limit = a->job->call->shared->limit;
    size_t shown = limit && limit < a->count ? (size_t)limit : a->count;
    out_begin(o, SCHEMA_COMPARE_PROFILES, NULL);
    compare_heading(o, a->job);
    write_heading(o, a);
    out_fact_rows(o, shown, a->count);
    out_table(o, OUT_MAIN, "rows", columns, COLUMN_COUNT, a->job->sides.metrics[0].unit);
    for (size_t i = 0; i < shown; i++)
        write_row(o, &a->rows[i]);
    out_table_end(o);
    out_shown(o, shown, a->count, "rows");
    if (a->both == 0)
        out_say(o, "warning: no profile of base has the ids of one of new");
    out_end(o);
}

int compare_print_profiles(compare_job *job)
{
    profile_answer a = {.job = job};
    int sort = job->call->shared->sort, status = EXIT_DONE;
    if (!side_has_only(&job->sides, LODE_STORE_DATABASE))
        return report("--by %s is for databases; 'lode build' writes one from a recording", job->by_name);
    if (job->base_runs + job->new_runs != 2 || job->sides.metric_count != 1)
        return report("--by %s is for one run of each and one metric", job->by_name);
    for (size_t i = 0; i < 2 && status == EXIT_DONE; i++)
        status = read_side(&a, i);
    if (status == EXIT_DONE) {
        pair_entries(&a);
        measure(&a);
        if (a.count)
            qsort_r(a.rows, a.count, sizeof *a.rows, compare_rows, &sort);
        write_answer(job->call->out, &a);
    }
    spread_side_free(&a.sides[0]);
    spread_side_free(&a.sides[1]);
    free(a.rows);
    return status;
}
