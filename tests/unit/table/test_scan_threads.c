/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans by several threads give the batches that one thread gives, byte by byte: of every table of
 * stores that are made here and of some of the corpus, with filters, orders and sizes of chance,
 * and of damaged stores, whose errors come at the same place.
 */
#include "corpus.h"
#include "minidb.h"
#include "minirec.h"
#include "minizor.h"
#include "unit.h"
#include <lode/unstable.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUERIES = 16, /* of each table */
    FILTERS = 2,
    LIST = 3,
    PATH = 4096
};

static uint64_t chance = 1;

static uint64_t draw(uint64_t below)
{
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (chance >> 33) % below;
}

/* ---- what a scan gave ---- */

struct result {
    uint64_t batches, rows, hash;
    uint64_t from, rest; /* a hash of the rows from this one on, whichever batches they are in */
    lode_status status;
    lode_error error;
};

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t mix_cell(uint64_t hash, const lode_batch *batch, unsigned column, uint64_t row)
{
    const lode_column *from = &batch->columns[column];
    if (from->data == NULL)
        return hash + 1;
    const char *at = (const char *)from->data + row * from->stride;
    if (from->type == LODE_COLUMN_STRING) {
        const char *text = *(const char *const *)(const void *)at;
        return text ? mix(hash, text, strlen(text) + 1) : hash + 2;
    }
    bool is_null = batch->valid[column] && !batch->valid[column][row];
    return is_null ? hash + 3 : mix(hash, at, from->stride);
}

static void add_batch(struct result *result, const lode_batch *batch)
{
    assert_true(batch->rows > 0);
    result->batches++;
    result->hash = mix(result->hash, &batch->rows, sizeof batch->rows);
    for (uint64_t row = 0; row < batch->rows; row++, result->rows++)
        for (unsigned i = 0; i < batch->column_count; i++) {
            result->hash = mix_cell(result->hash, batch, i, row);
            if (result->rows >= result->from)
                result->rest = mix_cell(result->rest, batch, i, row);
        }
}

/* Ends after `most` batches. */
static struct result read_scan(lode_tables *tables, const lode_table_info *info, lode_scan_options *options,
                               unsigned threads, uint64_t most, uint64_t from)
{
    struct result result = {.hash = 14695981039346656037u, .from = from};
    lode_scan *scan;
    const lode_batch *batch;
    options->threads = threads;
    result.status = lode_scan_open(&scan, tables, info, options, &result.error);
    while (result.status == LODE_OK && result.batches < most) {
        result.status = lode_scan_next(scan, &batch, &result.error);
        if (result.status == LODE_OK)
            add_batch(&result, batch);
    }
    lode_scan_close(scan);
    return result;
}

static void check_same(const lode_table_info *info, unsigned threads, const struct result *a,
                       const struct result *b)
{
    if (a->status != b->status || a->rows != b->rows || a->batches != b->batches || a->hash != b->hash ||
        strcmp(a->error.text, b->error.text) != 0)
        fail_msg("%s with %u threads: status %d, %llu rows in %llu batches instead of %d, %llu in %llu; "
                 "'%s' instead of '%s'",
                 info->name, threads, b->status, (unsigned long long)b->rows, (unsigned long long)b->batches,
                 a->status, (unsigned long long)a->rows, (unsigned long long)a->batches, b->error.text,
                 a->error.text);
}

/* ---- queries of chance ---- */

struct query {
    lode_scan_options options;
    lode_scan_filter filters[FILTERS];
    uint64_t numbers[FILTERS][LIST];
    unsigned order[3];
};

/* Filters on numbers; texts and reals are compared by the same code. */
static void draw_query(struct query *query, const lode_table_info *info)
{
    static const uint64_t sizes[] = {1, 2, 3, 5, 16, 100, 0};
    *query = (struct query){.options = LODE_SCAN_OPTIONS_INIT};
    for (size_t i = draw(FILTERS + 1); i > 0; i--) {
        size_t at = query->options.filter_count;
        lode_scan_filter *filter = &query->filters[at];
        unsigned column = (unsigned)draw(info->field_count);
        const lode_field *field = &info->fields[column];
        if (field->type == LODE_COLUMN_STRING || field->type == LODE_COLUMN_F64 ||
            (field->flags & LODE_FIELD_ARGUMENT))
            continue;
        *filter = (lode_scan_filter){.column = column, .kind = (lode_filter_kind)draw(4), .count = 1};
        filter->numbers = query->numbers[at];
        for (uint64_t k = 0, number = draw(8); k < LIST; k++, number += draw(4))
            query->numbers[at][k] = number;
        filter->count = filter->kind == LODE_FILTER_IN ? draw(LIST + 1) : 1;
        query->options.filter_count++;
    }
    query->options.filters = query->filters;
    query->options.order = query->order;
    query->options.order_count = draw(3) ? 0 : 1 + draw(3);
    for (size_t i = 0; i < 3; i++)
        query->order[i] = (unsigned)((i + draw(2)) % info->field_count);
    query->options.rows = sizes[draw(sizeof sizes / sizeof *sizes)];
    query->options.columns = draw(3) ? 0 : 1 + draw((UINT64_C(1) << info->field_count) - 1);
    query->options.skip = draw(4) ? 0 : draw(40);
}

