/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of contexts in a time window, from trace lines. */
#include "analysis/cost/cost.h"
#include "analysis/cost/window.h"
#include "base/comm/ranks.h"
#include "base/error.h"
#include "base/memory/map.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/progress.h"
#include "model/database/metric.h"
#include <stdlib.h>

#define NANOSECONDS 1e9

enum {
    LINE_WEIGHT = 64 /* what a line counts besides its samples */
};

static const struct lode_metric trace_time_metric = {.name = "trace time (sec)"};

struct adding {
    const lode_database *db;
    struct lode_comm *comm; /* its ranks share out lines; NULL: this process alone */
    lode_cost *cost;
    struct lode_window window;
    /* By index of context; integers, so that the order of additions does not matter. */
    uint64_t *nanoseconds;
    uint64_t idle, samples;
    struct lode_map *unlisted;    /* ids, by line */
    struct lode_map all_unlisted; /* of finished lines */
    struct lode_progress progress;
};

static void add(uint64_t *to, uint64_t amount)
{
    __atomic_fetch_add(to, amount, __ATOMIC_RELAXED);
}

static lode_status note_unlisted(struct adding *self, uint64_t item, uint32_t id, lode_error *error)
{
    if (lode_map_add(&self->unlisted[item], id, 0, NULL) == NULL)
        return lode_fail_memory(error);
    return LODE_OK;
}

static lode_status add_line(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct adding *self = context;
    lode_trace_line line;
    struct lode_window_sample sample;
    uint64_t idle = 0, samples = 0, unlisted = 0;
    (void)worker;
    LODE_TRY(lode_database_trace_line(self->db, self->window.lines[item], &line, error));
    for (struct lode_window_walk walk = window_walk(&self->window, &line); window_next(&walk, &sample);) {
        uint64_t time = sample.from < sample.to ? sample.to - sample.from : 0;
        uint32_t index = lode_context_tree_find(&self->db->tree, sample.context_id);
        samples += sample.begins;
        if (index == LODE_NO_INDEX) {
            unlisted += sample.begins;
            LODE_TRY(note_unlisted(self, item, sample.context_id, error));
            index = 0;
        } else if (index == 0) {
            idle += time;
            continue;
        }
        if (time > 0)
            add(&self->nanoseconds[index], time);
    }
    add(&self->idle, idle);
    add(&self->samples, samples);
    add(&self->cost->unlisted_values, unlisted);
    return LODE_OK;
}

static lode_status finish_line(void *context, uint64_t item, lode_error *error)
{
    struct adding *self = context;
    struct lode_map *ids = &self->unlisted[item];
    for (size_t i = 0; i < ids->capacity; i++)
        if (ids->slots[i].used && lode_map_add(&self->all_unlisted, ids->slots[i].key, 0, NULL) == NULL)
            return lode_fail_memory(error);
    lode_map_free(ids);
    lode_map_init(ids);
    return lode_progress_add(&self->progress, 1, error);
}

/* Sums of integers first: the order of contexts does not round. */
static void complete(struct adding *self)
{
    const struct lode_context_tree *tree = self->cost->tree;
    for (uint32_t i = 0; i < tree->count; i++)
        self->cost->own[i] = (double)self->nanoseconds[i] / NANOSECONDS;
    for (uint32_t i = tree->count; i-- > 1;)
        self->nanoseconds[tree->nodes[i].parent] += self->nanoseconds[i];
    for (uint32_t i = 0; i < tree->count; i++)
        self->cost->inclusive[i] = (double)self->nanoseconds[i] / NANOSECONDS;
    self->cost->idle = (double)self->idle / NANOSECONDS;
    self->cost->samples = self->samples;
    self->cost->profiles = self->window.count;
    self->cost->metric = &trace_time_metric;
}

/* ---- ranks ---- */

static uint64_t weight_of(const void *context, uint64_t item)
{
    const struct adding *self = context;
    lode_trace_line line;
    lode_status status = lode_database_trace_line(self->db, self->window.lines[item], &line, NULL);
    return LINE_WEIGHT + (status == LODE_OK ? line.sample_count : 0);
}

/* Ids that are not listed, of all ranks. */
static lode_status share_unlisted(struct adding *self, lode_error *error)
{
    const struct lode_map *map = &self->all_unlisted;
    uint64_t *own = calloc(map->count + 1, sizeof *own), size = 0, count = 0;
    void *all = NULL;
    LODE_TRY_ALLOC(own, error);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].used)
            own[count++] = map->slots[i].key;
    lode_status status =
        lode_comm_gather(self->comm, own, count * sizeof *own, true, &all, &size, NULL, error);
    const uint64_t *ids = all;
    for (uint64_t i = 0; i < size / sizeof *ids && status == LODE_OK; i++)
        if (lode_map_add(&self->all_unlisted, ids[i], 0, NULL) == NULL)
            status = lode_fail_memory(error);
    free(own);
    free(all);
    return status;
}

