/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: scan_threads STORE TABLE [COLUMN]
 * A scan of a table by 1, 2 and 4 threads, in the order of a column if one is given: rows, wall
 * time and processor time, the best of several rounds.
 */
#include <lode/unstable.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    ROUNDS = 5
};

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int read_scan(lode_tables *tables, const lode_table_info *info, const lode_scan_options *options,
                     uint64_t *rows)
{
    lode_scan *scan;
    const lode_batch *batch;
    lode_error error;
    lode_status status = lode_scan_open(&scan, tables, info, options, &error);
    for (*rows = 0; status == LODE_OK && (status = lode_scan_next(scan, &batch, &error)) == LODE_OK;)
        *rows += batch->rows;
    lode_scan_close(scan);
    return status < 0 ? fprintf(stderr, "%s\n", error.text) : 0;
}

static int measure(lode_tables *tables, const lode_table_info *info, lode_scan_options *options)
{
    double wall = 1e9, processor = 1e9;
    uint64_t rows = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
        if (read_scan(tables, info, options, &rows))
            return 1;
        double time = now(CLOCK_MONOTONIC) - begin;
        used = now(CLOCK_PROCESS_CPUTIME_ID) - used;
        wall = time < wall ? time : wall;
        processor = used < processor ? used : processor;
    }
    printf("%s\t%u threads\t%llu rows\t%.3f s\t%.3f s of processors\t%.0f million rows/s\n", info->name,
           options->threads, (unsigned long long)rows, wall, processor, (double)rows / wall / 1e6);
    return 0;
}

int main(int argc, char **argv)
{
    lode_database *db = NULL;
    lode_recording *recording = NULL;
    lode_tables *tables = NULL;
    const lode_table_info *info;
    lode_scan_options options = LODE_SCAN_OPTIONS_INIT;
    unsigned order = 0;
    int status = 0;
    if (argc < 3 || lode_open(&db, &recording, NULL, argv[1], NULL, NULL) != LODE_OK ||
        lode_tables_open(&tables, db, recording, NULL, NULL) != LODE_OK ||
        (info = lode_tables_find(tables, argv[2])) == NULL)
        return 2;
    for (; argc > 3 && order < info->field_count && strcmp(info->fields[order].name, argv[3]) != 0; order++)
        ;
    options.order = &order;
    options.order_count = argc > 3;
    for (options.threads = 1; options.threads <= 4 && status == 0; options.threads *= 2)
        status = measure(tables, info, &options);
    lode_tables_close(tables);
    lode_database_close(db);
    lode_recording_close(recording);
    return status;
}
