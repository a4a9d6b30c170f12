/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels, and functions that all parts of a check use. */
#include "format/hpctoolkit/check/check.h"

#include "base/pool.h"
#include "base/progress.h"
#include <math.h>
#include <stdlib.h>

/* Relative. Sums of 100,000 values in another order differ by less than 1e-10. */
#define CHECK_TOLERANCE 1e-9

bool lode_hpct_close_enough(double a, double b)
{
    return a == b || fabs(a - b) <= CHECK_TOLERANCE * fmax(fabs(a), fabs(b));
}

/* ---- items ---- */

struct items {
    struct hpct_check *check;
    struct lode_report *slots; /* reports of current batches, by batch % window */
    unsigned window;
    uint64_t count, batch; /* items, and how many a thread takes at once */
    hpct_check_fn work;
    void *context;
    struct lode_progress progress;
};

/* Items may be small: a batch of them amortizes the cost of taking it. */
enum {
    LEAST_BATCHES = 512
};

static lode_status work_batch(void *context, uint64_t number, unsigned worker, lode_error *error)
{
    struct items *items = context;
    struct lode_report *report = &items->slots[number % items->window];
    uint64_t first = number * items->batch, end = first + items->batch;
    report->error = error;
    for (uint64_t item = first; item < end && item < items->count; item++)
        LODE_TRY(items->work(items->check, items->context, item, worker, report));
    return LODE_OK;
}

static lode_status finish_batch(void *context, uint64_t number, lode_error *error)
{
    struct items *items = context;
    struct lode_report *to = &items->check->report;
    lode_error *before = to->error;
    to->error = error;
    lode_status status = lode_report_flush(&items->slots[number % items->window], to);
    to->error = before;
    return status == LODE_OK ? lode_progress_add(&items->progress, items->batch, error) : status;
}

lode_status lode_hpct_check_items(struct hpct_check *check, const char *phase, uint64_t count,
                                  hpct_check_fn work, void *context)
{
    lode_error *error = check->report.error;
    uint64_t batch = count / LEAST_BATCHES + 1, batches = (count + batch - 1) / batch;
    unsigned threads = lode_pool_threads(check->threads, batches);
    struct items items = {.check = check,
                          .window = lode_pool_window(threads),
                          .count = count,
                          .batch = batch,
                          .work = work,
                          .context = context,
                          .progress = {.report = check->options->on_progress,
                                       .user = check->options->user,
                                       .phase = phase,
                                       .total = count}};
    items.slots = calloc(items.window, sizeof *items.slots);
    lode_status status = items.slots ? LODE_OK : lode_fail_memory(error);
    for (unsigned i = 0; i < items.window && status == LODE_OK; i++)
        status = lode_report_keep(&items.slots[i], &check->report, error);
    struct lode_job job = {.items = batches,
                           .work = work_batch,
                           .finish = finish_batch,
                           .context = &items,
                           .pool = check->options->pool};
    if (status == LODE_OK)
        status = lode_pool_run(threads, &job, error);
    for (unsigned i = 0; items.slots && i < items.window; i++)
        lode_report_close(&items.slots[i]);
    free(items.slots);
    return status;
}

enum {
    MOST_CONTEXTS_PER_ITEM = 4096,
    LEAST_ITEMS = 128
};

uint64_t lode_hpct_contexts_per_item(const struct hpct_check *check)
{
    uint64_t size = check->db->contexts.count / LEAST_ITEMS + 1;
    return size < MOST_CONTEXTS_PER_ITEM ? size : MOST_CONTEXTS_PER_ITEM;
}

uint64_t lode_hpct_context_items(const struct hpct_check *check)
{
    uint64_t size = lode_hpct_contexts_per_item(check);
    return (check->db->contexts.count + size - 1) / size;
}

/* ---- metric ids ---- */

static lode_status index_metric_ids(struct hpct_check *check)
{
    const lode_database *db = &check->db->base;
    check->values = calloc(UINT16_MAX + 1, sizeof *check->values);
    check->statistics = calloc(UINT16_MAX + 1, sizeof *check->statistics);
    LODE_TRY_ALLOC(check->values && check->statistics, check->report.error);
    for (uint32_t m = 0; m < db->metric_count; m++) {
        const lode_metric *metric = &db->metrics[m];
        for (uint32_t i = 0; i < metric->scope_count; i++) {
            const lode_scope *scope = metric->scopes[i].scope;
            uint16_t id = metric->scopes[i].id;
            check->values[id] = (struct hpct_metric_id){.known = true,
                                                        .type = scope->type,
                                                        .bit = scope->propagation_index,
                                                        .metric = (uint16_t)m,
                                                        .position = check->value_ids++,
                                                        .factor = lode_hpct_factor(HPCT_FACTOR_METRIC, id)};
        }
        for (uint32_t i = 0; i < metric->statistic_count; i++)
            check->statistics[metric->statistics[i].id] =
                (struct hpct_metric_id){.known = true, .metric = (uint16_t)m};
    }
    return LODE_OK;
}

