/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blame: what masters do while other threads of their rank wait in the OpenMP runtime, from trace
 * lines. A sample stands for the time before it, since the sample before. One rank at a time; two
 * lines are read side by side.
 */
#include "analysis/diagnose/profiles/facts.h"

#include "base/comm/ranks.h"
#include "base/progress.h"
#include "model/database/trace.h"
#include <stdlib.h>

#define NO_LINE UINT32_MAX

/* Nanoseconds: whole numbers, so that sums do not depend on their order. */
struct blamed {
    uint64_t *by_context; /* by index of context; what the master of the rank did */
    uint64_t waiting;
};

struct blaming {
    struct lode_diagnosis *d;
    uint32_t *lines; /* by profile */
    struct blamed *workers;
    unsigned worker_count;
    struct lode_progress progress;
};

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* LODE_NO_INDEX: the thread did not run, or the context is not listed. */
static uint32_t state_at(const struct lode_diagnosis *d, const lode_trace_line *line, uint64_t sample)
{
    uint32_t id = trace_context(line, sample);
    return id == 0 ? LODE_NO_INDEX : lode_context_tree_find(&d->profiles->db->tree, id);
}

static bool is_waiting(const struct lode_diagnosis *d, uint32_t index)
{
    return index != LODE_NO_INDEX && OPENMP >> d->profiles->activities_of[index] & 1;
}

/* The part of the interval that ends with `sample` that lies between two times. */
static uint64_t overlap(const lode_trace_line *line, uint64_t sample, uint64_t from, uint64_t to)
{
    uint64_t begin = trace_time(line, sample - 1), end = trace_time(line, sample);
    begin = begin > from ? begin : from;
    end = end < to ? end : to;
    return end > begin ? end - begin : 0;
}

uint64_t lode_diagnose_blame_interval(const struct lode_diagnosis *d, uint64_t *by_context,
                                      const lode_trace_line *line, uint64_t at, uint64_t from, uint64_t to)
{
    while (at < line->sample_count && trace_time(line, at) <= from)
        at++;
    for (uint64_t i = at; i < line->sample_count; i++) {
        uint32_t index = state_at(d, line, i);
        if (index != LODE_NO_INDEX)
            by_context[index] = add(by_context[index], overlap(line, i, from, to));
        if (trace_time(line, i) >= to)
            break;
    }
    return at;
}

static void blame_master(const struct lode_diagnosis *d, struct blamed *blamed, const lode_trace_line *master,
                         const lode_trace_line *worker)
{
    uint64_t at = 1, done = 0;
    for (uint64_t i = 1; i < worker->sample_count; i++) {
        uint64_t from = trace_time(worker, i - 1), to = trace_time(worker, i);
        /* Times of a damaged line may go back: nothing is counted twice. */
        if (to <= from || from < done || !is_waiting(d, state_at(d, worker, i)))
            continue;
        done = to;
        blamed->waiting = add(blamed->waiting, to - from);
        at = lode_diagnose_blame_interval(d, blamed->by_context, master, at, from, to);
    }
}

static lode_status line_of(const struct blaming *self, size_t thread, lode_trace_line *line,
                           lode_error *error)
{
    const struct profile_facts *facts = self->d->profiles;
    uint32_t number = self->lines[facts->threads[thread].profile];
    *line = (lode_trace_line){0};
    return number == NO_LINE ? LODE_OK : lode_database_trace_line(facts->db, number, line, error);
}

static lode_status blame_rank(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct blaming *self = context;
    const struct rank *rank = &self->d->profiles->ranks[item];
    lode_trace_line master, other;
    LODE_TRY(line_of(self, rank->first, &master, error));
    for (size_t i = 1; i < rank->count && master.sample_count > 1; i++) {
        LODE_TRY(line_of(self, rank->first + i, &other, error));
        blame_master(self->d, &self->workers[worker], &master, &other);
    }
    return LODE_OK;
}

static lode_status finish_rank(void *context, uint64_t item, lode_error *error)
{
    struct blaming *self = context;
    (void)item;
    return lode_progress_add(&self->progress, 1, error);
}

/* The trace line of each profile, and the bytes that all lines of threads have. */
static lode_status find_lines(struct blaming *self, uint64_t *bytes, lode_error *error)
{
    const lode_database *db = self->d->profiles->db;
    self->lines = malloc(((size_t)db->profile_count + 1) * sizeof *self->lines);
    LODE_TRY_ALLOC(self->lines, error);
    for (uint32_t p = 0; p < db->profile_count; p++)
        self->lines[p] = NO_LINE;
    *bytes = 0;
    for (uint32_t i = 0; i < lode_database_trace_count(db); i++) {
        lode_trace_line line;
        LODE_TRY(lode_database_trace_line(db, i, &line, error));
        if (line.profile < db->profile_count && self->lines[line.profile] == NO_LINE) {
            self->lines[line.profile] = i;
            *bytes = add(*bytes, line.sample_count * TRACE_SAMPLE_SIZE);
        }
    }
    return LODE_OK;
}

