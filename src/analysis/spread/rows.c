/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One number over profiles for each of many rows. A value is read once: it belongs to the row of
 * its context, and is no longer own cost of the row of its parent.
 */
#include "analysis/spread/spread.h"

#include "analysis/cost/key.h"
#include "base/comm/ranks.h"
#include "base/error.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/progress.h"
#include "model/database/block.h"
#include "model/database/database.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROFILES_PER_ITEM = LODE_SPREAD_PROFILES_PER_ITEM,
    MEMORY_DEFAULT = 256 << 20
};

/* A row in one profile. */
struct amounts {
    double exclusive, inclusive;
    double size; /* sum of the positive terms of `exclusive` */
    bool is_touched;
};

/* A row in the profiles of one worker. */
struct extremes {
    double low[2], high[2]; /* exclusive, inclusive */
    uint64_t seen;          /* profiles */
};

struct worker {
    struct amounts *amounts; /* by row */
    uint32_t *touched;
    size_t touched_count;
    struct extremes *extremes; /* by row, unless medians are wanted */
};

struct pass {
    const lode_database *db;
    struct lode_comm *comm; /* its ranks share out profiles; NULL: this process alone */
    lode_spread_rows_options *options;
    uint32_t *no_rows; /* options->rows, if none were given */
    uint16_t id;
    bool is_inclusive;       /* the id is of the execution scope, not of the point scope */
    unsigned char *is_outer; /* by index of context: no context above it is in its row */
    struct worker *workers;
    unsigned worker_count;
    bool *counts;  /* by profile: it is selected, and has the metric */
    double *total; /* by profile */
    /* Medians need all values of a row: as many rows at once as memory allows. */
    size_t first, end;
    double *values; /* by row of the batch, profile, and kind */
    struct lode_progress progress;
};

static bool is_median(const struct pass *self)
{
    return self->options->statistic == LODE_PROFILES_MEDIAN;
}

/* ---- one profile ---- */

static struct amounts *touch(struct worker *worker, uint32_t row)
{
    struct amounts *amounts = &worker->amounts[row];
    if (!amounts->is_touched) {
        *amounts = (struct amounts){.is_touched = true};
        worker->touched[worker->touched_count++] = row;
    }
    return amounts;
}

/* An inclusive value: what it adds to its row is not own cost of the row around it. */
static void add_inclusive(const struct pass *self, struct worker *worker, const lode_context *context,
                          double value)
{
    const uint32_t *rows = self->options->rows;
    uint32_t row = rows[context->index];
    uint32_t above = context->index ? rows[context->parent] : LODE_NO_ROW;
    if (row != LODE_NO_ROW && self->is_outer[context->index])
        touch(worker, row)->inclusive += value;
    if (row == above)
        return;
    if (row != LODE_NO_ROW) {
        struct amounts *amounts = touch(worker, row);
        amounts->exclusive += value;
        amounts->size += fabs(value);
    }
    if (above != LODE_NO_ROW)
        touch(worker, above)->exclusive -= value;
}

/* A point value belongs to all rows above it, once to each. */
static void add_point(const struct pass *self, struct worker *worker, const lode_context *context,
                      double value)
{
    const uint32_t *rows = self->options->rows;
    const struct lode_context_tree *tree = &self->db->tree;
    if (rows[context->index] != LODE_NO_ROW) {
        struct amounts *amounts = touch(worker, rows[context->index]);
        amounts->exclusive += value;
        amounts->size += fabs(value);
    }
    for (uint32_t i = context->index;; i = tree->nodes[i].parent) {
        if (rows[i] != LODE_NO_ROW && self->is_outer[i])
            touch(worker, rows[i])->inclusive += value;
        if (i == 0)
            break;
    }
}

static lode_status add_groups(struct pass *self, struct worker *worker, const lode_block *block,
                              uint32_t profile, lode_error *error)
{
    const struct lode_context_tree *tree = &self->db->tree;
    for (uint32_t g = 0; g < block->group_count; g++) {
        uint32_t index = lode_context_tree_find(tree, block_group_key(block, g));
        lode_group group;
        double value;
        /* Point values of contexts that are not listed belong to the root. */
        if (index == LODE_NO_INDEX && self->is_inclusive)
            continue;
        LODE_TRY(lode_block_group(block, g, &group, error));
        lode_status status = lode_group_lookup(block, &group, self->id, &value);
        if (status < 0)
            return status;
        if (status != LODE_OK)
            continue;
        const lode_context *context = &tree->nodes[index == LODE_NO_INDEX ? 0 : index];
        if (self->is_inclusive)
            add_inclusive(self, worker, context, value);
        else
            add_point(self, worker, context, value);
        if (!self->is_inclusive || context->index == 0) {
            self->total[profile] += value;
            self->counts[profile] = true;
        }
    }
    return LODE_OK;
}

