/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Arrow C data interface: https://arrow.apache.org/docs/format/CDataInterface.html. A record
 * batch is one block of memory with all its buffers, which its release frees.
 */
#include <lode/unstable/arrow.h>

#include "base/error.h"
#include "base/memory/intern.h"
#include "base/options.h"
#include "table/tables.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 64,
    ROWS = 1 << 16
};

struct stream {
    lode_scan *scan;
    const lode_table_info *table;
    unsigned columns[LODE_BATCH_COLUMNS]; /* of the table, that the stream has */
    unsigned count;
    lode_error error;
};

/* ---- schemas ---- */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; schema->children && i < schema->n_children; i++) {
        /* A child that was moved belongs to somebody else. */
        if (schema->children[i] && schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    if (schema->dictionary && schema->dictionary->release)
        schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
    schema->release = NULL;
}

static struct ArrowSchema plain_schema(const char *format, const char *name, int64_t flags)
{
    return (struct ArrowSchema){.format = format, .name = name, .flags = flags, .release = release_schema};
}

static const char *format_of(const lode_field *field)
{
    if (field->type == LODE_COLUMN_STRING)
        return "i";
    if (field->type == LODE_COLUMN_F64)
        return "g";
    if (field->type == LODE_COLUMN_U32)
        return "I";
    if (field->type == LODE_COLUMN_U8)
        return field->flags & LODE_FIELD_BOOLEAN ? "b" : "C";
    return field->flags & LODE_FIELD_SIGNED ? "l" : "L";
}

/* False if out of memory; what was made is released by its parent. */
static bool make_field(struct ArrowSchema **out, const lode_field *field)
{
    struct ArrowSchema *schema = calloc(1, sizeof *schema);
    *out = schema;
    if (schema == NULL)
        return false;
    *schema = plain_schema(format_of(field), field->name,
                           field->flags & LODE_FIELD_OPTIONAL ? ARROW_FLAG_NULLABLE : 0);
    if (field->type != LODE_COLUMN_STRING)
        return true;
    schema->dictionary = calloc(1, sizeof *schema->dictionary);
    if (schema->dictionary)
        *schema->dictionary = plain_schema("u", "", 0);
    return schema->dictionary != NULL;
}

static int get_schema(struct ArrowArrayStream *source, struct ArrowSchema *out)
{
    const struct stream *stream = source->private_data;
    bool is_made = true;
    *out = plain_schema("+s", "", 0);
    out->children = calloc(stream->count + 1, sizeof *out->children);
    is_made = out->children != NULL;
    for (unsigned i = 0; is_made && i < stream->count; i++) {
        out->n_children++;
        is_made = make_field(&out->children[i], &stream->table->fields[stream->columns[i]]);
    }
    if (is_made)
        return 0;
    release_schema(out);
    return ENOMEM;
}

/* ---- arrays ---- */

/* An array and its buffers: in one allocation each, so that children may be moved away. */
struct column {
    const void *buffers[3];
    unsigned char *memory; /* of all buffers */
};

static void release_array(struct ArrowArray *array)
{
    struct column *column = array->private_data;
    for (int64_t i = 0; array->children && i < array->n_children; i++) {
        if (array->children[i] && array->children[i]->release)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    if (array->dictionary && array->dictionary->release)
        array->dictionary->release(array->dictionary);
    free(array->dictionary);
    if (column)
        free(column->memory);
    free(column);
    array->release = NULL;
}

static size_t padded(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Up to three buffers of the given sizes, in one piece; padding is zero. */
static bool make_array(struct ArrowArray *array, int64_t length, int64_t buffers, const size_t sizes[3])
{
    size_t total = 0;
    for (int64_t i = 0; i < buffers; i++)
        total += padded(sizes[i]);
    struct column *column = calloc(1, sizeof *column);
    *array = (struct ArrowArray){.length = length, .n_buffers = buffers, .release = release_array};
    array->private_data = column;
    if (column == NULL)
        return false;
    column->memory = aligned_alloc(ALIGNMENT, total > 0 ? total : ALIGNMENT);
    if (column->memory == NULL)
        return false;
    unsigned char *at = column->memory;
    for (int64_t i = 0; i < buffers; i++) {
        size_t room = padded(sizes[i]);
        column->buffers[i] = sizes[i] > 0 ? at : NULL;
        if (room > sizes[i])
            memset(at + sizes[i], 0, room - sizes[i]);
        at += room;
    }
    array->buffers = column->buffers;
    return true;
}

/* A buffer of a column that is being made. */
static void *buffer_of(const struct ArrowArray *array, unsigned i)
{
    struct column *column = array->private_data;
    const unsigned char *at = column->buffers[i];
    return at ? column->memory + (at - column->memory) : NULL;
}

/* Sets bits of rows that are there; returns how many are not. */
static int64_t pack_bits(uint8_t *bits, const uint8_t *bytes, uint64_t count)
{
    int64_t zeros = 0;
    memset(bits, 0, (size_t)((count + 7) / 8));
    for (uint64_t i = 0; i < count; i++) {
        bits[i / 8] |= (uint8_t)((bytes[i] != 0) << i % 8);
        zeros += bytes[i] == 0;
    }
    return zeros;
}

static size_t bit_bytes(uint64_t rows)
{
    return (size_t)((rows + 7) / 8);
}

static bool make_numbers(struct ArrowArray *array, const lode_field *field, const lode_batch *batch,
                         unsigned column)
{
    const lode_column *from = &batch->columns[column];
    const uint8_t *valid = batch->valid[column];
    bool is_boolean = field->flags & LODE_FIELD_BOOLEAN;
    size_t sizes[3] = {valid ? bit_bytes(batch->rows) : 0,
                       is_boolean ? bit_bytes(batch->rows) : (size_t)(batch->rows * from->stride)};
    if (!make_array(array, (int64_t)batch->rows, 2, sizes))
        return false;
    if (valid)
        array->null_count = pack_bits(buffer_of(array, 0), valid, batch->rows);
    if (is_boolean)
        pack_bits(buffer_of(array, 1), from->data, batch->rows);
    else
        memcpy(buffer_of(array, 1), from->data, sizes[1]);
    return true;
}

/* ---- strings ---- */

static bool make_dictionary(struct ArrowArray *array, const struct lode_strings *strings)
{
    size_t count = strings->items.count, bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(lode_strings_at(strings, (uint32_t)i));
    /* A batch has some megabytes of text at most, so that offsets fit. */
    size_t sizes[3] = {0, (count + 1) * sizeof(int32_t), bytes > 0 ? bytes : 1};
    if (!make_array(array, (int64_t)count, 3, sizes))
        return false;
    int32_t *offsets = buffer_of(array, 1);
    char *text = buffer_of(array, 2);
    offsets[0] = 0;
    for (size_t i = 0; i < count; i++) {
        const char *string = lode_strings_at(strings, (uint32_t)i);
        size_t length = strlen(string);
        memcpy(text + offsets[i], string, length);
        offsets[i + 1] = offsets[i] + (int32_t)length;
    }
    return true;
}

/* Numbers the strings by first use. Equal pointers follow one another in many tables. */
static bool number_strings(struct lode_strings *strings, const char *const *from, uint64_t rows,
                           int32_t *indices, uint8_t *valid)
{
    uint32_t number = 0;
    for (uint64_t i = 0; i < rows; i++) {
        valid[i] = from[i] != NULL;
        if (from[i] == NULL) {
            indices[i] = 0;
            continue;
        }
        if ((i == 0 || from[i] != from[i - 1]) && !lode_strings_put(strings, from[i], &number))
            return false;
        indices[i] = (int32_t)number;
    }
    return true;
}

static bool fill_strings(struct ArrowArray *array, const lode_field *field, const lode_batch *batch,
                         unsigned column, struct lode_strings *strings, uint8_t *valid)
{
    bool is_optional = field->flags & LODE_FIELD_OPTIONAL;
    size_t sizes[3] = {is_optional ? bit_bytes(batch->rows) : 0, (size_t)batch->rows * sizeof(int32_t)};
    if (!make_array(array, (int64_t)batch->rows, 2, sizes) ||
        !number_strings(strings, batch->columns[column].data, batch->rows, buffer_of(array, 1), valid))
        return false;
    if (is_optional)
        array->null_count = pack_bits(buffer_of(array, 0), valid, batch->rows);
    array->dictionary = calloc(1, sizeof *array->dictionary);
    return array->dictionary && make_dictionary(array->dictionary, strings);
}

static bool make_strings(struct ArrowArray *array, const lode_field *field, const lode_batch *batch,
                         unsigned column)
{
    struct lode_strings strings;
    uint8_t *valid = malloc((size_t)batch->rows + 1);
    lode_strings_init(&strings);
    bool is_made = valid && fill_strings(array, field, batch, column, &strings, valid);
    lode_strings_free(&strings);
    free(valid);
    return is_made;
}

/* ---- streams ---- */

static bool make_batch(const struct stream *stream, const lode_batch *batch, struct ArrowArray *out)
{
    static const size_t none[3];
    if (!make_array(out, (int64_t)batch->rows, 1, none))
        return false;
    out->children = calloc(stream->count + 1, sizeof *out->children);
    if (out->children == NULL)
        return false;
    for (unsigned i = 0; i < stream->count; i++) {
        const lode_field *field = &stream->table->fields[stream->columns[i]];
        out->children[i] = calloc(1, sizeof *out->children[i]);
        out->n_children++;
        if (out->children[i] == NULL)
            return false;
        if (!(field->type == LODE_COLUMN_STRING ? make_strings : make_numbers)(out->children[i], field, batch,
                                                                               stream->columns[i]))
            return false;
    }
    return true;
}

static int errno_of(const lode_error *error)
{
    if (error->os_errno)
        return error->os_errno;
    return error->status == LODE_ERR_MEMORY      ? ENOMEM
           : error->status == LODE_ERR_CANCELLED ? ECANCELED
           : error->status == LODE_ERR_ARGUMENT  ? EINVAL
                                                 : EIO;
}

static int get_next(struct ArrowArrayStream *source, struct ArrowArray *out)
{
    struct stream *stream = source->private_data;
    const lode_batch *batch;
    *out = (struct ArrowArray){0};
    lode_status status = lode_scan_next(stream->scan, &batch, &stream->error);
    if (status == LODE_END)
        return 0;
    if (status != LODE_OK)
        return errno_of(&stream->error);
    if (make_batch(stream, batch, out))
        return 0;
    release_array(out);
    lode_fail_memory(&stream->error);
    return ENOMEM;
}

static const char *get_last_error(struct ArrowArrayStream *source)
{
    const struct stream *stream = source->private_data;
    return stream->error.status ? stream->error.text : NULL;
}

static void release_stream(struct ArrowArrayStream *source)
{
    struct stream *stream = source->private_data;
    lode_scan_close(stream->scan);
    free(stream);
    source->release = NULL;
}

static lode_status open_stream(struct stream *stream, lode_tables *tables, const lode_table_info *table,
                               const lode_scan_options *given, lode_error *error)
{
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&options, given, error));
    uint64_t asked = options.columns ? options.columns : UINT64_MAX;
    stream->table = table;
    options.columns = 0;
    for (unsigned i = 0; i < table->field_count; i++) {
        if (!(asked >> i & 1) || (table->fields[i].flags & LODE_FIELD_ARGUMENT))
            continue;
        stream->columns[stream->count++] = i;
        options.columns |= UINT64_C(1) << i;
    }
    if (options.columns == 0)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "a stream without columns");
    options.rows = options.rows ? options.rows : ROWS;
    return lode_scan_open(&stream->scan, tables, table, &options, error);
}

lode_status lode_arrow_stream(struct ArrowArrayStream *out, lode_tables *tables, const lode_table_info *table,
                              const lode_scan_options *options, lode_error *error)
{
    *out = (struct ArrowArrayStream){0};
    struct stream *stream = calloc(1, sizeof *stream);
    LODE_TRY_ALLOC(stream, error);
    lode_status status = open_stream(stream, tables, table, options, error);
    if (status != LODE_OK) {
        lode_scan_close(stream->scan);
        free(stream);
        return status;
    }
    *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, stream};
    return LODE_OK;
}
