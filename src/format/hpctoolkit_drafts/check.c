/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels of a check. */
#include "format/hpctoolkit_drafts/check.h"

#include "base/error.h"

static lode_status run_levels(struct drafts_database *db, const struct lode_folder *folder,
                              const lode_check_options *options, struct lode_report *report)
{
    LODE_TRY(lode_drafts_open_files(db, folder, report));
    if (options->level < LODE_CHECK_STRUCTURE)
        return LODE_OK;
    if (db->files[HPCT_META].present)
        LODE_TRY(db->meta->load(db, report));
    return LODE_OK;
}

lode_status lode_drafts_check(const struct drafts_meta *meta, const struct lode_folder *folder,
                              const lode_check_options *options, lode_check_result *result, lode_error *error)
{
    struct drafts_database *db = lode_drafts_new(meta);
    if (db == NULL)
        return lode_fail_memory(error);
    struct lode_report report;
    lode_status status = lode_report_open(&report, lode_drafts_rules, DRAFTS_RULE_COUNT,
                                          options->limit_per_rule, options->on_finding, options->user, error);
    if (status == LODE_OK)
        status = run_levels(db, folder, options, &report);
    *result = report.result;
    lode_report_close(&report);
    lode_drafts_close(db);
    return status;
}
