/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/losses.h"
#include "base/text/count.h"

#include "export/export.h"
#include "model/database/database.h"
#include "model/import/carried.h"
#include <inttypes.h>
#include <lode/block.h>
#include <lode/metric.h>
#include <lode/profile.h>
#include <string.h>

/* ---- repairs ---- */

static int count_finding(void *user, const lode_finding *finding)
{
    struct lode_export *job = user;
    if (strncmp(finding->rule, LODE_EXPORT_RULE, strlen(LODE_EXPORT_RULE)) != 0)
        __atomic_add_fetch(&job->repairs, 1, __ATOMIC_RELAXED);
    return job->caller.on_finding ? job->caller.on_finding(job->caller.user, finding) : 0;
}

static int pass_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    const struct lode_export *job = user;
    return job->caller.on_progress(job->caller.user, phase, done, total);
}

void lode_export_count_repairs(struct lode_export *job)
{
    job->caller.on_finding = job->given.on_finding;
    job->caller.on_progress = job->given.on_progress;
    job->caller.user = job->given.user;
    job->given.on_finding = count_finding;
    job->given.on_progress = job->caller.on_progress ? pass_progress : NULL;
    job->given.user = job;
}

static lode_status report_repairs(const struct lode_export *job, lode_error *error)
{
    if (job->repairs == 0)
        return LODE_OK;
    return lode_export_lost(
        job, "repaired", error, "%s repaired",
        LODE_COUNTED(job->repairs, "error of the recording was", "errors of the recording were"));
}

/* ---- metrics ---- */

static bool has_total(const lode_database *db, const lode_metric *metric)
{
    lode_block block;
    uint16_t id;
    double total = 0;
    return lode_metric_sum_id(metric, LODE_SCOPE_EXECUTION, &id) == LODE_OK &&
           lode_profile_block(db, 0, &block, NULL) == LODE_OK &&
           lode_block_lookup(&block, 0, id, &total, NULL) == LODE_OK && total != 0;
}

static size_t metrics_with_total(const lode_database *db)
{
    size_t count = 0;
    for (uint32_t i = 0; i < lode_database_metric_count(db); i++)
        count += has_total(db, lode_database_metric(db, i));
    return count;
}

/* Metrics that were asked for, and are not there. */
static lode_status report_asked(const struct lode_export *job, lode_error *error)
{
    const struct lode_export_written *written = &job->written;
    size_t asked = job->options->metric_count;
    bool has_window = job->options->from != 0 || job->options->to != 0;
    if (!written->has_stacks || has_window)
        return lode_export_lost(job, "metrics", error, "metrics are not exported: %s has times only",
                                written->has_stacks ? "a time window" : job->format->name);
    if (written->metric_count >= asked)
        return LODE_OK;
    return lode_export_lost(job, "metrics", error, "only %s is exported: %s has one number",
                            lode_metric_name(job->options->metrics[0]), job->format->name);
}

/* Metrics that nobody named. */
static lode_status report_others(const struct lode_export *job, lode_error *error)
{
    size_t there = metrics_with_total(job->db), count = job->written.metric_count;
    bool has_window = job->options->from != 0 || job->options->to != 0;
    if (!job->written.has_stacks || has_window || there <= count)
        return LODE_OK;
    return lode_export_lost(
        job, "metrics", error, "%s not exported (--metric selects)",
        LODE_COUNTED(there - count, "other metric with a total is", "other metrics with a total are"));
}

static lode_status report_metrics(const struct lode_export *job, lode_error *error)
{
    if (job->written.has_tables)
        return LODE_OK;
    return job->options->metric_count > 0 ? report_asked(job, error) : report_others(job, error);
}

/* ---- labels ---- */

static lode_status report_labels(const struct lode_export *job, lode_error *error)
{
    const struct lode_carried *carried = job->db->carried;
    if (!carried_has_labels(carried) || job->written.has_labels)
        return LODE_OK;
    if (job->written.keeps_labels)
        return lode_export_lost(job, "labels", error, "labels of some samples are not exported: too many");
    return lode_export_lost(job, "labels", error, "labels of samples are not exported: %s has none",
                            job->format->name);
}

/* ---- all ---- */

lode_status lode_export_report_losses(const struct lode_export *job, lode_error *error)
{
    LODE_TRY(report_repairs(job, error));
    if (job->db == NULL)
        return LODE_OK;
    LODE_TRY(report_metrics(job, error));
    return report_labels(job, error);
}
