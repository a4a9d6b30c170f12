/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of early 2022: opened and checked like 4.0, with its own meta.db. */
#include "format/hpctoolkit/check/check.h"
#include "format/hpctoolkit_drafts/drafts.h"
#include "format/hpctoolkit_drafts/pre_a.h"
#include "format/hpctoolkit_drafts/rules.h"

static lode_status open_pre_a(lode_database **out, const struct lode_folder *folder, lode_error *error)
{
    return lode_hpct_open(out, folder, &lode_drafts_pre_a_layout, error);
}

/* Reports the layout under the rules of drafts; all other rules are those of 4.0. */
static lode_status name_layout(const lode_check_options *options, lode_check_result *result,
                               lode_error *error)
{
    struct lode_report report;
    LODE_TRY(lode_report_open(&report, lode_drafts_rules, DRAFTS_RULE_COUNT, options->limit_per_rule,
                              options->on_finding, options->user, error));
    lode_status status = lode_report_add(
        &report, DRAFTS_RULE_VARIANT, lode_hpct_specs[HPCT_META].name, 0,
        "the layout is that of early 2022: scopes and statistics inside metrics, no entry points, no propagation bits, no flags of profiles");
    *result = report.result;
    lode_report_close(&report);
    return status;
}

static lode_status check_pre_a(const struct lode_folder *folder, const lode_check_options *options,
                               lode_check_result *result, lode_error *error)
{
    lode_check_result named;
    LODE_TRY(name_layout(options, &named, error));
    lode_status status = lode_hpct_check_layout(folder, &lode_drafts_pre_a_layout, options, result, error);
    result->notes += named.notes;
    return status;
}

const struct drafts_layout lode_drafts_pre_a = {
    .name = "pre-A",
    .probe = lode_drafts_is_pre_a,
    .open = open_pre_a,
    .check = check_pre_a,
};