/* Samples of a rank. */
static uint64_t weight_of(const void *context, uint64_t item)
{
    const struct blaming *self = context;
    const struct rank *rank = &self->d->profiles->ranks[item];
    lode_trace_line line;
    uint64_t weight = 1;
    for (size_t i = 0; i < rank->count; i++)
        if (line_of(self, rank->first + i, &line, NULL) == LODE_OK)
            weight = add(weight, line.sample_count);
    return weight;
}

static lode_status run(struct blaming *self, lode_error *error)
{
    struct lode_diagnosis *d = self->d;
    struct lode_comm *comm = d->options.comm;
    struct lode_job job = {
        .work = blame_rank, .finish = finish_rank, .context = self, .pool = d->options.pool};
    const struct lode_share share = lode_ranks_share(comm, d->profiles->rank_count, weight_of, self);
    unsigned asked = lode_ranks_threads(comm, lode_pool_asked(d->options.threads, d->options.pool));
    self->worker_count = lode_pool_threads(asked, share.count);
    self->workers = calloc(self->worker_count, sizeof *self->workers);
    LODE_TRY_ALLOC(self->workers, error);
    for (unsigned i = 0; i < self->worker_count; i++) {
        self->workers[i].by_context = calloc((size_t)d->profiles->db->tree.count + 1, sizeof(uint64_t));
        LODE_TRY_ALLOC(self->workers[i].by_context, error);
    }
    self->progress.total = share.count;
    return lode_ranks_job(comm, self->worker_count, &job, &share, error);
}

/* What all workers of all ranks have, with the first. */
static lode_status add_up(struct blaming *self, lode_error *error)
{
    struct lode_comm *comm = self->d->options.comm;
    struct blamed *all = &self->workers[0];
    uint32_t count = self->d->profiles->db->tree.count;
    for (unsigned w = 1; w < self->worker_count; w++) {
        all->waiting = add(all->waiting, self->workers[w].waiting);
        for (uint32_t i = 0; i < count; i++)
            all->by_context[i] = add(all->by_context[i], self->workers[w].by_context[i]);
    }
    LODE_TRY(lode_ranks_add_up(comm, &all->waiting, 1, error));
    return lode_ranks_add_up(comm, all->by_context, count, error);
}

/* Seconds of all workers; what masters do in regions and in the OpenMP runtime explains nothing. */
static lode_status collect(struct blaming *self, struct blame *blame, lode_error *error)
{
    const struct profile_facts *facts = self->d->profiles;
    LODE_TRY(add_up(self, error));
    LODE_TRY(lode_cost_make(&blame->cost, facts->db, error));
    for (uint32_t i = 0; i < facts->db->tree.count; i++) {
        if (facts->places[i] == PLACE_REGION || OPENMP >> facts->activities_of[i] & 1)
            continue;
        blame->cost->own[i] = (double)self->workers[0].by_context[i] * 1e-9;
        blame->explained += blame->cost->own[i];
    }
    blame->waiting = (double)self->workers[0].waiting * 1e-9;
    return LODE_OK;
}

lode_status lode_diagnose_blame(struct lode_diagnosis *d, lode_error *error)
{
    struct blame *blame = &d->profiles->blame;
    struct blaming self = {.d = d,
                           .progress = {.report = d->options.on_progress,
                                        .user = d->options.user,
                                        .phase = "reading trace lines"}};
    uint64_t bytes = 0;
    if (blame->was_tried || d->profiles->is_counted)
        return LODE_OK;
    blame->was_tried = true;
    lode_status status = lode_trace_lines_fit(d->profiles->db, error);
    if (status == LODE_OK)
        status = find_lines(&self, &bytes, error);
    blame->is_too_large = status == LODE_OK && bytes > lode_diagnose_limit(d);
    if (status == LODE_OK && bytes > 0 && !blame->is_too_large) {
        status = run(&self, error);
        if (status == LODE_OK)
            status = collect(&self, blame, error);
    }
    for (unsigned i = 0; self.workers && i < self.worker_count; i++)
        free(self.workers[i].by_context);
    free(self.workers);
    free(self.lines);
    return status;
}

double lode_diagnose_blamed(const struct lode_diagnosis *d, unsigned activities)
{
    const struct profile_facts *facts = d->profiles;
    double sum = 0;
    for (uint32_t i = 0; facts->blame.cost && i < facts->db->tree.count; i++)
        if (activities >> facts->activities_of[i] & 1)
            sum += facts->blame.cost->own[i];
    return facts->blame.waiting > 0 ? sum / facts->blame.waiting : 0;
}
