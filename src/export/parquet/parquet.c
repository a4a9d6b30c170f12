/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/parquet/parquet.h"

#include "base/memory/array.h"
#include "base/pool.h"
#include "export/parquet/thrift.h"
#include "lode_version.h"
#include <pthread.h>
#include <stdlib.h>

enum {
    GROUP_ROWS = 122880, /* a row group of DuckDB, so that its threads share the work evenly */
    SLOTS_PER_THREAD = 2,
    CONVERTED_UTF8 = 0,
    CONVERTED_UINT_32 = 13
};

static const char magic[4] = {'P', 'A', 'R', '1'};

/* A row group on its way. */
struct slot {
    struct lode_table_batch batch;
    struct lode_wire bytes;
    struct lode_parquet_chunk chunks[LODE_BATCH_COLUMNS];
    uint64_t done; /* of the reader, after this row group */
};

struct writer {
    struct lode_table_reader *reader;
    const struct lode_parquet_options *options;
    const struct lode_table_def *table;
    unsigned slot_count;
    struct slot *slots;
    struct lode_parquet_coder *coders; /* by worker */
    /* Row groups are read in turn. */
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t turn;
    lode_status ended; /* LODE_OK while there are row groups to read */
    /* What was written. */
    uint64_t offset, rows, cut;
    struct lode_wire groups; /* the row groups of the footer */
    uint64_t group_count;
};

/* ---- the footer ---- */

static void put_logical_type(struct lode_thrift *footer, const lode_field *field, int type)
{
    bool is_u32 = type == PARQUET_INT32;
    if (!is_u32 && type != PARQUET_BYTE_ARRAY)
        return;
    thrift_i32(footer, 6, is_u32 ? CONVERTED_UINT_32 : CONVERTED_UTF8);
    thrift_struct(footer, 10);
    thrift_struct(footer, is_u32 ? 10 : 1);
    if (is_u32) {
        thrift_i8(footer, 1, 32);
        thrift_boolean(footer, 2, false);
    }
    thrift_end(footer);
    thrift_end(footer);
    (void)field;
}

static void put_schema(struct lode_thrift *footer, const struct lode_table_def *table)
{
    thrift_list(footer, 2, THRIFT_STRUCT, table->info.field_count + 1);
    thrift_element(footer);
    thrift_text(footer, 4, table->info.name);
    thrift_i32(footer, 5, (int32_t)table->info.field_count);
    thrift_end(footer);
    for (unsigned i = 0; i < table->info.field_count; i++) {
        const lode_field *field = &table->info.fields[i];
        thrift_element(footer);
        thrift_i32(footer, 1, lode_parquet_type(field));
        thrift_i32(footer, 3, field->flags & LODE_FIELD_OPTIONAL ? 1 : 0);
        thrift_text(footer, 4, field->name);
        put_logical_type(footer, field, lode_parquet_type(field));
        thrift_end(footer);
    }
}

static void put_statistics(struct lode_thrift *group, const struct lode_parquet_chunk *chunk)
{
    thrift_struct(group, 12);
    thrift_i64(group, 3, (int64_t)chunk->nulls);
    if (chunk->has_bounds) {
        thrift_bytes(group, 5, chunk->max, chunk->bound_size);
        thrift_bytes(group, 6, chunk->min, chunk->bound_size);
    }
    thrift_end(group);
}