static void note(struct extremes *extremes, const double values[2])
{
    for (int i = 0; i < 2; i++) {
        bool is_first = extremes->seen == 0;
        extremes->low[i] = is_first ? values[i] : fmin(extremes->low[i], values[i]);
        extremes->high[i] = is_first ? values[i] : fmax(extremes->high[i], values[i]);
    }
    extremes->seen++;
}

static void deliver(struct pass *self, struct worker *worker, uint32_t profile)
{
    for (size_t i = 0; i < worker->touched_count; i++) {
        uint32_t row = worker->touched[i];
        struct amounts *amounts = &worker->amounts[row];
        bool is_rounding = fabs(amounts->exclusive) <= LODE_SPREAD_ROUNDING * amounts->size;
        double values[2] = {is_rounding ? 0.0 : amounts->exclusive, amounts->inclusive};
        amounts->is_touched = false;
        if (!self->counts[profile])
            continue;
        if (!is_median(self))
            note(&worker->extremes[row], values);
        else if (row >= self->first && row < self->end)
            memcpy(self->values + 2 * ((row - self->first) * self->db->profile_count + profile), values,
                   sizeof values);
    }
    worker->touched_count = 0;
}

static lode_status add_profiles(void *context, uint64_t item, unsigned number, lode_error *error)
{
    struct pass *self = context;
    uint64_t end = (item + 1) * PROFILES_PER_ITEM;
    for (uint64_t p = item * PROFILES_PER_ITEM; p < end && p < self->db->profile_count; p++) {
        lode_block block;
        int selected = 0;
        if (p > 0)
            LODE_TRY(lode_selection_has(self->options->selection, self->db, (uint32_t)p, &selected, error));
        self->counts[p] = false;
        self->total[p] = 0;
        if (!selected)
            continue;
        LODE_TRY(lode_profile_block(self->db, (uint32_t)p, &block, error));
        LODE_TRY(add_groups(self, &self->workers[number], &block, (uint32_t)p, error));
        deliver(self, &self->workers[number], (uint32_t)p);
    }
    return LODE_OK;
}

static lode_status finish_profiles(void *context, uint64_t item, lode_error *error)
{
    struct pass *self = context;
    (void)item;
    return lode_progress_add(&self->progress, 1, error);
}

/* ---- statistics ---- */

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Of values of the profiles that count; `scratch` has room for all. */
static double statistic_of(const struct pass *self, const double *values, size_t stride, double *scratch)
{
    size_t count = 0;
    for (uint32_t p = 0; p < self->db->profile_count; p++)
        if (self->counts[p])
            scratch[count++] = values[p * stride];
    if (count == 0)
        return 0.0;
    qsort(scratch, count, sizeof *scratch, compare_doubles);
    if (is_median(self))
        return (scratch[(count - 1) / 2] + scratch[count / 2]) / 2;
    return self->options->statistic == LODE_PROFILES_MIN ? scratch[0] : scratch[count - 1];
}

/* A profile without a value of a row has 0 there. */
static double extreme_of(const struct pass *self, size_t row, int kind, uint64_t profiles)
{
    bool is_low = self->options->statistic == LODE_PROFILES_MIN;
    struct extremes all = {0};
    for (unsigned w = 0; w < self->worker_count; w++) {
        const struct extremes *own = &self->workers[w].extremes[row];
        if (own->seen == 0)
            continue;
        all.low[kind] = all.seen ? fmin(all.low[kind], own->low[kind]) : own->low[kind];
        all.high[kind] = all.seen ? fmax(all.high[kind], own->high[kind]) : own->high[kind];
        all.seen += own->seen;
    }
    double value = is_low ? all.low[kind] : all.high[kind];
    if (all.seen < profiles)
        value = is_low ? fmin(value, 0.0) : fmax(value, 0.0);
    return value;
}

static lode_status fill_rows(const struct pass *self, double *const out[2], lode_error *error)
{
    uint64_t profiles = 0;
    double *scratch = calloc((size_t)self->db->profile_count + 1, sizeof *scratch);
    LODE_TRY_ALLOC(scratch, error);
    for (uint32_t p = 0; p < self->db->profile_count; p++)
        profiles += self->counts[p];
    for (size_t row = self->first; row < self->end; row++)
        for (int kind = 0; kind < 2; kind++) {
            const double *values =
                self->values ? self->values + 2 * (row - self->first) * self->db->profile_count + kind : NULL;
            if (out[kind])
                out[kind][row] =
                    values ? statistic_of(self, values, 2, scratch) : extreme_of(self, row, kind, profiles);
        }
    free(scratch);
    return LODE_OK;
}

