/* SPDX-License-Identifier: BSD-3-Clause */
/* In how many profiles the difference of a row has its sign. */
#include "alloc.h"
#include "commands/compare.h"
#include "commands/compare_spread.h"
#include "output/report.h"
#include "text/label.h"

#include <stdlib.h>
#include <string.h>

#define PROFILES_MAX 4096 /* beyond, it would take longer than all the rest */

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

/* What lies below them, up to the next function, is part of them. */
static size_t only_functions(const lode_context **contexts, size_t count)
{
    size_t taken = 0;
    for (size_t i = 0; i < count; i++)
        if (enclosing_function(contexts[i]) == contexts[i])
            contexts[taken++] = contexts[i];
    return taken;
}

static int read_side(rank_pairs *p, const compare_row *row, size_t side, size_t metric)
{
    lode_error error = {0};
    compare_job *job = p->job;
    size_t count = 0;
    lode_status status = lode_comparison_contexts(job->comparison, row->index, (lode_compare_side)side, 0,
                                                  NULL, 0, &count, &error);
    const lode_context **contexts = alloc_array(count + 1, sizeof *contexts);
    if (status == LODE_OK)
        status = lode_comparison_contexts(job->comparison, row->index, (lode_compare_side)side, 0, contexts,
                                          count, &count, &error);
    int result = status == LODE_OK ? EXIT_DONE : report("%s", error.text);
    count = only_functions(contexts, count);
    if (result == EXIT_DONE && count > 0)
        result = spread_side_values(&p->sides[side], &job->sides.runs[side], metric, job->options->inclusive,
                                    contexts, count);
    for (size_t i = 0; result == EXIT_DONE && count == 0 && i < p->sides[side].count; i++)
        p->sides[side].entries[i].value = 0;
    free(contexts);
    return result;
}

static int count_signs(rank_pairs *p, compare_row *row, size_t metric)
{
    int status = read_side(p, row, LODE_BASE, metric);
    if (status == EXIT_DONE)
        status = read_side(p, row, LODE_NEW, metric);
    for (size_t i = 0; status == EXIT_DONE && i < p->count; i++) {
        double base = p->sides[0].entries[p->pairs[i][0]].value;
        double new_value = p->sides[1].entries[p->pairs[i][1]].value;
        row->ranks += base != 0 || new_value != 0;
        row->ranks_same += row->amounts.difference > 0 ? new_value > base : new_value < base;
    }
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
    for (size_t i = 0; i < job->sides.metric_count && p.count > 1; i++)
        for (size_t k = 0; k < tables[i].count && k < shown_most && status == EXIT_DONE; k++)
            status = count_signs(&p, &tables[i].rows[k], i);
    spread_side_free(&p.sides[0]);
    spread_side_free(&p.sides[1]);
    free(p.pairs);
    return status;
}