static void put_chunk(struct lode_thrift *group, const struct writer *self, unsigned column,
                      const struct lode_parquet_chunk *chunk)
{
    const lode_field *field = &self->table->info.fields[column];
    thrift_element(group);
    thrift_i64(group, 2, 0);
    thrift_struct(group, 3);
    thrift_i32(group, 1, lode_parquet_type(field));
    thrift_list(group, 2, THRIFT_I32, chunk->has_dictionary ? 3 : 2);
    thrift_i32_element(group, PARQUET_PLAIN);
    thrift_i32_element(group, PARQUET_RLE);
    if (chunk->has_dictionary)
        thrift_i32_element(group, PARQUET_RLE_DICTIONARY);
    thrift_list(group, 3, THRIFT_BINARY, 1);
    thrift_bytes_element(group, field->name, strlen(field->name));
    thrift_i32(group, 4, self->options->codec);
    thrift_i64(group, 5, (int64_t)chunk->values);
    thrift_i64(group, 6, (int64_t)chunk->unpacked);
    thrift_i64(group, 7, (int64_t)chunk->packed);
    thrift_i64(group, 9, (int64_t)(self->offset + chunk->data_at));
    if (chunk->has_dictionary)
        thrift_i64(group, 11, (int64_t)(self->offset + chunk->dictionary_at));
    put_statistics(group, chunk);
    thrift_end(group);
    thrift_end(group);
}

/* A row group that begins at self->offset. */
static void put_group(struct writer *self, const struct slot *slot)
{
    struct lode_thrift group = {.wire = &self->groups};
    uint64_t unpacked = 0, packed = 0;
    for (unsigned i = 0; i < self->table->info.field_count; i++) {
        unpacked += slot->chunks[i].unpacked;
        packed += slot->chunks[i].packed;
    }
    thrift_list(&group, 1, THRIFT_STRUCT, self->table->info.field_count);
    for (unsigned i = 0; i < self->table->info.field_count; i++)
        put_chunk(&group, self, i, &slot->chunks[i]);
    thrift_i64(&group, 2, (int64_t)unpacked);
    thrift_i64(&group, 3, (int64_t)slot->batch.rows);
    thrift_i64(&group, 5, (int64_t)self->offset);
    thrift_i64(&group, 6, (int64_t)packed);
    thrift_end(&group);
    self->group_count++;
}

static void put_orders(struct lode_thrift *footer, unsigned columns)
{
    thrift_list(footer, 7, THRIFT_STRUCT, columns);
    for (unsigned i = 0; i < columns; i++) {
        thrift_element(footer);
        thrift_struct(footer, 1);
        thrift_end(footer);
        thrift_end(footer);
    }
}

static lode_status write_footer(struct writer *self, lode_error *error)
{
    struct lode_wire bytes = {0};
    struct lode_thrift footer = {.wire = &bytes};
    const char *created = "lode version " LODE_VERSION;
    thrift_i32(&footer, 1, 2);
    put_schema(&footer, self->table);
    thrift_i64(&footer, 3, (int64_t)self->rows);
    thrift_list(&footer, 4, THRIFT_STRUCT, (size_t)self->group_count);
    wire_raw(&bytes, self->groups.bytes, self->groups.count);
    thrift_text(&footer, 6, created);
    put_orders(&footer, self->table->info.field_count);
    thrift_end(&footer);
    uint8_t tail[8] = {0};
    for (unsigned i = 0; i < 4; i++)
        tail[i] = (uint8_t)(bytes.count >> 8 * i);
    memcpy(tail + 4, magic, sizeof magic);
    wire_raw(&bytes, tail, sizeof tail);
    lode_status status = LODE_OK;
    if (bytes.failed || self->groups.failed)
        status = lode_fail_memory(error);
    else if (bytes.count > INT32_MAX)
        status = lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "a footer of more than 2 GiB");
    else
        status = self->options->write(self->options->user, bytes.bytes, bytes.count, error);
    wire_free(&bytes);
    return status;
}

/* ---- row groups ---- */

/* Waits for the turn of a row group and reads it. */
static lode_status read_group(struct writer *self, uint64_t item, struct slot *slot, lode_error *error)
{
    pthread_mutex_lock(&self->lock);
    while (self->turn != item && self->ended == LODE_OK)
        pthread_cond_wait(&self->moved, &self->lock);
    lode_status status = self->ended;
    if (status == LODE_OK)
        status = lode_table_reader_next(self->reader, &slot->batch, error);
    slot->done = self->reader->done;
    if (status != LODE_OK)
        self->ended = status < 0 ? LODE_ERR_CANCELLED : status;
    self->turn++;
    pthread_cond_broadcast(&self->moved);
    pthread_mutex_unlock(&self->lock);
    return status;
}

