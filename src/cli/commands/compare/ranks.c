/* SPDX-License-Identifier: BSD-3-Clause */
/* In how many profiles the difference of a row has its sign. */
#include "alloc.h"
#include "commands/compare/compare.h"
#include "commands/compare/spread.h"
#include "output/report.h"
#include "text/label.h"

#include <stdlib.h>
#include <string.h>

#define PROFILES_MAX 4096 /* beyond, it would take longer than all the rest */
#define ROWS_AT_ONCE 256  /* their values by profile are in memory */

typedef struct rank_pairs {
    compare_job *job;
    spread_side sides[2];
    size_t (*pairs)[2]; /* entries of base and new with one name */
    size_t count;
} rank_pairs;

static int is_asked(const compare_job *job)
{
    if (job->by != LODE_BY_FUNCTION || job->base_runs + job->new_runs != 2 ||
        !side_has_only(&job->sides, LODE_STORE_DATABASE) || session_has_window(&job->sides.runs[0].database))
        return 0;
    for (size_t i = 0; i < 2; i++)
        if (lode_database_profile_count(job->sides.runs[i].database.db) > PROFILES_MAX)
            return 0;
    return 1;
}

static void pair_names(rank_pairs *p)
{
    const spread_side *base = &p->sides[0], *other = &p->sides[1];
    size_t i = 0, k = 0;
    p->pairs = alloc_array(base->count + 1, sizeof *p->pairs);
    while (i < base->count && k < other->count) {
        int order = strverscmp(base->entries[i].name, other->entries[k].name);
        if (order == 0) {
            p->pairs[p->count][0] = i;
            p->pairs[p->count++][1] = k;
        }
        i += order <= 0;
        k += order >= 0;
    }
}

/* The values of a row by entry: those of its profiles. */
static void add_profiles(const spread_side *side, const double *values, double *entries)
{
    memset(entries, 0, (side->count + 1) * sizeof *entries);
    for (uint32_t i = 0; i < side->profiles; i++)
        if (side->by_profile[i])
            entries[side->by_profile[i] - 1] += values[i];
}

static void count_signs(const rank_pairs *p, compare_row *row, double *const entries[2])
{
    for (size_t i = 0; i < p->count; i++) {
        double base = entries[0][p->pairs[i][0]], new_value = entries[1][p->pairs[i][1]];
        row->ranks += base != 0 || new_value != 0;
        row->ranks_same += row->amounts.difference > 0 ? new_value > base : new_value < base;
    }
}

/* Some rows in each profile of one side. */
static int read_side(const rank_pairs *p, size_t side, size_t metric, const size_t *rows, size_t count,
                     double *values)
{
    lode_compare_by_profile_options options = LODE_COMPARE_BY_PROFILE_OPTIONS_INIT;
    lode_error error = {0};
    session *s = &p->job->sides.runs[side].database;
    options.metric = metric;
    options.rows = rows;
    options.row_count = count;
    options.is_inclusive = p->job->options->inclusive;
    options.selection = s->selection;
    options.threads = (unsigned)(s->shared->threads < 4096 ? s->shared->threads : 4096);
    options.on_progress = progress_report;
    options.user = &s->progress;
    lode_status status =
        lode_comparison_by_profile(p->job->comparison, (lode_compare_side)side, 0, &options, values, &error);
    progress_clear(&s->progress);
    return status == LODE_OK ? EXIT_DONE : session_error(s, &error);
}

static int count_rows(const rank_pairs *p, compare_row *rows, size_t count, size_t metric)
{
    size_t *numbers = alloc_array(count, sizeof *numbers);
    double *values[2], *entries[2];
    int status = EXIT_DONE;
    for (size_t i = 0; i < count; i++)
        numbers[i] = rows[i].index;
    for (size_t side = 0; side < 2; side++) {
        values[side] = alloc_array(count * p->sides[side].profiles + 1, sizeof *values[side]);
        entries[side] = alloc_array(p->sides[side].count + 1, sizeof *entries[side]);
        if (status == EXIT_DONE)
            status = read_side(p, side, metric, numbers, count, values[side]);
    }
    for (size_t i = 0; i < count && status == EXIT_DONE; i++) {
        for (size_t side = 0; side < 2; side++)
            add_profiles(&p->sides[side], values[side] + i * p->sides[side].profiles, entries[side]);
        count_signs(p, &rows[i], entries);
    }
    for (size_t side = 0; side < 2; side++) {
        free(values[side]);
        free(entries[side]);
    }
    free(numbers);
    return status;
}

int compare_count_ranks(compare_job *job, compare_table *tables, size_t shown_most)
{
    rank_pairs p = {.job = job};
    int status = EXIT_DONE;
    if (!is_asked(job))
        return EXIT_DONE;
    for (size_t i = 0; i < 2 && status == EXIT_DONE; i++)
        status = spread_side_open(&p.sides[i], &job->sides.runs[i], "profile");
    if (status == EXIT_DONE)
        pair_names(&p);
    for (size_t i = 0; i < job->sides.metric_count && p.count > 1; i++) {
        size_t count = tables[i].count < shown_most ? tables[i].count : shown_most;
        for (size_t k = 0; k < count && status == EXIT_DONE; k += ROWS_AT_ONCE)
            status =
                count_rows(&p, &tables[i].rows[k], count - k < ROWS_AT_ONCE ? count - k : ROWS_AT_ONCE, i);
    }
    spread_side_free(&p.sides[0]);
    spread_side_free(&p.sides[1]);
    free(p.pairs);
    return status;
}
