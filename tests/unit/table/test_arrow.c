/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrow streams: a consumer that looks at every buffer, against scans of the same tables. */
#include "minidb.h"
#include "minirec.h"
#include "unit.h"
#include <lode/unstable.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool bit_at(const void *bits, int64_t i)
{
    return ((const uint8_t *)bits)[i / 8] >> i % 8 & 1;
}

/* ---- what must hold of every array ---- */

/* `size` bytes that are aligned, and zero up to the next 64. */
static void check_buffer(const void *buffer, size_t size)
{
    assert_non_null(buffer);
    assert_int_equal((uintptr_t)buffer % 64, 0);
    for (size_t i = size; i % 64 != 0; i++)
        assert_int_equal(((const uint8_t *)buffer)[i], 0);
}

static void check_valid(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    int64_t nulls = 0;
    if (array->buffers[0] == NULL) {
        assert_int_equal(array->null_count, 0);
        return;
    }
    assert_true(schema->flags & ARROW_FLAG_NULLABLE);
    check_buffer(array->buffers[0], (size_t)(array->length + 7) / 8);
    for (int64_t i = 0; i < array->length; i++)
        nulls += !bit_at(array->buffers[0], i);
    assert_int_equal(nulls, array->null_count);
}

static size_t size_of(const char *format, int64_t length)
{
    switch (format[0]) {
    case 'b':
        return (size_t)(length + 7) / 8;
    case 'C':
        return (size_t)length;
    case 'i':
    case 'I':
        return (size_t)length * 4;
    case 'l':
    case 'L':
    case 'g':
        return (size_t)length * 8;
    default:
        fail_msg("the format %s", format);
        return 0;
    }
}

static void check_dictionary(const struct ArrowArray *array)
{
    const struct ArrowArray *dictionary = array->dictionary;
    const int32_t *indices = array->buffers[1], *offsets = dictionary->buffers[1];
    assert_int_equal(dictionary->n_buffers, 3);
    assert_int_equal(dictionary->null_count, 0);
    check_buffer(offsets, (size_t)(dictionary->length + 1) * 4);
    assert_int_equal(offsets[0], 0);
    for (int64_t i = 0; i < dictionary->length; i++)
        assert_true(offsets[i] <= offsets[i + 1]);
    if (offsets[dictionary->length] > 0)
        check_buffer(dictionary->buffers[2], (size_t)offsets[dictionary->length]);
    for (int64_t i = 0; i < array->length; i++) {
        bool is_null = array->buffers[0] && !bit_at(array->buffers[0], i);
        assert_true(indices[i] >= 0 && (is_null || indices[i] < dictionary->length));
    }
}

static void check_child(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    assert_non_null(array->release);
    assert_int_equal(array->n_buffers, 2);
    assert_int_equal(array->offset, 0);
    check_valid(schema, array);
    check_buffer(array->buffers[1], size_of(schema->format, array->length));
    assert_int_equal(schema->dictionary != NULL, schema->format[0] == 'i');
    assert_int_equal(schema->dictionary != NULL, array->dictionary != NULL);
    if (array->dictionary)
        check_dictionary(array);
}

/* ---- against a scan ---- */

static void check_string(const struct ArrowArray *array, int64_t row, const char *expected)
{
    const int32_t *offsets = array->dictionary->buffers[1];
    int32_t index = ((const int32_t *)array->buffers[1])[row];
    size_t length = strlen(expected);
    assert_int_equal(offsets[index + 1] - offsets[index], length);
    assert_memory_equal((const char *)array->dictionary->buffers[2] + offsets[index], expected, length);
}

static void check_cell(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row,
                       const lode_batch *batch, unsigned column)
{
    const lode_column *from = &batch->columns[column];
    const char *at = (const char *)from->data + (uint64_t)row * from->stride;
    bool is_null = from->type == LODE_COLUMN_STRING ? *(const char *const *)(const void *)at == NULL
                                                    : batch->valid[column] && !batch->valid[column][row];
    assert_int_equal(array->buffers[0] && !bit_at(array->buffers[0], row), is_null);
    if (is_null)
        return;
    if (from->type == LODE_COLUMN_STRING)
        check_string(array, row, *(const char *const *)(const void *)at);
    else if (schema->format[0] == 'b')
        assert_int_equal(bit_at(array->buffers[1], row), *at);
    else
        assert_memory_equal((const char *)array->buffers[1] + (size_t)row * from->stride, at, from->stride);
}

