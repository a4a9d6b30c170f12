/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls by function and by track: sums the results of the workers, in order. */
#include "analysis/calls/calls.h"
#include "analysis/calls/elapsed.h"
#include "analysis/calls/names.h"
#include "analysis/calls/parts/estimate.h"
#include "analysis/calls/rows.h"
#include "base/error.h"
#include "base/getter.h"
#include "model/table.h"
#include <lode/private/columns.h>
#include <lode/unstable/match.h>
#include <math.h>
#include <stdlib.h>

struct concurrent {
    _Alignas(LODE_WORKER_ALIGN) struct lode_elapsed elapsed;
};

struct lode_calls_job {
    struct lode_pass pass;
    struct lode_tallies *workers;
    struct concurrent *concurrent; /* by worker; NULL: no calls run at the same time */
    struct lode_call_names names;
    bool has_names; /* functions are merged or hidden */
    lode_calls *calls;
};

/* ---- the pass ---- */

static lode_status take(void *user, unsigned worker, const lode_event *events, size_t count,
                        lode_error *error)
{
    struct lode_calls_job *self = user;
    if (self->concurrent &&
        !lode_tallies_note(&self->workers[worker], &self->concurrent[worker].elapsed, events, count))
        return lode_fail_memory(error);
    return lode_tallies_take(&self->workers[worker], events, count, error);
}

static lode_status end_track(void *user, unsigned worker, lode_track_row *row, lode_error *error)
{
    struct lode_calls_job *self = user;
    (void)error;
    lode_tallies_end(&self->workers[worker], row);
    if (self->concurrent)
        lode_elapsed_end_track(&self->concurrent[worker].elapsed);
    return LODE_OK;
}

static void end_request(void *user, unsigned worker)
{
    struct lode_calls_job *self = user;
    lode_elapsed_end_request(&self->concurrent[worker].elapsed);
}

static lode_status open_concurrent(struct lode_calls_job *self, lode_error *error)
{
    if (!lode_pass_has_sides(&self->pass))
        return LODE_OK;
    self->concurrent = lode_pass_workers(&self->pass, sizeof *self->concurrent);
    LODE_TRY_ALLOC(self->concurrent, error);
    for (unsigned i = 0; i < lode_pass_worker_count(&self->pass); i++)
        lode_elapsed_init(&self->concurrent[i].elapsed);
    self->pass.end_request = end_request;
    return LODE_OK;
}

static lode_status resume(void *user, unsigned worker, const struct lode_cut *cut, lode_error *error)
{
    struct lode_calls_job *self = user;
    uint64_t from = self->pass.sample.piece > 0 ? cut->time : 0;
    return lode_tallies_resume(&self->workers[worker], cut, from, error);
}

static void pause_track(void *user, unsigned worker, const struct lode_cut *cut)
{
    struct lode_calls_job *self = user;
    lode_tallies_pause(&self->workers[worker], cut);
}

static lode_status open_workers(struct lode_calls_job *self, lode_error *error)
{
    for (unsigned i = 0; i < lode_pass_worker_count(&self->pass); i++)
        LODE_TRY(lode_tallies_open(&self->workers[i], self->has_names ? &self->names : NULL, error));
    return LODE_OK;
}

static void close_workers(struct lode_calls_job *self)
{
    for (unsigned i = 0; self->workers && i < lode_pass_worker_count(&self->pass); i++)
        lode_tallies_close(&self->workers[i]);
}

static lode_status restart(void *user, lode_error *error)
{
    struct lode_calls_job *self = user;
    close_workers(self);
    lode_call_names_free(&self->names);
    LODE_TRY(lode_call_names_init(&self->names, self->pass.recording, &self->pass.options, error));
    return open_workers(self, error);
}

static lode_status open_pass(struct lode_calls_job *self, lode_error *error)
{
    LODE_TRY(lode_pass_sample(&self->pass, error));
    self->workers = lode_pass_workers(&self->pass, sizeof *self->workers);
    LODE_TRY_ALLOC(self->workers, error);
    LODE_TRY(open_workers(self, error));
    LODE_TRY(open_concurrent(self, error));
    self->pass.take = take;
    self->pass.end = end_track;
    self->pass.resume = resume;
    self->pass.restart = restart;
    self->pass.pause = pause_track;
    self->pass.user = self;
    return LODE_OK;
}