/* A jump leaves out the rows that reading would leave out. */
static void check_skip(lode_tables *tables, const lode_table_info *info, struct query *query,
                       const struct result *skipped)
{
    uint64_t skip = query->options.skip;
    query->options.skip = 0;
    struct result whole = read_scan(tables, info, &query->options, 1, UINT64_MAX, skip);
    query->options.skip = skip;
    /* Rows that are damaged are not looked at. */
    if (whole.status != LODE_END)
        return;
    assert_int_equal(skipped->rows, whole.rows > skip ? whole.rows - skip : 0);
    assert_int_equal(skipped->rest, whole.rest);
}

static uint64_t check_query(lode_tables *tables, const lode_table_info *info, struct query *query)
{
    static const unsigned threads[] = {2, 7};
    struct result wanted = read_scan(tables, info, &query->options, 1, UINT64_MAX, 0);
    for (size_t i = 0; i < 2; i++) {
        struct result found = read_scan(tables, info, &query->options, threads[i], UINT64_MAX, 0);
        check_same(info, threads[i], &wanted, &found);
    }
    /* One that is closed in the middle leaves nothing. */
    uint64_t most = 1 + draw(4);
    struct result some = read_scan(tables, info, &query->options, 1, most, 0);
    struct result found = read_scan(tables, info, &query->options, 3, most, 0);
    check_same(info, 3, &some, &found);
    if (query->options.skip > 0)
        check_skip(tables, info, query, &wanted);
    return wanted.batches;
}

static uint64_t check_tables(const lode_database *db, const lode_recording *recording, unsigned queries)
{
    lode_tables *tables;
    lode_error error = {0};
    uint64_t batches = 0;
    assert_int_equal(lode_tables_open(&tables, db, recording, NULL, &error), LODE_OK);
    for (unsigned i = 0; i < lode_tables_count(tables); i++) {
        const lode_table_info *info = lode_tables_at(tables, i);
        for (unsigned k = 0; k < queries && !info->is_function; k++) {
            struct query query;
            draw_query(&query, info);
            if (k == 0)
                query.options.filter_count = query.options.order_count = 0;
            batches += check_query(tables, info, &query);
        }
    }
    lode_tables_close(tables);
    return batches;
}

/* ---- stores ---- */

static lode_database *open_mini(struct minidb *mini, const struct minidb_options *options)
{
    lode_memory_file files[HPCT_FILES];
    lode_database *db;
    minidb_make(mini, options);
    minidb_files(mini, files);
    assert_int_equal(lode_database_open_memory(&db, files, HPCT_FILES, NULL), LODE_OK);
    return db;
}

static void threads_fill_the_batches_of_databases(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct minidb_options options = MINIDB_OPTIONS_INIT;
        struct minidb mini;
        options.profiles = 1 + 6 * i;
        options.chains = 3 * i;
        options.empty_profile = i % 2;
        lode_database *db = open_mini(&mini, &options);
        assert_true(check_tables(db, NULL, QUERIES) > 0);
        lode_database_close(db);
        minidb_free(&mini);
    }
}

/* Bytes that are wrong: what comes before them comes, and the error is the same. */
static void threads_find_the_first_error(void **state)
{
    static const enum hpct_file_id files[] = {HPCT_PROFILE, HPCT_CCT, HPCT_TRACE};
    (void)state;
    for (unsigned i = 0; i < 45; i++) {
        struct minidb_options options = MINIDB_OPTIONS_INIT;
        struct minidb mini;
        lode_memory_file memory[HPCT_FILES];
        lode_database *db;
        options.profiles = 8;
        options.chains = 4;
        minidb_make(&mini, &options);
        minidb_files(&mini, memory);
        enum hpct_file_id file = files[i % 3];
        uint64_t at = 64 + draw(memory[file].size - 64);
        minidb_at(&mini, file, at)[0] ^= (uint8_t)(1 << draw(8));
        if (lode_database_open_memory(&db, memory, HPCT_FILES, NULL) == LODE_OK)
            check_tables(db, NULL, 2);
        lode_database_close(db);
        minidb_free(&mini);
    }
}

