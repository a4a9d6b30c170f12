/* SPDX-License-Identifier: BSD-3-Clause */
#include "export/parquet/encode.h"

#include "base/io/bytes.h"
#include "base/memory/hash.h"
#include "export/parquet/thrift.h"
#include <math.h>
#include <zlib.h>

enum {
    PAGE_DATA = 0,
    PAGE_DICTIONARY = 2,
    GROUP = 8 /* packed numbers come in groups of eight */
};

/* One column of a batch while it is encoded. */
struct column {
    struct lode_parquet_coder *coder;
    const lode_field *field;
    const struct lode_table_batch *batch;
    unsigned index;
    int type;
    bool is_optional;
    struct lode_wire *out;
    struct lode_parquet_chunk *chunk;
    uint64_t dense; /* values that are not NULL and were written */
};

/* ---- memory ---- */

lode_status lode_parquet_coder_init(struct lode_parquet_coder *coder, int codec, lode_error *error)
{
    *coder = (struct lode_parquet_coder){.codec = codec};
    coder->slots = calloc(PARQUET_DICTIONARY_SLOTS, sizeof *coder->slots);
    coder->numbers = calloc(PARQUET_DICTIONARY_MOST, sizeof *coder->numbers);
    coder->texts = calloc(PARQUET_DICTIONARY_MOST, sizeof *coder->texts);
    coder->lengths = calloc(PARQUET_DICTIONARY_MOST, sizeof *coder->lengths);
    coder->levels = calloc(PARQUET_PAGE_ROWS, sizeof *coder->levels);
    if (!coder->slots || !coder->numbers || !coder->texts || !coder->lengths || !coder->levels)
        return lode_fail_memory(error);
    return lode_parquet_open_codec(coder, error);
}

void lode_parquet_coder_free(struct lode_parquet_coder *coder)
{
    lode_parquet_close_codec(coder);
    wire_free(&coder->body);
    wire_free(&coder->packed);
    free(coder->indices);
    free(coder->slots);
    free(coder->numbers);
    free(coder->texts);
    free(coder->lengths);
    free(coder->levels);
    *coder = (struct lode_parquet_coder){0};
}

int lode_parquet_type(const lode_field *field)
{
    if (field->flags & LODE_FIELD_BOOLEAN)
        return PARQUET_BOOLEAN;
    if (field->type == LODE_COLUMN_STRING)
        return PARQUET_BYTE_ARRAY;
    if (field->type == LODE_COLUMN_F64)
        return PARQUET_DOUBLE;
    return field->type == LODE_COLUMN_U64 ? PARQUET_INT64 : PARQUET_INT32;
}

/* ---- runs ---- */

unsigned lode_parquet_width(uint32_t most)
{
    return most == 0 ? 0 : 32 - (unsigned)__builtin_clz(most);
}

/* `count` is a multiple of eight, or the last numbers, which zeros follow. */
static void put_packed(struct lode_wire *out, const uint32_t *numbers, uint64_t count, unsigned width)
{
    uint64_t groups = (count + GROUP - 1) / GROUP, bits = 0;
    unsigned held = 0;
    if (count == 0)
        return;
    wire_varint(out, groups << 1 | 1);
    if (!wire_reserve(out, (size_t)(groups * width)))
        return;
    uint8_t *to = out->bytes + out->count;
    for (uint64_t i = 0; i < groups * GROUP; i++) {
        bits |= (uint64_t)(i < count ? numbers[i] : 0) << held;
        for (held += width; held >= 8; held -= 8, bits >>= 8)
            *to++ = (uint8_t)bits;
    }
    out->count += (size_t)(groups * width);
}

static void put_run(struct lode_wire *out, uint32_t number, uint64_t count, unsigned width)
{
    uint8_t bytes[4];
    put_u32le(bytes, number);
    wire_varint(out, count << 1);
    wire_raw(out, bytes, (width + 7) / 8);
}

void lode_parquet_runs(struct lode_wire *out, const uint32_t *numbers, uint64_t count, unsigned width)
{
    uint64_t from = 0; /* of the numbers that wait to be packed */
    for (uint64_t i = 0; i < count;) {
        uint64_t end = i + 1;
        while (end < count && numbers[end] == numbers[i])
            end++;
        /* Packed numbers come in eights: the run gives what is missing. */
        uint64_t missing = (GROUP - (i - from) % GROUP) % GROUP;
        if (end - i >= missing + GROUP) {
            put_packed(out, numbers + from, i + missing - from, width);
            put_run(out, numbers[i], end - i - missing, width);
            from = end;
        }
        i = end;
    }
    put_packed(out, numbers + from, count - from, width);
}

