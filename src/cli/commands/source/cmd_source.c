/* SPDX-License-Identifier: BSD-3-Clause */
#include "alloc.h"
#include "commands/shared/costs.h"
#include "commands/source/source.h"
#include "output/report.h"
#include "stores/damage.h"
#include "stores/rec_session.h"
#include "stores/session.h"
#include "text/label.h"

#include <stdlib.h>
#include <string.h>

static const char *wanted(const invocation *call)
{
    return call->operand_count > 1 ? call->operands[1] : NULL;
}

/* A line of a file is shown with what is around it; a function with all of its lines. */
static void set_range(source_target *target, uint64_t around)
{
    if (target->function || target->line == 0)
        return;
    target->first = target->line > around ? (uint32_t)(target->line - around) : 1;
    target->last = target->line + around < UINT32_MAX ? (uint32_t)(target->line + around) : UINT32_MAX;
}

/* What is shown, and the costs beside it. */
typedef struct source_work {
    source_functions functions;
    source_costs costs;
    source_target target;
} source_work;

static void work_free(source_work *work)
{
    source_functions_free(&work->functions);
    free(work->costs.items);
    free(work->target.lines);
}

static int no_file(const source_target *target, const char *store)
{
    label l = {0};
    int status =
        report("%s: the source file of %s is not known", store, label_function(&l, target->function));
    label_free(&l);
    return status;
}

/* ---- databases ---- */

/* Equal records of one function are one function. */
static int same_function(const lode_function *a, const lode_function *b)
{
    const char *left = a ? lode_function_name(a) : NULL, *right = b ? lode_function_name(b) : NULL;
    if (a == b)
        return 1;
    if (!left || !right || lode_function_module(a) != lode_function_module(b) ||
        lode_function_offset(a) != lode_function_offset(b) || lode_function_line(a) != lode_function_line(b))
        return 0;
    return lode_function_file(a) == lode_function_file(b) && strcmp(left, right) == 0;
}

static int compare_numbers(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Finds the lines of a function: those of its contexts, and of its definition. */
static void find_lines(const lode_database *db, source_target *target)
{
    size_t capacity = 0;
    for (uint32_t i = 0; i < lode_database_context_count(db); i++) {
        const lode_context *context = lode_database_context_at(db, i);
        const lode_file *file = lode_context_file(context);
        if (!file || lode_context_line(context) == 0 ||
            !same_function(lode_context_function(enclosing_function(context)), target->function))
            continue;
        target->file = target->file ? target->file : file;
        if (!source_same_file(file, target->file))
            continue;
        target->lines = alloc_grow(target->lines, &capacity, target->line_count, sizeof *target->lines);
        target->lines[target->line_count++] = lode_context_line(context);
    }
    target->lines = alloc_grow(target->lines, &capacity, target->line_count, sizeof *target->lines);
    target->lines[target->line_count++] = target->line;
    qsort(target->lines, target->line_count, sizeof *target->lines, compare_numbers);
}

static int list_functions(session *s, const lode_cost *cost, source_functions *functions)
{
    lode_hotspots *rows = NULL;
    lode_error error = {0};
    if (lode_hotspots_compute(&rows, cost, LODE_BY_SYMBOL, LODE_SORT_EXCLUSIVE, &error) != LODE_OK)
        return session_error(s, &error);
    for (size_t i = 0; i < lode_hotspots_count(rows); i++) {
        const lode_hotspot *row = lode_hotspots_at(rows, i);
        if (row->function)
            source_functions_add(functions, row->function, row->exclusive);
    }
    lode_hotspots_free(rows);
    for (uint32_t i = 0; i < lode_database_file_count(s->db); i++)
        source_functions_add_file(functions, lode_database_file(s->db, i));
    source_functions_sort(functions);
    return EXIT_DONE;
}

static int add_up_lines(session *s, const lode_cost *cost, const lode_file *file, source_costs *costs)
{
    lode_hotspots *rows = NULL;
    lode_error error = {0};
    if (lode_hotspots_compute(&rows, cost, LODE_BY_SOURCE_LINE, LODE_SORT_EXCLUSIVE, &error) != LODE_OK)
        return session_error(s, &error);
    for (size_t i = 0; i < lode_hotspots_count(rows); i++) {
        const lode_hotspot *row = lode_hotspots_at(rows, i);
        source_cost line = {row->line, row->exclusive, row->inclusive, 0};
        if (source_same_file(row->file, file))
            source_costs_add(costs, &line);
    }
    lode_hotspots_free(rows);
    costs->total = lode_cost_total(cost);
    source_costs_finish(costs);
    return EXIT_DONE;
}

static int print_database(const invocation *call, session *s, const lode_cost *cost)
{
    const source_settings *settings = call->options;
    source_work work = {0};
    source_target *target = &work.target;
    int status = list_functions(s, cost, &work.functions);
    if (status == EXIT_DONE)
        status = source_find(target, &work.functions, wanted(call), s->path,
                             names_of_database(s->db, call->shared->names));
    if (status == EXIT_DONE && target->function)
        find_lines(s->db, target);
    if (status == EXIT_DONE && !target->file)
        status = no_file(target, s->path);
    if (status == EXIT_DONE)
        status = add_up_lines(s, cost, target->file, &work.costs);
    if (status == EXIT_DONE) {
        set_range(target, settings->around);
        out_begin(call->out, SCHEMA_SOURCE_DATABASE, s->path);
        costs_heading(call->out, s, cost);
        source_print(call, target, &work.costs, unit_of_metric(lode_metric_name(lode_cost_metric(cost))));
        costs_footing(call->out, s, cost);
        out_end(call->out);
    }
    work_free(&work);
    return status;
}

static int source_database(const invocation *call)
{
    session s;
    lode_cost *cost = NULL;
    int status = session_open(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE)
        status = session_cost(&s, &cost);
    if (status == EXIT_DONE)
        status = print_database(call, &s, cost);
    session_free_cost(cost);
    session_close(&s);
    return status;
}

/* ---- recordings ---- */

static void list_calls(const rec_rows *rows, source_functions *functions)
{
    const lode_file *last = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const lode_call_row *row = lode_calls_at(rows->calls, rows->order[i]);
        const lode_file *file = lode_function_file(row->function);
        source_functions_add(functions, row->function, (double)row->self);
        if (file && file != last)
            source_functions_add_file(functions, file);
        last = file;
    }
    source_functions_sort(functions);
}

