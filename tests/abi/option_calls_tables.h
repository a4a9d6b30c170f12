/* SPDX-License-Identifier: BSD-3-Clause */
/* Of option_calls.h: calls of tables and their scans. */
#ifndef LODE_TESTS_OPTION_CALLS_TABLES_H
#define LODE_TESTS_OPTION_CALLS_TABLES_H

#include <lode/private/scan_plan.h>
#include <lode/unstable.h>

static lode_status tables_call(const lode_database *db, const void *options, lode_error *error)
{
    lode_tables *tables;
    lode_status status = lode_tables_open(&tables, db, NULL, options, error);
    lode_tables_close(tables);
    return status;
}

static lode_status scan_call(const lode_database *db, const void *options, lode_error *error)
{
    lode_tables *tables;
    lode_scan *scan = NULL;
    lode_status status = lode_tables_open(&tables, db, NULL, NULL, error);
    if (status == LODE_OK)
        status = lode_scan_open(&scan, tables, lode_tables_find(tables, "value"), options, error);
    lode_scan_close(scan);
    lode_tables_close(tables);
    return status;
}

static lode_status scan_plan_call(const lode_database *db, const void *options, lode_error *error)
{
    lode_tables *tables;
    lode_scan_plan plan;
    lode_status status = lode_tables_open(&tables, db, NULL, NULL, error);
    if (status == LODE_OK)
        status = lode_scan_plan_make(&plan, tables, lode_tables_find(tables, "value"), options, 0, error);
    lode_tables_close(tables);
    return status;
}

static lode_status arrow_call(const lode_database *db, const void *options, lode_error *error)
{
    lode_tables *tables;
    struct ArrowArrayStream stream = {0};
    lode_status status = lode_tables_open(&tables, db, NULL, NULL, error);
    if (status == LODE_OK)
        status = lode_arrow_stream(&stream, tables, lode_tables_find(tables, "value"), options, error);
    if (stream.release)
        stream.release(&stream);
    lode_tables_close(tables);
    return status;
}

static lode_status efficiency_call(const lode_database *db, const void *options, lode_error *error)
{
    lode_efficiencies *efficiencies;
    lode_status status = lode_efficiencies_compute(&efficiencies, db, options, error);
    lode_efficiencies_free(efficiencies);
    return status;
}

static lode_status diagnose_call(const lode_database *db, const void *options, lode_error *error)
{
    lode_diagnosis *diagnosis;
    lode_status status = lode_diagnose(&diagnosis, db, options, error);
    lode_diagnosis_free(diagnosis);
    return status;
}

#endif