/* ---- rows ---- */

/* The durations of calls of a function on all tracks. */
struct sum {
    lode_square squares;
    uint64_t sum, nested, inside, min, max, errors, elapsed;
};

/* By all workers, or only by those that have what an estimate reads in any case. */
static struct sum add_up(const struct lode_calls_job *self, uint32_t function, bool is_sure)
{
    struct sum sum = {.min = UINT64_MAX};
    for (unsigned i = 0; i < lode_pass_worker_count(&self->pass); i++) {
        if (function >= self->workers[i].capacity || (is_sure && !lode_sample_is_sure(&self->pass.sample, i)))
            continue;
        const struct lode_tally *tally = &self->workers[i].items[function];
        sum.squares += (lode_square)tally->squares_high << 64 | tally->squares_low;
        sum.sum += tally->sum;
        sum.nested += tally->nested;
        sum.errors += tally->errors;
        sum.inside += self->workers[i].inside[function + 1];
        sum.min = tally->min < sum.min ? tally->min : sum.min;
        sum.max = tally->max > sum.max ? tally->max : sum.max;
        if (self->concurrent)
            sum.elapsed += elapsed_of(&self->concurrent[i].elapsed, function);
    }
    if (self->concurrent == NULL)
        sum.elapsed = sum.sum - sum.nested;
    return sum;
}

static double deviation(const struct sum *sum, uint64_t calls)
{
    lode_square spread, square = (lode_square)sum->sum * sum->sum;
    double n = (double)calls;
    /* Exact as long as n times the sum of squares fits; larger times are absurd. */
    if (!__builtin_mul_overflow(sum->squares, (lode_square)calls, &spread) && spread >= square)
        return sqrt((double)(spread - square)) / n;
    double mean = (double)sum->sum / n, variance = (double)sum->squares / n - mean * mean;
    return variance > 0.0 ? sqrt(variance) : 0.0;
}

static uint64_t percentile(const struct ranked *ranked, double q)
{
    const lode_call_row *row = &ranked->row;
    uint64_t rank = lode_sketch_rank_of(q, row->calls);
    /* Minimum and maximum are exact. */
    if (rank == 1 || rank == row->calls)
        return rank == 1 ? row->min : row->max;
    uint64_t value = lode_sketch_rank(ranked->sketch, rank);
    value = value < row->min ? row->min : value;
    return value > row->max ? row->max : value;
}

static void fill_row(struct ranked *ranked, const struct sum *sum)
{
    lode_call_row *row = &ranked->row;
    row->calls = lode_sketch_count(ranked->sketch);
    row->total = sum->sum - sum->nested;
    row->self = sum->sum - sum->inside;
    row->min = sum->min;
    row->max = sum->max;
    row->errors = sum->errors;
    row->elapsed = sum->elapsed;
    row->mean = (double)sum->sum / (double)row->calls;
    row->deviation = deviation(sum, row->calls);
    row->p50 = percentile(ranked, 0.50);
    row->p95 = percentile(ranked, 0.95);
    row->p99 = percentile(ranked, 0.99);
}

static void set_function(lode_call_row *row, const lode_function *function)
{
    row->function = function;
    row->functions = 1;
    row->module = function->module;
    row->file = function->file;
    row->line = function->line;
}

static bool is_hidden(const struct lode_calls_job *self, uint32_t function)
{
    return self->has_names && function < self->names.items.count &&
           LODE_ARRAY_AT(&self->names.items, struct lode_diagnose_call_name, function)->is_hidden;
}

/* Sketches of the workers, and those of what an estimate reads in any case. */
struct sketch_sets {
    struct lode_sketches **all, **sure;
    unsigned count, sure_count;
};

