/* SPDX-License-Identifier: BSD-3-Clause */
/* Critical paths of all requests that a search finds, by function. */
#include "analysis/search/path.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/options.h"
#include <stdlib.h>

struct lode_critical_path {
    lode_path_row *rows;
    size_t count;
    uint64_t requests, time;
    struct lode_array steps; /* lode_path_step */
};

struct run {
    struct lode_path_walk *walks; /* by worker */
    unsigned workers;
};

static lode_status open_walks(void *user, unsigned workers, lode_error *error)
{
    struct run *run = user;
    run->walks = lode_workers_new(workers, sizeof *run->walks);
    LODE_TRY_ALLOC(run->walks, error);
    run->workers = workers;
    return LODE_OK;
}

static lode_status take(void *user, unsigned worker, struct lode_request *request, lode_error *error)
{
    struct run *run = user;
    return lode_path_walk_take(&run->walks[worker], request, error);
}

/* ---- rows ---- */

static uint32_t slots_of(const struct run *run)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < run->workers; i++)
        count = run->walks[i].tally_count > count ? run->walks[i].tally_count : count;
    return count;
}

static void add_slot(const struct run *run, uint32_t slot, lode_path_row *row)
{
    for (unsigned i = 0; i < run->workers; i++) {
        if (slot >= run->walks[i].tally_count)
            continue;
        const struct lode_path_tally *tally = &run->walks[i].tallies[slot];
        row->function = tally->function ? tally->function : row->function;
        row->requests += tally->requests;
        row->steps += tally->steps;
        row->time += tally->time;
        row->max = tally->max > row->max ? tally->max : row->max;
        row->saves += tally->saves;
    }
}

static int compare_rows(const void *left, const void *right, void *argument)
{
    const lode_path_row *a = left, *b = right;
    const uint32_t *ranks = argument;
    if (a->time != b->time)
        return a->time > b->time ? -1 : 1;
    if (!a->function || !b->function)
        return (a->function == NULL) - (b->function == NULL);
    return LODE_COMPARE(ranks[a->function->index], ranks[b->function->index]);
}

static lode_status sort_rows(lode_critical_path *path, uint32_t slots, lode_error *error)
{
    const lode_function **functions = calloc(path->count + 1, sizeof(lode_function *));
    uint32_t *ranks = calloc((size_t)slots + 1, sizeof *ranks);
    size_t count = 0;
    for (size_t i = 0; functions && i < path->count; i++)
        if (path->rows[i].function)
            functions[count++] = path->rows[i].function;
    lode_status status =
        functions && ranks ? lode_rank_functions(functions, count, ranks, error) : lode_fail_memory(error);
    if (status == LODE_OK && path->count > 1)
        qsort_r(path->rows, path->count, sizeof *path->rows, compare_rows, ranks);
    free(functions);
    free(ranks);
    return status;
}

static lode_status make_rows(lode_critical_path *path, const struct run *run, lode_error *error)
{
    uint32_t slots = slots_of(run);
    path->rows = calloc((size_t)slots + 1, sizeof *path->rows);
    LODE_TRY_ALLOC(path->rows, error);
    for (uint32_t slot = 0; slot < slots; slot++) {
        lode_path_row row = {0};
        add_slot(run, slot, &row);
        if (row.steps > 0)
            path->rows[path->count++] = row;
    }
    return sort_rows(path, slots, error);
}

/* Chronological. */
static bool keep_steps(lode_critical_path *path, const struct lode_path_walk *walk)
{
    for (size_t i = walk->steps.count; i > 0; i--) {
        lode_path_step *step = lode_array_push(&path->steps);
        if (step == NULL)
            return false;
        *step = *LODE_ARRAY_AT(&walk->steps, lode_path_step, i - 1);
    }
    return true;
}

static lode_status make_result(lode_critical_path *path, const struct run *run, lode_error *error)
{
    for (unsigned i = 0; i < run->workers; i++) {
        path->requests += run->walks[i].requests;
        path->time += run->walks[i].time;
    }
    for (unsigned i = 0; i < run->workers && path->requests == 1; i++)
        if (run->walks[i].requests == 1 && !keep_steps(path, &run->walks[i]))
            return lode_fail_memory(error);
    return make_rows(path, run, error);
}

/* ---- the result ---- */

lode_status lode_critical_path_compute(lode_critical_path **out, const lode_recording *recording,
                                       const lode_search_options *options, lode_error *error)
{
    lode_search_options settings = LODE_SEARCH_OPTIONS_INIT;
    struct run run = {0};
    struct lode_visit visit = {
        .recording = recording, .options = &settings, .request = take, .open = open_walks, .user = &run};
    *out = NULL;
    LODE_TRY(lode_options_take(&settings, options, error));
    lode_critical_path *path = calloc(1, sizeof *path);
    LODE_TRY_ALLOC(path, error);
    lode_array_init(&path->steps, sizeof(lode_path_step), SIZE_MAX);
    lode_status status = lode_visit_requests(&visit, error);
    if (status == LODE_OK)
        status = make_result(path, &run, error);
    for (unsigned i = 0; i < run.workers; i++)
        lode_path_walk_free(&run.walks[i]);
    free(run.walks);
    if (status == LODE_OK)
        *out = path;
    else
        lode_critical_path_free(path);
    return status;
}

void lode_critical_path_free(lode_critical_path *path)
{
    if (path == NULL)
        return;
    lode_array_free(&path->steps);
    free(path->rows);
    free(path);
}

LODE_GETTER(size_t, lode_critical_path_count, lode_critical_path, count);
LODE_GETTER(uint64_t, lode_critical_path_requests, lode_critical_path, requests);
LODE_GETTER(uint64_t, lode_critical_path_time, lode_critical_path, time);
LODE_GETTER(size_t, lode_critical_path_step_count, lode_critical_path, steps.count);

const lode_path_row *lode_critical_path_at(const lode_critical_path *path, size_t index)
{
    return index < path->count ? &path->rows[index] : NULL;
}

const lode_path_step *lode_critical_path_step(const lode_critical_path *path, size_t index)
{
    return index < path->steps.count ? LODE_ARRAY_AT(&path->steps, lode_path_step, index) : NULL;
}