static lode_status fill_total(const struct pass *self, double *total, lode_error *error)
{
    double *scratch = calloc((size_t)self->db->profile_count + 1, sizeof *scratch);
    LODE_TRY_ALLOC(scratch, error);
    if (total)
        *total = statistic_of(self, self->total, 1, scratch);
    free(scratch);
    return LODE_OK;
}

/* ---- passes ---- */

static lode_status read_profiles(struct pass *self, lode_error *error)
{
    const lode_spread_rows_options *options = self->options;
    uint64_t items = self->db->profile_count / PROFILES_PER_ITEM + 1;
    struct lode_job job = {
        .work = add_profiles, .finish = finish_profiles, .context = self, .pool = options->pool};
    const struct lode_share share = lode_ranks_share(self->comm, items, lode_spread_weight, self->db);
    return lode_ranks_job(self->comm, self->worker_count, &job, &share, error);
}

static lode_status read_batches(struct pass *self, double *const out[2], lode_error *error)
{
    size_t rows = self->options->row_count, row_size = 2 * sizeof(double) * self->db->profile_count;
    uint64_t memory = self->options->memory ? self->options->memory : MEMORY_DEFAULT;
    size_t batch = is_median(self) ? (size_t)(memory / row_size) + 1 : rows;
    batch = batch < rows ? batch : rows;
    size_t passes = batch ? (rows + batch - 1) / batch : 1;
    self->progress.total = (self->db->profile_count / PROFILES_PER_ITEM + 1) * passes;
    for (size_t i = 0; i < passes; i++) {
        self->first = i * batch;
        self->end = self->first + batch < rows ? self->first + batch : rows;
        if (is_median(self)) {
            free(self->values);
            self->values = calloc(batch + 1, row_size);
            LODE_TRY_ALLOC(self->values, error);
        }
        LODE_TRY(read_profiles(self, error));
        LODE_TRY(fill_rows(self, out, error));
    }
    return LODE_OK;
}

/* Nodes are in depth-first order: a row is open until the end of its outermost subtree. */
static lode_status find_outer(struct pass *self, lode_error *error)
{
    const struct lode_context_tree *tree = &self->db->tree;
    const uint32_t *rows = self->options->rows;
    const unsigned char *uncounted = self->options->uncounted;
    uint64_t *open_until = calloc(self->options->row_count + 1, sizeof *open_until);
    self->is_outer = calloc((size_t)tree->count + 1, 1);
    lode_status status = open_until && self->is_outer ? LODE_OK : lode_fail_memory(error);
    for (uint32_t i = 0; i < tree->count && status == LODE_OK; i++) {
        if (rows[i] == LODE_NO_ROW)
            continue;
        if (rows[i] >= self->options->row_count) {
            status = lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "a row is out of range");
        } else if (i >= open_until[rows[i]] && !(uncounted && uncounted[i])) {
            self->is_outer[i] = 1;
            open_until[rows[i]] = (uint64_t)i + lode_context_subtree_size(&tree->nodes[i]);
        }
    }
    free(open_until);
    return status;
}

/* Of 8 bytes: so many have a byte for each profile. */
static size_t whole_words(const struct pass *self)
{
    return self->db->profile_count / sizeof(uint64_t) + 1;
}

static lode_status open_workers(struct pass *self, lode_error *error)
{
    const lode_spread_rows_options *options = self->options;
    size_t rows = options->row_count + 1;
    unsigned asked = lode_ranks_threads(self->comm, lode_pool_asked(options->threads, options->pool));
    self->worker_count = lode_pool_threads(asked, self->db->profile_count / PROFILES_PER_ITEM + 1);
    self->workers = calloc(self->worker_count, sizeof *self->workers);
    size_t bytes = whole_words(self) * sizeof(uint64_t);
    self->counts = calloc(bytes, sizeof *self->counts);
    self->total = calloc((size_t)self->db->profile_count + 1, sizeof *self->total);
    LODE_TRY_ALLOC(self->workers && self->counts && self->total, error);
    for (unsigned i = 0; i < self->worker_count; i++) {
        struct worker *worker = &self->workers[i];
        worker->amounts = calloc(rows, sizeof *worker->amounts);
        worker->touched = calloc(rows, sizeof *worker->touched);
        worker->extremes = calloc(is_median(self) ? 1 : rows, sizeof *worker->extremes);
        LODE_TRY_ALLOC(worker->amounts && worker->touched && worker->extremes, error);
    }
    return LODE_OK;
}