/* A call that began before its part looks shorter, so there are no numbers of single calls. */
static lode_status estimate_row(struct lode_calls_job *self, uint32_t function,
                                const struct sketch_sets *sets, const struct sum *read, lode_error *error)
{
    const struct lode_sampling *sample = &self->pass.sample;
    double times = lode_sample_times(sample), counts = lode_sample_counts(sample);
    struct ranked *ranked = &self->calls->rows[self->calls->count];
    struct sum sure = add_up(self, function, true);
    struct lode_sketch *sketch = lode_sketch_sum(sets->sure, sets->sure_count, function, &self->calls->arena);
    LODE_TRY_ALLOC(sketch, error);
    lode_call_row *row = &ranked->row;
    row->calls = lode_sample_all(lode_sketch_count(ranked->sketch), lode_sketch_count(sketch), counts);
    /* No call may have ended in what was read. */
    row->calls += row->calls == 0;
    row->errors = lode_sample_all(read->errors, sure.errors, counts);
    row->total = lode_sample_all(read->sum - read->nested, sure.sum - sure.nested, times);
    row->self = lode_sample_all(read->sum - read->inside, sure.sum - sure.inside, times);
    row->elapsed = lode_sample_all(read->elapsed, sure.elapsed, times);
    ranked->margin = lode_sample_margin(sample, self->workers, lode_pass_worker_count(&self->pass), function);
    return LODE_OK;
}

static lode_status add_row(struct lode_calls_job *self, uint32_t function, const struct sketch_sets *sets,
                           lode_error *error)
{
    struct sum sum = add_up(self, function, false);
    if (sum.min > sum.max && sum.sum == 0)
        return LODE_OK; /* not called */
    lode_calls *calls = self->calls;
    if (is_hidden(self, function)) {
        calls->hidden++;
        return LODE_OK;
    }
    struct ranked *ranked = &calls->rows[calls->count];
    ranked->sketch = lode_sketch_sum(sets->all, sets->count, function, &calls->arena);
    LODE_TRY_ALLOC(ranked->sketch, error);
    ranked->index = function;
    set_function(&ranked->row, lode_function_table_at(recording_functions(self->pass.recording), function));
    if (self->pass.sample.piece == 0)
        fill_row(ranked, &sum);
    else
        LODE_TRY(estimate_row(self, function, sets, &sum, error));
    calls->count++;
    return LODE_OK;
}

static lode_status make_rows(struct lode_calls_job *self, lode_error *error)
{
    uint32_t functions = 0;
    struct sketch_sets sets = {.count = lode_pass_worker_count(&self->pass)};
    struct lode_sketches **places = calloc((size_t)2 * sets.count, sizeof *places);
    LODE_TRY_ALLOC(places, error);
    sets.all = places;
    sets.sure = places + sets.count;
    for (unsigned i = 0; i < sets.count; i++) {
        sets.all[i] = &self->workers[i].sketches;
        if (lode_sample_is_sure(&self->pass.sample, i))
            sets.sure[sets.sure_count++] = &self->workers[i].sketches;
        functions = self->workers[i].capacity > functions ? self->workers[i].capacity : functions;
    }
    self->calls->rows = calloc((size_t)functions + 1, sizeof *self->calls->rows);
    lode_status status = self->calls->rows ? LODE_OK : lode_fail_memory(error);
    for (uint32_t i = 0; i < functions && status == LODE_OK; i++)
        status = add_row(self, i, &sets, error);
    free(places);
    return status;
}

/* ---- functions of one name ---- */

/* The row of each group, plus 1; NULL if out of memory. */
static uint32_t *index_rows(const struct lode_calls_job *self)
{
    uint32_t *rows = calloc(self->names.items.count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < self->calls->count; i++)
        rows[self->calls->rows[i].index] = (uint32_t)i + 1;
    return rows;
}

/* Adds a function to the row of its name: the one with the lowest rank names it. */
static void join_row(struct ranked *ranked, const lode_function *function, const uint32_t *ranks)
{
    lode_call_row *row = &ranked->row;
    if (row->module != function->module) {
        row->module = NULL;
        row->several_modules = 1;
    }
    if (row->file != function->file || row->line != function->line) {
        row->file = row->file == function->file ? row->file : NULL;
        row->line = 0;
    }
    row->functions++;
    if (ranks[function->index] < ranks[ranked->index]) {
        row->function = function;
        ranked->index = function->index;
    }
}