static void check_batch(const struct ArrowSchema *schema, const struct ArrowArray *array,
                        const lode_table_info *info, lode_scan *scan)
{
    const lode_batch *batch;
    assert_int_equal(lode_scan_next(scan, &batch, NULL), LODE_OK);
    assert_int_equal(array->length, batch->rows);
    assert_int_equal(array->n_buffers, 1);
    assert_int_equal(array->n_children, schema->n_children);
    for (unsigned i = 0, child = 0; i < info->field_count; i++) {
        if (info->fields[i].flags & LODE_FIELD_ARGUMENT)
            continue;
        assert_string_equal(schema->children[child]->name, info->fields[i].name);
        check_child(schema->children[child], array->children[child]);
        for (int64_t row = 0; row < array->length; row++)
            check_cell(schema->children[child], array->children[child], row, batch, i);
        child++;
    }
}

static void check_table(lode_tables *tables, const lode_table_info *info)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray array;
    const lode_batch *batch;
    lode_scan *scan;
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    options.rows = 7;
    assert_int_equal(lode_arrow_stream(&stream, tables, info, &options, NULL), LODE_OK);
    assert_int_equal(lode_scan_open(&scan, tables, info, &options, NULL), LODE_OK);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_string_equal(schema.format, "+s");
    for (;;) {
        assert_int_equal(stream.get_next(&stream, &array), 0);
        if (array.release == NULL)
            break;
        check_batch(&schema, &array, info, scan);
        array.release(&array);
        assert_null(array.release);
    }
    assert_int_equal(lode_scan_next(scan, &batch, NULL), LODE_END);
    assert_null(stream.get_last_error(&stream));
    schema.release(&schema);
    stream.release(&stream);
    lode_scan_close(scan);
}

static void check_tables(const lode_database *db, const lode_recording *recording)
{
    lode_tables *tables;
    assert_int_equal(lode_tables_open(&tables, db, recording, NULL, NULL), LODE_OK);
    for (unsigned i = 0; i < lode_tables_count(tables); i++) {
        const lode_table_info *info = lode_tables_at(tables, i);
        /* These need a store on the disk, a context, a table to group. */
        bool needs_more = strcmp(info->name, "finding") == 0 || strcmp(info->name, "distribution") == 0 ||
                          strcmp(info->name, "grouped") == 0;
        if (!needs_more)
            check_table(tables, info);
    }
    lode_tables_close(tables);
}

/* ---- tests ---- */

static void open_mini(struct minidb *mini, lode_database **db, uint32_t profiles)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    lode_memory_file files[HPCT_FILES];
    options.profiles = profiles;
    minidb_make(mini, &options);
    minidb_files(mini, files);
    assert_int_equal(lode_database_open_memory(db, files, HPCT_FILES, NULL), LODE_OK);
}

static void every_table_of_a_database_is_a_valid_stream(void **state)
{
    struct minidb mini;
    lode_database *db;
    (void)state;
    open_mini(&mini, &db, 5);
    check_tables(db, NULL);
    lode_database_close(db);
    minidb_free(&mini);
}

static void every_table_of_a_recording_is_a_valid_stream(void **state)
{
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    struct minirec rec;
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
    (void)state;
    minirec_make(&rec, &options);
    size_t count = minirec_list(&rec, files);
    assert_int_equal(lode_recording_open_memory(&recording, files, count, NULL, NULL), LODE_OK);
    check_tables(NULL, recording);
    lode_recording_close(recording);
    minirec_free(&rec);
}

static void *release_elsewhere(void *array)
{
    struct ArrowArray *given = array;
    given->release(given);
    return NULL;
}

