/* SPDX-License-Identifier: BSD-3-Clause */
/* `lode compare --tree`: both trees as one, what changed and the way to it, or everything. */
#include "alloc.h"
#include "commands/compare/compare.h"
#include "commands/shared/branches.h"
#include "output/report.h"
#include "text/label.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_MATCHED 0.8
/* Terminal columns: before the tree, and preferred for names. */
#define NUMBERS_WIDTH 34
#define NAME_WIDTH    16

/* A node that is shown, in depth-first order. */
typedef struct tree_row {
    uint32_t node;
    size_t parent; /* row */
    unsigned depth;
} tree_row;

typedef struct tree_answer {
    compare_job *job;
    lode_compared_tree *tree;
    tree_row *rows;
    size_t count, capacity;
    double least; /* gross change of nodes to show */
} tree_answer;

static lode_compare_node node_at(const tree_answer *a, uint32_t index)
{
    lode_compare_node node = {0};
    /* Indices come from the tree itself. */
    (void)!lode_compared_tree_node(a->tree, index, &node, sizeof node);
    return node;
}

/* ---- rows ---- */

static double size_of(const lode_compare_node *node)
{
    return fmax(fabs(node->inclusive[LODE_BASE]), fabs(node->inclusive[LODE_NEW]));
}

/* Whether a node changed enough; with --all, whether it has enough cost on one side. */
static int is_shown(const tree_answer *a, const lode_compare_node *node)
{
    if (node->gross >= a->least && node->gross > 0)
        return 1;
    return a->job->options->all && size_of(node) >= a->least && size_of(node) > 0;
}

/* A child of a node, for the order of rows. */
typedef struct child {
    uint32_t node;
    double gross, size;
} child;

