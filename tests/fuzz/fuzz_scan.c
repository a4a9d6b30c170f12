/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans of a small database (first byte even) or recording (odd): a table, filters, an order, the
 * size of batches and rows to skip, as bytes. Several threads give what one gives, and skipping
 * leaves out as many rows as it should.
 */
#include "minidb.h"
#include "minirec.h"

#include <lode/unstable.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    FILTERS = 4,
    LIST = 4,
    ROWS_MAX = 5000
};

struct input {
    const uint8_t *at;
    size_t left;
};

static unsigned take(struct input *input)
{
    if (input->left == 0)
        return 0;
    input->left--;
    return *input->at++;
}

struct query {
    lode_scan_options options;
    lode_scan_filter filters[FILTERS];
    uint64_t numbers[FILTERS][LIST];
    double reals[FILTERS][LIST];
    const char *texts[FILTERS][LIST];
    unsigned order[3];
};

static void take_filter(struct query *query, size_t i, const lode_table_info *info, struct input *input)
{
    static const char *const texts[] = {"", "enter", "function", "main"};
    lode_scan_filter *filter = &query->filters[i];
    unsigned number = take(input), first = take(input);
    *filter =
        (lode_scan_filter){.column = take(input) % info->field_count, .kind = (lode_filter_kind)(number % 4)};
    filter->count = filter->kind == LODE_FILTER_IN ? number / 4 % (LIST + 1) : 1;
    filter->numbers = query->numbers[i];
    filter->reals = query->reals[i];
    filter->strings = query->texts[i];
    for (unsigned k = 0; k < LIST; k++) {
        query->numbers[i][k] = number & 128 ? UINT64_MAX - 1000 + first + k : first + k * (number / 16 % 8);
        query->reals[i][k] = (double)first + k;
        query->texts[i][k] = texts[k];
    }
}

static void take_query(struct query *query, const lode_table_info *info, struct input *input)
{
    *query = (struct query){.options = LODE_SCAN_OPTIONS_INIT};
    query->options.rows = take(input) % 32;
    query->options.skip = take(input) % 64;
    query->options.filters = query->filters;
    query->options.filter_count = take(input) % (FILTERS + 1);
    query->options.order = query->order;
    query->options.order_count = take(input) % 4;
    for (unsigned i = 0; i < 3; i++)
        query->order[i] = take(input) % info->field_count;
    for (size_t i = 0; i < query->options.filter_count; i++)
        take_filter(query, i, info, input);
}

/* The status, the number of rows, and a number that depends on all numbers of all rows. */
struct result {
    lode_status status;
    uint64_t rows, hash;
};

static struct result read_scan(lode_tables *tables, const lode_table_info *info,
                               const lode_scan_options *options)
{
    struct result result = {0};
    lode_scan *scan;
    const lode_batch *batch;
    result.status = lode_scan_open(&scan, tables, info, options, NULL);
    while (result.status == LODE_OK && result.rows < ROWS_MAX) {
        result.status = lode_scan_next(scan, &batch, NULL);
        for (unsigned i = 0; result.status == LODE_OK && i < batch->column_count; i++) {
            const lode_column *column = &batch->columns[i];
            const unsigned char *bytes = column->data;
            size_t count = column->type == LODE_COLUMN_STRING ? 0 : (size_t)batch->rows * column->stride;
            for (size_t k = 0; k < count; k++)
                result.hash = (result.hash ^ bytes[k]) * UINT64_C(1099511628211);
        }
        result.rows += result.status == LODE_OK ? batch->rows : 0;
    }
    lode_scan_close(scan);
    return result;
}

static void check(lode_tables *tables, struct input *input)
{
    struct query query;
    const lode_table_info *info = lode_tables_at(tables, take(input) % lode_tables_count(tables));
    if (info->is_function)
        return;
    take_query(&query, info, input);
    query.options.threads = 1;
    struct result one = read_scan(tables, info, &query.options);
    query.options.threads = 3;
    struct result three = read_scan(tables, info, &query.options);
    if (one.status != three.status || one.rows != three.rows || one.hash != three.hash)
        abort();
    uint64_t skip = query.options.skip;
    query.options.skip = 0;
    struct result whole = read_scan(tables, info, &query.options);
    if (whole.status == LODE_END && one.rows != (whole.rows > skip ? whole.rows - skip : 0))
        abort();
}

static lode_tables *open_tables(const lode_database *db, const lode_recording *recording)
{
    lode_tables *tables;
    if (lode_tables_open(&tables, db, recording, NULL, NULL) != LODE_OK)
        abort();
    return tables;
}

static lode_tables *tables_of_database(void)
{
    static struct minidb mini;
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    options.profiles = 9;
    options.chains = 3;
    minidb_make(&mini, &options);
    minidb_files(&mini, files);
    if (lode_database_open_memory(&db, files, HPCT_FILES, NULL) != LODE_OK)
        abort();
    return open_tables(db, NULL);
}

static lode_tables *tables_of_recording(void)
{
    static struct minirec rec;
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    lode_memory_file files[MINIREC_FILES];
    lode_recording *recording;
    minirec_make(&rec, &options);
    if (lode_recording_open_memory(&recording, files, minirec_list(&rec, files), NULL, NULL) != LODE_OK)
        abort();
    return open_tables(NULL, recording);
}

/* The stores stay until the end of the process. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lode_tables *tables[2];
    struct input input = {data, size};
    if (tables[0] == NULL) {
        tables[0] = tables_of_database();
        tables[1] = tables_of_recording();
    }
    check(tables[take(&input) & 1], &input);
    return 0;
}