/* ---- dictionaries ---- */

static bool reserve_indices(struct lode_parquet_coder *coder, uint64_t count)
{
    if (count <= coder->index_capacity)
        return true;
    free(coder->indices);
    coder->indices = calloc(count, sizeof *coder->indices);
    coder->index_capacity = coder->indices ? count : 0;
    return coder->indices != NULL;
}

/* Adds a number that is not in the dictionary. */
static uint32_t add_number(struct lode_parquet_coder *coder, uint32_t number, uint32_t *slot)
{
    if (coder->count == PARQUET_DICTIONARY_MOST)
        return PARQUET_DICTIONARY_MOST;
    coder->numbers[coder->count] = number;
    *slot = ++coder->count;
    return coder->count - 1;
}

/* The index of a number; PARQUET_DICTIONARY_MOST if there are too many. */
static uint32_t look_up_number(struct lode_parquet_coder *coder, uint32_t number)
{
    uint64_t at = lode_hash_number(number) & (PARQUET_DICTIONARY_SLOTS - 1);
    for (; coder->slots[at]; at = (at + 1) & (PARQUET_DICTIONARY_SLOTS - 1))
        if (coder->numbers[coder->slots[at] - 1] == number)
            return coder->slots[at] - 1;
    return add_number(coder, number, &coder->slots[at]);
}

static uint32_t look_up_text(struct lode_parquet_coder *coder, const char *text)
{
    size_t length = strlen(text);
    uint64_t at = lode_hash_bytes(text, length) & (PARQUET_DICTIONARY_SLOTS - 1);
    for (; coder->slots[at]; at = (at + 1) & (PARQUET_DICTIONARY_SLOTS - 1)) {
        uint32_t i = coder->slots[at] - 1;
        if (coder->lengths[i] == length && memcmp(coder->texts[i], text, length) == 0)
            return i;
    }
    if (coder->count == PARQUET_DICTIONARY_MOST)
        return PARQUET_DICTIONARY_MOST;
    coder->texts[coder->count] = text;
    coder->lengths[coder->count] = (uint32_t)length;
    coder->slots[at] = ++coder->count;
    return coder->count - 1;
}

/* The slots that a column of numbers needs: of numbers that lie close together, a table of them. */
static uint64_t slots_of(const struct lode_parquet_chunk *chunk)
{
    uint64_t range = (uint64_t)get_u32le(chunk->max) - get_u32le(chunk->min) + 1;
    return range < PARQUET_DICTIONARY_SLOTS ? range : PARQUET_DICTIONARY_SLOTS;
}

/* Sets the indices of numbers that lie close together, none of them NULL: the slots are a table. */
static bool index_near(struct lode_parquet_coder *coder, const uint32_t *numbers, uint64_t count,
                       uint32_t least)
{
    uint32_t *const slots = coder->slots, *const indices = coder->indices;
    for (uint64_t row = 0; row < count; row++) {
        uint32_t *slot = &slots[numbers[row] - least];
        if (*slot == 0 && add_number(coder, numbers[row], slot) == PARQUET_DICTIONARY_MOST)
            return false;
        indices[row] = *slot - 1;
    }
    return true;
}

/* Sets the indices of numbers; false if there are too many different ones. */
static bool index_numbers(struct column *column, const uint32_t *numbers)
{
    struct lode_parquet_coder *coder = column->coder;
    uint64_t dense = 0;
    if (!column->is_optional && slots_of(column->chunk) < PARQUET_DICTIONARY_SLOTS)
        return index_near(coder, numbers, column->batch->rows, get_u32le(column->chunk->min));
    for (uint64_t row = 0; row < column->batch->rows; row++) {
        if (column->is_optional && !column->batch->valid[column->index][row])
            continue;
        uint32_t index = look_up_number(coder, numbers[row]);
        if (index == PARQUET_DICTIONARY_MOST)
            return false;
        coder->indices[dense++] = index;
    }
    return true;
}

static bool index_texts(struct column *column, const char *const *texts, uint64_t *bytes)
{
    struct lode_parquet_coder *coder = column->coder;
    uint64_t dense = 0;
    const char *last = NULL;
    uint32_t index = 0;
    *bytes = 0;
    for (uint64_t row = 0; row < column->batch->rows; row++) {
        if (texts[row] == NULL)
            continue;
        uint32_t before = coder->count;
        if (texts[row] != last)
            index = look_up_text(coder, texts[row]);
        last = texts[row];
        if (index == PARQUET_DICTIONARY_MOST)
            return false;
        *bytes += coder->count > before ? 4 + (uint64_t)coder->lengths[index] : 0;
        if (*bytes > PARQUET_PAGE_BYTES)
            return false;
        coder->indices[dense++] = index;
    }
    return true;
}

