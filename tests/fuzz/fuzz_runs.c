/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A catalogue of runs that somebody else wrote, with a journal: the first two bytes are the size of
 * the journal, which follows them; the rest is the catalogue. Every question is asked, and a run is
 * added and removed. Beside it lies a file that a journal can name: it must stay.
 */
#include "runs/catalogue.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CATALOGUE "runs.sqlite"
#define JOURNAL   "runs.sqlite-journal"
#define VICTIM    "precious"

static char folder[] = "/dev/shm/lode-fuzz-runs-XXXXXX";

static void remove_folder(void)
{
    if (chdir(folder) != 0)
        return;
    unlink(CATALOGUE);
    unlink(JOURNAL);
    unlink(VICTIM);
    rmdir(folder);
}

/* Returns the current directory, to which the fuzzer's paths are relative. */
static int enter_folder(void)
{
    static int is_there;
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!is_there && (!mkdtemp(folder) || atexit(remove_folder) != 0))
        abort();
    is_there = 1;
    if (before < 0 || chdir(folder) != 0)
        abort();
    return before;
}

static void leave_folder(int before)
{
    if (fchdir(before) != 0)
        abort();
    close(before);
}

static void write_file(const char *name, const uint8_t *data, size_t size)
{
    FILE *stream = fopen(name, "wb");
    if (!stream || fwrite(data, 1, size, stream) != size || fclose(stream) != 0)
        abort();
}

static int on_run(void *user, const run_row *run)
{
    size_t *length = user;
    *length += strlen(run->path) + strlen(run->format) + (run->metric ? strlen(run->metric) : 0);
    for (size_t i = 0; i < run->label_count; i++)
        *length += strlen(run->labels[i].name) + strlen(run->labels[i].value);
    return 0;
}

static int on_name(void *user, int64_t id, const char *name, double value)
{
    size_t *length = user;
    (void)id;
    (void)value;
    *length += strlen(name);
    return 0;
}

/* What a command does with a failure: it prints the text. */
static void judge(int status, const catalogue_error *error)
{
    if (status < 0 && error->text[0] == '\0')
        abort();
}

static void ask(catalogue *c)
{
    run_filter filter = {0};
    catalogue_error error = {.is_away = 0};
    run_point *points = NULL;
    run_function *functions = NULL;
    run_set set = {0};
    size_t length = 0, count = 0;
    uint64_t runs;
    judge(catalogue_list(c, &filter, on_run, &length, &error), &error);
    judge(catalogue_count(c, &filter, &runs, &error), &error);
    judge(catalogue_metrics(c, 0, on_name, &length, &error), &error);
    judge(catalogue_functions(c, on_name, &length, &error), &error);
    judge(catalogue_series(c, &filter, 1, 1, &points, &count, &error), &error);
    free(points);
    count = 0;
    judge(catalogue_run_functions(c, 1, 1, &functions, &count, &error), &error);
    catalogue_free_functions(functions, count);
    int status = catalogue_runs(c, &filter, &set, &error);
    judge(status, &error);
    double *values = status == 0 ? calloc(set.count + 1, sizeof *values) : NULL;
    if (values)
        judge(catalogue_values(c, &set, 1, 1, 1, values, &error), &error);
    free(values);
    run_set_free(&set);
}

static void change(catalogue *c)
{
    run_label label = {"title", "fuzz"};
    run_total total = {"time", 2};
    run_cost cost = {"main", "", "", 0, 1, 2, 0, 0};
    run_record run = {.path = "/store",
                      .format = "x",
                      .labels = &label,
                      .label_count = 1,
                      .totals = &total,
                      .total_count = 1,
                      .costs = &cost,
                      .cost_count = 1};
    catalogue_error error = {.is_away = 0};
    int status = catalogue_add(c, &run, 1, &error);
    judge(status, &error);
    judge(status == 0 ? catalogue_remove(c, run.id, &error) : status, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    catalogue *c;
    catalogue_error error;
    if (size < 2)
        return 0;
    int before = enter_folder();
    size_t journal = (size_t)data[0] << 8 | data[1];
    journal = journal < size - 2 ? journal : size - 2;
    unlink(JOURNAL);
    if (journal)
        write_file(JOURNAL, data + 2, journal);
    write_file(CATALOGUE, data + 2 + journal, size - 2 - journal);
    write_file(VICTIM, data, 1);
    for (int mode = CATALOGUE_READ; mode <= CATALOGUE_WRITE; mode++) {
        int status = catalogue_open(&c, CATALOGUE, (catalogue_mode)mode, &error);
        judge(status, &error);
        if (status != 0)
            continue;
        ask(c);
        if (mode == CATALOGUE_WRITE)
            change(c);
        catalogue_close(c);
    }
    if (access(VICTIM, F_OK) != 0)
        abort();
    leave_folder(before);
    return 0;
}