static void join_functions(struct lode_calls_job *self, const uint32_t *rows, const uint32_t *ranks)
{
    for (uint32_t i = 0; i < self->names.items.count; i++) {
        uint32_t group = LODE_ARRAY_AT(&self->names.items, struct lode_diagnose_call_name, i)->group;
        if (group == 0 || group - 1 == i || rows[group - 1] == 0)
            continue;
        join_row(&self->calls->rows[rows[group - 1] - 1],
                 lode_function_table_at(recording_functions(self->pass.recording), i), ranks);
    }
}

/* Lists the functions of each row. */
static lode_status list_members(struct lode_calls_job *self, const uint32_t *rows, lode_error *error)
{
    lode_calls *calls = self->calls;
    uint32_t total = 0;
    for (size_t i = 0; i < calls->count; i++) {
        calls->rows[i].member = total;
        total += calls->rows[i].row.functions;
    }
    uint32_t *next = calloc(calls->count + 1, sizeof *next);
    calls->members = calloc((size_t)total + 1, sizeof *calls->members);
    bool has_memory = next && calls->members;
    for (uint32_t i = 0; i < self->names.items.count && has_memory; i++) {
        uint32_t group = LODE_ARRAY_AT(&self->names.items, struct lode_diagnose_call_name, i)->group;
        uint32_t row = group ? rows[group - 1] : 0;
        if (row > 0)
            calls->members[calls->rows[row - 1].member + next[row - 1]++] =
                lode_function_table_at(recording_functions(self->pass.recording), i);
    }
    free(next);
    return has_memory ? LODE_OK : lode_fail_memory(error);
}

/* Names rows after functions that do not depend on who met them first. */
static lode_status name_rows(struct lode_calls_job *self, lode_error *error)
{
    size_t count = 0, most = self->names.items.count;
    if (!self->names.merges)
        return LODE_OK;
    const lode_function **functions = calloc(most + 1, sizeof *functions);
    uint32_t *ranks = calloc(most + 1, sizeof *ranks), *rows = index_rows(self);
    lode_status status = functions && ranks && rows ? LODE_OK : lode_fail_memory(error);
    for (uint32_t i = 0; i < most && functions; i++)
        if (LODE_ARRAY_AT(&self->names.items, struct lode_diagnose_call_name, i)->group > 0)
            functions[count++] = lode_function_table_at(recording_functions(self->pass.recording), i);
    if (status == LODE_OK)
        status = lode_rank_functions(functions, count, ranks, error);
    if (status == LODE_OK) {
        join_functions(self, rows, ranks);
        status = list_members(self, rows, error);
    }
    free(functions);
    free(ranks);
    free(rows);
    return status;
}

/* ---- public API ---- */

static lode_status make_calls(struct lode_calls_job *self, lode_error *error)
{
    LODE_TRY(lode_filter_status(self->names.filter, error));
    LODE_TRY(make_rows(self, error));
    LODE_TRY(name_rows(self, error));
    LODE_TRY(lode_calls_sort_rows(self->calls, self->pass.options.sort, error));
    self->calls->sample = self->pass.sample;
    self->calls->tracks = self->pass.rows;
    self->calls->track_count = self->pass.row_count;
    self->pass.rows = NULL;
    return LODE_OK;
}

static lode_status prepare(struct lode_calls_job *self, const lode_recording *recording,
                           const lode_slice *slice, const lode_calls_options *options, lode_error *error)
{
    self->calls = calloc(1, sizeof *self->calls);
    LODE_TRY_ALLOC(self->calls, error);
    lode_arena_init(&self->calls->arena, SIZE_MAX);
    LODE_TRY(lode_pass_open(&self->pass, recording, slice, options, error));
    LODE_TRY(lode_call_names_init(&self->names, recording, &self->pass.options, error));
    self->has_names = self->names.merges || self->names.filter;
    return open_pass(self, error);
}

