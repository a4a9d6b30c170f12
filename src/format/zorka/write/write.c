/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/write/write.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/io/bytes.h"
#include "format/replace.h"
#include "format/zorka/write/chunk.h"
#include <stdlib.h>

#define STORE "000000"

enum {
    FLAGS_PAGE = 0x12, /* deflate and checksums, by the documentation's numbers */
    FLAGS_ZICO = 0x11  /* the same by the collectors' numbers */
};

/* Chunks in the order of the file. */
struct assembly {
    struct zor_writer *writer;
    struct zor_packed *chunks;
    size_t count;
    struct lode_output_file data, meta;
    uint8_t *buffer;
    size_t capacity;
};

lode_status lode_zor_writer_create(struct zor_writer *writer, const char *path, enum zor_layout layout,
                                   bool force, uint32_t threads, lode_error *error)
{
    lode_zor_dictionary_init(&writer->strings);
    writer->layout = layout;
    writer->encoders = calloc(threads, sizeof *writer->encoders);
    LODE_TRY_ALLOC(writer->encoders, error);
    LODE_TRY(lode_output_create(&writer->output, path, force ? &lode_replace_traces : NULL, error));
    for (uint32_t i = 0; i < threads; i++) {
        writer->encoder_count++;
        LODE_TRY(lode_zor_encoder_open(&writer->encoders[i], writer, i, error));
    }
    return lode_output_mkdir(&writer->output, STORE, error);
}

void lode_zor_writer_close(struct zor_writer *writer)
{
    for (uint32_t i = 0; i < writer->encoder_count; i++)
        lode_zor_encoder_close(&writer->encoders[i]);
    if (writer->encoders)
        lode_zor_dictionary_free(&writer->strings);
    free(writer->encoders);
    lode_output_close(&writer->output);
}

lode_status lode_zor_writer_number(struct zor_writer *writer, lode_error *error)
{
    for (uint32_t i = 0; i < writer->encoder_count; i++) {
        writer->encoders[i].is_noting = false;
        writer->encoders[i].left_out = 0;
    }
    return lode_zor_dictionary_number(&writer->strings, error);
}

/* ---- chunks ---- */

/* All chunks of a track are contiguous in one spool. */
LODE_COMPARE_BY_2(compare_chunks, struct zor_packed, order, offset);

static lode_status gather(struct assembly *self, lode_error *error)
{
    struct zor_writer *writer = self->writer;
    size_t count = 0;
    for (uint32_t i = 0; i < writer->encoder_count; i++) {
        LODE_TRY(lode_spool_flush(&writer->encoders[i].spool, error));
        count += writer->encoders[i].chunks.count;
    }
    self->chunks = calloc(count + 1, sizeof *self->chunks);
    LODE_TRY_ALLOC(self->chunks, error);
    for (uint32_t i = 0; i < writer->encoder_count; i++) {
        const struct lode_array *chunks = &writer->encoders[i].chunks;
        if (chunks->count > 0)
            memcpy(self->chunks + self->count, chunks->items, chunks->count * sizeof *self->chunks);
        self->count += chunks->count;
    }
    qsort(self->chunks, self->count, sizeof *self->chunks, compare_chunks);
    return LODE_OK;
}

static bool make_room(struct assembly *self, size_t size)
{
    if (size <= self->capacity)
        return true;
    free(self->buffer);
    self->buffer = malloc(2 * size);
    self->capacity = self->buffer ? 2 * size : 0;
    return self->buffer != NULL;
}

static lode_status write_chunk(struct assembly *self, const struct zor_packed *chunk, lode_error *error)
{
    const struct zor_encoder *encoder = &self->writer->encoders[chunk->encoder];
    if (!make_room(self, chunk->size))
        return lode_fail_memory(error);
    LODE_TRY(lode_spool_read(&encoder->spool, chunk->offset, self->buffer, chunk->size, error));
    put_u64be(self->buffer + 16, get_u64be(self->buffer + 16) | self->data.size);
    if (self->writer->layout == ZOR_LAYOUT_ZICO)
        LODE_TRY(lode_output_write(&self->meta, self->buffer, ZOR_QMETA_SIZE, error));
    return lode_output_write(&self->data, self->buffer + ZOR_QMETA_SIZE, chunk->size - ZOR_QMETA_SIZE, error);
}