static void add_up_calls(const rec_rows *rows, const lode_file *file, source_costs *costs)
{
    for (size_t i = 0; i < rows->count; i++) {
        const lode_call_row *row = lode_calls_at(rows->calls, rows->order[i]);
        source_cost line = {lode_function_line(row->function), (double)row->self, (double)row->total,
                            row->calls};
        costs->total += (double)row->self;
        if (source_same_file(lode_function_file(row->function), file))
            source_costs_add(costs, &line);
    }
    source_costs_finish(costs);
}

static int print_recording(const invocation *call, rec_session *s, const rec_rows *rows)
{
    const source_settings *settings = call->options;
    source_work work = {0};
    source_target *target = &work.target;
    list_calls(rows, &work.functions);
    int status =
        source_find(target, &work.functions, wanted(call), s->path, names_of_recordings(call->shared->names));
    if (status == EXIT_DONE && !target->file)
        status = no_file(target, s->path);
    if (status == EXIT_DONE) {
        add_up_calls(rows, target->file, &work.costs);
        target->first = target->last = target->function ? target->line : 0;
        set_range(target, settings->around);
        out_begin(call->out, SCHEMA_SOURCE_RECORDING, s->path);
        rec_write_slice(call->out, s);
        OUT_FIELDS(call->out, "total_ns", (uint64_t)work.costs.total);
        out_say(call->out, "Times of functions, at the lines of their definitions");
        source_print(call, target, &work.costs, UNIT_NANOSECONDS);
        damage_write(call->out);
        out_end(call->out);
    }
    work_free(&work);
    return status;
}

static int source_recording(const invocation *call)
{
    rec_session s;
    rec_rows rows = {0};
    int status = rec_open_slice(&s, call->operands[0], call->shared);
    if (status == EXIT_DONE) {
        lode_calls_options options = rec_calls_options(&s);
        options.sort = LODE_CALLS_BY_SELF;
        status = rec_compute_calls(&s, &options, &rows);
    }
    if (status == EXIT_DONE)
        status = print_recording(call, &s, &rows);
    rec_free_rows(&rows);
    rec_close(&s);
    return status;
}

static int run_source(const invocation *call)
{
    return call->kind == LODE_STORE_DATABASE ? source_database(call) : source_recording(call);
}

static const option_spec source_own[] = {
    {"around", 0, OPTION_COUNT, "N", NULL, offsetof(source_settings, around)},
    {"all", 0, OPTION_FLAG, NULL, NULL, offsetof(source_settings, all)},
    {"source-path", 0, OPTION_TEXTS, "DIR|OLD=NEW", NULL, offsetof(source_settings, source_paths)},
    {0},
};

static const source_settings source_defaults = {.shared = {.names = NAMES_BY_STORE, .no_sched = 1},
                                                .around = 3};

const command_spec command_source = {
    .name = "source",
    .operands = "[STORE] [FUNCTION|FILE|FILE:LINE]",
    .min_operands = 1,
    .max_operands = 2,
    .stores = FOR_ALL,
    .options = {.own = source_own,
                .shared = SHARED_METRIC | SHARED_PROFILES | SHARED_PART | SHARED_NAMES | SHARED_STRICT |
                          SHARED_THREADS | SHARED_JSON | SHARED_CSV | SHARED_COLOR | SHARED_VERBOSE},
    .options_size = sizeof(source_settings),
    .defaults = &source_defaults,
    .run = run_source,
};
