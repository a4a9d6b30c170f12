/* SPDX-License-Identifier: BSD-3-Clause */
/* The levels of a check. */
#include "format/hpctoolkit/check/check.h"

#include "base/comm/ranks.h"
#include "base/pool.h"
#include <math.h>
#include <stdlib.h>

/* Relative. Sums of 100,000 values in another order differ by less than 1e-10. */
#define CHECK_TOLERANCE 1e-9

bool lode_hpct_close_enough(double a, double b)
{
    return a == b || fabs(a - b) <= CHECK_TOLERANCE * fmax(fabs(a), fabs(b));
}

/* ---- metric ids ---- */

static lode_status index_metric_ids(struct hpct_check *check)
{
    const lode_database *db = &check->db->base;
    check->values = calloc(UINT16_MAX + 1, sizeof *check->values);
    check->statistics = calloc(UINT16_MAX + 1, sizeof *check->statistics);
    LODE_TRY_ALLOC(check->values && check->statistics, check->report.error);
    for (uint32_t m = 0; m < db->metric_count; m++) {
        const lode_metric *metric = &db->metrics[m];
        for (uint32_t i = 0; i < metric->scope_count; i++) {
            const lode_scope *scope = metric->scopes[i].scope;
            uint16_t id = metric->scopes[i].id;
            check->values[id] =
                (struct hpct_metric_id){.known = true,
                                        .type = scope->type,
                                        .bit = scope->propagation_index,
                                        .metric = (uint16_t)m,
                                        .position = check->value_ids++,
                                        .factor = lode_hpct_factor(&check->key, HPCT_FACTOR_METRIC, id)};
        }
        for (uint32_t i = 0; i < metric->statistic_count; i++)
            check->statistics[metric->statistics[i].id] =
                (struct hpct_metric_id){.known = true, .metric = (uint16_t)m};
    }
    return LODE_OK;
}

/* ---- levels ---- */

enum {
    SMALL_BYTES = 256 << 10
};

static lode_status find_measured(struct hpct_check *check)
{
    uint64_t count = check->db->profiles.count;
    check->measured = calloc((size_t)count + 1, sizeof *check->measured);
    check->adds_up = calloc((size_t)count + 1, sizeof *check->adds_up);
    LODE_TRY_ALLOC(check->measured && check->adds_up, check->report.error);
    for (uint32_t i = 1; i < count; i++) {
        struct wire_Profile profile;
        lode_hpct_profile(check->db, i, &profile);
        check->measured[i] = !(profile.flags & HPCT_PROFILE_SUMMARY);
    }
    return LODE_OK;
}

static lode_status check_structure(struct hpct_check *check)
{
    struct hpct_database *db = check->db;
    LODE_TRY(lode_hpct_check_agree(check, "opening", 0));
    LODE_TRY(lode_hpct_key_draw(&check->key, check->comm, check->report.error));
    LODE_TRY(find_measured(check));
    if (db->files[HPCT_META].usable) {
        uint64_t errors = check->report.result.errors;
        LODE_TRY(lode_hpct_load_meta(db, &check->report));
        LODE_TRY(index_metric_ids(check));
        check->meta_sound = check->tables_sound && check->report.result.errors == errors;
        check->report.result.contexts = db->base.tree.count;
    }
    struct hpct_factors factors = {0};
    lode_status status = LODE_OK;
    if (check->options->level >= LODE_CHECK_FULL) {
        status = lode_hpct_factors_open(&factors, &check->key, db->contexts.count, db->profiles.count,
                                        check->report.error);
        check->factors = &factors;
    }
    if (status == LODE_OK)
        status = lode_hpct_check_profiles(check);
    if (status == LODE_OK)
        status = lode_hpct_check_contexts(check);
    check->factors = NULL;
    lode_hpct_factors_close(&factors);
    return status == LODE_OK ? lode_hpct_check_traces(check) : status;
}

static lode_status check_meaning(struct hpct_check *check)
{
    if (check->traces_sound && check->meta_sound)
        LODE_TRY(lode_hpct_check_trace_contexts(check));
    if (check->profiles_sound && check->contexts_sound)
        LODE_TRY(lode_hpct_check_transpose(check));
    if (check->profiles_sound && check->meta_sound) {
        LODE_TRY(lode_hpct_check_scopes(check));
        LODE_TRY(lode_hpct_check_summary(check));
    }
    return LODE_OK;
}

/* To start threads takes longer than to check little: none, unless they are asked for. */
static void choose_threads(struct hpct_check *check)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < HPCT_FILES; i++)
        bytes += check->db->files[i].source.bytes.size;
    if (bytes < SMALL_BYTES && check->options->threads == 0)
        check->threads = 1;
}

static lode_status run_levels(struct hpct_check *check, const struct lode_folder *folder)
{
    lode_check_level level = check->options->level;
    LODE_TRY(lode_hpct_open_files(check->db, folder, &check->report));
    choose_threads(check);
    uint64_t errors = check->report.result.errors;
    LODE_TRY(lode_hpct_find_meta_tables(check->db, &check->report));
    check->tables_sound = check->db->files[HPCT_META].sound && check->report.result.errors == errors;
    LODE_TRY(lode_hpct_find_value_tables(check->db, &check->report));
    /* Another layout: other rules do not apply to it. */
    if (lode_report_seen(&check->report, RULE_LAYOUT_OLD) > 0)
        return LODE_OK;
    if (level >= LODE_CHECK_STRUCTURE)
        LODE_TRY(check_structure(check));
    return level >= LODE_CHECK_FULL ? check_meaning(check) : LODE_OK;
}

lode_status lode_hpct_check_layout(const struct lode_folder *folder, const struct hpct_layout *layout,
                                   const lode_check_options *options, lode_check_result *result,
                                   lode_error *error)
{
    struct hpct_check check = {.options = options, .comm = options->comm};
    check.threads = lode_ranks_threads(check.comm, lode_pool_asked(options->threads, options->pool));
    check.db = lode_hpct_new(layout);
    LODE_TRY_ALLOC(check.db, error);
    bool speaks = check.comm == NULL || check.comm->place.rank == 0;
    lode_status status = lode_report_open(&check.report, lode_hpct_rules, RULE_COUNT, options->limit_per_rule,
                                          speaks ? options->on_finding : NULL, options->user, error);
    if (status == LODE_OK)
        status = run_levels(&check, folder);
    if (status == LODE_OK)
        status = lode_hpct_check_agree(&check, "ending", 0);
    *result = check.report.result;
    lode_report_close(&check.report);
    free(check.values);
    free(check.statistics);
    free(check.measured);
    free(check.adds_up);
    lode_hpct_close(check.db);
    return status;
}

lode_status lode_hpct_check(const struct lode_folder *folder, const lode_check_options *options,
                            lode_check_result *result, lode_error *error)
{
    return lode_hpct_check_layout(folder, &lode_hpct_layout, options, result, error);
}
