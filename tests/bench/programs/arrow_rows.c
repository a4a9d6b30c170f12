/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: arrow_rows DATABASE
 * Values through an Arrow stream and through a scan, on one thread, beside a loop that copies the
 * numbers of all blocks, and one that sums them where they are. Processor time, the best of several
 * rounds.
 */
#include <lode/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ROUNDS = 5,
    CHUNK = 4096
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int read_stream(lode_tables *tables, uint64_t *rows, double *sum)
{
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    lode_error error;
    int status = 0;
    if (lode_arrow_stream(&stream, tables, lode_tables_find(tables, "value"), NULL, &error) != LODE_OK)
        return fprintf(stderr, "%s\n", error.text);
    while (status == 0 && (status = stream.get_next(&stream, &array)) == 0 && array.release) {
        const double *values = array.children[3]->buffers[1];
        *rows += (uint64_t)array.length;
        *sum += values[0];
        array.release(&array);
    }
    stream.release(&stream);
    return status;
}

static int read_scan(lode_tables *tables, uint64_t *rows, double *sum)
{
    lode_scan *scan;
    const lode_batch *batch;
    lode_error error;
    lode_status status = lode_scan_open(&scan, tables, lode_tables_find(tables, "value"), NULL, &error);
    while (status == LODE_OK && (status = lode_scan_next(scan, &batch, &error)) == LODE_OK) {
        *rows += batch->rows;
        *sum += *(const double *)batch->columns[3].data;
    }
    lode_scan_close(scan);
    return status < 0 ? fprintf(stderr, "%s\n", error.text) : 0;
}

static int read_blocks(const lode_database *db, uint64_t *rows, double *sum)
{
    static lode_value values[CHUNK];
    for (uint32_t i = 1; i < lode_database_profile_count(db); i++) {
        lode_block block;
        if (lode_profile_block(db, i, &block, NULL) != LODE_OK)
            return 1;
        uint64_t count = lode_block_value_count(&block);
        for (uint64_t at = 0; at < count; at += CHUNK) {
            uint64_t part = count - at < CHUNK ? count - at : CHUNK;
            if (lode_block_read(&block, at, part, values) != LODE_OK)
                return 1;
            *sum += values[0].value;
        }
        *rows += count;
    }
    return 0;
}

/* As numpy does it: doubles of the mapped file, which are not aligned. */
static int sum_in_place(const lode_database *db, uint64_t *rows, double *sum)
{
    for (uint32_t i = 1; i < lode_database_profile_count(db); i++) {
        lode_block block;
        const void *bytes;
        size_t stride, key_size;
        if (lode_profile_block(db, i, &block, NULL) != LODE_OK ||
            lode_block_view(&block, &bytes, &stride, &key_size, NULL) != LODE_OK)
            return 1;
        uint64_t count = lode_block_value_count(&block);
        const unsigned char *at = (const unsigned char *)bytes + key_size;
        for (uint64_t j = 0; j < count; j++, at += stride) {
            double value;
            memcpy(&value, at, sizeof value);
            *sum += value;
        }
        *rows += count;
    }
    return 0;
}

static int measure(const lode_database *db, lode_tables *tables, int which)
{
    static const char *const names[] = {"bare loop", "scan", "Arrow stream", "sum in place"};
    double best = 1e9, sum = 0;
    uint64_t rows = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now();
        rows = 0;
        if (which == 0   ? read_blocks(db, &rows, &sum)
            : which == 1 ? read_scan(tables, &rows, &sum)
            : which == 2 ? read_stream(tables, &rows, &sum)
                         : sum_in_place(db, &rows, &sum))
            return 1;
        best = now() - begin < best ? now() - begin : best;
    }
    printf("%-12s %llu rows, %.3f s, %.0f million rows/s (%g)\n", names[which], (unsigned long long)rows,
           best, (double)rows / best / 1e6, sum);
    return 0;
}

int main(int argc, char **argv)
{
    lode_database *db;
    lode_tables *tables;
    if (argc != 2 || lode_database_open(&db, argv[1], NULL) != LODE_OK ||
        lode_tables_open(&tables, db, NULL, NULL, NULL) != LODE_OK)
        return 2;
    int status =
        measure(db, tables, 0) || measure(db, tables, 1) || measure(db, tables, 2) || measure(db, tables, 3);
    lode_tables_close(tables);
    lode_database_close(db);
    return status;
}