static void threads_fill_the_batches_of_recordings(void **state)
{
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    struct minirec rec;
    struct minizor zor;
    lode_memory_file files[MINIREC_FILES + (unsigned)MINIZOR_FILES];
    lode_recording *recording;
    (void)state;
    minirec_make(&rec, &options);
    assert_int_equal(lode_recording_open_memory(&recording, files, minirec_list(&rec, files), NULL, NULL),
                     LODE_OK);
    assert_true(check_tables(NULL, recording, QUERIES) > 0);
    lode_recording_close(recording);
    minirec_free(&rec);
    minizor_make(&zor, 0, false);
    assert_int_equal(lode_recording_open_memory(&recording, files, minizor_list(&zor, files), NULL, NULL),
                     LODE_OK);
    assert_true(check_tables(NULL, recording, QUERIES) > 0);
    lode_recording_close(recording);
    minizor_free(&zor);
}

static void threads_fill_the_batches_of_real_stores(void **state)
{
    static const char *const names[] = {"hpctoolkit/final/made-small",
                                        "hpctoolkit/final/made-loops-cputime-t-mpi3ranks",
                                        "uftrace/recorded/mt/uftrace.data",
                                        "uftrace/recorded/events/uftrace.data",
                                        "uftrace/recorded/forkexec/uftrace.data",
                                        "zorka/stores/first"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[PATH];
        lode_database *db = NULL;
        lode_recording *recording = NULL;
        lode_error error = {0};
        if (!corpus_path(path, sizeof path, names[i]))
            skip();
        if (lode_open(&db, &recording, NULL, path, NULL, &error) != LODE_OK)
            fail_msg("%s: %s", path, error.text);
        assert_true(check_tables(db, recording, 3) > 0);
        lode_database_close(db);
        lode_recording_close(recording);
    }
}

/* A pool of the tables gives its threads; several scans share them. */
static void threads_come_from_a_pool(void **state)
{
    struct minidb_options mini_options = MINIDB_OPTIONS_INIT;
    struct minidb mini;
    lode_pool *pool;
    lode_tables *tables;
    lode_scan *scans[2];
    const lode_batch *batches[2];
    lode_tables_options options = LODE_TABLES_OPTIONS_INIT;
    lode_scan_options scan_options = LODE_SCAN_OPTIONS_INIT;
    (void)state;
    mini_options.profiles = 20;
    lode_database *db = open_mini(&mini, &mini_options);
    assert_int_equal(lode_pool_create(&pool, 4, NULL), LODE_OK);
    options.pool = pool;
    assert_int_equal(lode_tables_open(&tables, db, NULL, &options, NULL), LODE_OK);
    const lode_table_info *info = lode_tables_find(tables, "value");
    scan_options.rows = 7;
    struct result wanted = read_scan(tables, info, &scan_options, 1, UINT64_MAX, 0);
    struct result found = read_scan(tables, info, &scan_options, 0, UINT64_MAX, 0);
    check_same(info, 0, &wanted, &found);
    for (int i = 0; i < 2; i++)
        assert_int_equal(lode_scan_open(&scans[i], tables, info, &scan_options, NULL), LODE_OK);
    uint64_t total = lode_scan_total(scans[0]), rows = 0;
    while (lode_scan_next(scans[0], &batches[0], NULL) == LODE_OK) {
        assert_int_equal(lode_scan_next(scans[1], &batches[1], NULL), LODE_OK);
        assert_int_equal(batches[0]->rows, batches[1]->rows);
        assert_memory_equal(batches[0]->columns[3].data, batches[1]->columns[3].data, batches[0]->rows * 8);
        rows += batches[0]->rows;
    }
    assert_int_equal(rows, wanted.rows);
    assert_int_equal(lode_scan_done(scans[0]), total);
    lode_scan_close(scans[0]);
    lode_scan_close(scans[1]);
    lode_tables_close(tables);
    lode_pool_free(pool);
    lode_database_close(db);
    minidb_free(&mini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_fill_the_batches_of_databases),
        cmocka_unit_test(threads_find_the_first_error),
        cmocka_unit_test(threads_fill_the_batches_of_recordings),
        cmocka_unit_test(threads_fill_the_batches_of_real_stores),
        cmocka_unit_test(threads_come_from_a_pool),
    };
    correct_skips();
    return cmocka_run_group_tests_name("scan threads", tests, NULL, NULL);
}