lode_status lode_calls_prepare(struct lode_calls_job **job, const lode_recording *recording,
                               const lode_slice *slice, const lode_calls_options *options, lode_error *error)
{
    *job = calloc(1, sizeof **job);
    LODE_TRY_ALLOC(*job, error);
    return prepare(*job, recording, slice, options, error);
}

struct lode_pass *lode_calls_pass(struct lode_calls_job *job)
{
    return &job->pass;
}

lode_status lode_calls_conclude(lode_calls **out, struct lode_calls_job *job, lode_error *error)
{
    LODE_TRY(make_calls(job, error));
    *out = job->calls;
    job->calls = NULL;
    return LODE_OK;
}

void lode_calls_end(struct lode_calls_job *job)
{
    if (job == NULL)
        return;
    close_workers(job);
    for (unsigned i = 0; job->concurrent && i < lode_pass_worker_count(&job->pass); i++)
        lode_elapsed_free(&job->concurrent[i].elapsed);
    free(job->concurrent);
    free(job->workers);
    lode_call_names_free(&job->names);
    lode_pass_close(&job->pass);
    lode_calls_free(job->calls);
    free(job);
}

lode_status lode_calls_compute(lode_calls **out, const lode_recording *recording, const lode_slice *slice,
                               const lode_calls_options *options, lode_error *error)
{
    struct lode_calls_job *job;
    *out = NULL;
    lode_status status = lode_calls_prepare(&job, recording, slice, options, error);
    if (status == LODE_OK)
        status = lode_pass_run(&job->pass, error);
    if (status == LODE_OK)
        status = lode_calls_conclude(out, job, error);
    lode_calls_end(job);
    return status;
}

void lode_calls_free(lode_calls *calls)
{
    if (calls == NULL)
        return;
    lode_arena_free(&calls->arena);
    free(calls->rows);
    free(calls->members);
    free(calls->tracks);
    free(calls);
}

LODE_GETTER(size_t, lode_calls_count, lode_calls, count);

const lode_call_row *lode_calls_at(const lode_calls *calls, size_t index)
{
    return index < calls->count ? &calls->rows[index].row : NULL;
}

uint64_t lode_calls_percentile(const lode_calls *calls, size_t index, double q)
{
    bool is_exact = calls->sample.piece == 0;
    return is_exact && index < calls->count ? percentile(&calls->rows[index], q) : 0;
}

const lode_calls_sample *lode_calls_estimate(const lode_calls *calls)
{
    return calls->sample.piece > 0 ? &calls->sample.read : NULL;
}

const lode_call_margin *lode_calls_margin(const lode_calls *calls, size_t index)
{
    return calls->sample.piece > 0 && index < calls->count ? &calls->rows[index].margin : NULL;
}

LODE_GETTER(size_t, lode_calls_hidden, lode_calls, hidden);
LODE_GETTER(uint32_t, lode_calls_track_count, lode_calls, track_count);
LODE_GETTER_AT(lode_track_row, lode_calls_track, lode_calls, tracks, track_count);

#define ROW(name, type) LODE_FIELD(#name, type, struct ranked, row.name)

lode_status lode_calls_table(lode_table **out, const lode_calls *calls, lode_error *error)
{
    static const struct lode_column_spec specs[] = {
        LODE_CONVERTED("function", U32, struct ranked, row.function, lode_convert_function),
        LODE_CONVERTED("name", STRING, struct ranked, row.function, lode_convert_function_name),
        ROW(calls, U64),
        ROW(total, U64),
        ROW(self, U64),
        ROW(min, U64),
        ROW(max, U64),
        ROW(errors, U64),
        ROW(mean, F64),
        ROW(deviation, F64),
        ROW(p50, U64),
        ROW(p95, U64),
        ROW(p99, U64),
        ROW(elapsed, U64),
    };
    struct lode_rows rows = {calls->rows, calls->count, sizeof *calls->rows, LODE_OWNER_STORE, NULL};
    return lode_table_make(out, &rows, specs, sizeof specs / sizeof *specs, error);
}
