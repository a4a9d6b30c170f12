/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes cct.db from profile.db, and computes the summary.
 *
 * Contexts are split into batches whose part of cct.db fits into the memory of a thread. For a
 * batch, each profile's values of these contexts (one piece of its block) are read twice: to count,
 * and to place each value in the batch's part of cct.db, which is then written at once. Profiles
 * are visited in order, and so are the values of a context and metric when statistics are computed.
 *
 * With V values, P profiles and memory M: 12 V / M batches; profile.db is read once in pieces of
 * about 10 M / 12 P bytes (then from the page cache); cct.db is written once, sequentially.
 *
 * A communicator works in rounds. In each, a rank has as many contiguous batches as threads, after
 * those of the rank before it. It receives the values of other ranks' profiles, fills its batches,
 * and writes them when all ranks know the sizes. The output does not depend on batches and ranks.
 */
#include "base/pool.h"
#include "base/progress.h"
#include "format/hpctoolkit/write/exchange.h"
#include <stdlib.h>
#include <sys/mman.h>

enum {
    WINDOWS_PER_THREAD = 2, /* one being filled, and one that waits for an earlier one */
    SENT_PART = 3,          /* a rank sends with this fraction of its memory */
    BATCH_LEAST = 64 << 10,
    BATCH_ENOUGH = 1 << 20, /* bytes of a batch that stay in a cache, */
    PIECE_ENOUGH = 2 << 10, /* unless a profile's part of it would be too small to read */
    BATCHES_PER_SLOT = 8    /* so that a fraction of a small database is held at once */
};

/* The position of the next batch. */
struct position {
    uint64_t region;     /* offset in cct.db */
    uint64_t statistics; /* values of the summary before it */
    uint64_t contexts;   /* and contexts of the summary */
};

/* Contexts of the summary that this rank writes, from one round. */
struct summary_part {
    uint64_t first; /* its number in the summary */
    size_t at;      /* in summary_indices */
};

struct transpose {
    struct hpct_sink *sink;
    uint32_t rank, size; /* in the communicator */
    uint64_t memory;     /* the same for all ranks, like the number of threads */
    unsigned threads;

    uint8_t *mapped; /* profile.db, for reading */
    size_t mapped_size;
    struct batch_piece *own; /* the blocks of this rank, in the order of profiles */
    uint32_t own_count;
    uint64_t profiles; /* of all ranks */

    struct lode_array ranges; /* of struct context_range: all batches */
    uint64_t first;           /* of the current batches */
    uint64_t most;            /* bytes of a batch, unless it is of one context */
    struct batch *slots;      /* for these, by number % slot_count */
    unsigned slot_count;
    const struct batch_piece *pieces; /* their input */
    size_t piece_count;
    uint32_t *starts; /* [worker][piece]: the first group of the worker's batch */

    uint64_t table; /* position of context records in cct.db */
    struct position next;
    struct wire_Profile *summary;
    struct lode_array parts; /* of struct summary_part */
    struct lode_blob summary_indices;
    struct lode_progress progress;
};

/* ---- batches ---- */

/* The memory of a context in a batch, including at most one received group per profile. */
static uint64_t context_bytes(const struct transpose *self, uint32_t id)
{
    uint64_t bytes = lode_batch_context_bytes(self->sink, id);
    if (self->size == 1)
        return bytes;
    uint64_t values = atomic_load_explicit(&self->sink->values_of[id], memory_order_relaxed);
    uint64_t groups = values < self->profiles ? values : self->profiles;
    return bytes + values * WIRE_ProfileValue_SIZE + groups * WIRE_ContextIndex_SIZE;
}

/* What a rank alone takes at most, of `total` bytes. */
static uint64_t enough_bytes(const struct transpose *self, uint64_t total)
{
    uint64_t part = total / self->slot_count / BATCHES_PER_SLOT, pieces = self->profiles * PIECE_ENOUGH;
    part = part < BATCH_LEAST ? BATCH_LEAST : part > BATCH_ENOUGH ? BATCH_ENOUGH : part;
    return part > pieces ? part : pieces;
}

/* Where contexts begin to be cut into batches: a range of ids, or the rest of one. */
struct cut {
    uint64_t step;     /* how many full batches are before it */
    uint32_t first;    /* context */
    uint32_t is_alone; /* too large to share a batch */
};