/* The largest change first; what did not change by its cost. */
static int compare_children(const void *left, const void *right)
{
    const child *a = left, *b = right;
    if (a->gross != b->gross)
        return a->gross > b->gross ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

/* The children of a node that get rows, for the caller to free. */
static child *shown_children(const tree_answer *a, uint32_t node, size_t *shown)
{
    uint32_t count = 0;
    const uint32_t *all = lode_compared_tree_children(a->tree, node, &count);
    child *children = alloc_array((size_t)count + 1, sizeof *children);
    *shown = 0;
    for (uint32_t i = 0; i < count; i++) {
        lode_compare_node at = node_at(a, all[i]);
        if (is_shown(a, &at))
            children[(*shown)++] = (child){all[i], at.gross, size_of(&at)};
    }
    if (*shown > 1)
        qsort(children, *shown, sizeof *children, compare_children);
    return children;
}

static tree_row *push(tree_row *rows, size_t *count, size_t *capacity, tree_row row)
{
    rows = alloc_grow(rows, capacity, *count, sizeof *rows);
    rows[(*count)++] = row;
    return rows;
}

/* Depth first. The root is above the rows. */
static void collect(tree_answer *a)
{
    size_t count = 0, capacity = 0;
    tree_row *stack = push(NULL, &count, &capacity, (tree_row){0, SIZE_MAX, 0});
    while (count > 0) {
        tree_row at = stack[--count];
        size_t row = SIZE_MAX, below;
        if (at.node != 0) {
            row = a->count;
            a->rows = push(a->rows, &a->count, &a->capacity, at);
        }
        unsigned depth = at.node ? at.depth + 1 : 0;
        child *children = shown_children(a, at.node, &below);
        for (size_t i = below; i-- > 0;)
            stack = push(stack, &count, &capacity, (tree_row){children[i].node, row, depth});
        free(children);
    }
    free(stack);
}

/* ---- output ---- */

static const out_column columns[] = {
    {"difference", "Net", OUT_CHANGE, OUT_ALWAYS}, {"gross", "Gross", OUT_REAL, OUT_ALWAYS},
    {"ratio", "Change", OUT_RATIO, OUT_ALWAYS},    {"base", "Base", OUT_REAL, OUT_IF_WIDE},
    {"new", "New", OUT_REAL, OUT_IF_WIDE},         {"base_own", "", OUT_REAL, OUT_DATA_ONLY},
    {"new_own", "", OUT_REAL, OUT_DATA_ONLY},      {"base_calls", "", OUT_REAL, OUT_DATA_ONLY},
    {"new_calls", "", OUT_REAL, OUT_DATA_ONLY},    {"row", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"parent_row", "", OUT_NUMBER, OUT_DATA_ONLY}, {"depth", "", OUT_NUMBER, OUT_DATA_ONLY},
    {"only_in", "", OUT_STRING, OUT_DATA_ONLY},    {"branch", "Function", OUT_STRING, OUT_TEXT_ONLY},
    {"name", "", OUT_STRING, OUT_DATA_ONLY},       {"base_name", "", OUT_STRING, OUT_DATA_ONLY},
    {"new_name", "", OUT_STRING, OUT_DATA_ONLY},
};
#define COLUMN_COUNT (sizeof columns / sizeof *columns)

static char *name_of(const compare_job *job, const lode_context *context)
{
    label l = {0};
    if (!context)
        return NULL;
    const char *text = label_context_as(&l, context, job->names);
    char *copy = alloc_text(text);
    label_free(&l);
    return copy;
}

static void write_numbers(out *o, const lode_compare_node *node)
{
    double base = node->inclusive[LODE_BASE], new_value = node->inclusive[LODE_NEW];
    OUT_CELLS(o, new_value - base, node->gross,
              base != 0 || (new_value != 0 && out_is_prose(o)) ? out_real(new_value / base) : out_none(),
              base, new_value, node->own[LODE_BASE], node->own[LODE_NEW], node->calls[LODE_BASE],
              node->calls[LODE_NEW]);
}

typedef struct tree_writer {
    branches branches;
    char *line;
    size_t capacity;
} tree_writer;

static const char *join(tree_writer *w, const char *branch, const char *name)
{
    size_t size = strlen(branch) + strlen(name) + 1;
    while (w->capacity < size)
        w->line = alloc_grow(w->line, &w->capacity, size, 1);
    snprintf(w->line, w->capacity, "%s%s", branch, name);
    return w->line;
}

static void write_row(out *o, const tree_answer *a, size_t index, tree_writer *w)
{
    const tree_row *row = &a->rows[index];
    lode_compare_node node = node_at(a, row->node);
    double net = node.inclusive[LODE_NEW] - node.inclusive[LODE_BASE];
    char *base = name_of(a->job, node.base_context), *other = name_of(a->job, node.new_context);
    const char *name = other ? other : base ? base : "";
    const char *branch = branches_of(&w->branches, index);
    out_row(o, net > 0 ? STYLE_HOT : net < 0 ? STYLE_SERIES : STYLE_DIM);
    write_numbers(o, &node);
    OUT_CELLS(o, index, out_u64_if(row->parent != SIZE_MAX, row->parent), row->depth,
              node.marks & LODE_ONLY_IN_BASE  ? "base"
              : node.marks & LODE_ONLY_IN_NEW ? "new"
                                              : NULL,
              out_branch(join(w, branch, name), strlen(branch)), name, base, other);
    out_row_end(o);
    free(base);
    free(other);
}

/* How many levels of branches leave room for the numbers before them and for a name after them. */
static unsigned level_bound(const out *o)
{
    unsigned width = out_width(o, 0), taken = NUMBERS_WIDTH + NAME_WIDTH;
    if (width == 0)
        return 100;
    return width > taken + 10 ? (width - taken) / 2 : 5;
}

static void write_rows(out *o, const tree_answer *a)
{
    uint64_t limit = a->job->call->shared->limit;
    size_t shown = limit && limit < a->count ? (size_t)limit : a->count;
    unsigned *depths = alloc_array(a->count + 1, sizeof *depths);
    tree_writer w = {0};
    for (size_t i = 0; i < a->count; i++)
        depths[i] = a->rows[i].depth;
    branches_init_depths(&w.branches, depths, a->count, level_bound(o), out_is_utf8(o));
    out_fact_rows(o, shown, a->count);
    out_table(o, OUT_MAIN, "rows", columns, COLUMN_COUNT, a->job->sides.metrics[0].unit);
    for (size_t i = 0; i < shown; i++)
        write_row(o, a, i, &w);
    out_table_end(o);
    out_shown(o, shown, a->count, "rows");
    branches_free(&w.branches);
    free(w.line);
    free(depths);
}

static void write_heading(out *o, const tree_answer *a)
{
    const side_metric *metric = &a->job->sides.metrics[0];
    lode_compare_node root = node_at(a, 0);
    double base = lode_compared_tree_total(a->tree, LODE_BASE);
    double new_value = lode_compared_tree_total(a->tree, LODE_NEW);
    double matched[2] = {lode_compared_tree_matched(a->tree, LODE_BASE),
                         lode_compared_tree_matched(a->tree, LODE_NEW)};
    char of_base[NUMBER_SIZE], of_new[NUMBER_SIZE], net[NUMBER_SIZE], gross[NUMBER_SIZE], ratio[NUMBER_SIZE];
    format_amount(net, new_value - base, metric->unit);
    format_amount(gross, root.gross, metric->unit);
    format_percent(ratio, new_value / base - 1);
    format_percent(of_base, matched[LODE_BASE]);
    format_percent(of_new, matched[LODE_NEW]);
    OUT_FIELDS(o, "metric", metric->name, "base_total", base, "new_total", new_value, "gross", root.gross,
               "matched_base_percent", 100 * matched[LODE_BASE], "matched_new_percent",
               100 * matched[LODE_NEW], "min_percent", 100 * a->job->options->min_share);
    out_gap(o);
    out_say(o, "%s: net change %s%s (%s%s), gross change %s", metric->name, new_value > base ? "+" : "", net,
            new_value > base ? "+" : "", ratio, gross);
    out_say(o, "matched: %s of base, %s of new", of_base, of_new);
    if (matched[LODE_BASE] < LEAST_MATCHED || matched[LODE_NEW] < LEAST_MATCHED)
        out_say(o, "warning: less than 80%% is matched: rows may be the same code under other names (see "
                   "--explain-match and --name-rules)");
    out_gap(o);
}

static int compare_trees(tree_answer *a)
{
    compare_job *job = a->job;
    lode_compare_tree_options options = LODE_COMPARE_TREE_OPTIONS_INIT;
    lode_error error = {0};
    options.rules = job->rules;
    options.base_scales = job->scales;
    options.new_scales = job->scales + job->base_runs;
    lode_status status = lode_compare_trees(&a->tree, job->costs, job->base_runs, job->costs + job->base_runs,
                                            job->new_runs, &options, &error);
    if (status != LODE_OK)
        return report("%s", error.text);
    a->least = job->options->min_share * fabs(lode_compared_tree_total(a->tree, LODE_BASE));
    collect(a);
    return EXIT_DONE;
}

int compare_print_tree(compare_job *job)
{
    tree_answer a = {.job = job};
    if (job->sides.metric_count != 1)
        return report("--tree is for one metric (see 'lode help compare')");
    int status = compare_trees(&a);
    if (status == EXIT_DONE) {
        out *o = job->call->out;
        out_begin(o, SCHEMA_COMPARE_TREE, NULL);
        compare_heading(o, job);
        write_heading(o, &a);
        write_rows(o, &a);
        if (a.count == 0)
            out_say(o, job->options->all ? "No call path has --min-percent of the total."
                                         : "No call path changed by --min-percent of the total.");
        out_end(o);
    }
    lode_compared_tree_free(a.tree);
    free(a.rows);
    return status;
}
