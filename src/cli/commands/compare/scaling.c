/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode compare --scaling`: what keeps a program from being as efficient on more ranks. */
#include "alloc.h"
#include "commands/compare/compare.h"
#include "output/report.h"
#include "text/label.h"

#include <lode/unstable/scaling.h>

#include <stdio.h>
#include <stdlib.h>

#define PATH_MAX_NODES 64

typedef struct scaling_answer {
    compare_job *job;
    lode_compared_tree *tree;
    lode_scaling_options options;
    lode_scaling_table *functions, *callers;
    uint32_t path[PATH_MAX_NODES];
    size_t path_count;
} scaling_answer;

static int compute(scaling_answer *a)
{
    compare_job *job = a->job;
    lode_compare_tree_options options = LODE_COMPARE_TREE_OPTIONS_INIT;
    lode_scaling_options by_callers = a->options;
    lode_error error = {0};
    options.rules = job->rules;
    options.base_scales = job->scales;
    options.new_scales = job->scales + job->base_runs;
    by_callers.by_callers = 1;
    lode_status status = lode_compare_trees(&a->tree, job->costs, job->base_runs, job->costs + job->base_runs,
                                            job->new_runs, &options, &error);
    if (status == LODE_OK)
        status = lode_scaling_compute(&a->functions, a->tree, &a->options, &error);
    if (status == LODE_OK)
        status = lode_scaling_compute(&a->callers, a->tree, &by_callers, &error);
    if (status == LODE_OK)
        status = lode_scaling_hot_path(a->tree, &a->options, a->path, PATH_MAX_NODES, &a->path_count, &error);
    a->path_count = a->path_count < PATH_MAX_NODES ? a->path_count : PATH_MAX_NODES;
    return status == LODE_OK ? EXIT_DONE : report("%s", error.text);
}

/* ---- output ---- */

static const char *name_of(const scaling_answer *a, uint32_t index, label *l)
{
    lode_compare_node node = {0};
    if (index == 0 || lode_compared_tree_node(a->tree, index, &node, sizeof node) != LODE_OK)
        return "<program root>";
    return label_context_as(l, node.new_context ? node.new_context : node.base_context, a->job->names);
}

enum {
    COLUMN_NAME = 2,
    COLUMN_CALLER,
    COLUMN_CALL,
    COLUMN_COUNT
};

static const out_column columns[COLUMN_COUNT] = {
    {"own_percent", "Own loss", OUT_PERCENT, OUT_ALWAYS},
    {"inclusive_percent", "Loss", OUT_PERCENT, OUT_ALWAYS},
    {"name", "Function", OUT_STRING, OUT_ALWAYS},
    {"caller", "", OUT_STRING, OUT_NEVER},
    {"call", "Function < caller", OUT_STRING, OUT_NEVER},
};

static void write_loss(out *o, double own, double inclusive)
{
    out_row(o, own > 0 ? STYLE_HOT : own < 0 ? STYLE_SERIES : STYLE_DIM);
    OUT_CELLS(o, own, inclusive);
}

static void write_table(out *o, const scaling_answer *a, const lode_scaling_table *table, int has_callers,
                        size_t shown)
{
    out_column with_callers[COLUMN_COUNT];
    label l = {0}, other = {0};
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        with_callers[i] = columns[i];
    if (has_callers) {
        with_callers[COLUMN_NAME].visibility = with_callers[COLUMN_CALLER].visibility = OUT_DATA_ONLY;
        with_callers[COLUMN_CALL].visibility = OUT_TEXT_ONLY;
    }
    out_table(o, has_callers ? OUT_SIDE : OUT_MAIN, has_callers ? "callers" : "rows", with_callers,
              COLUMN_COUNT, UNIT_COUNT);
    for (size_t i = 0; i < shown; i++) {
        const lode_scaling_row *row = lode_scaling_table_at(table, i);
        write_loss(o, row->own, row->inclusive);
        char *call = NULL;
        const char *name = name_of(a, row->node, &l), *caller = name_of(a, row->caller, &other);
        if (asprintf(&call, "%s < %s", name, caller) < 0)
            call = NULL;
        OUT_CELLS(o, name, caller, call);
        out_row_end(o);
        free(call);
    }
    out_table_end(o);
    label_free(&l);
    label_free(&other);
}

static void write_path(out *o, const scaling_answer *a)
{
    label l = {0};
    out_gap(o);
    out_say(o, "Hot path of the loss:");
    out_table(o, OUT_SIDE, "path", columns, COLUMN_COUNT, UNIT_COUNT);
    for (size_t i = 0; i < a->path_count; i++) {
        lode_scaling_loss loss = {0};
        if (lode_scaling_loss_of(a->tree, a->path[i], &a->options, &loss, NULL) != LODE_OK)
            continue;
        write_loss(o, loss.own, loss.inclusive);
        OUT_CELLS(o, name_of(a, a->path[i], &l), out_none(), out_none());
        out_row_end(o);
    }
    out_table_end(o);
    label_free(&l);
}

static void write_heading(out *o, const scaling_answer *a)
{
    lode_scaling_loss loss = {0};
    char efficiency[NUMBER_SIZE], lost[NUMBER_SIZE], of_base[NUMBER_SIZE], of_new[NUMBER_SIZE];
    const char *how = a->options.how == LODE_SCALING_WEAK ? "weak" : "strong";
    double base = lode_compared_tree_matched(a->tree, LODE_BASE);
    double new_value = lode_compared_tree_matched(a->tree, LODE_NEW);
    (void)!lode_scaling_loss_of(a->tree, 0, &a->options, &loss, NULL);
    format_percent(efficiency, 1 - loss.inclusive);
    format_percent(lost, loss.inclusive);
    format_percent(of_base, base);
    format_percent(of_new, new_value);
    OUT_FIELDS(o, "metric", a->job->sides.metrics[0].name, "scaling", how, "base_ranks",
               a->options.base_ranks, "new_ranks", a->options.new_ranks, "loss_percent", 100 * loss.inclusive,
               "matched_base_percent", 100 * base, "matched_new_percent", 100 * new_value);
    out_gap(o);
    out_say(o, "%s, %s scaling from %g to %g: efficiency %s, loss %s", a->job->sides.metrics[0].name, how,
            a->options.base_ranks, a->options.new_ranks, efficiency, lost);
    out_say(o, "matched: %s of base, %s of new", of_base, of_new);
    out_gap(o);
}

static void write_answer(out *o, const scaling_answer *a)
{
    uint64_t limit = a->job->call->shared->limit;
    size_t count = lode_scaling_table_count(a->functions), by_callers = lode_scaling_table_count(a->callers);
    size_t shown = limit && limit < count ? (size_t)limit : count;
    size_t shown_callers = limit && limit < by_callers ? (size_t)limit : by_callers;
    out_begin(o, SCHEMA_COMPARE_SCALING, NULL);
    compare_heading(o, a->job);
    write_heading(o, a);
    out_fact_rows(o, shown, count);
    write_table(o, a, a->functions, 0, shown);
    out_shown(o, shown, count, "rows");
    write_path(o, a);
    out_gap(o);
    out_say(o, "By callers:");
    write_table(o, a, a->callers, 1, shown_callers);
    out_end(o);
}

int compare_print_scaling(compare_job *job)
{
    const compare_options *asked = job->options;
    scaling_answer a = {.job = job, .options = LODE_SCALING_OPTIONS_INIT};
    uint32_t profiles[] = {lode_cost_profiles(job->costs[0]), lode_cost_profiles(job->costs[job->base_runs])};
    if (job->sides.metric_count != 1)
        return report("--scaling is for one metric (see 'lode help compare')");
    a.options.how = asked->scaling == 1 ? LODE_SCALING_WEAK : LODE_SCALING_STRONG;
    a.options.base_ranks = (double)(asked->ranks_base ? asked->ranks_base : profiles[0]);
    a.options.new_ranks = (double)(asked->ranks_new ? asked->ranks_new : profiles[1]);
    int status = compute(&a);
    if (status == EXIT_DONE)
        write_answer(job->call->out, &a);
    lode_scaling_table_free(a.functions);
    lode_scaling_table_free(a.callers);
    lode_compared_tree_free(a.tree);
    return status;
}
