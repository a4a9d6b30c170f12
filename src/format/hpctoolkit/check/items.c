/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work on items: on ranks, then on threads. Findings are in the order of items: a batch of a thread
 * gives them to the report of its rank, and the ranks give theirs to rank 0.
 */
#include "base/comm/ranks.h"
#include "base/memory/hash.h"
#include "base/pool.h"
#include "base/progress.h"
#include "format/hpctoolkit/check/check.h"
#include "model/database/block.h"
#include "model/database/trace.h"
#include <stdlib.h>
#include <string.h>

struct share {
    struct hpct_check *check;
    const struct hpct_items *items;
    uint64_t first, count;     /* of this rank */
    struct lode_report *to;    /* of the check or, on ranks, of this one */
    struct lode_report *slots; /* reports of current batches, by batch % window */
    unsigned window;
    uint64_t batch; /* how many items a thread takes at once */
    struct lode_progress progress;
};

/* Items may be small: a batch of them amortizes the cost of taking it. */
enum {
    LEAST_BATCHES = 512
};

static lode_status work_batch(void *context, uint64_t number, unsigned worker, lode_error *error)
{
    struct share *share = context;
    const struct hpct_items *items = share->items;
    struct lode_report *report = &share->slots[number % share->window];
    uint64_t first = number * share->batch, end = first + share->batch;
    report->error = error;
    for (uint64_t item = first; item < end && item < share->count; item++)
        LODE_TRY(items->work(share->check, items->context, share->first + item, worker, report));
    return LODE_OK;
}

static lode_status finish_batch(void *context, uint64_t number, lode_error *error)
{
    struct share *share = context;
    lode_error *before = share->to->error;
    share->to->error = error;
    lode_status status = lode_report_flush(&share->slots[number % share->window], share->to);
    share->to->error = before;
    return status == LODE_OK ? lode_progress_add(&share->progress, share->batch, error) : status;
}

static lode_status work_on(struct share *share)
{
    struct hpct_check *check = share->check;
    lode_error *error = check->report.error;
    share->batch = share->count / LEAST_BATCHES + 1;
    uint64_t batches = (share->count + share->batch - 1) / share->batch;
    unsigned threads = lode_pool_threads(check->threads, batches);
    share->window = lode_pool_window(threads);
    share->slots = calloc(share->window, sizeof *share->slots);
    lode_status status = share->slots ? LODE_OK : lode_fail_memory(error);
    for (unsigned i = 0; i < share->window && status == LODE_OK; i++)
        status = lode_report_keep(&share->slots[i], &check->report, error);
    struct lode_job job = {.items = batches,
                           .work = work_batch,
                           .finish = finish_batch,
                           .context = share,
                           .pool = check->options->pool};
    if (status == LODE_OK)
        status = lode_pool_run(threads, &job, error);
    for (unsigned i = 0; share->slots && i < share->window; i++)
        lode_report_close(&share->slots[i]);
    free(share->slots);
    return status;
}

/* ---- ranks ---- */

lode_status lode_hpct_check_agree(struct hpct_check *check, const char *step, uint64_t count)
{
    uint64_t sizes[HPCT_FILES];
    if (check->comm == NULL)
        return LODE_OK;
    for (unsigned i = 0; i < HPCT_FILES; i++)
        sizes[i] = check->db->files[i].source.bytes.size;
    const uint64_t numbers[] = {lode_hash_fixed(step, strlen(step)), count, report_count(&check->report),
                                lode_hash_fixed(sizes, sizeof sizes)};
    return lode_ranks_agree(check->comm, numbers, 4, step, check->report.error);
}

static uint64_t weight_of(const void *context, uint64_t item)
{
    const struct share *share = context;
    const struct hpct_items *items = share->items;
    return items->weight ? items->weight(share->check, items->context, item) : 1;
}

static lode_status work_on_ranks(struct share *share)
{
    struct hpct_check *check = share->check;
    struct lode_report own = {0};
    LODE_TRY(lode_hpct_check_agree(check, share->items->phase, share->items->count));
    const struct lode_share cut = lode_ranks_share(check->comm, share->items->count, weight_of, share);
    share->first = cut.first;
    share->count = cut.count;
    share->to = &own;
    share->progress.total = share->count;
    if (check->comm->place.rank > 0)
        share->progress.report = NULL;
    lode_status status = lode_report_keep(&own, &check->report, check->report.error);
    if (status == LODE_OK)
        status = work_on(share);
    if (status == LODE_OK)
        status = lode_report_gather(&own, &check->report, check->comm);
    lode_report_close(&own);
    share->to = NULL;
    return status;
}

lode_status lode_hpct_check_items(struct hpct_check *check, const struct hpct_items *items)
{
    struct share share = {.check = check,
                          .items = items,
                          .count = items->count,
                          .to = &check->report,
                          .progress = {.report = check->options->on_progress,
                                       .user = check->options->user,
                                       .phase = items->phase,
                                       .total = items->count}};
    return check->comm ? work_on_ranks(&share) : work_on(&share);
}

lode_status lode_hpct_check_sum(struct hpct_check *check, uint64_t *numbers, size_t count)
{
    if (check->comm == NULL)
        return LODE_OK;
    return lode_comm_allreduce(check->comm, numbers, count, LODE_COMM_SUM, check->report.error);
}

/* ---- weights ---- */

enum {
    ITEM_BYTES = 64 /* what an item counts besides its values */
};

/* Blocks that are not inside their file have no values. */
static uint64_t block_bytes(const lode_block *block, bool is_inside)
{
    return ITEM_BYTES + (is_inside ? block->value_count * block_value_stride(block) : 0);
}

uint64_t lode_hpct_profile_weight(const struct hpct_check *check, const void *context, uint64_t item)
{
    struct wire_Profile profile;
    lode_block block;
    (void)context;
    lode_hpct_profile(check->db, (uint32_t)item, &profile);
    bool is_inside = lode_hpct_profile_block(check->db, &profile, &block);
    return block_bytes(&block, is_inside);
}

uint64_t lode_hpct_line_weight(const struct hpct_check *check, const void *context, uint64_t item)
{
    struct wire_Trace trace;
    lode_trace_line line;
    (void)context;
    lode_hpct_trace(check->db, (uint32_t)item, &trace);
    bool is_inside = lode_hpct_trace_line(check->db, &trace, &line);
    return ITEM_BYTES + (is_inside ? line.sample_count * TRACE_SAMPLE_SIZE : 0);
}

uint64_t lode_hpct_context_bytes(const struct hpct_check *check, uint32_t context)
{
    struct wire_ContextInfo info;
    lode_block block;
    lode_hpct_context(check->db, context, &info);
    bool is_inside = lode_hpct_context_block(check->db, &info, &block);
    return block_bytes(&block, is_inside);
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

uint64_t lode_hpct_context_weight(const struct hpct_check *check, const void *context, uint64_t item)
{
    uint64_t size = lode_hpct_contexts_per_item(check), first = item * size, sum = 0;
    (void)context;
    for (uint64_t i = first; i < first + size && i < check->db->contexts.count; i++)
        sum += lode_hpct_context_bytes(check, (uint32_t)i);
    return sum;
}
