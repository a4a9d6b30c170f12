/* SPDX-License-Identifier: BSD-3-Clause */
/* The ten most expensive functions of a database, and their imbalance: hottest DATABASE */
#include <lode/lode.h>
#include <stdio.h>

enum {
    ROWS = 10,
    NAME_SIZE = 128
};

static lode_status print(const lode_cost *cost, const lode_hotspots *rows, lode_error *error)
{
    char name[NAME_SIZE];
    lode_hotspot_detail *detail = NULL;
    printf("%s\n", lode_metric_name(lode_cost_metric(cost)));
    for (size_t i = 0; i < ROWS && i < lode_hotspots_count(rows); i++) {
        const lode_hotspot *row = lode_hotspots_at(rows, i);
        lode_status status = lode_hotspots_detail(&detail, rows, i, cost, NULL, error);
        if (status != LODE_OK)
            return status;
        lode_hotspot_label(row, name, sizeof name);
        printf("%10.3f %5.1f%%  %3zu contexts, imbalance %5.1f%%  %s\n", row->exclusive,
               100.0 * row->exclusive / lode_cost_total(cost), detail->context_count,
               100.0 * detail->exclusive.imbalance, name);
        lode_hotspot_detail_free(detail);
    }
    return LODE_OK;
}

int main(int argc, char **argv)
{
    lode_database *database = NULL;
    lode_cost *cost = NULL;
    lode_hotspots *rows = NULL;
    lode_error error;
    char text[512];
    if (argc != 2)
        return fputs("usage: hottest DATABASE\n", stderr) < 0 ? 3 : 2;
    /* Each call fails with a status other than LODE_OK; what was not made is NULL and can be freed. */
    lode_status status = lode_database_open(&database, argv[1], &error);
    if (status == LODE_OK)
        status = lode_cost_compute(&cost, database, NULL, &error);
    if (status == LODE_OK)
        status = lode_hotspots_compute(&rows, cost, LODE_BY_FUNCTION, LODE_SORT_EXCLUSIVE, &error);
    if (status == LODE_OK)
        status = print(cost, rows, &error);
    lode_hotspots_free(rows);
    lode_cost_free(cost);
    lode_database_close(database);
    if (status == LODE_OK)
        return 0;
    lode_error_text(&error, text, sizeof text);
    return fprintf(stderr, "hottest: %s\n", text) < 0 ? 3 : 2;
}
