/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the profiles of this rank on several threads, and merges what they read. */
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

/* ---- merging ---- */

/* Skips are needed no more. The raw data of the first worker becomes that of the rank. */
static lode_status merge_workers(struct hpcrun_source *source, lode_error *error)
{
    for (unsigned w = 0; w < source->threads; w++) {
        struct hpcrun_raw *raw = &source->workers[w].raw;
        source->nodes[w] = calloc((size_t)raw->tree.count + 1, sizeof **source->nodes);
        source->metrics[w] = calloc(raw->metrics.count + 1, sizeof **source->metrics);
        source->metric_counts[w] = (uint32_t)raw->metrics.count;
        LODE_TRY_ALLOC(source->nodes[w] && source->metrics[w], error);
        if (w == 0) {
            source->raw = *raw;
            *raw = (struct hpcrun_raw){0};
            for (uint32_t i = 0; i < source->raw.tree.count; i++)
                source->nodes[w][i] = i;
            for (uint32_t i = 0; i < source->raw.metrics.count; i++)
                source->metrics[w][i] = i;
            continue;
        }
        LODE_TRY_ALLOC(lode_hpcrun_raw_merge(&source->raw, raw, source->nodes[w], source->metrics[w]), error);
        lode_hpcrun_raw_free(raw);
    }
    source->own_nodes = source->raw.tree.count;
    return LODE_OK;
}

static lode_status take(void *user, unsigned level, const unsigned char *bytes, lode_error *error)
{
    struct hpcrun_source *source = user;
    struct hpcrun_branch *branch = &source->branches[level];
    struct hpcrun_raw from;
    bool done = lode_hpcrun_raw_init(&from) && lode_hpcrun_raw_unpack(&from, &bytes);
    branch->count = from.tree.count;
    branch->map = done ? calloc((size_t)branch->count + 1, sizeof *branch->map) : NULL;
    done = branch->map && lode_hpcrun_raw_merge(&source->raw, &from, branch->map, NULL);
    lode_hpcrun_raw_free(&from);
    LODE_TRY_ALLOC(done, error);
    return LODE_OK;
}

static bool pack(void *user, struct lode_blob *blob)
{
    const struct hpcrun_source *source = user;
    return lode_hpcrun_raw_pack(&source->raw, blob);
}

/* Rank 0 knows all metrics; the others add those that they do not have. */
static lode_status share_facts(struct hpcrun_source *source, lode_error *error)
{
    struct lode_blob blob = {0};
    bool is_first = source->comm->place.rank == 0;
    bool done = !is_first || lode_hpcrun_raw_pack_facts(&source->raw, &blob);
    lode_status status =
        done ? lode_comm_broadcast_blob(source->comm, &blob, error) : lode_fail_memory(error);
    const unsigned char *at = blob.bytes;
    if (status == LODE_OK && !is_first && !lode_hpcrun_raw_unpack_facts(&source->raw, &at))
        status = lode_fail_memory(error);
    lode_blob_free(&blob);
    return status;
}

lode_status lode_hpcrun_merge(struct hpcrun_source *source, lode_error *error)
{
    struct lode_comm_reduction reduction = {take, pack, source};
    LODE_TRY(merge_workers(source, error));
    LODE_TRY(lode_comm_reduce(source->comm, &reduction, error));
    return share_facts(source, error);
}
