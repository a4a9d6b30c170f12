/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of recordings of Linux perf: opened as databases, built like measurements. */
#include "format/perf/source/source.h"
#include <stdlib.h>

#define FORMAT_NAME "perf"

/* ---- whether it is sound ---- */

/* A recording that is read by one worker, without spools and names. */
struct checking {
    struct perf_store store;
    struct perf_replay replay;
    struct perf_worker worker;
    bool has_worker;
};

static lode_status read_samples(struct checking *self)
{
    struct perf_store *store = &self->store;
    lode_error *error = store->report->error;
    self->has_worker = true;
    LODE_TRY(lode_perf_worker_open(&self->worker, &self->replay, 0, -1, error));
    self->worker.only_checks = true;
    for (uint64_t i = 0; i < store->pieces.count; i++)
        LODE_TRY(lode_perf_collect(&self->worker, i, error));
    LODE_TRY(lode_perf_limit_contexts(store, self->worker.raw.tree.count));
    return lode_perf_report_counts(store, &self->worker.counts);
}

static lode_status check_with(struct checking *self, const struct lode_folder *folder, lode_check_level level)
{
    lode_check_result *result = &self->store.report->result;
    if (level < LODE_CHECK_STRUCTURE)
        return lode_perf_open(&self->store, folder);
    LODE_TRY(lode_perf_read(&self->store, &self->replay, folder));
    LODE_TRY(read_samples(self));
    result->contexts = self->worker.raw.tree.count;
    result->profiles = self->worker.whos.items.count + 1; /* and the summary */
    result->values = self->worker.rows.count;
    result->samples = self->worker.counts.samples;
    return LODE_OK;
}

/* Whether addresses have names is known when they were looked for: the recording is opened. */
static lode_status check_opened(const struct lode_folder *folder, const lode_check_options *options,
                                lode_check_result *result, lode_error *error)
{
    lode_database *db;
    LODE_TRY(lode_perf_open_database(&db, folder, error));
    lode_status status = lode_database_check(db, "", options, result, error);
    lode_database_close(db);
    return status;
}

static lode_status check(const struct lode_folder *folder, const lode_check_options *options,
                         lode_check_result *result, lode_error *error)
{
    if (options->level >= LODE_CHECK_FULL) {
        lode_status opened = check_opened(folder, options, result, error);
        /* What cannot be opened has findings that say why. */
        if (opened != LODE_ERR_CORRUPT)
            return opened;
    }
    struct lode_report report;
    struct checking self = {.has_worker = false};
    LODE_TRY(lode_report_open(&report, lode_perf_rules, PERF_RULE_COUNT, options->limit_per_rule,
                              options->on_finding, options->user, error));
    lode_perf_init(&self.store, &report);
    lode_perf_replay_init(&self.replay, &self.store);
    lode_status status = check_with(&self, folder, options->level);
    if (self.has_worker)
        lode_perf_worker_close(&self.worker);
    lode_perf_replay_free(&self.replay);
    lode_perf_free(&self.store);
    *result = report.result;
    lode_report_close(&report);
    return status == LODE_END ? LODE_OK : status;
}

/* ---- building ---- */

static lode_status open_path(struct perf_source **out, const struct lode_measured_input *input,
                             struct lode_report *report, lode_error *error)
{
    struct lode_folder folder;
    LODE_TRY(lode_store_folder(&folder, input->paths[0], error));
    lode_status status = lode_perf_source_open(out, &folder, input, report, error);
    lode_folder_close(&folder);
    return status;
}

static lode_status open_source(struct lode_measured_source **out, const struct lode_measured_input *input,
                               lode_error *error)
{
    const lode_build_options *options = input->options;
    struct perf_source *source = NULL;
    if (input->comm->place.size > 1)
        return lode_fail(error, LODE_ERR_ARGUMENT, input->paths[0], LODE_NO_OFFSET,
                         "a recording of perf is read by one process; build it without ranks");
    if (input->count > 1)
        return lode_fail(error, LODE_ERR_ARGUMENT, input->paths[1], LODE_NO_OFFSET,
                         "recordings of perf are built one by one; 'lode merge' adds databases");
    struct lode_report *report = calloc(1, sizeof *report);
    LODE_TRY_ALLOC(report, error);
    lode_status status = lode_report_begin(report, lode_perf_rules, PERF_RULE_COUNT, options->strict,
                                           options->on_finding, options->user, error);
    if (status == LODE_OK)
        status = open_path(&source, input, report, error);
    if (source == NULL) {
        lode_report_close(report);
        free(report);
        return status;
    }
    *out = &source->base.base;
    return status;
}

static void close_source(struct lode_measured_source *base)
{
    struct lode_report *report = base ? ((struct hpcrun_source *)base)->report : NULL;
    lode_hpcrun_source_close(base);
    if (report)
        lode_report_close(report);
    free(report);
}

/* ---- the format ---- */

const struct lode_format lode_format_perf = {
    .name = FORMAT_NAME,
    .mark = "recording of perf (perf.data)",
    .is_file = true,
    .probe = lode_perf_probe,
    .open = lode_perf_open_database,
    .check = check,
    .open_source = open_source,
    .close_source = close_source,
    .rules = lode_perf_rules,
    .rule_count = PERF_RULE_COUNT,
};

/* As perf makes it with --threads. */
const struct lode_format lode_format_perf_directory = {
    .name = FORMAT_NAME,
    .probe = lode_perf_probe,
    .open = lode_perf_open_database,
    .check = check,
    .open_source = open_source,
    .close_source = close_source,
};