/* Builds the dictionary of a column and its indices. False: plain pages are better. */
static lode_status make_dictionary(struct column *column, bool *is_better, lode_error *error)
{
    struct lode_parquet_coder *coder = column->coder;
    const void *data = column->batch->columns[column->index].data;
    uint64_t dense = column->batch->rows - column->chunk->nulls, bytes = 0;
    *is_better = false;
    if (dense == 0 || (column->type != PARQUET_INT32 && column->type != PARQUET_BYTE_ARRAY))
        return LODE_OK;
    if (!reserve_indices(coder, dense))
        return lode_fail_memory(error);
    bool are_near = column->type == PARQUET_INT32 && !column->is_optional;
    memset(coder->slots, 0,
           (are_near ? slots_of(column->chunk) : PARQUET_DICTIONARY_SLOTS) * sizeof *coder->slots);
    coder->count = 0;
    bool fits =
        column->type == PARQUET_INT32 ? index_numbers(column, data) : index_texts(column, data, &bytes);
    if (column->type == PARQUET_INT32)
        bytes = (uint64_t)coder->count * 4;
    uint64_t width = lode_parquet_width(coder->count - (coder->count > 0));
    *is_better = fits && bytes + dense * width / 8 < dense * 4;
    if (column->type == PARQUET_BYTE_ARRAY)
        *is_better = fits && coder->count <= dense / 2 + 1;
    return LODE_OK;
}

/* ---- pages ---- */

/* Compresses the body and appends it with its header. */
static lode_status put_page(struct column *column, int kind, uint64_t values, int encoding, lode_error *error)
{
    struct lode_parquet_coder *coder = column->coder;
    struct lode_wire *out = column->out;
    if (coder->body.failed)
        return lode_fail_memory(error);
    LODE_TRY(lode_parquet_pack(coder, error));
    if (coder->packed.count > INT32_MAX || coder->body.count > INT32_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "a page of more than 2 GiB");
    size_t begin = out->count;
    struct lode_thrift header = {.wire = out};
    uint32_t sum = (uint32_t)crc32(crc32(0, NULL, 0), coder->packed.bytes, (uInt)coder->packed.count);
    thrift_i32(&header, 1, kind);
    thrift_i32(&header, 2, (int32_t)coder->body.count);
    thrift_i32(&header, 3, (int32_t)coder->packed.count);
    thrift_i32(&header, 4, (int32_t)sum);
    thrift_struct(&header, kind == PAGE_DICTIONARY ? 7 : 5);
    thrift_i32(&header, 1, (int32_t)values);
    thrift_i32(&header, 2, encoding);
    if (kind == PAGE_DATA) {
        thrift_i32(&header, 3, PARQUET_RLE);
        thrift_i32(&header, 4, PARQUET_RLE);
    }
    thrift_end(&header);
    thrift_end(&header);
    size_t header_size = out->count - begin;
    wire_raw(out, coder->packed.bytes, coder->packed.count);
    column->chunk->packed += header_size + coder->packed.count;
    column->chunk->unpacked += header_size + coder->body.count;
    return out->failed ? lode_fail_memory(error) : LODE_OK;
}

static void put_u32(struct lode_wire *out, uint32_t number)
{
    uint8_t bytes[4];
    put_u32le(bytes, number);
    wire_raw(out, bytes, sizeof bytes);
}

static void put_text(struct lode_wire *out, const char *text, uint32_t length)
{
    put_u32(out, length);
    wire_raw(out, text, length);
}

/* Definition levels of rows: 1 unless NULL. */
static void put_levels(struct column *column, uint64_t from, uint64_t to)
{
    struct lode_wire *body = &column->coder->body;
    uint32_t *levels = column->coder->levels;
    size_t begin = body->count;
    for (uint64_t row = from; row < to; row++)
        levels[row - from] = !lode_batch_is_null(column->batch, column->index, row);
    put_u32(body, 0);
    lode_parquet_runs(body, levels, to - from, 1);
    if (!body->failed)
        put_u32le(body->bytes + begin, (uint32_t)(body->count - begin - 4));
}