static lode_status encode_group(void *context, uint64_t item, unsigned worker, lode_error *error)
{
    struct writer *self = context;
    struct slot *slot = &self->slots[item % self->slot_count];
    LODE_TRY(read_group(self, item, slot, error));
    slot->bytes.count = 0;
    for (unsigned i = 0; i < self->table->info.field_count; i++)
        LODE_TRY(lode_parquet_encode(&self->coders[worker], &self->table->info.fields[i], &slot->batch, i,
                                     &slot->bytes, &slot->chunks[i], error));
    return LODE_OK;
}

static lode_status write_group(void *context, uint64_t item, lode_error *error)
{
    struct writer *self = context;
    struct slot *slot = &self->slots[item % self->slot_count];
    const struct lode_parquet_options *options = self->options;
    put_group(self, slot);
    LODE_TRY(options->write(options->user, slot->bytes.bytes, slot->bytes.count, error));
    self->offset += slot->bytes.count;
    self->rows += slot->batch.rows;
    self->cut += slot->batch.cut;
    slot->batch.cut = 0;
    return options->report ? options->report(options->user, slot->done, error) : LODE_OK;
}

/* ---- the file ---- */

static lode_status open_writer(struct writer *self, unsigned threads, lode_error *error)
{
    uint64_t rows = self->options->rows ? self->options->rows : GROUP_ROWS;
    self->slot_count = threads == 1 ? 1 : SLOTS_PER_THREAD * threads;
    self->slots = calloc(self->slot_count, sizeof *self->slots);
    self->coders = calloc(threads, sizeof *self->coders);
    if (!self->slots || !self->coders)
        return lode_fail_memory(error);
    for (unsigned i = 0; i < threads; i++)
        LODE_TRY(lode_parquet_coder_init(&self->coders[i], self->options->codec, error));
    for (unsigned i = 0; i < self->slot_count; i++)
        LODE_TRY(lode_table_batch_init(&self->slots[i].batch, self->table, rows, error));
    return LODE_OK;
}

static void close_writer(struct writer *self, unsigned threads)
{
    for (unsigned i = 0; self->coders && i < threads; i++)
        lode_parquet_coder_free(&self->coders[i]);
    for (unsigned i = 0; self->slots && i < self->slot_count; i++) {
        lode_table_batch_free(&self->slots[i].batch);
        wire_free(&self->slots[i].bytes);
    }
    free(self->coders);
    free(self->slots);
    wire_free(&self->groups);
    pthread_cond_destroy(&self->moved);
    pthread_mutex_destroy(&self->lock);
}

lode_status lode_parquet_write(struct lode_table_reader *reader, const struct lode_parquet_options *options,
                               struct lode_parquet_result *result, lode_error *error)
{
    struct writer self = {.reader = reader, .options = options, .table = reader->def};
    unsigned threads = lode_pool_threads(lode_pool_asked(options->threads, options->pool), UINT64_MAX);
    pthread_mutex_init(&self.lock, NULL);
    pthread_cond_init(&self.moved, NULL);
    self.offset = sizeof magic;
    lode_status status = open_writer(&self, threads, error);
    if (status == LODE_OK)
        status = options->write(options->user, magic, sizeof magic, error);
    if (status == LODE_OK) {
        /* The number of row groups is known when the last one was read. */
        struct lode_job job = {.items = UINT64_MAX,
                               .work = encode_group,
                               .finish = write_group,
                               .context = &self,
                               .window = self.slot_count,
                               .pool = options->pool};
        status = lode_pool_run(threads, &job, error);
    }
    if (status == LODE_END)
        status = write_footer(&self, error);
    *result = (struct lode_parquet_result){self.rows, self.cut};
    close_writer(&self, threads);
    return status;
}