/*
 * Bytes from one cut to the next: every thread of every rank gets its part of each round. A batch
 * exceeds that by up to one context, which is `largest` at most.
 */
static uint64_t step_bytes(const struct transpose *self, uint64_t limit, uint64_t largest, uint64_t total)
{
    uint64_t at_once = (uint64_t)self->size * self->threads, most = limit - largest;
    if (self->size == 1 && enough_bytes(self, total) < most)
        most = enough_bytes(self, total);
    uint64_t each = at_once ? total / at_once : total;
    return each / (each / (most ? most : 1) + 1) + 1;
}

/*
 * Cuts contexts from `id` to `end`. A batch begins where the sum of all contexts before passes a
 * multiple of `step`: no rank needs to know what contexts of others need, but for that sum.
 */
static lode_status find_cuts(const struct transpose *self, uint32_t id, uint32_t end, uint64_t before,
                             uint64_t step, uint64_t largest, struct lode_array *cuts, lode_error *error)
{
    struct cut last = {.first = LODE_NONE};
    for (; id < end; id++) {
        uint64_t needed = context_bytes(self, id);
        struct cut cut = {before / step, id, needed > largest};
        before += needed;
        if (last.first != LODE_NONE && last.step == cut.step && !last.is_alone && !cut.is_alone)
            continue;
        struct cut *slot = lode_array_push(cuts);
        LODE_TRY_ALLOC(slot, error);
        *slot = last = cut;
    }
    return LODE_OK;
}

/* From the cuts of all ranks; what two ranks have of one batch is joined. */
static lode_status make_ranges(struct transpose *self, const struct cut *cuts, size_t count,
                               lode_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && cuts[i].step == cuts[i - 1].step && !cuts[i].is_alone && !cuts[i - 1].is_alone)
            continue;
        struct context_range *range = lode_array_push(&self->ranges);
        LODE_TRY_ALLOC(range, error);
        *range = (struct context_range){cuts[i].first, self->sink->id_count};
        if (self->ranges.count > 1)
            range[-1].end = range->first;
    }
    return LODE_OK;
}

/* This rank's part of the contexts, all of them if it is alone. */
static void part_of_contexts(const struct transpose *self, uint32_t *first, uint32_t *end)
{
    const struct lode_comm *comm = self->sink->base.options.comm;
    uint32_t count = self->sink->id_count;
    *first = self->size > 1 ? (uint32_t)lode_comm_part(comm, count, self->rank) : 0;
    *end = self->size > 1 ? (uint32_t)lode_comm_part(comm, count, self->rank + 1) : count;
}

static lode_status share_cuts(struct transpose *self, const struct lode_array *cuts, lode_error *error)
{
    void *all = NULL;
    uint64_t size;
    if (self->size == 1)
        return make_ranges(self, cuts->items, cuts->count, error);
    lode_status status = lode_comm_gather(self->sink->base.options.comm, cuts->items,
                                          cuts->count * cuts->item_size, true, &all, &size, NULL, error);
    if (status == LODE_OK)
        status = make_ranges(self, all, (size_t)size / cuts->item_size, error);
    free(all);
    return status;
}

/* `limit` is what memory allows for a batch, unless it is of one context. */
static lode_status cut_batches(struct transpose *self, uint64_t limit, lode_error *error)
{
    uint64_t before = 0, total, largest = limit / 4;
    uint32_t first, end;
    struct lode_array cuts;
    part_of_contexts(self, &first, &end);
    for (uint32_t id = first; id < end; id++)
        before += context_bytes(self, id);
    total = before;
    if (self->size > 1)
        LODE_TRY(lode_comm_exscan(self->sink->base.options.comm, &before, &total, 1, error));
    else
        before = 0;
    uint64_t step = step_bytes(self, limit, largest, total);
    self->most = step < limit / 2 ? step * 2 : limit;
    lode_array_init(&cuts, sizeof(struct cut), SIZE_MAX / sizeof(struct cut));
    lode_status status = find_cuts(self, first, end, before, step, largest, &cuts, error);
    if (status == LODE_OK)
        status = share_cuts(self, &cuts, error);
    lode_array_free(&cuts);
    return status;
}