static lode_status put_dictionary(struct column *column, lode_error *error)
{
    struct lode_parquet_coder *coder = column->coder;
    coder->body.count = 0;
    for (uint32_t i = 0; i < coder->count; i++) {
        if (column->type == PARQUET_INT32)
            put_u32(&coder->body, coder->numbers[i]);
        else
            put_text(&coder->body, coder->texts[i], coder->lengths[i]);
    }
    column->chunk->has_dictionary = true;
    return put_page(column, PAGE_DICTIONARY, coder->count, PARQUET_PLAIN, error);
}

/* ---- values ---- */

static uint64_t count_dense(const struct column *column, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    if (!column->is_optional)
        return to - from;
    for (uint64_t row = from; row < to; row++)
        count += !lode_batch_is_null(column->batch, column->index, row);
    return count;
}

static void put_indices(struct column *column, uint64_t from, uint64_t to)
{
    struct lode_parquet_coder *coder = column->coder;
    uint64_t count = count_dense(column, from, to);
    /* Readers differ on a width of 0. */
    uint8_t width = (uint8_t)lode_parquet_width(coder->count > 1 ? coder->count - 1 : 1);
    wire_raw(&coder->body, &width, 1);
    lode_parquet_runs(&coder->body, coder->indices + column->dense, count, width);
    column->dense += count;
}

static void put_booleans(struct column *column, uint64_t from, uint64_t to)
{
    const uint8_t *values = column->batch->columns[column->index].data;
    struct lode_wire *body = &column->coder->body;
    uint8_t byte = 0;
    unsigned bit = 0;
    for (uint64_t row = from; row < to; row++) {
        if (lode_batch_is_null(column->batch, column->index, row))
            continue;
        byte = (uint8_t)(byte | values[row] << bit);
        if (++bit == 8) {
            wire_raw(body, &byte, 1);
            byte = 0;
            bit = 0;
        }
    }
    if (bit > 0)
        wire_raw(body, &byte, 1);
}

static void put_numbers(struct column *column, uint64_t from, uint64_t to)
{
    const uint8_t *values = column->batch->columns[column->index].data;
    struct lode_wire *body = &column->coder->body;
    size_t size = column->type == PARQUET_INT32 ? 4 : 8;
    if (!wire_reserve(body, (size_t)(to - from) * size))
        return;
    uint8_t *at = body->bytes + body->count;
    if (!column->is_optional && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        memcpy(at, values + from * size, (size_t)(to - from) * size);
        body->count += (size_t)(to - from) * size;
        return;
    }
    for (uint64_t row = from; row < to; row++) {
        if (column->is_optional && !column->batch->valid[column->index][row])
            continue;
        if (size == 4) {
            put_u32le(at, ((const uint32_t *)(const void *)values)[row]);
        } else {
            put_u64le(at, ((const uint64_t *)(const void *)values)[row]);
        }
        at += size;
    }
    body->count = (size_t)(at - body->bytes);
}

static void put_texts(struct column *column, uint64_t from, uint64_t to)
{
    const char *const *texts = column->batch->columns[column->index].data;
    struct lode_wire *body = &column->coder->body;
    for (uint64_t row = from; row < to; row++)
        if (texts[row])
            put_text(body, texts[row], (uint32_t)strlen(texts[row]));
}

/* The rows of the next page. */
static uint64_t end_of_page(const struct column *column, uint64_t from)
{
    const char *const *texts = column->batch->columns[column->index].data;
    uint64_t rows = column->batch->rows, bytes = 0;
    uint64_t most = rows - from < PARQUET_PAGE_ROWS ? rows : from + PARQUET_PAGE_ROWS;
    if (column->type != PARQUET_BYTE_ARRAY || column->chunk->has_dictionary)
        return most;
    for (uint64_t row = from; row < most; row++) {
        bytes += texts[row] ? strlen(texts[row]) + 4 : 0;
        if (bytes > PARQUET_PAGE_BYTES)
            return row > from ? row : from + 1;
    }
    return most;
}

static lode_status put_data(struct column *column, uint64_t from, uint64_t to, lode_error *error)
{
    struct lode_wire *body = &column->coder->body;
    bool has_dictionary = column->chunk->has_dictionary;
    body->count = 0;
    if (column->is_optional)
        put_levels(column, from, to);
    if (has_dictionary)
        put_indices(column, from, to);
    else if (column->type == PARQUET_BYTE_ARRAY)
        put_texts(column, from, to);
    else if (column->type == PARQUET_BOOLEAN)
        put_booleans(column, from, to);
    else
        put_numbers(column, from, to);
    return put_page(column, PAGE_DATA, to - from, has_dictionary ? PARQUET_RLE_DICTIONARY : PARQUET_PLAIN,
                    error);
}

/* ---- statistics ---- */