/* ---- levels ---- */

enum {
    SMALL_BYTES = 256 << 10
};

static lode_status find_measured(struct hpct_check *check)
{
    uint64_t count = check->db->profiles.count;
    check->measured = calloc((size_t)count + 1, sizeof *check->measured);
    check->adds_up = calloc((size_t)count + 1, sizeof *check->adds_up);
    LODE_TRY_ALLOC(check->measured && check->adds_up, check->report.error);
    for (uint32_t i = 1; i < count; i++) {
        struct wire_Profile profile;
        lode_hpct_profile(check->db, i, &profile);
        check->measured[i] = !(profile.flags & HPCT_PROFILE_SUMMARY);
    }
    return LODE_OK;
}

static lode_status check_structure(struct hpct_check *check)
{
    struct hpct_database *db = check->db;
    LODE_TRY(find_measured(check));
    if (db->files[HPCT_META].usable) {
        uint64_t errors = check->report.result.errors;
        LODE_TRY(lode_hpct_load_meta(db, &check->report));
        LODE_TRY(index_metric_ids(check));
        check->meta_sound = check->tables_sound && check->report.result.errors == errors;
        check->report.result.contexts = db->base.tree.count;
    }
    struct hpct_factors factors = {0};
    lode_status status = LODE_OK;
    if (check->options->level >= LODE_CHECK_FULL) {
        status =
            lode_hpct_factors_open(&factors, db->contexts.count, db->profiles.count, check->report.error);
        check->factors = &factors;
    }
    if (status == LODE_OK)
        status = lode_hpct_check_profiles(check);
    if (status == LODE_OK)
        status = lode_hpct_check_contexts(check);
    check->factors = NULL;
    lode_hpct_factors_close(&factors);
    return status == LODE_OK ? lode_hpct_check_traces(check) : status;
}

static lode_status check_meaning(struct hpct_check *check)
{
    if (check->traces_sound && check->meta_sound)
        LODE_TRY(lode_hpct_check_trace_contexts(check));
    if (check->profiles_sound && check->contexts_sound)
        LODE_TRY(lode_hpct_check_transpose(check));
    if (check->profiles_sound && check->meta_sound) {
        LODE_TRY(lode_hpct_check_scopes(check));
        LODE_TRY(lode_hpct_check_summary(check));
    }
    return LODE_OK;
}

/* To start threads takes longer than to check little: none, unless they are asked for. */
static void choose_threads(struct hpct_check *check)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < HPCT_FILES; i++)
        bytes += check->db->files[i].source.bytes.size;
    if (bytes < SMALL_BYTES && check->options->threads == 0)
        check->threads = 1;
}

static lode_status run_levels(struct hpct_check *check, const struct lode_folder *folder)
{
    lode_check_level level = check->options->level;
    LODE_TRY(lode_hpct_open_files(check->db, folder, &check->report));
    choose_threads(check);
    uint64_t errors = check->report.result.errors;
    LODE_TRY(lode_hpct_find_meta_tables(check->db, &check->report));
    check->tables_sound = check->db->files[HPCT_META].sound && check->report.result.errors == errors;
    LODE_TRY(lode_hpct_find_value_tables(check->db, &check->report));
    /* Another layout: other rules do not apply to it. */
    if (lode_report_seen(&check->report, RULE_LAYOUT_OLD) > 0)
        return LODE_OK;
    if (level >= LODE_CHECK_STRUCTURE)
        LODE_TRY(check_structure(check));
    return level >= LODE_CHECK_FULL ? check_meaning(check) : LODE_OK;
}

lode_status lode_hpct_check_layout(const struct lode_folder *folder, const struct hpct_layout *layout,
                                   const lode_check_options *options, lode_check_result *result,
                                   lode_error *error)
{
    struct hpct_check check = {.options = options,
                               .threads = lode_pool_asked(options->threads, options->pool)};
    if (check.threads == 0)
        check.threads = lode_pool_processors();
    check.db = lode_hpct_new(layout);
    LODE_TRY_ALLOC(check.db, error);
    lode_status status = lode_report_open(&check.report, lode_hpct_rules, RULE_COUNT, options->limit_per_rule,
                                          options->on_finding, options->user, error);
    if (status == LODE_OK)
        status = run_levels(&check, folder);
    *result = check.report.result;
    lode_report_close(&check.report);
    free(check.values);
    free(check.statistics);
    free(check.measured);
    free(check.adds_up);
    lode_hpct_close(check.db);
    return status;
}

lode_status lode_hpct_check(const struct lode_folder *folder, const lode_check_options *options,
                            lode_check_result *result, lode_error *error)
{
    return lode_hpct_check_layout(folder, &lode_hpct_layout, options, result, error);
}
