/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans of damaged databases and recordings end with rows or a status, whatever is damaged. */
#include "minidb.h"
#include "minirec.h"
#include "unit.h"
#include <lode/unstable.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 400,
    ROWS_MOST = 1 << 20 /* of a table: far more than sound stores of this size have */
};

static uint64_t chance = 7;

static uint64_t draw(uint64_t below)
{
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (chance >> 33) % below;
}

/* One to four bytes of one file. */
static void damage(unsigned char *bytes, size_t size)
{
    for (uint64_t left = size > 0 ? 1 + draw(4) : 0; left > 0; left--)
        bytes[draw(size)] = draw(2) ? (unsigned char)draw(256) : 0xff;
}

static void scan_table(lode_tables *tables, const lode_table_info *info)
{
    uint64_t numbers[2] = {draw(12), 12 + draw(200)};
    double real = 0.5;
    const char *string = "main";
    lode_scan_filter filter = {
        (unsigned)draw(info->field_count), (lode_filter_kind)draw(4), numbers, &real, &string, 1};
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    const lode_batch *batch;
    lode_scan *scan;
    lode_error error = {0};
    uint64_t rows = 0;
    options.filters = &filter;
    options.filter_count = draw(2);
    lode_status status = lode_scan_open(&scan, tables, info, &options, &error);
    while (status == LODE_OK && (status = lode_scan_next(scan, &batch, &error)) == LODE_OK)
        rows += batch->rows;
    assert_true(rows < ROWS_MOST);
    if (status < 0)
        assert_int_equal(error.status, status);
    lode_scan_close(scan);
}

static void scan_all(const lode_database *db, const lode_recording *recording)
{
    lode_tables *tables;
    if (lode_tables_open(&tables, db, recording, NULL, NULL) != LODE_OK)
        return;
    for (unsigned i = 0; i < lode_tables_count(tables); i++)
        scan_table(tables, lode_tables_at(tables, i));
    lode_tables_close(tables);
}

static void damaged_databases_end_with_a_status(void **state)
{
    struct minidb_options options = MINIDB_OPTIONS_INIT;
    unsigned opened = 0;
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct minidb mini;
        lode_memory_file files[HPCT_FILES];
        lode_database *db;
        minidb_make(&mini, &options);
        unsigned file = (unsigned)draw(HPCT_FILES);
        damage(mini.bytes[file], mini.size[file]);
        minidb_files(&mini, files);
        if (lode_database_open_memory(&db, files, HPCT_FILES, NULL) == LODE_OK) {
            scan_all(db, NULL);
            lode_database_close(db);
            opened++;
        }
        minidb_free(&mini);
    }
    assert_true(opened > ROUNDS / 4);
}

static void damaged_recordings_end_with_a_status(void **state)
{
    struct minirec_options options = MINIREC_OPTIONS_INIT;
    unsigned opened = 0;
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct minirec rec;
        lode_memory_file files[MINIREC_FILES];
        lode_recording *recording;
        minirec_make(&rec, &options);
        struct minirec_file *file = &rec.files[draw(rec.count)];
        damage(file->bytes, file->size);
        size_t count = minirec_list(&rec, files);
        if (lode_recording_open_memory(&recording, files, count, NULL, NULL) == LODE_OK) {
            scan_all(NULL, recording);
            lode_recording_close(recording);
            opened++;
        }
        minirec_free(&rec);
    }
    assert_true(opened > ROUNDS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_databases_end_with_a_status),
        cmocka_unit_test(damaged_recordings_end_with_a_status),
    };
    return cmocka_run_group_tests_name("scan flips", tests, NULL, NULL);
}