/* The sums of all ranks. */
static lode_status share_sums(struct adding *self, lode_error *error)
{
    uint64_t numbers[] = {self->idle, self->samples, self->cost->unlisted_values};
    if (self->comm == NULL)
        return LODE_OK;
    LODE_TRY(lode_comm_allreduce(self->comm, self->nanoseconds, self->db->tree.count, LODE_COMM_SUM, error));
    LODE_TRY(lode_comm_allreduce(self->comm, numbers, 3, LODE_COMM_SUM, error));
    self->idle = numbers[0];
    self->samples = numbers[1];
    self->cost->unlisted_values = numbers[2];
    return share_unlisted(self, error);
}

/* On ranks that see different files, nobody waits for what never comes. */
static lode_status agree(const struct adding *self, lode_error *error)
{
    const uint64_t numbers[] = {self->db->tree.count, self->window.count, self->window.from, self->window.to};
    return self->comm ? lode_ranks_agree(self->comm, numbers, 4, "reading traces", error) : LODE_OK;
}

static lode_status compute(struct adding *self, const lode_window_cost_options *options, lode_error *error)
{
    LODE_TRY(
        lode_window_init(&self->window, self->db, options->selection, options->from, options->to, error));
    if (self->window.count == 0 && options->selection)
        return lode_fail(error, LODE_NOT_FOUND, NULL, LODE_NO_OFFSET, "the selection has no trace lines");
    self->nanoseconds = calloc(self->db->tree.count, sizeof *self->nanoseconds);
    self->unlisted = calloc((size_t)self->window.count + 1, sizeof *self->unlisted);
    LODE_TRY_ALLOC(self->nanoseconds && self->unlisted, error);
    for (uint32_t i = 0; i < self->window.count; i++)
        lode_map_init(&self->unlisted[i]);
    LODE_TRY(agree(self, error));
    const struct lode_share share = lode_ranks_share(self->comm, self->window.count, weight_of, self);
    struct lode_job job = {.work = add_line, .finish = finish_line, .context = self, .pool = options->pool};
    self->progress.total = share.count;
    unsigned threads = lode_ranks_threads(self->comm, lode_pool_asked(options->threads, options->pool));
    LODE_TRY(lode_ranks_job(self->comm, threads, &job, &share, error));
    LODE_TRY(share_sums(self, error));
    self->cost->unlisted_contexts = self->all_unlisted.count;
    complete(self);
    return LODE_OK;
}

/* What all ranks are given. */
struct order {
    const lode_database *db;
    const lode_window_cost_options *options;
};

static lode_status make(void **out, const void *context, struct lode_comm *comm, lode_error *error)
{
    const struct order *order = context;
    const lode_window_cost_options *options = order->options;
    struct adding self = {.db = order->db, .comm = comm};
    lode_map_init(&self.all_unlisted);
    LODE_TRY(lode_cost_make(&self.cost, self.db, error));
    self.progress = (struct lode_progress){.report = ranks_is_first(comm) ? options->on_progress : NULL,
                                           .user = options->user,
                                           .phase = "reading traces"};
    lode_status status = compute(&self, options, error);
    for (uint32_t i = 0; self.unlisted && i < self.window.count; i++)
        lode_map_free(&self.unlisted[i]);
    free(self.unlisted);
    lode_map_free(&self.all_unlisted);
    free(self.nanoseconds);
    lode_window_free(&self.window);
    if (status == LODE_OK)
        *out = self.cost;
    else
        lode_cost_free(self.cost);
    return status;
}

static void free_cost(void *cost)
{
    lode_cost_free(cost);
}

lode_status lode_cost_compute_window(lode_cost **out, const lode_database *db,
                                     const lode_window_cost_options *given, lode_error *error)
{
    lode_window_cost_options options = LODE_WINDOW_COST_OPTIONS_INIT;
    const struct order order = {db, &options};
    const struct lode_ranks_result result = {make, free_cost, &order};
    void *made = NULL;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    const struct lode_ranks ranks = {options.comm, options.local_ranks, options.on_progress, options.user};
    LODE_TRY(lode_ranks_make(&made, &ranks, &result, error));
    *out = made;
    return LODE_OK;
}