static lode_status write_chunks(struct assembly *self, lode_error *error)
{
    uint8_t header[ZOR_HEADER_SIZE] = {'Z', 'T', 'S', '0'};
    put_u32be(header + 4, self->writer->layout == ZOR_LAYOUT_PAGE ? FLAGS_PAGE : FLAGS_ZICO);
    LODE_TRY(lode_output_file_create_hidden(&self->data, &self->writer->output, STORE "/traces.dat", error));
    LODE_TRY(lode_output_write(&self->data, header, sizeof header, error));
    for (size_t i = 0; i < self->count; i++)
        LODE_TRY(write_chunk(self, &self->chunks[i], error));
    return LODE_OK;
}

/* ---- other files ---- */

/* The header has the used size and the first and last time; records follow with the chunks. */
static lode_status begin_meta(struct assembly *self, lode_error *error)
{
    static const uint8_t header[ZOR_QMETA_SIZE] = {'M', 'Q', 'I', '0'};
    if (self->writer->layout != ZOR_LAYOUT_ZICO)
        return LODE_OK;
    LODE_TRY(lode_output_file_create(&self->meta, &self->writer->output, STORE "/qmeta.idx", error));
    return lode_output_write(&self->meta, header, sizeof header, error);
}

static lode_status end_meta(struct assembly *self, lode_error *error)
{
    uint8_t numbers[12];
    uint64_t first = UINT64_MAX, last = 0;
    if (self->writer->layout != ZOR_LAYOUT_ZICO)
        return LODE_OK;
    if (self->meta.size > UINT32_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, "qmeta.idx", LODE_NO_OFFSET,
                         "there are more chunks than the index can have");
    for (uint32_t i = 0; i < self->writer->encoder_count; i++) {
        const struct zor_encoder *encoder = &self->writer->encoders[i];
        first = encoder->first_stamp < first ? encoder->first_stamp : first;
        last = encoder->last_stamp > last ? encoder->last_stamp : last;
    }
    put_u32be(numbers, (uint32_t)self->meta.size);
    put_u32be(numbers + 4, first < UINT64_MAX ? (uint32_t)first : 0);
    put_u32be(numbers + 8, (uint32_t)last);
    LODE_TRY(lode_output_flush(&self->meta, error));
    LODE_TRY(lode_output_write_at(&self->meta, 4, numbers, sizeof numbers, error));
    return lode_output_file_close(&self->meta, error);
}

static lode_status write_strings(const struct assembly *self, lode_error *error)
{
    struct lode_output_file file;
    LODE_TRY(lode_output_file_create(&file, &self->writer->output, STORE "/text-00000001.wal", error));
    lode_status status = lode_zor_dictionary_write(&self->writer->strings, &file, error);
    if (status == LODE_OK)
        return lode_output_file_close(&file, error);
    lode_output_file_abandon(&file);
    return status;
}

/* This file is documented, but not its content: write the format's parameters for people. */
static lode_status write_properties(const struct assembly *self, lode_error *error)
{
    static const char text[] = "store.id=000000\nstore.compression=zlib\nstore.checksum=crc32\n";
    struct lode_output_file file;
    if (self->writer->layout != ZOR_LAYOUT_PAGE)
        return LODE_OK;
    LODE_TRY(lode_output_file_create(&file, &self->writer->output, STORE "/config.props", error));
    lode_status status = lode_output_write(&file, text, sizeof text - 1, error);
    if (status == LODE_OK)
        return lode_output_file_close(&file, error);
    lode_output_file_abandon(&file);
    return status;
}

/* The data file makes the directory a store: write it when all else is complete. */
static lode_status assemble(struct assembly *self, lode_error *error)
{
    LODE_TRY(gather(self, error));
    LODE_TRY(write_strings(self, error));
    LODE_TRY(write_properties(self, error));
    LODE_TRY(begin_meta(self, error));
    LODE_TRY(write_chunks(self, error));
    LODE_TRY(end_meta(self, error));
    LODE_TRY(lode_output_file_show(&self->data, &self->writer->output, error));
    return lode_output_commit(&self->writer->output, error);
}

lode_status lode_zor_writer_finish(struct zor_writer *writer, lode_error *error)
{
    struct assembly self = {.writer = writer, .data = {.fd = -1}, .meta = {.fd = -1}};
    lode_status status = assemble(&self, error);
    lode_output_file_abandon(&self.data);
    lode_output_file_abandon(&self.meta);
    free(self.chunks);
    free(self.buffer);
    return status;
}
