/* SPDX-License-Identifier: BSD-3-Clause */
/* The five most expensive functions of a database: top DATABASE */
#include <lode/lode.h>
#include <stdio.h>

enum {
    ROWS = 5,
    NAME_SIZE = 128
};

/* Errors say which file is concerned, if any, and what is wrong. */
static int complain(const lode_error *error)
{
    fprintf(stderr, "top: %s%s%s\n", error->file, error->file[0] ? ": " : "", error->text);
    return 2;
}

static void print(const lode_cost *cost, const lode_hotspots *rows)
{
    char name[NAME_SIZE];
    double total = lode_cost_total(cost);
    printf("%s\n", lode_metric_name(lode_cost_metric(cost)));
    for (size_t i = 0; i < ROWS && i < lode_hotspots_count(rows); i++) {
        const lode_hotspot *row = lode_hotspots_at(rows, i);
        lode_hotspot_label(row, LODE_BY_FUNCTION, name, sizeof name);
        printf("%10.3f %5.1f%%  %s\n", row->exclusive, 100.0 * row->exclusive / total, name);
    }
}

int main(int argc, char **argv)
{
    lode_database *database = NULL;
    lode_cost *cost = NULL;
    lode_hotspots *rows = NULL;
    lode_error error;
    if (argc != 2) {
        fprintf(stderr, "usage: top DATABASE\n");
        return 2;
    }
    /* Each call fails with a status below LODE_OK; what was not made is NULL and can be freed. */
    lode_status status = lode_database_open(&database, argv[1], &error);
    if (status == LODE_OK)
        status = lode_cost_compute(&cost, database, NULL, &error);
    if (status == LODE_OK)
        status = lode_hotspots_compute(&rows, cost, LODE_BY_FUNCTION, LODE_SORT_EXCLUSIVE, &error);
    if (status == LODE_OK)
        print(cost, rows);
    lode_hotspots_free(rows);
    lode_cost_free(cost);
    lode_database_close(database);
    return status == LODE_OK ? 0 : complain(&error);
}