static lode_status prepare(struct pass *self, lode_error *error)
{
    if (self->options->metric == NULL)
        LODE_TRY(lode_database_default_metric(self->db, &self->options->metric, error));
    const lode_metric *metric = self->options->metric;
    self->is_inclusive = lode_metric_id(metric, LODE_SCOPE_EXECUTION, &self->id) == LODE_OK;
    if (!self->is_inclusive && lode_metric_id(metric, LODE_SCOPE_POINT, &self->id) != LODE_OK)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "metric '%s' has neither inclusive nor point values", lode_metric_name(metric));
    if (self->options->rows == NULL) {
        size_t size = ((size_t)self->db->tree.count + 1) * sizeof *self->no_rows;
        self->options->rows = self->no_rows = malloc(size);
        LODE_TRY_ALLOC(self->no_rows, error);
        memset(self->no_rows, 0xff, size);
    }
    return find_outer(self, error);
}

static void end_pass(struct pass *self)
{
    for (unsigned i = 0; self->workers && i < self->worker_count; i++) {
        free(self->workers[i].amounts);
        free(self->workers[i].touched);
        free(self->workers[i].extremes);
    }
    free(self->workers);
    free(self->counts);
    free(self->total);
    free(self->is_outer);
    free(self->no_rows);
}

static lode_status compute(struct pass *self, double *const out[2], double *total, lode_error *error)
{
    LODE_TRY(prepare(self, error));
    LODE_TRY(lode_profile_blocks_fit(self->db, error));
    LODE_TRY(open_workers(self, error));
    LODE_TRY(read_batches(self, out, error));
    return fill_total(self, total, error);
}

lode_status lode_spread_rows(double *exclusive, double *inclusive, double *total, const lode_database *db,
                             const lode_spread_rows_options *given, lode_error *error)
{
    lode_spread_rows_options options = LODE_SPREAD_ROWS_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&options, given, error));
    struct pass self = {
        .db = db,
        .options = &options,
        .progress = {.report = options.on_progress, .user = options.user, .phase = "adding up profiles"}};
    double *const out[2] = {exclusive, inclusive};
    lode_status status = compute(&self, out, total, error);
    free(self.values);
    end_pass(&self);
    return status;
}

/* ---- values by profile ---- */

static lode_status compute_values(struct pass *self, double *values, lode_error *error)
{
    lode_spread_rows_options *options = self->options;
    size_t size = 2 * options->row_count * self->db->profile_count * sizeof *values;
    LODE_TRY(prepare(self, error));
    struct lode_spread_question question = {options->metric, self->id,       options->selection,
                                            options->rows,   self->is_outer, options->row_count};
    memset(values, 0, size);
    lode_status status = self->is_inclusive
                             ? lode_spread_by_contexts(&question, self->db, self->comm, values, error)
                             : LODE_ABSENT;
    if (status == LODE_OK)
        return lode_spread_agree(self->comm, self->db, self->id, LODE_VALUES_BY_CONTEXTS, error);
    if (status != LODE_ABSENT)
        return status;
    memset(values, 0, size);
    options->statistic = LODE_PROFILES_MEDIAN;
    self->values = values;
    self->end = options->row_count;
    self->progress.total = self->db->profile_count / PROFILES_PER_ITEM + 1;
    LODE_TRY(lode_profile_blocks_fit(self->db, error));
    LODE_TRY(open_workers(self, error));
    LODE_TRY(lode_spread_agree(self->comm, self->db, self->id, LODE_VALUES_BY_PROFILES, error));
    LODE_TRY(read_profiles(self, error));
    LODE_TRY(lode_ranks_collect(self->comm, values, size / sizeof *values, error));
    LODE_TRY(lode_ranks_collect(self->comm, self->total, self->db->profile_count, error));
    return lode_ranks_collect(self->comm, self->counts, whole_words(self), error);
}

lode_status lode_spread_rows_values(double *values, const lode_database *db,
                                    const lode_spread_rows_options *given, struct lode_comm *comm,
                                    lode_error *error)
{
    lode_spread_rows_options options = LODE_SPREAD_ROWS_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&options, given, error));
    struct pass self = {
        .db = db,
        .comm = comm,
        .options = &options,
        .progress = {.report = options.on_progress, .user = options.user, .phase = "adding up profiles"}};
    lode_status status = compute_values(&self, values, error);
    end_pass(&self);
    return status;
}
