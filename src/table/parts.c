/* SPDX-License-Identifier: BSD-3-Clause */
#include "table/parts.h"

#include "base/pool.h"
#include <stdlib.h>
#include <string.h>

enum {
    BATCHES = 2,         /* of a part that are kept */
    PARTS_PER_THREAD = 2 /* so that a long one does not stall all threads */
};

/* A reader of one part after the other, and what it has read. */
struct slot {
    struct lode_table_reader reader;
    struct lode_table_batch batches[BATCHES];
    unsigned first, count; /* batches that were not delivered, in a ring */
    bool has_ended;        /* its part: with `status` */
    lode_status status;
    lode_error error;
};

struct lode_parts {
    struct lode_table_reader *reader;
    unsigned threads;
    uint64_t rows; /* of a batch */
    lode_pool *own;
    bool has_ended;                  /* there are no more parts */
    uint64_t done;                   /* by parts that were delivered */
    unsigned first, count, capacity; /* slots that have a part, in a ring */
    struct slot slots[];
};

static struct slot *slot_at(struct lode_parts *parts, unsigned number)
{
    return &parts->slots[(parts->first + number) % parts->capacity];
}

/* ---- splitting a reader ---- */

static lode_status begin_part(const struct lode_table_reader *reader, struct lode_table_reader *part,
                              lode_error *error)
{
    if (part->state == NULL)
        part->state = calloc(1, reader->def->state_size + 1);
    LODE_TRY_ALLOC(part->state, error);
    part->tables = reader->tables;
    part->def = reader->def;
    part->query = reader->query;
    part->is_part = true;
    part->is_limited = false;
    part->done = 0;
    return LODE_OK;
}

/* What is damaged is read by one thread, which finds out what is wrong. */
static lode_status split_rows(struct lode_table_reader *reader, uint64_t rows, struct lode_table_reader *part)
{
    uint64_t count = rows;
    memcpy(part->state, reader->state, reader->def->state_size);
    lode_status status = reader->def->pass(reader, false, &count);
    part->is_limited = status >= 0;
    part->left = rows;
    reader->has_ended = status != LODE_OK;
    return status == LODE_END && count == rows ? LODE_END : LODE_OK;
}

lode_status lode_table_reader_split(struct lode_table_reader *reader, uint64_t rows,
                                    struct lode_table_reader *part, lode_error *error)
{
    if (reader->has_ended)
        return LODE_END;
    LODE_TRY(begin_part(reader, part, error));
    return reader->def->split ? reader->def->split(reader, part, error) : split_rows(reader, rows, part);
}

uint64_t lode_table_reader_jump(struct lode_table_reader *reader, uint64_t rows)
{
    uint64_t count = rows;
    /* An error comes again when rows are read. */
    if (reader->can_split && reader->def->pass)
        (void)!reader->def->pass(reader, true, &count);
    return rows - count;
}

/* ---- filling batches ---- */

static lode_status read_batch(struct lode_parts *parts, struct slot *slot)
{
    struct lode_table_batch *batch = &slot->batches[(slot->first + slot->count) % BATCHES];
    const struct lode_table_query *query = parts->reader->query;
    const struct lode_table_def *def = parts->reader->def;
    LODE_TRY(lode_table_batch_fit(batch, def, parts->rows, &slot->error));
    batch->needed = query->needed;
    LODE_TRY(lode_table_reader_next(&slot->reader, batch, &slot->error));
    lode_table_filter(query, &def->info, batch);
    slot->count++;
    return LODE_OK;
}

/* An error is that of its part, and is delivered after the batches before it. */
static lode_status fill_slot(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct lode_parts *parts = context;
    struct slot *slot = slot_at(parts, (unsigned)item);
    (void)worker;
    (void)error;
    while (slot->count < BATCHES && !slot->has_ended) {
        slot->status = read_batch(parts, slot);
        slot->has_ended = slot->status != LODE_OK || (slot->reader.is_limited && slot->reader.left == 0);
    }
    return LODE_OK;
}

static lode_status give_parts(struct lode_parts *parts, lode_error *error)
{
    while (parts->count < parts->capacity && !parts->has_ended) {
        struct slot *slot = slot_at(parts, parts->count);
        lode_status status = lode_table_reader_split(parts->reader, parts->rows, &slot->reader, error);
        if (status < 0)
            return status;
        parts->has_ended = status == LODE_END;
        if (parts->has_ended)
            break;
        slot->first = slot->count = 0;
        slot->has_ended = false;
        parts->count++;
    }
    return LODE_OK;
}

static lode_status fill(struct lode_parts *parts, lode_error *error)
{
    LODE_TRY(give_parts(parts, error));
    lode_pool *pool = parts->own ? parts->own : parts->reader->tables->options.pool;
    struct lode_job job = {.items = parts->count, .work = fill_slot, .context = parts, .pool = pool};
    return lode_pool_run(parts->threads, &job, error);
}

/* ---- delivering them ---- */

lode_status lode_parts_next(struct lode_parts *parts, struct lode_table_batch **out, lode_error *error)
{
    for (;;) {
        struct slot *slot = slot_at(parts, 0);
        if (parts->count == 0 || (slot->count == 0 && !slot->has_ended)) {
            LODE_TRY(fill(parts, error));
            if (parts->count == 0)
                return LODE_END;
        } else if (slot->count > 0) {
            *out = &slot->batches[slot->first];
            slot->first = (slot->first + 1) % BATCHES;
            slot->count--;
            return LODE_OK;
        } else if (slot->status < 0) {
            if (error)
                *error = slot->error;
            return slot->status;
        } else {
            parts->done += slot->reader.done;
            parts->first = (parts->first + 1) % parts->capacity;
            parts->count--;
        }
    }
}

uint64_t lode_parts_done(const struct lode_parts *parts)
{
    return parts->done;
}

lode_status lode_parts_open(struct lode_parts **out, struct lode_table_reader *reader, unsigned threads,
                            uint64_t rows, lode_error *error)
{
    unsigned capacity = lode_pool_threads(threads, UINT64_MAX) * PARTS_PER_THREAD;
    struct lode_parts *parts = calloc(1, sizeof *parts + capacity * sizeof *parts->slots);
    *out = parts;
    LODE_TRY_ALLOC(parts, error);
    parts->reader = reader;
    parts->threads = threads;
    parts->rows = rows;
    parts->capacity = capacity;
    return reader->tables->options.pool ? LODE_OK : lode_pool_create(&parts->own, threads, error);
}

void lode_parts_close(struct lode_parts *parts)
{
    for (unsigned i = 0; parts && i < parts->capacity; i++) {
        struct slot *slot = &parts->slots[i];
        if (slot->reader.def)
            lode_table_reader_close(&slot->reader);
        for (unsigned k = 0; k < BATCHES; k++)
            lode_table_batch_free(&slot->batches[k]);
    }
    if (parts)
        lode_pool_free(parts->own);
    free(parts);
}