/* The stream outlives the tables, arrays the stream and the store; a child may be moved away. */
static void arrays_outlive_everything(void **state)
{
    struct minidb mini;
    lode_database *db;
    lode_tables *tables;
    struct ArrowArrayStream stream;
    struct ArrowArray array, child;
    pthread_t thread;
    (void)state;
    open_mini(&mini, &db, 3);
    assert_int_equal(lode_tables_open(&tables, db, NULL, NULL, NULL), LODE_OK);
    const lode_table_info *context = lode_tables_find(tables, "context");
    assert_int_equal(lode_arrow_stream(&stream, tables, context, NULL, NULL), LODE_OK);
    lode_tables_close(tables);
    assert_int_equal(stream.get_next(&stream, &array), 0);
    stream.release(&stream);
    assert_null(stream.release);
    lode_database_close(db);
    minidb_free(&mini);
    child = *array.children[13];
    array.children[13]->release = NULL;
    assert_int_equal(pthread_create(&thread, NULL, release_elsewhere, &array), 0);
    pthread_join(thread, NULL);
    assert_true(child.dictionary->length > 3);
    check_string(&child, 2, "main");
    child.release(&child);
}

static void columns_and_filters_are_those_of_the_options(void **state)
{
    struct minidb mini;
    lode_database *db;
    lode_tables *tables;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray array;
    lode_error error;
    uint64_t two = 2;
    lode_scan_filter filter = {0, LODE_FILTER_EQUAL, &two, NULL, NULL, 1};
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    (void)state;
    open_mini(&mini, &db, 3);
    assert_int_equal(lode_tables_open(&tables, db, NULL, NULL, NULL), LODE_OK);
    options.filters = &filter;
    options.filter_count = 1;
    options.columns = 1 << 3 | 1 << 0;
    const lode_table_info *value = lode_tables_find(tables, "value");
    assert_int_equal(lode_arrow_stream(&stream, tables, value, &options, NULL), LODE_OK);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(schema.n_children, 2);
    assert_string_equal(schema.children[1]->name, "value");
    assert_int_equal(stream.get_next(&stream, &array), 0);
    for (int64_t i = 0; i < array.length; i++)
        assert_int_equal(((const uint32_t *)array.children[0]->buffers[1])[i], 2);
    array.release(&array);
    schema.release(&schema);
    stream.release(&stream);
    filter.column = 99;
    assert_int_equal(lode_arrow_stream(&stream, tables, value, &options, &error), LODE_ERR_ARGUMENT);
    assert_null(stream.release);
    lode_tables_close(tables);
    lode_database_close(db);
    minidb_free(&mini);
}

static void errors_have_a_text(void **state)
{
    struct minidb_options mini_options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    lode_tables *tables;
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    static const unsigned order[] = {0};
    (void)state;
    minidb_make(&mini, &mini_options);
    minidb_at(&mini, HPCT_PROFILE, minidb_profile_value(&mini, 1, 6, 0))[0] = 200;
    minidb_files(&mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    assert_int_equal(lode_tables_open(&tables, db, NULL, NULL, NULL), LODE_OK);
    options.order = order;
    options.order_count = 1;
    assert_int_equal(lode_arrow_stream(&stream, tables, lode_tables_find(tables, "value"), &options, NULL),
                     LODE_OK);
    assert_true(stream.get_next(&stream, &array) != 0);
    assert_null(array.release);
    assert_non_null(strstr(stream.get_last_error(&stream), "order"));
    stream.release(&stream);
    lode_tables_close(tables);
    lode_database_close(db);
    minidb_free(&mini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_of_a_database_is_a_valid_stream),
        cmocka_unit_test(every_table_of_a_recording_is_a_valid_stream),
        cmocka_unit_test(arrays_outlive_everything),
        cmocka_unit_test(columns_and_filters_are_those_of_the_options),
        cmocka_unit_test(errors_have_a_text),
    };
    return cmocka_run_group_tests_name("arrow", tests, NULL, NULL);
}