static lode_status fill_batch(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct transpose *self = context;
    struct batch *batch = &self->slots[item % self->slot_count];
    batch->range = *LODE_ARRAY_AT(&self->ranges, struct context_range, self->first + item);
    return lode_batch_fill(batch, self->sink, self->pieces, self->piece_count,
                           self->starts + (size_t)worker * self->piece_count, error);
}

static lode_status tell(struct transpose *self, lode_error *error)
{
    if (self->sink->base.options.comm)
        LODE_TRY(lode_comm_poll(self->sink->base.options.comm, error));
    return lode_progress_add(&self->progress, 1, error);
}

/* Each worker starts a piece at its `from`, or where its last batch ended. */
static lode_status begin_pieces(struct transpose *self, const struct batch_piece *pieces, size_t count,
                                lode_error *error)
{
    uint32_t *starts = realloc(self->starts, (count * self->threads + 1) * sizeof *starts);
    if (starts == NULL)
        return lode_fail_memory(error);
    self->starts = starts;
    for (unsigned worker = 0; worker < self->threads; worker++)
        for (size_t i = 0; i < count; i++)
            starts[worker * count + i] = pieces[i].from;
    self->pieces = pieces;
    self->piece_count = count;
    return LODE_OK;
}

/* ---- writing ---- */

/* Writes at an offset. Collective for joint files: ranks without data call it with no bytes. */
static lode_status write_region(struct hpct_sink *sink, enum hpct_file_id id, uint64_t offset,
                                const void *bytes, size_t size, lode_error *error)
{
    sink->traffic.written_bytes += size;
    if (sink->joint[id])
        return lode_comm_write_file(sink->base.options.comm, sink->joint[id], offset, bytes, size, error);
    return lode_output_write_at(&sink->files[id], offset, bytes, size, error);
}

static void move_infos(struct batch *batch, uint64_t base)
{
    for (size_t at = 0; at < batch->infos.size; at += WIRE_ContextInfo_SIZE) {
        struct wire_ContextInfo info;
        lode_wire_read_ContextInfo(&info, batch->infos.bytes + at, WIRE_ContextInfo_SIZE);
        info.pValues += base;
        info.pMetricIndices += base;
        lode_wire_write_ContextInfo(&info, batch->infos.bytes + at);
    }
}

