/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the profiles of this rank on several threads. */
#include "format/hpcrun/source/source.h"
#include <stdio.h>
#include <stdlib.h>

struct reading {
    struct hpcrun_source *source;
    struct lode_progress progress;
};

/* ---- workers ---- */

static lode_status open_worker(struct hpcrun_source *source, unsigned number, int scratch, lode_error *error)
{
    struct hpcrun_worker *worker = &source->workers[number];
    char name[64];
    lode_array_init(&worker->skips, sizeof(struct hpcrun_skip), UINT32_MAX);
    lode_array_init(&worker->sorted, sizeof(uint64_t[3]), SIZE_MAX);
    worker->first = UINT64_MAX;
    LODE_TRY_ALLOC(lode_hpcrun_raw_init(&worker->raw), error);
    snprintf(name, sizeof name, "rows-%u-%u", source->comm->place.rank, number);
    LODE_TRY(lode_spool_open(&worker->rows, scratch, name, error));
    snprintf(name, sizeof name, "samples-%u-%u", source->comm->place.rank, number);
    return lode_spool_open(&worker->samples, scratch, name, error);
}

lode_status lode_hpcrun_open_workers(struct hpcrun_source *source, int scratch, lode_error *error)
{
    source->workers = calloc(source->threads, sizeof *source->workers);
    source->nodes = calloc(source->threads, sizeof *source->nodes);
    source->metrics = calloc(source->threads, sizeof *source->metrics);
    source->metric_counts = calloc(source->threads, sizeof *source->metric_counts);
    LODE_TRY_ALLOC(source->workers && source->nodes && source->metrics && source->metric_counts, error);
    for (unsigned i = 0; i < source->threads; i++)
        source->workers[i] = (struct hpcrun_worker){.rows = LODE_SPOOL_INIT, .samples = LODE_SPOOL_INIT};
    for (unsigned i = 0; i < source->threads; i++)
        LODE_TRY(open_worker(source, i, scratch, error));
    return LODE_OK;
}

static lode_status read_item(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct reading *self = context;
    return lode_hpcrun_read_item(self->source, &self->source->workers[worker], (uint32_t)item, error);
}

static lode_status count_item(void *context, uint64_t item, lode_error *error)
{
    struct reading *self = context;
    const struct hpcrun_entry *entry = &self->source->entries[self->source->first + item];
    return lode_progress_add(&self->progress, entry->bytes + entry->trace_bytes, error);
}

/* Rank 0 has the callback; all ranks end if one has failed. */
static int report_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    const struct hpcrun_source *source = user;
    const lode_build_options *options = source->input->options;
    lode_error raised;
    if (lode_comm_poll(source->comm, &raised) != LODE_OK)
        return 1;
    if (source->comm->place.rank > 0 || options->on_progress == NULL)
        return 0;
    return options->on_progress(options->user, phase, done, total);
}

lode_status lode_hpcrun_read_inputs(struct hpcrun_source *source, int scratch, lode_error *error)
{
    struct reading self = {.source = source,
                           .progress = {.report = report_progress, .user = source, .phase = "reading"}};
    struct lode_job job = {.items = source->share,
                           .work = read_item,
                           .finish = count_item,
                           .context = &self,
                           .pool = source->input->options->pool};
    for (uint32_t i = 0; i < source->share; i++) {
        const struct hpcrun_entry *entry = &source->entries[source->first + i];
        self.progress.total += entry->bytes + entry->trace_bytes;
    }
    source->base.counts.bytes = self.progress.total;
    source->threads = lode_pool_threads(source->input->threads, source->share);
    LODE_TRY(lode_hpcrun_open_workers(source, scratch, error));
    LODE_TRY(lode_pool_run(source->threads, &job, error));
    for (unsigned i = 0; i < source->threads; i++) {
        struct hpcrun_worker *worker = &source->workers[i];
        LODE_TRY(lode_spool_flush(&worker->rows, error));
        LODE_TRY(lode_spool_flush(&worker->samples, error));
        source->base.counts.records += worker->records;
        source->base.counts.spooled_rows += worker->rows.size;
        source->base.counts.spooled_samples += worker->samples.size;
        source->base.counts.worker_contexts += worker->raw.tree.count;
    }
    return LODE_OK;
}
