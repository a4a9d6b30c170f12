/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/import/store.h"

#include "base/error.h"
#include "model/database/database.h"
#include <stdlib.h>

/* What was read, and how many samples it has. */
static lode_status read_store(lode_database **db, uint64_t *samples, struct lode_report *report,
                              const struct lode_folder *folder, lode_check_level level,
                              const struct lode_import_form *form, lode_error *error)
{
    void *reader = calloc(1, form->reader_size);
    LODE_TRY_ALLOC(reader, error);
    lode_status status = form->open(reader, report) ? LODE_OK : lode_fail_memory(error);
    if (status == LODE_OK)
        status = form->read(reader, folder, level, db);
    *samples = form->samples(reader);
    form->close(reader);
    free(reader);
    return status;
}

lode_status lode_import_open_store(lode_database **out, const struct lode_folder *folder,
                                   const struct lode_import_form *form, const lode_rule *rules,
                                   size_t rule_count, lode_error *error)
{
    struct lode_report report;
    lode_database *db = NULL;
    uint64_t samples;
    lode_status status = lode_report_read(&report, rules, rule_count, error);
    if (status == LODE_OK)
        status = read_store(&db, &samples, &report, folder, LODE_CHECK_FULL, form, error);
    if (status == LODE_OK)
        status = lode_database_keep_findings(db, &report, error);
    lode_report_close(&report);
    if (status != LODE_OK)
        lode_database_close(db);
    else
        *out = db;
    return status;
}

lode_status lode_import_check_store(const struct lode_folder *folder, const lode_check_options *options,
                                    lode_check_result *result, const struct lode_import_form *form,
                                    const lode_rule *rules, size_t rule_count, lode_error *error)
{
    struct lode_report report;
    lode_database *db = NULL;
    uint64_t samples = 0;
    lode_status status = lode_report_open(&report, rules, rule_count, options->limit_per_rule,
                                          options->on_finding, options->user, error);
    if (status == LODE_OK)
        status = read_store(&db, &samples, &report, folder, options->level, form, error);
    lode_import_count(db, &report.result);
    report.result.samples = samples;
    lode_database_close(db);
    *result = report.result;
    lode_report_close(&report);
    return status == LODE_END ? LODE_OK : status;
}