/* They follow all values of the summary, whose end is not known yet. */
static lode_status keep_indices(struct transpose *self, const struct batch *batch, lode_error *error)
{
    size_t at = lode_blob_reserve(&self->summary_indices, batch->indices.size, 1);
    if (at == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    for (size_t i = 0; i < batch->indices.size; i += WIRE_ContextIndex_SIZE) {
        struct wire_ContextIndex index;
        lode_wire_read_ContextIndex(&index, batch->indices.bytes + i, WIRE_ContextIndex_SIZE);
        index.startIndex += self->next.statistics;
        lode_wire_write_ContextIndex(&index, self->summary_indices.bytes + at + i);
    }
    return LODE_OK;
}

/* Writes a batch, and empties it. */
static lode_status put_batch(struct transpose *self, struct batch *batch, lode_error *error)
{
    struct hpct_sink *sink = self->sink;
    struct position *next = &self->next;
    move_infos(batch, next->region);
    LODE_TRY(write_region(sink, HPCT_CCT, next->region, batch->region.bytes, batch->region.size, error));
    LODE_TRY(write_region(sink, HPCT_CCT, self->table + (uint64_t)batch->range.first * WIRE_ContextInfo_SIZE,
                          batch->infos.bytes, batch->infos.size, error));
    LODE_TRY(write_region(sink, HPCT_PROFILE,
                          self->summary->pValues + next->statistics * WIRE_ProfileValue_SIZE,
                          batch->statistics.bytes, batch->statistics.size, error));
    LODE_TRY(keep_indices(self, batch, error));
    next->region += batch->region.size;
    next->statistics += batch->statistic_count;
    next->contexts += batch->indices.size / WIRE_ContextIndex_SIZE;
    lode_batch_empty(batch, self->most);
    return LODE_OK;
}

static lode_status begin_part(struct transpose *self, lode_error *error)
{
    struct summary_part *part = lode_array_push(&self->parts);
    if (part == NULL)
        return lode_fail_memory(error);
    *part = (struct summary_part){self->next.contexts, self->summary_indices.size};
    return LODE_OK;
}

static lode_status write_parts(struct transpose *self, lode_error *error)
{
    const struct lode_blob *indices = &self->summary_indices;
    for (size_t i = 0; i < self->parts.count; i++) {
        const struct summary_part *part = LODE_ARRAY_AT(&self->parts, struct summary_part, i);
        size_t end = i + 1 < self->parts.count ? part[1].at : indices->size;
        LODE_TRY(write_region(self->sink, HPCT_PROFILE,
                              self->summary->pCtxIndices + part->first * WIRE_ContextIndex_SIZE,
                              indices->bytes ? indices->bytes + part->at : NULL, end - part->at, error));
    }
    return LODE_OK;
}

/* ---- one rank ---- */

static lode_status finish_batch(void *context, uint64_t item, lode_error *error)
{
    struct transpose *self = context;
    LODE_TRY(put_batch(self, &self->slots[item % self->slot_count], error));
    return tell(self, error);
}

/* One round, in which batches are written while others are filled. */
static lode_status run_alone(struct transpose *self, lode_error *error)
{
    struct lode_job job = {.items = self->ranges.count,
                           .work = fill_batch,
                           .finish = finish_batch,
                           .context = self,
                           .window = self->slot_count,
                           .pool = self->sink->base.options.pool};
    self->progress.total = self->ranges.count;
    LODE_TRY(begin_pieces(self, self->own, self->own_count, error));
    LODE_TRY(begin_part(self, error));
    return lode_pool_run(self->threads, &job, error);
}

/* ---- with a communicator ---- */

/* The batches of a rank in a round. */
static uint64_t batches_of(const struct transpose *self, uint64_t round, uint32_t rank, uint64_t *first)
{
    uint64_t begin = (round * self->size + rank) * self->threads, count = self->ranges.count;
    *first = begin < count ? begin : count;
    return count - *first < self->threads ? count - *first : self->threads;
}

static void rank_ranges(const struct transpose *self, uint64_t round, struct context_range *out)
{
    for (uint32_t rank = 0; rank < self->size; rank++) {
        uint64_t first, count = batches_of(self, round, rank, &first);
        const struct context_range *ranges = LODE_ARRAY_AT(&self->ranges, struct context_range, first);
        out[rank] = count ? (struct context_range){ranges->first, ranges[count - 1].end}
                          : (struct context_range){0, 0};
    }
}

static lode_status finish_filling(void *context, uint64_t item, lode_error *error)
{
    (void)item;
    return tell(context, error);
}

/* Writes all ranks' batches of a round; `end` is where they begin and then where they end. */
static lode_status put_round(struct transpose *self, struct position *end, lode_error *error)
{
    uint64_t sizes[3] = {0}, totals[3];
    for (unsigned i = 0; i < self->slot_count; i++) {
        sizes[0] += self->slots[i].region.size;
        sizes[1] += self->slots[i].statistic_count;
        sizes[2] += self->slots[i].indices.size / WIRE_ContextIndex_SIZE;
    }
    LODE_TRY(lode_comm_exscan(self->sink->base.options.comm, sizes, totals, 3, error));
    self->next =
        (struct position){end->region + sizes[0], end->statistics + sizes[1], end->contexts + sizes[2]};
    LODE_TRY(begin_part(self, error));
    for (unsigned i = 0; i < self->slot_count; i++)
        LODE_TRY(put_batch(self, &self->slots[i], error));
    *end = (struct position){end->region + totals[0], end->statistics + totals[1], end->contexts + totals[2]};
    return LODE_OK;
}

static lode_status run_rounds(struct transpose *self, struct exchange *exchange, struct context_range *ranges,
                              lode_error *error)
{
    struct position end = self->next;
    struct lode_job job = {.work = fill_batch,
                           .finish = finish_filling,
                           .context = self,
                           .window = self->slot_count,
                           .pool = self->sink->base.options.pool};
    for (uint64_t round = 0; batches_of(self, round, 0, &self->first) > 0; round++)
        self->progress.total += batches_of(self, round, self->rank, &self->first);
    for (uint64_t round = 0; batches_of(self, round, 0, &self->first) > 0; round++) {
        rank_ranges(self, round, ranges);
        LODE_TRY(lode_exchange_round(exchange, ranges, error));
        LODE_TRY(begin_pieces(self, exchange->pieces.items, exchange->pieces.count, error));
        job.items = batches_of(self, round, self->rank, &self->first);
        LODE_TRY(lode_pool_run(self->threads, &job, error));
        LODE_TRY(put_round(self, &end, error));
        self->sink->traffic.rounds++;
    }
    self->next = end;
    return LODE_OK;
}

static lode_status run_comm(struct transpose *self, lode_error *error)
{
    struct exchange exchange;
    struct context_range *ranges = calloc((size_t)self->size + 1, sizeof *ranges);
    lode_status status = lode_exchange_begin(&exchange, self->sink, self->own, self->own_count,
                                             self->memory / SENT_PART, error);
    if (status == LODE_OK)
        status = ranges ? run_rounds(self, &exchange, ranges, error) : lode_fail_memory(error);
    lode_exchange_end(&exchange);
    free(ranges);
    return status;
}

/* Agrees on memory and threads, and counts all profiles. */
static lode_status agree(struct transpose *self, lode_error *error)
{
    struct lode_comm *comm = self->sink->base.options.comm;
    uint64_t least[2] = {self->memory, self->threads};
    LODE_TRY(lode_comm_allreduce(comm, least, 2, LODE_COMM_MIN, error));
    LODE_TRY(lode_comm_allreduce(comm, &self->profiles, 1, LODE_COMM_SUM, error));
    self->memory = least[0];
    self->threads = (unsigned)least[1];
    return LODE_OK;
}

/* Adds up the values of all ranks per context, for this rank's part of the contexts. */
static lode_status add_up_values(const struct transpose *self, lode_error *error)
{
    _Atomic uint64_t *values_of = self->sink->values_of;
    size_t contexts = self->sink->id_count;
    uint64_t *numbers = calloc(contexts + 1, sizeof *numbers);
    LODE_TRY_ALLOC(numbers, error);
    for (size_t i = 0; i < contexts; i++)
        numbers[i] = atomic_load_explicit(&values_of[i], memory_order_relaxed);
    lode_status status = lode_comm_reduce_scatter(self->sink->base.options.comm, numbers, contexts, error);
    uint32_t first, end;
    part_of_contexts(self, &first, &end);
    for (uint32_t i = first; i < end && status == LODE_OK; i++)
        atomic_store_explicit(&values_of[i], numbers[i], memory_order_relaxed);
    free(numbers);
    return status;
}

/* ---- top level ---- */

static lode_status map_profiles(struct transpose *self, const struct written_share *share, lode_error *error)
{
    const struct lode_output_file *file = &self->sink->files[HPCT_PROFILE];
    void *mapped = mmap(NULL, (size_t)file->size, PROT_READ, MAP_SHARED, file->fd, 0);
    if (mapped == MAP_FAILED)
        return lode_fail_errno(error, file->name, "cannot map");
    self->mapped = mapped;
    self->mapped_size = (size_t)file->size;
    for (uint32_t i = 0; i < share->count; i++) {
        const struct wire_Profile *wire = &share->records[i];
        self->own[i].profile = share->first + i + 1;
        self->own[i].block = (lode_block){.value_count = wire->nValues,
                                          .group_count = wire->nCtxs,
                                          .group_key_size = sizeof(uint32_t),
                                          .value_key_size = sizeof(uint16_t),
                                          .groups = self->mapped + wire->pCtxIndices,
                                          .values = self->mapped + wire->pValues};
    }
    return LODE_OK;
}

/* The section of context records, which are set as batches are done. */
static lode_status begin_section(struct transpose *self, struct wire_Section *section, lode_error *error)
{
    struct lode_output_file *file = &self->sink->files[HPCT_CCT];
    uint8_t bytes[(WIRE_ContextInfos_SIZE + 7) / 8 * 8] = {0};
    section->p = file->size;
    self->table = section->p + sizeof bytes;
    section->sz = sizeof bytes + (uint64_t)self->sink->id_count * WIRE_ContextInfo_SIZE;
    struct wire_ContextInfos header = {
        .pCtxs = self->table, .nCtxs = self->sink->id_count, .szCtx = WIRE_ContextInfo_SIZE};
    lode_wire_write_ContextInfos(&header, bytes);
    if (self->rank == 0)
        LODE_TRY(lode_output_write(file, bytes, sizeof bytes, error));
    self->next.region = section->p + section->sz;
    return lode_output_flush(file, error);
}

static lode_status run_batches(struct transpose *self, lode_error *error)
{
    bool alone = self->size == 1;
    uint64_t memory = alone ? self->memory : self->memory - self->memory / SENT_PART;
    self->slot_count = alone ? self->threads * WINDOWS_PER_THREAD : self->threads;
    self->slots = calloc(self->slot_count, sizeof *self->slots);
    if (self->slots == NULL)
        return lode_fail_memory(error);
    /* Batches that wait to be written keep their memory. */
    LODE_TRY(cut_batches(self, memory / self->slot_count, error));
    return alone ? run_alone(self, error) : run_comm(self, error);
}

/* Both files end with the last batch; the summary's contexts follow all its values. */
static lode_status end_files(struct transpose *self, lode_error *error)
{
    struct wire_Profile *summary = self->summary;
    uint64_t end = summary->pValues + self->next.statistics * WIRE_ProfileValue_SIZE;
    summary->nValues = self->next.statistics;
    summary->nCtxs = (uint32_t)self->next.contexts;
    summary->pCtxIndices = (end + 3) / 4 * 4;
    self->sink->files[HPCT_PROFILE].size =
        summary->pCtxIndices + self->next.contexts * WIRE_ContextIndex_SIZE;
    self->sink->files[HPCT_CCT].size = self->next.region;
    return write_parts(self, error);
}

static lode_status transpose(struct transpose *self, const struct written_share *share,
                             struct wire_Section *section, lode_error *error)
{
    struct lode_output_file *profiles = &self->sink->files[HPCT_PROFILE];
    LODE_TRY(lode_output_flush(profiles, error));
    self->summary->pValues = (profiles->size + 1) / 2 * 2;
    self->summary->flags = HPCT_PROFILE_SUMMARY;
    LODE_TRY(map_profiles(self, share, error));
    LODE_TRY(begin_section(self, section, error));
    if (self->size > 1) {
        LODE_TRY(agree(self, error));
        LODE_TRY(add_up_values(self, error));
    }
    LODE_TRY(run_batches(self, error));
    return end_files(self, error);
}

static void release(struct transpose *self)
{
    for (unsigned i = 0; self->slots && i < self->slot_count; i++)
        lode_batch_release(&self->slots[i]);
    free(self->slots);
    free(self->starts);
    if (self->mapped)
        munmap(self->mapped, self->mapped_size);
    lode_array_free(&self->ranges);
    lode_array_free(&self->parts);
    lode_blob_free(&self->summary_indices);
}

lode_status lode_hpct_transpose(struct hpct_sink *sink, const struct written_share *share,
                                struct wire_Profile *summary, struct wire_Section *section, lode_error *error)
{
    struct batch_piece *own = calloc((size_t)share->count + 1, sizeof *own);
    if (own == NULL)
        return lode_fail_memory(error);
    struct transpose self = {.sink = sink,
                             .rank = sink->base.options.comm ? sink->base.options.comm->place.rank : 0,
                             .size = sink->base.options.comm ? sink->base.options.comm->place.size : 1,
                             .memory = sink->base.options.memory,
                             .threads = lode_pool_threads(sink->base.options.threads, UINT64_MAX),
                             .own = own,
                             .own_count = share->count,
                             .profiles = share->count,
                             .summary = summary,
                             .progress = {.report = sink->base.options.on_progress,
                                          .user = sink->base.options.user,
                                          .phase = "transposing"}};
    lode_array_init(&self.ranges, sizeof(struct context_range), SIZE_MAX);
    lode_array_init(&self.parts, sizeof(struct summary_part), SIZE_MAX);
    *summary = (struct wire_Profile){0};
    lode_status status = transpose(&self, share, section, error);
    release(&self);
    free(own);
    return status;
}