static uint64_t count_nulls(const struct column *column)
{
    return column->batch->rows - count_dense(column, 0, column->batch->rows);
}

/* A key whose order as an unsigned number is that of the values; and back. */
static inline uint64_t key_of(int type, const void *data, uint64_t row)
{
    uint64_t sign = UINT64_C(1) << 63;
    if (type == PARQUET_INT32)
        return ((const uint32_t *)data)[row];
    uint64_t bits = ((const uint64_t *)data)[row];
    if (type == PARQUET_INT64)
        return bits ^ sign;
    return bits & sign ? ~bits : bits | sign;
}

static uint64_t value_of_key(int type, uint64_t key)
{
    uint64_t sign = UINT64_C(1) << 63;
    if (type == PARQUET_INT32)
        return key;
    if (type == PARQUET_INT64)
        return key ^ sign;
    return key & sign ? key ^ sign : ~key;
}

/* Inlined for each type: it runs for every value. */
__attribute__((always_inline)) static inline void find_keys(const struct column *column, int type,
                                                            uint64_t *min, uint64_t *max)
{
    const void *data = column->batch->columns[column->index].data;
    const uint8_t *valid = column->batch->valid[column->index];
    uint64_t least = UINT64_MAX, greatest = 0;
    const uint64_t rows = column->batch->rows;
    for (uint64_t row = 0; valid == NULL && row < rows; row++) {
        uint64_t key = key_of(type, data, row);
        least = key < least ? key : least;
        greatest = key > greatest ? key : greatest;
    }
    for (uint64_t row = 0; valid && row < rows; row++) {
        uint64_t key = key_of(type, data, row);
        least = valid[row] && key < least ? key : least;
        greatest = valid[row] && key > greatest ? key : greatest;
    }
    *min = least;
    *max = greatest;
}

static bool is_nan_key(uint64_t key)
{
    uint64_t bits = value_of_key(PARQUET_DOUBLE, key);
    return isnan(f64_of_bits(bits));
}

/* Minimum and maximum of numbers. Zero is written as -0.0 and +0.0: readers disagree about it. */
static void find_bounds(struct column *column)
{
    struct lode_parquet_chunk *chunk = column->chunk;
    int type = column->type;
    uint64_t min = 0, max = 0;
    if (chunk->nulls == column->batch->rows || type == PARQUET_BYTE_ARRAY || type == PARQUET_BOOLEAN)
        return;
    if (type == PARQUET_INT32)
        find_keys(column, PARQUET_INT32, &min, &max);
    else if (type == PARQUET_INT64)
        find_keys(column, PARQUET_INT64, &min, &max);
    else
        find_keys(column, PARQUET_DOUBLE, &min, &max);
    /* A chunk with NaN has no bounds. As a key, it is the least or the greatest. */
    if (type == PARQUET_DOUBLE && (is_nan_key(min) || is_nan_key(max)))
        return;
    min = value_of_key(type, min);
    max = value_of_key(type, max);
    if (type == PARQUET_DOUBLE) {
        min = f64_of_bits(min) == 0 ? bits_of_f64(-0.0) : min;
        max = f64_of_bits(max) == 0 ? bits_of_f64(0.0) : max;
    }
    chunk->has_bounds = true;
    chunk->bound_size = type == PARQUET_INT32 ? 4 : 8;
    put_u64le(chunk->min, min);
    put_u64le(chunk->max, max);
}

lode_status lode_parquet_encode(struct lode_parquet_coder *coder, const lode_field *field,
                                const struct lode_table_batch *batch, unsigned index, struct lode_wire *out,
                                struct lode_parquet_chunk *chunk, lode_error *error)
{
    struct column column = {.coder = coder,
                            .field = field,
                            .batch = batch,
                            .index = index,
                            .type = lode_parquet_type(field),
                            .is_optional = (field->flags & LODE_FIELD_OPTIONAL) != 0,
                            .out = out,
                            .chunk = chunk};
    bool has_dictionary;
    *chunk = (struct lode_parquet_chunk){.values = batch->rows, .dictionary_at = out->count};
    chunk->nulls = count_nulls(&column);
    find_bounds(&column);
    LODE_TRY(make_dictionary(&column, &has_dictionary, error));
    if (has_dictionary)
        LODE_TRY(put_dictionary(&column, error));
    chunk->data_at = out->count;
    for (uint64_t row = 0; row < batch->rows;) {
        uint64_t end = end_of_page(&column, row);
        LODE_TRY(put_data(&column, row, end, error));
        row = end;
    }
    return LODE_OK;
}
